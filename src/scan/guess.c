/* guess.c: code, prose or tool output?
 *
 * Each line says what it is most like, by signs that hardly stand in the others;
 * the first 4,000 are asked. Data (YAML, JSON) mostly counts as prose on purpose:
 * its questions are answered better so. */
#include "scan/kinds.h"

/* A fence or a quote that nobody closes ends here all the same. */
enum { INSIDE = 100, ASKED = 4000 };

/* As long as the line above. */
static bool is_underline(const struct text *t, size_t i, struct str h)
{
    size_t above;

    if (!i || !t->lines[i - 1].first || !is_ruled(h) || h.p[0] == '#' || h.p[0] == '*')
        return false;
    above = line_str(t, i - 1).n;
    return above <= h.n + 2 && h.n <= above + 2;
}

/* "12 | code", "   |   ^~~": a tool quotes code. */
static bool is_quoted_code(struct str h)
{
    size_t k = 0;

    while (k < h.n && ((h.p[k] >= '0' && h.p[k] <= '9') || h.p[k] == ' ' || h.p[k] == '>'))
        k++;
    return k < h.n && h.p[k] == '|' && h.p[h.n - 1] != '|' && (k + 1 == h.n || h.p[k + 1] == ' ');
}

static bool is_code(const struct line *l, struct str h, const struct word *w)
{
    if (l->last == ';' || l->last == '{' || l->last == '}' || l->saw & SAW_OPEN ||
        str_starts(h, "//") || str_starts(h, "* ") || str_starts(h, "#include") ||
        str_starts(h, "#define"))
        return true;
    if (!w || !w->kw)
        return false;
    if (!l->indent &&
        (w->kw == KW_DEF || w->kw == KW_IMPORT || w->kw == KW_TYPE || w->kw == KW_MOD))
        return l->last != '.';
    return l->indent &&
           (l->saw & (SAW_CALL | SAW_ASSIGN) || strchr(":({[,)", l->last) || l->tokens < 8) &&
           l->last != '.';
}

static bool is_code_else(const struct line *l)
{
    return l->saw & SAW_ASSIGN && (l->saw & SAW_CALL || l->indent || l->tokens < 12);
}

/* "src/a.c:12:", "0c9d8e7 title", "/usr/include/a.h", "INFO …": tools write such lines. */
static bool is_listed(const struct line *l, struct str h)
{
    size_t k, digits = 0, hex = 0;

    if (str_starts(h, "INFO ") || str_starts(h, "WARN ") || str_starts(h, "ERROR ") ||
        str_starts(h, "DEBUG ") || str_starts(h, "[INFO] ") || str_starts(h, "Caused by: ") ||
        (str_starts(h, "at ") && l->saw & SAW_PATH_LINE))
        return true;
    if (l->indent)
        return false;
    for (k = 0; k < h.n && h.p[k] != ' ' && h.p[k] != '\t'; k++) {
        if (k && h.p[k - 1] == ':' && h.p[k] >= '0' && h.p[k] <= '9')
            return true;
        digits += h.p[k] >= '0' && h.p[k] <= '9';
        hex += strchr("0123456789abcdef", h.p[k]) != NULL;
    }
    return k == h.n ? h.p[0] == '/' && h.n > 1 && h.p[1] != '/' && h.p[1] != '*'
                    : k >= 7 && hex == k && digits;
}

static bool is_quote(uint8_t c)
{
    return c == '"' || c == '\'';
}

/* What each line is most like, and which there are most of. */
enum text_part text_guess(const struct text *t)
{
    size_t n = 0, code = 0, log = 0, doc = 0, i, most = t->count < ASKED ? t->count : ASKED;
    const struct word *w;
    const struct line *l;
    unsigned fence = 0, string = 0; /* lines that may still be inside */
    struct str h;

    for (i = 0; i < most; i++) {
        l = &t->lines[i];
        if (!l->first)
            continue;
        h = line_head(t, i);
        w = line_word(t, i, 0);
        if (!i && str_starts(h, "#!"))
            return PART_CODE;
        if (!i && (str_starts(h, "diff --git") || (str_starts(h, "commit ") && l->digits > 3)))
            return PART_LOGS;
        if (str_starts(h, "```") || str_starts(h, "~~~")) {
            fence = fence ? 0 : INSIDE;
            doc += 3;
            continue;
        }
        if (l->saw & SAW_TRIPLE && (string || is_quote(l->first) || is_quote(l->last))) {
            string = string ? 0 : INSIDE;
            code += 2;
        }
        if (fence || string) {
            fence -= fence > 0;
            string -= string > 0;
            continue;
        }
        n++;
        if (str_starts(h, "commit ") || str_starts(h, "diff --git") || str_starts(h, "@@ ") ||
            is_quoted_code(h) || is_listed(l, h) ||
            (!l->indent && l->first == '{' && l->last == '}' && l->tokens > 12) ||
            (!l->indent && (l->first == '+' || l->first == '-') && h.n > 1 && h.p[1] != ' ' &&
             h.p[1] != '-' && !is_ruled(h)))
            log += 3;
        else if (str_starts(h, "##") || str_starts(h, ".. ") || str_starts(h, "](") ||
                 is_underline(t, i, h))
            doc += 3;
        else if (is_code(l, h, w))
            code += 2;
        else if (l->digits >= 6 || l->saw & (SAW_PATH_LINE | SAW_ANSI) || l->sevs)
            log += 2;
        else if (is_code_else(l))
            code++;
        else if (!l->indent && l->last == '.' && w && w->upper)
            doc += 2;
        else if (str_starts(h, "# ") && i + 1 < t->count && !t->lines[i + 1].first)
            doc += 2;
        else if (l->last >= 'a' && l->last <= 'z' && l->first != '#')
            doc++;
    }
    if (log * 2 > n && log > code && log > doc)
        return PART_LOGS;
    if (code > doc || code > n)
        return PART_CODE;
    return doc ? PART_DOCS : PART_LOGS;
}
