/* scan_test.c: what each line is, and under which header it stands, for one
 * short text of each kind (scan_samples.h); and what takes more than a row. */
#include "scan/blocks.h"

#include "base/buf.h"
#include "scan/log.h"
#include "scan_samples.h"
#include "test.h"

/* ---- Reading the samples ---- */

/* What a word asks for, and what it does not mind. */
static const struct word_means {
    const char *word;
    uint32_t is, also, log;
} WORDS[] = {
    { "", 0, 0, 0 },
    { "blank", K_BLANK, K_COMMENT | K_FENCED, 0 },
    { "comment", K_COMMENT, K_PUNCT, 0 },
    { "text", K_DOCSTR, K_COMMENT | K_PUNCT, 0 },
    { "import", K_IMPORT, K_PREPROC, 0 },
    { "direct", K_PREPROC, 0, 0 },
    { "decor", K_DECOR, 0, 0 },
    { "type", K_TYPE, 0, 0 },
    { "def", K_DEF, 0, 0 },
    { "punct", K_PUNCT, 0, 0 },
    { "close", K_CLOSE, K_PUNCT, 0 },
    { "key", K_KEY, K_LIST, 0 },
    { "heading", K_HEADING, K_OPTION, 0 },
    { "under", K_UNDER, K_PUNCT, 0 },
    { "list", K_LIST, 0, 0 },
    { "table", K_TABLE, K_PUNCT, 0 },
    { "fence", K_FENCE, K_PUNCT | K_FENCED, 0 },
    { "code", K_FENCED, ~0u, 0 },
    { "option", K_OPTION, 0, 0 },
    { "head", 0, 0, L_ENTRY },
    { "hunk", 0, 0, L_HUNK },
    { "plus", 0, 0, L_PLUS },
    { "minus", 0, 0, L_MINUS },
};

enum {
    TOLD = K_BLANK | K_COMMENT | K_DOCSTR | K_IMPORT | K_PREPROC | K_DECOR | K_TYPE | K_DEF |
           K_PUNCT | K_CLOSE | K_HEADING | K_UNDER | K_LIST | K_TABLE | K_FENCE | K_FENCED |
           K_OPTION,
    TOLD_LOG = L_ENTRY | L_HUNK | L_PLUS | L_MINUS,
};

/* "13 def      6|    def run(" */
struct row {
    unsigned number, under; /* under 0: nothing */
    bool wrong;             /* known to be */
    char word[9];
    const char *text;
    size_t n;
};

static struct row row_at(const char *p)
{
    const char *bar = strchr(p, '|');
    struct row r = { .wrong = p[2] == '!', .text = bar + 1, .n = strcspn(bar + 1, "\n") };

    sscanf(p, "%2u", &r.number);
    sscanf(p + 3, "%8[a-z]", r.word);
    if (p[11] != ' ' || p[12] != ' ')
        sscanf(p + 11, "%2u", &r.under);
    return r;
}

static const char *next_row(const char *p)
{
    return p + strcspn(p, "\n") + 1;
}

/* The line that line i stands under, from 1; a header stands under the one
 * above it. Data has no headers: there it is the key. */
static unsigned under(const struct blocks *b, size_t i, bool data)
{
    uint32_t h = data ? b->parent[i] : b->header[i];

    if (h == i)
        h = b->parent[i] == NO_LINE ? NO_LINE : b->header[b->parent[i]];
    return h == NO_LINE ? 0 : h + 1;
}

static const struct sample *now;

static bool is(const struct line *l, const char *word)
{
    const struct word_means *w = WORDS;

    while (strcmp(w->word, word) != 0)
        w++;
    if (now->part == PART_LOGS)
        return (l->log & TOLD_LOG) == w->log;
    return (l->kind & w->is) == w->is && !(l->kind & TOLD & ~(w->is | w->also));
}

/* Every line is in one block and in one paragraph. */
static void partitioned(const struct blocks *b, const struct text *t)
{
    size_t i, k;

    CHECK(b->count && b->all[0].from == 0 && b->all[b->count - 1].to == t->count);
    for (i = 0; i < b->count; i++) {
        CHECK(b->all[i].from < b->all[i].to && (!i || b->all[i - 1].to == b->all[i].from));
        for (k = b->all[i].from; k < b->all[i].to; k++)
            CHECK(b->of[k] == i);
    }
    CHECK(b->para_count && b->paras[0].from == 0 && b->paras[b->para_count - 1].to == t->count);
    for (i = 0; i < b->para_count; i++) {
        CHECK(b->paras[i].from < b->paras[i].to && (!i || b->paras[i - 1].to == b->paras[i].from));
        for (k = b->paras[i].from; k < b->paras[i].to; k++)
            CHECK(b->para[k] == i);
    }
}

static void sample(void)
{
    static const struct late never;
    struct arena a = { 0 };
    struct blocks b;
    struct text t;
    struct row r;
    struct buf bytes;
    const char *p;
    bool right;
    size_t i;

    buf_init(&bytes, 10000);
    for (p = now->rows; *p; p = next_row(p)) {
        r = row_at(p);
        buf_add(&bytes, r.text, r.n);
        buf_addc(&bytes, '\n');
    }
    CHECK(text_read(&t, &a, buf_str(&bytes), NULL, 0, &never));
    CHECK((text_guess(&t) == now->part) == !now->misread);
    CHECK(now->part == PART_LOGS ? text_logs(&t, &never) : text_kinds(&t, now->part, &never));
    CHECK(text_blocks(&b, &a, &t, now->part, &never));
    for (p = now->rows, i = 0; *p; p = next_row(p), i++) {
        r = row_at(p);
        CHECK(r.text == p + 14 && r.under < r.number);
        right = r.number == i + 1 && is(&t.lines[i], r.word) &&
                (*r.word == 'b' || under(&b, i, now->data) == r.under);
        CHECK(right == !r.wrong);
        if (right == r.wrong)
            printf("# line %u of %s: kind %#x, under %u\n", r.number, now->name, t.lines[i].kind,
                   under(&b, i, now->data));
    }
    CHECK(i == t.count);
    partitioned(&b, &t);
    buf_done(&bytes);
    arena_done(&a);
}

/* ---- What takes more than a row ---- */

static struct arena arena;
static struct text t;
static struct blocks b;

static void read_as(enum text_part part, struct str bytes)
{
    static const struct late never;

    arena_done(&arena);
    CHECK(text_read(&t, &arena, bytes, NULL, 0, &never));
    CHECK(text_kinds(&t, part, &never));
    CHECK(text_blocks(&b, &arena, &t, part, &never));
}

/* A block starts with the comments and decorators of what it defines. */
static void leading(void)
{
    read_as(PART_CODE, STR("import os\n"
                           "\n"
                           "# Ends\n"
                           "# all.\n"
                           "@once\n"
                           "def close():\n"
                           "    os.sync()\n"
                           "\n"
                           "def open():\n"
                           "    pass\n"));
    CHECK(b.count == 3);
    CHECK(b.all[1].from == 2 && b.all[1].to == 8 && b.all[1].header == 5);
    CHECK(b.all[2].from == 8 && b.all[2].to == 10 && b.all[2].header == 8);
    CHECK(b.all[0].header == NO_LINE);
    arena_done(&arena);
}

/* Only the comment a file opens with, and only one that speaks of rights. */
static void licence(void)
{
    read_as(PART_CODE, STR("/* ring.c: a ring.\n"
                           " * Copyright its authors. */\n"
                           "\n"
                           "/* How much fits. */\n"
                           "int room(void)\n"
                           "{\n"
                           "    return 1; // license to fill\n"
                           "}\n"));
    CHECK(t.lines[0].kind & K_LICENCE && t.lines[1].kind & K_LICENCE);
    CHECK(!(t.lines[3].kind & K_LICENCE) && !(t.lines[6].kind & K_LICENCE));
    read_as(PART_CODE, STR("/* ring.c: a ring. */\n"
                           "\n"
                           "int x; /* copyright */\n"));
    CHECK(!(t.lines[0].kind & K_LICENCE) && !(t.lines[2].kind & K_LICENCE));
    arena_done(&arena);
}

/* What opens and is never closed does not swallow the rest of the text. */
static void never_closed(void)
{
    struct buf bytes;
    size_t i;

    buf_init(&bytes, 100000);
    buf_adds(&bytes, "/* opens\n");
    for (i = 0; i < 1000; i++)
        buf_adds(&bytes, "    x = 1;\n");
    read_as(PART_CODE, buf_str(&bytes));
    CHECK(t.lines[9].kind & K_COMMENT && !(t.lines[999].kind & K_COMMENT));
    bytes.len = 0;
    buf_adds(&bytes, "```\n");
    for (i = 0; i < 1000; i++)
        buf_adds(&bytes, "text\n");
    read_as(PART_DOCS, buf_str(&bytes));
    CHECK(t.lines[9].kind & K_FENCED && !(t.lines[999].kind & K_FENCED));
    buf_done(&bytes);
    arena_done(&arena);
}

/* A long function is several blocks with one header. */
static void long_function(void)
{
    struct buf bytes;
    size_t i;

    buf_init(&bytes, 100000);
    buf_adds(&bytes, "def run():\n");
    for (i = 0; i < 300; i++)
        buf_adds(&bytes, "    step()\n");
    read_as(PART_CODE, buf_str(&bytes));
    CHECK(b.count == 3 && b.all[2].header == 0 && b.header[300] == 0);
    partitioned(&b, &t);
    buf_done(&bytes);
    arena_done(&arena);
}

/* Deeper than anybody writes: no harm. */
static void deep(void)
{
    struct buf bytes;
    size_t i, k;

    buf_init(&bytes, 1 << 20);
    for (i = 0; i < 300; i++) {
        for (k = 0; k < i; k++)
            buf_adds(&bytes, " ");
        buf_adds(&bytes, "def f():\n");
    }
    read_as(PART_CODE, buf_str(&bytes));
    CHECK(t.count == 300 && b.parent[1] == 0 && b.parent[63] == 62 && t.lines[299].depth <= 64);
    partitioned(&b, &t);
    buf_done(&bytes);
    arena_done(&arena);
}

int main(void)
{
    char sentence[100];
    size_t i;

    for (i = 0; i < sizeof SAMPLES / sizeof *SAMPLES; i++) {
        now = &SAMPLES[i];
        snprintf(sentence, sizeof sentence, "the lines of %s are what they are", now->name);
        TEST(sentence, sample);
    }
    TEST("a block starts with its comments and decorators", leading);
    TEST("a licence is the comment at the top that speaks of rights", licence);
    TEST("a comment or fence that is never closed ends after a while", never_closed);
    TEST("a long function is several blocks with one header", long_function);
    TEST("nesting of any depth does no harm", deep);
    return test_end();
}
