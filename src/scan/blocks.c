/* blocks.c: parents by a stack of indents, blocks by where headers start.
 *
 * Lines that say nothing about nesting (blank, comment, signs only, directives,
 * what closes) are skipped by the stack: then signatures over several lines and
 * "{" on a line of its own work in every language. Headings are a stack too,
 * with their level for an indent. */
#include "scan/blocks.h"

#include "scan/log.h"

enum {
    DEEPEST = 64,
    LONG_BLOCK = 105, /* longer ones are split */
    LONG_PARA = 20,
    LOOSE = 30, /* lines without a header that are one block at most */
    ENTRY = 80, /* lines that the head of a log's entry owns at most */
    PLAIN = 16, /* lines of a log without a head that are one block at most */
    ASK_LINES = 4096,
};

struct frame {
    unsigned indent;
    uint32_t line;
};

struct maker {
    struct blocks *b;
    struct text *t;
    struct frame stack[DEEPEST];
    int depth;
    uint32_t heads; /* kinds of lines that others stand under */
    char sign;      /* the last one of the line before */
};

static void pop(struct maker *m, unsigned indent)
{
    while (m->depth && m->stack[m->depth - 1].indent >= indent)
        m->depth--;
}

static void push(struct maker *m, unsigned indent, size_t line)
{
    if (m->depth < DEEPEST)
        m->stack[m->depth++] = (struct frame){ indent, (uint32_t)line };
}

static uint32_t top(const struct maker *m)
{
    return m->depth ? m->stack[m->depth - 1].line : NO_LINE;
}

static uint32_t header_of(const struct blocks *b, const struct text *t, uint32_t line,
                          uint32_t kinds)
{
    uint32_t up;

    if (line == NO_LINE || t->lines[line].kind & kinds)
        return line;
    up = b->header[line];
    return up;
}

/* ---- Code ---- */

static void code_parents(struct maker *m, size_t i)
{
    enum { QUIET = K_BLANK | K_COMMENT | K_PUNCT | K_PREPROC | K_CLOSE | K_DOCSTR };
    struct blocks *b = m->b;
    struct line *l = &m->t->lines[i];
    bool label =
        !l->indent && l->last == ':' && !(l->saw & SAW_PAREN) &&
        m->t->lines[i + 1].words == l->words + 1 &&
        (m->t->words[m->t->places[l->words]].kw == KW_MOD || (m->sign && strchr(";{}", m->sign)));
    int k;

    if (!(l->kind & (K_BLANK | K_COMMENT | K_PREPROC)))
        m->sign = l->last;

    if (l->kind & QUIET || label) {
        for (k = m->depth; k && !(l->kind & K_BLANK) && m->stack[k - 1].indent >= l->indent; k--)
            ;
        b->parent[i] = k ? m->stack[k - 1].line : NO_LINE;
        l->depth = (uint8_t)k;
    } else {
        pop(m, l->indent);
        b->parent[i] = top(m);
        l->depth = (uint8_t)m->depth;
        push(m, l->indent, i);
    }
    b->header[i] = l->kind & m->heads ? (uint32_t)i : header_of(b, m->t, b->parent[i], m->heads);
}

/* The first of the comments and decorators that stand on line i. */
static size_t leading(const struct text *t, size_t i, size_t from)
{
    while (i > from && t->lines[i - 1].kind & (K_COMMENT | K_DECOR) &&
           !(t->lines[i - 1].kind & K_BLANK && !(t->lines[i - 1].kind & K_COMMENT)))
        i--;
    return i;
}

static bool starts_code(const struct text *t, size_t i, const struct block *cur)
{
    const struct line *l = &t->lines[i];
    const struct line *h = cur->header == NO_LINE ? NULL : &t->lines[cur->header];

    if (l->kind & (K_DEF | K_TYPE))
        return true;
    if (l->kind & (K_BLANK | K_COMMENT | K_PUNCT | K_PREPROC | K_CLOSE | K_DOCSTR))
        return false;
    if (h)
        return l->indent <= h->indent && i > cur->header;
    return i - cur->from >= 4 && l->kind & K_STARTS && i && l->indent <= t->lines[cur->from].indent;
}

/* ---- Prose ---- */

static unsigned heading_level(const struct text *t, size_t i)
{
    const struct line *l = &t->lines[i];
    const char *p = t->bytes.p + l->head, *end = t->bytes.p + t->bytes.n;
    unsigned n = 0;

    if (l->first == '#' || l->first == '=') {
        while (p + n < end && p[n] == *p && n < 6)
            n++;
        return n;
    }
    if (l->first == '.')
        return p + 2 < end && (p[2] == 'S' || p[2] == 's') ? 2 : 1;
    if (l->first == '<')
        return p + 2 < end && p[2] >= '1' && p[2] <= '6' ? (unsigned)(p[2] - '0') : 2;
    if (i + 1 < t->count && t->lines[i + 1].kind & K_UNDER) {
        switch (t->lines[i + 1].first) {
        case '=':
            return 1;
        case '-':
            return 2;
        case '~':
            return 3;
        default:
            return 4;
        }
    }
    return l->indent ? 2 : 1;
}

static void doc_parents(struct maker *m, size_t i)
{
    struct blocks *b = m->b;
    struct line *l = &m->t->lines[i];
    const struct line *up;
    unsigned level;

    if (l->kind & K_HEADING) {
        level = heading_level(m->t, i);
    } else if (l->kind & K_OPTION) {
        level = 20 + l->indent;
    } else {
        up = top(m) == NO_LINE ? NULL : &m->t->lines[top(m)];
        if (up && up->kind & K_OPTION && l->first && l->indent <= up->indent)
            pop(m, 20);
        level = 0;
    }
    if (level)
        pop(m, level);
    b->parent[i] = top(m);
    l->depth = (uint8_t)m->depth;
    if (level)
        push(m, level, i);
    b->header[i] = level ? (uint32_t)i : b->parent[i];
}

static bool starts_doc(const struct text *t, size_t i, const struct block *cur)
{
    const struct line *l = &t->lines[i];
    const struct line *h = cur->header == NO_LINE ? NULL : &t->lines[cur->header];

    if (l->kind & (K_HEADING | K_OPTION))
        return true;
    if (h && h->kind & K_OPTION)
        return l->first && l->indent <= h->indent;
    return !h && i - cur->from >= LOOSE && l->kind & K_STARTS;
}

/* ---- Tool output ---- */

static bool starts_log(const struct text *t, size_t i, const struct block *cur)
{
    const struct line *l = &t->lines[i];
    bool headed = cur->header != NO_LINE;

    if (l->log & L_ENTRY)
        /* "====", title, "----": the title is still the same head */
        return !(headed && i == cur->header + 2 && t->lines[cur->header].log & L_RULE);
    if (headed)
        return i - cur->from >= ENTRY;
    return i - cur->from >= PLAIN || (i && !t->lines[i - 1].first && l->first);
}

static void log_parents(struct maker *m, size_t i, const struct block *cur)
{
    struct blocks *b = m->b;
    struct line *l = &m->t->lines[i];
    uint32_t head = cur->header;

    if (head != NO_LINE && m->t->lines[head].log & L_RULE && head + 1 < m->t->count && i > head + 1)
        head++;
    b->header[i] = head;
    b->parent[i] = head == i ? NO_LINE : head;
    if (l->indent)
        l->depth = l->indent > 40 ? 10 : (uint8_t)(l->indent / 4);
}

/* ---- All ---- */

static void block_add(struct blocks *b, size_t from, uint32_t header)
{
    if (b->count && b->all[b->count - 1].from == from) {
        b->all[b->count - 1].header = header;
        return;
    }
    if (b->count)
        b->all[b->count - 1].to = (uint32_t)from;
    b->all[b->count++] = (struct block){ (uint32_t)from, 0, header };
}

static bool starts(const struct text *t, size_t i, enum text_part part, const struct block *cur)
{
    switch (part) {
    case PART_CODE:
        return starts_code(t, i, cur);
    case PART_DOCS:
        return starts_doc(t, i, cur);
    default:
        return starts_log(t, i, cur);
    }
}

static bool is_header(const struct line *l, enum text_part part)
{
    switch (part) {
    case PART_CODE:
        return l->kind & (K_DEF | K_TYPE);
    case PART_DOCS:
        return l->kind & (K_HEADING | K_OPTION);
    default:
        return l->log & L_ENTRY;
    }
}

static void paragraphs(struct blocks *b, const struct text *t)
{
    struct block *p = NULL;
    size_t i;

    for (i = 0; i < t->count; i++) {
        if (!p || (t->lines[i].kind & K_STARTS) || i - p->from >= LONG_PARA) {
            if (p)
                p->to = (uint32_t)i;
            p = &b->paras[b->para_count++];
            *p = (struct block){ (uint32_t)i, 0, NO_LINE };
        }
        b->para[i] = (uint32_t)b->para_count - 1;
    }
    if (p)
        p->to = (uint32_t)t->count;
}

/* Data has no signatures: there the key that opens is the header. */
static uint32_t heads_of(const struct text *t)
{
    size_t i, defs = 0, keys = 0, n = 0;

    for (i = 0; i < t->count && i < 2000; i++) {
        n += !(t->lines[i].kind & (K_BLANK | K_PUNCT | K_COMMENT));
        defs += (t->lines[i].kind & (K_DEF | K_TYPE)) != 0;
        keys += (t->lines[i].kind & (K_KEY | K_STRING)) != 0;
    }
    return !defs && keys * 2 > n ? K_OPENS : K_DEF | K_TYPE;
}

bool text_blocks(struct blocks *b, struct arena *a, struct text *t, enum text_part part,
                 const struct late *late)
{
    struct maker m = { .b = b, .t = t };
    size_t n = t->count, i, k;
    struct block *cur;

    *b = (struct blocks){ 0 };
    m.heads = part == PART_CODE ? heads_of(t) : 0;
    b->all = arena_alloc(a, (n + 1) * sizeof *b->all);
    b->paras = arena_alloc(a, (n + 1) * sizeof *b->paras);
    b->of = arena_alloc(a, (n + 1) * sizeof *b->of);
    b->para = arena_alloc(a, (n + 1) * sizeof *b->para);
    b->parent = arena_alloc(a, (n + 1) * sizeof *b->parent);
    b->header = arena_alloc(a, (n + 1) * sizeof *b->header);
    for (i = 0; i < n; i++) {
        if (i % ASK_LINES == 0 && is_late(late))
            return false;
        if (part == PART_CODE)
            code_parents(&m, i);
        else if (part == PART_DOCS)
            doc_parents(&m, i);
        cur = b->count ? &b->all[b->count - 1] : NULL;
        if (!cur || starts(t, i, part, cur)) {
            k = part == PART_CODE && cur ? leading(t, i, cur->from) : i;
            block_add(b, k, is_header(&t->lines[i], part) ? (uint32_t)i : NO_LINE);
            if (part == PART_CODE && !is_header(&t->lines[i], part) && b->parent[i] != NO_LINE)
                b->all[b->count - 1].header = b->header[i];
        } else if (i - cur->from >= LONG_BLOCK) {
            block_add(b, i, cur->header);
        }
        if (part == PART_LOGS)
            log_parents(&m, i, &b->all[b->count - 1]);
    }
    if (b->count)
        b->all[b->count - 1].to = (uint32_t)n;
    for (i = 0; i < b->count; i++)
        for (k = b->all[i].from; k < b->all[i].to; k++)
            b->of[k] = (uint32_t)i;
    paragraphs(b, t);
    return true;
}
