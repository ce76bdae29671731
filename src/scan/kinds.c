/* kinds.c: rules for single lines.
 *
 * Written for the eye of a reader who does not know the language: a line that
 * starts with "def" or "public … (" at the end "{" opens a function in all of
 * them. Wrong now and then, and cheap; what a kind is worth is learned, so a
 * wrong one costs little. */
#include "scan/kinds.h"

enum { LICENCE_WITHIN = 60, OPEN_AT_MOST = 400, ASK_LINES = 4096 };

struct state {
    struct text *t;
    enum text_part part;
    bool hash_comment;                        /* "#" starts a comment, not a directive */
    bool dash_comment;                        /* "--" does */
    unsigned in_comment, in_string, in_fence; /* lines since it opened, or 0 */
    char fence;
    bool in_import; /* within "import (" */
};

/* ---- What the whole text says of its language ---- */

static void learn(struct state *s)
{
    static const char *const DIRECTIVES[] = { "#include", "#define", "#if",       "#endif",
                                              "#pragma",  "#region", "# include", "#import" };
    size_t hash = 0, directive = 0, dash = 0, slash = 0, i, k;
    struct str h;

    for (i = 0; i < s->t->count && i < 3000; i++) {
        h = line_head(s->t, i);
        if (s->t->lines[i].first == '#') {
            hash++;
            for (k = 0; k < sizeof DIRECTIVES / sizeof *DIRECTIVES; k++)
                if (str_starts(h, DIRECTIVES[k])) {
                    directive++;
                    break;
                }
        }
        dash += str_starts(h, "-- ") || str_starts(h, "--\n");
        slash += str_starts(h, "//");
    }
    s->hash_comment = directive * 3 <= hash;
    s->dash_comment = dash > 2 * slash;
}

bool is_ruled(struct str h)
{
    size_t i;

    if (h.n < 3 || !strchr("=-~^\"'`*+#.:_", h.p[0]))
        return false;
    for (i = 1; i < h.n; i++)
        if (h.p[i] != h.p[0])
            return false;
    return true;
}

/* ---- Comments, texts, fences ---- */

static bool is_licence_word(const struct text *t, size_t i)
{
    const struct word *w;
    size_t k;

    for (k = 0; (w = line_word(t, i, k)) != NULL; k++)
        if (w->sev == SEV_RIGHTS)
            return true;
    return false;
}

static bool starts_comment(const struct state *s, struct str h)
{
    if (!h.n)
        return false;
    switch (h.p[0]) {
    case '/':
        return h.n > 1 && (h.p[1] == '/' || h.p[1] == '*');
    case '#':
        return s->hash_comment && !(h.n > 1 && h.p[1] == '[');
    case '-':
        return s->dash_comment && h.n > 1 && h.p[1] == '-';
    case '*':
        return h.n == 1 || h.p[1] == ' ' || h.p[1] == '/' || h.p[1] == '*';
    case '<':
        return str_starts(h, "<!--");
    case ';':
        return h.n > 1 && (h.p[1] == ' ' || h.p[1] == ';');
    case '%':
        return h.n > 1 && h.p[1] == ' ';
    case '.':
        return str_starts(h, ".\\\"") || str_starts(h, ".. ");
    default:
        return false;
    }
}

/* Comments and texts of several lines; gives the kinds that follow from them. */
static uint32_t comment_kinds(struct state *s, const struct line *l, struct str h)
{
    bool was = s->in_comment > 0, text = s->in_string > 0;
    uint32_t kind = 0;

    if (text) {
        kind = K_DOCSTR;
        s->in_string = (l->saw & SAW_TRIPLE) || s->in_string > OPEN_AT_MOST ? 0 : s->in_string + 1;
        return kind;
    }
    if (was) {
        kind = K_COMMENT;
        s->in_comment =
            (l->saw & SAW_CLOSE) || s->in_comment > OPEN_AT_MOST ? 0 : s->in_comment + 1;
        return kind;
    }
    if (starts_comment(s, h))
        kind = K_COMMENT;
    if (l->saw & SAW_OPEN && s->part == PART_CODE)
        s->in_comment = 1;
    else if (l->saw & SAW_TRIPLE && s->part == PART_CODE)
        s->in_string = 1;
    if ((l->saw & SAW_TRIPLE || (l->first == '"' && str_starts(h, "\"\"\""))) &&
        (l->first == '"' || l->first == '\''))
        kind |= K_DOCSTR;
    return kind;
}

static bool is_fence(struct str h)
{
    return str_starts(h, "```") || str_starts(h, "~~~");
}

static uint32_t fence_kinds(struct state *s, struct str h)
{
    if (is_fence(h) && (!s->in_fence || h.p[0] == s->fence)) {
        s->in_fence = s->in_fence ? 0 : 1;
        s->fence = h.p[0];
        return K_FENCE;
    }
    if (s->in_fence && ++s->in_fence > OPEN_AT_MOST)
        s->in_fence = 0;
    return s->in_fence ? K_FENCED : 0;
}

/* ---- Code ---- */

static bool opens(uint8_t last)
{
    return last == '{' || last == '(' || last == '[' || last == ':';
}

/* Where the first "(" of line i is closed: the line, with *after what stands
 * behind it. 0: not within a few lines. */
static size_t closes(const struct text *t, size_t i, struct str *after)
{
    enum { WITHIN = 16, LETTERS = 2000 };
    struct str s = line_head(t, i);
    const char *p = memchr(s.p, '(', s.n), *end = s.p + s.n;
    size_t j = i;
    int depth = 0;

    if (!p)
        return 0;
    for (;;) {
        for (; p < end; p++) {
            depth += *p == '(';
            depth -= *p == ')';
            if (*p == ')' && !depth) {
                *after = (struct str){ p + 1, (size_t)(end - p - 1) };
                return j;
            }
        }
        if (++j >= t->count || j > i + WITHIN || t->lines[j].at - t->lines[i].at > LETTERS ||
            !t->lines[j].first || t->lines[j - 1].last == ';')
            return 0;
        s = line_head(t, j);
        p = s.p;
        end = s.p + s.n;
    }
}

/* A signature over several lines: closed below, with a body behind it. */
static bool is_wide_def(const struct text *t, size_t i, bool modified)
{
    const struct line *l = &t->lines[i], *c;
    struct str after;
    size_t j;

    if (l->last == '{' || (l->saw & SAW_ARROW && !modified) ||
        !(modified || line_word(t, i, 1) || l->indent))
        return false;
    j = closes(t, i, &after);
    if (j <= i)
        return false;
    c = &t->lines[j];
    if (c->last == ';' || c->last == ',' || memchr(after.p, ')', after.n))
        return false;
    if (c->last == '{' || (j + 1 < t->count && t->lines[j + 1].first == '{' && c->last != '('))
        return true;
    return c->last == ':' && !l->indent && line_word(t, i, 1);
}

/* "f(int x = 1)" and not "x = f(1)". */
static bool assigns_before(const struct text *t, size_t i)
{
    struct str h = line_head(t, i);
    const char *eq = memchr(h.p, '=', h.n), *paren = memchr(h.p, '(', h.n);

    return eq && (!paren || eq < paren);
}

/* "public int Size() => rows.Count;" and not "await f(() => g());". */
static bool has_arrow_body(const struct text *t, size_t i)
{
    struct str after = { 0 };

    if (closes(t, i, &after) != i)
        return false;
    while (after.n && *after.p == ' ')
        after.p++, after.n--;
    return after.n > 1 && memcmp(after.p, "=>", 2) == 0;
}

/* A function without a keyword: "static int f(int x)", "void run() {". */
static bool is_plain_def(const struct text *t, size_t i, const struct word *w, bool modified)
{
    const struct line *l = &t->lines[i], *next = &t->lines[i + 1];

    if (modified && l->indent && l->saw & SAW_CALL && l->saw & SAW_ARROW && l->last == ';' &&
        !(l->saw & SAW_ASSIGN) && has_arrow_body(t, i))
        return true;
    if (!w || !(l->saw & SAW_CALL) || l->last == ';' || l->last == '\\' ||
        (w->kw && w->kw != KW_MOD && w->kw != KW_VAR && w->kw != KW_TYPE))
        return false;
    if (l->saw & SAW_ASSIGN && (!(l->saw & SAW_ARROW) || l->last != '{') && assigns_before(t, i))
        return false;
    if (l->last == ',' || l->last == '(')
        return is_wide_def(t, i, modified);
    /* "… ) const override", "… ) throws IOException" and the body on the next line */
    if (l->last != ')' && l->last != '{' && next->first == '{' && i + 1 < t->count &&
        (modified || line_word(t, i, 1)) && t->lines[i + 2].at > next->at &&
        line_str(t, i + 1).n <= next->indent + 1u)
        return true;
    if (!l->indent && l->last != ')' && l->last != '{' && l->last != ':')
        return false;
    if (l->last == '{')
        return !l->indent || modified || !(l->saw & SAW_ARROW);
    return l->last == ')' && (next->first == '{' || (modified && l->indent)) && i + 1 < t->count;
}

static uint32_t first_word_kinds(const struct text *t, size_t i)
{
    const struct line *l = &t->lines[i];
    const struct word *w, *first = line_word(t, i, 0);
    struct str h = line_head(t, i);
    bool modified = false, whole;
    size_t k;

    for (k = 0; (w = line_word(t, i, k)) != NULL && w->kw == KW_MOD && k < 5; k++)
        modified = true;
    if (!w)
        return 0;
    switch (w->kw) {
    case KW_DEF:
        return K_DEF;
    case KW_TYPE:
        /* "type X = …;", "enum { A };" and not "enum x y;", "type: x" */
        whole = w->len == 4 && (t->bytes.p[w->at] == 't' || (h.n > 1 && h.p[h.n - 2] == '}'));
        if ((line_word(t, i, k + 1) || (modified && l->last == '{')) &&
            (!(l->saw & SAW_ASSIGN) || whole) &&
            !(l->last == ';' && !modified && w->len != 7 && !whole) && l->first != '"' &&
            !(!k && h.n > w->len && h.p[w->len] == ':'))
            return K_TYPE;
        break;
    case KW_IMPORT:
        if (!(l->saw & SAW_ASSIGN) && (line_word(t, i, k + 1) || l->last != ')'))
            return K_IMPORT;
        break;
    case KW_CTRL:
        return K_CTRL;
    case KW_RETURN:
        return K_RETURN;
    case KW_THROW:
        return K_THROW;
    case KW_END:
        if (!line_word(t, i, 1))
            return K_CLOSE;
        break;
    case KW_SQL:
        if (!l->indent && line_word(t, i, 1) && !(l->saw & SAW_ASSIGN))
            return K_TYPE;
        break;
    case KW_VAR:
        if (l->saw & SAW_CALL && memmem(h.p, h.n, "= require(", 10))
            return K_IMPORT;
        if (l->saw & SAW_ARROW || (l->last == '{' && l->saw & SAW_CALL))
            return K_DEF | K_VAR;
        return K_VAR | (is_plain_def(t, i, first, modified) ? K_DEF : 0);
    default:
        break;
    }
    return is_plain_def(t, i, first, modified) ? K_DEF : 0;
}

/* "@name = x", "@name.each do |x|": not a decorator. */
static bool is_variable(struct str h)
{
    size_t i = 1;

    while (i < h.n && (is_word_byte((unsigned char)h.p[i]) || h.p[i] == '@'))
        i++;
    while (i < h.n && h.p[i] == ' ')
        i++;
    return i < h.n && h.n > 3 &&
           (strchr("=,[+-|&<", h.p[i]) ||
            (h.p[i] == '.' && (h.p[h.n - 1] == '|' || memcmp(h.p + h.n - 3, " do", 3) == 0)));
}

static uint32_t code_kinds(const struct state *s, size_t i, struct str h)
{
    const struct line *l = &s->t->lines[i];
    uint32_t kind = 0;

    if (l->first == '#' && !s->hash_comment)
        return str_starts(h, "#include") || str_starts(h, "#import") ? K_IMPORT | K_PREPROC
                                                                     : K_PREPROC;
    if ((l->first == '@' && !is_variable(h)) || (h.n > 1 && h.p[0] == '#' && h.p[1] == '['))
        return K_DECOR;
    if (str_starts(h, "template") && l->last == '>')
        return K_DECOR;
    if (l->first == '[' && l->last == ']' && !(l->saw & SAW_ASSIGN))
        kind |= K_DECOR;
    if (l->first == '}' || l->first == ')' || l->first == ']')
        kind |= K_CLOSE;
    else
        kind |= first_word_kinds(s->t, i);
    if (l->saw & SAW_ASSIGN)
        kind |= K_ASSIGN;
    if (l->saw & SAW_CALL)
        kind |= K_CALL;
    if (l->saw & SAW_COLON && !(l->saw & SAW_ASSIGN))
        kind |= K_KEY;
    if (l->first == '"' || l->first == '\'' || l->first == '`')
        kind |= K_STRING;
    if (opens(l->last))
        kind |= K_OPENS;
    return kind;
}

/* ---- Prose ---- */

/* "NAME", "SEE ALSO": a heading of a manual page as it is shown. */
static bool is_capitals(struct str h)
{
    size_t i, letters = 0;

    if (h.n < 4 || h.n > 60)
        return false;
    for (i = 0; i < h.n; i++) {
        if (h.p[i] >= 'a' && h.p[i] <= 'z')
            return false;
        letters += h.p[i] >= 'A' && h.p[i] <= 'Z';
    }
    return letters * 2 > h.n && strchr(".,;:", h.p[h.n - 1]) == NULL;
}

static bool is_list(struct str h)
{
    size_t i = 0;

    if (h.n > 1 && strchr("-*+", h.p[0]) && h.p[1] == ' ')
        return true;
    while (i < h.n && h.p[i] >= '0' && h.p[i] <= '9')
        i++;
    return i && i < 4 && i + 1 < h.n && (h.p[i] == '.' || h.p[i] == ')') && h.p[i + 1] == ' ';
}

static bool is_heading(const struct state *s, size_t i, struct str h)
{
    const struct text *t = s->t;
    const struct line *l = &t->lines[i];
    struct str under;
    size_t k;

    if (l->first == '#' || l->first == '=') {
        for (k = 0; k < h.n && h.p[k] == h.p[0]; k++)
            ;
        if (k < h.n && k <= 6 && (h.p[k] == ' ' || h.p[0] == '#'))
            return h.p[k] == ' ';
    }
    if (str_starts(h, ".SH") || str_starts(h, ".SS") || str_starts(h, ".Sh") ||
        str_starts(h, ".Ss") || str_starts(h, "<h1") || str_starts(h, "<h2") ||
        str_starts(h, "<h3"))
        return true;
    if (l->indent > 3)
        return false;
    if (i + 1 < t->count && l->tokens < 30 && !is_ruled(h)) {
        under = line_head(t, i + 1);
        if (is_ruled(under) && under.n + 2 >= h.n && t->lines[i + 1].indent == l->indent)
            return true;
    }
    return is_capitals(h);
}

static bool is_option_line(const struct line *l, struct str h)
{
    return l->first == '-' && h.n > 1 && h.p[1] != ' ' && h.p[1] != '>' && !is_ruled(h) &&
           l->indent < 24;
}

static uint32_t doc_kinds(const struct state *s, size_t i, struct str h)
{
    const struct line *l = &s->t->lines[i];
    uint32_t kind = 0;

    if (is_list(h))
        kind |= K_LIST;
    if (is_option_line(l, h) || str_starts(h, ".TP") || str_starts(h, ".It "))
        kind |= K_OPTION;
    if (l->first == '|' || (l->saw & SAW_BAR && l->last == '|'))
        kind |= K_TABLE;
    if (is_heading(s, i, h))
        kind |= K_HEADING;
    else if (is_ruled(h) && i && s->t->lines[i - 1].kind & K_HEADING)
        kind |= K_UNDER | K_PUNCT;
    if (h.n > 2 && (h.p[0] == '$' || h.p[0] == '>') && h.p[1] == ' ')
        kind |= K_PROMPT;
    if (l->saw & SAW_COLON && l->indent < 8)
        kind |= K_KEY;
    if (l->first == '<' && l->last == '>')
        kind |= K_DECOR;
    if (str_starts(h, ".. ") || str_starts(h, ":::") || str_starts(h, "{%"))
        kind |= K_PREPROC;
    if (str_starts(h, "import "))
        kind |= K_IMPORT;
    return kind;
}

/* ---- All ---- */

static uint32_t kind_of(struct state *s, size_t i)
{
    const struct line *l = &s->t->lines[i];
    struct str h = line_head(s->t, i);
    uint32_t kind, outside;
    const struct word *w;
    size_t k;

    if (!l->first)
        return K_BLANK | (s->in_comment && s->part == PART_CODE ? K_COMMENT : 0) |
               (s->in_fence ? K_FENCED : 0);
    if (s->in_import && l->indent && l->first != ')')
        return K_IMPORT | K_STRING;
    s->in_import = s->part == PART_CODE && str_starts(h, "import (") && l->last == '(';
    kind = s->part == PART_DOCS ? fence_kinds(s, h) : 0;
    outside = s->part == PART_DOCS && !(kind & K_FENCED) ? 0 : comment_kinds(s, l, h);
    kind |= outside;
    if (l->words == s->t->lines[i + 1].words)
        kind |= K_PUNCT;
    if (s->part == PART_DOCS && !(kind & (K_FENCED | K_FENCE)))
        kind |= doc_kinds(s, i, h);
    else if (!outside)
        kind |= code_kinds(s, i, h);
    if (l->saw & SAW_SEV)
        for (k = 0; (w = line_word(s->t, i, k)) != NULL; k++)
            if (w->sev == SEV_TODO)
                kind |= K_TODO;
    return kind;
}

/* The comment a file opens with, if it speaks of rights. */
static void mark_licence(struct text *t)
{
    size_t i, end = 0;
    bool rights = false;

    for (i = 0; i < t->count && i < LICENCE_WITHIN; i++) {
        if (!(t->lines[i].kind & (K_COMMENT | K_BLANK | K_PREPROC | K_PUNCT | K_DOCSTR)))
            break;
        if (is_licence_word(t, i))
            rights = true;
        if (t->lines[i].kind & K_BLANK && rights && i + 1 < t->count &&
            !(t->lines[i].kind & K_COMMENT)) {
            end = i;
            break;
        }
        end = i + 1;
    }
    for (i = 0; rights && i < end; i++)
        if (t->lines[i].kind & (K_COMMENT | K_DOCSTR))
            t->lines[i].kind |= K_LICENCE;
}

bool text_kinds(struct text *t, enum text_part part, const struct late *late)
{
    struct state s = { .t = t, .part = part };
    size_t i;

    if (part == PART_CODE)
        learn(&s);
    for (i = 0; i < t->count; i++) {
        if (i % ASK_LINES == 0 && is_late(late))
            return false;
        t->lines[i].kind |= kind_of(&s, i);
        if (!(t->lines[i].kind & K_BLANK) && (!i || t->lines[i - 1].kind & K_BLANK))
            t->lines[i].kind |= K_STARTS;
    }
    if (part != PART_LOGS)
        mark_licence(t);
    return true;
}

/* How many blocks are open behind a line, of those open before it; any: does a
 * directive stand on it, or was one open on the way? */
static size_t open_behind(struct str s, size_t open, bool *any)
{
    static const char MARK[] = "\xe2\x9f\xa6NO_PRUNE_";
    const char *end = s.p + s.n, *p = s.p;

    *any = open > 0;
    while ((p = memmem(p, (size_t)(end - p), MARK, sizeof MARK - 1)) != NULL) {
        p += sizeof MARK - 1;
        s = (struct str){ p, (size_t)(end - p) };
        if (str_starts(s, "BEGIN\xe2\x9f\xa7"))
            open++;
        else if (!str_starts(s, "END\xe2\x9f\xa7"))
            continue;
        else if (open)
            open--;
        *any = true;
    }
    return open;
}

void text_protected(struct text *t)
{
    size_t i, open = 0;
    bool any;

    for (i = 0; i < t->count; i++) {
        any = open > 0;
        if (t->lines[i].saw & SAW_MARK)
            open = open_behind(line_str(t, i), open, &any);
        if (any)
            t->lines[i].kind |= K_KEEP;
    }
}
