/* prune_test.c: the limits of pruning hold for every text. */
#include "prune/prune.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tokens/tokens.h"
#include "test.h"

static struct arena arena;

static struct prune prune(struct str text, const char *goal, struct prune_opts o)
{
    struct prune p;

    prune_text(&p, &arena, text, str_of(goal), &o);
    return p;
}

static size_t lines_of(struct str s)
{
    size_t n = 0, i;

    for (i = 0; i < s.n; i++)
        n += s.p[i] == '\n';
    return n + (s.n && s.p[s.n - 1] != '\n');
}

static bool is_kept(const struct prune *p, size_t line)
{
    size_t i;

    for (i = 0; i < p->gap_count; i++)
        if (line >= p->gaps[i].from && line <= p->gaps[i].to)
            return false;
    return true;
}

/* What must hold of every answer. */
static bool holds(const struct prune *p, struct str text, const struct prune_opts *o)
{
    size_t gone = 0, last = 0, i, least = o->min_keep < p->lines ? o->min_keep : p->lines;

    if (p->lines != lines_of(text))
        return false;
    for (i = 0; i < p->gap_count; i++) {
        if (p->gaps[i].from <= last || p->gaps[i].to < p->gaps[i].from || !p->gaps[i].why)
            return false;
        if (last && p->gaps[i].from == last + 1)
            return false; /* two that touch are one */
        last = p->gaps[i].to;
        gone += p->gaps[i].to - p->gaps[i].from + 1;
    }
    if (last > p->lines || p->kept + gone != p->lines || p->kept < least)
        return false;
    if (p->warning && (gone || p->score))
        return false;
    for (i = 0; p->score && i < p->lines; i++)
        if (!(p->score[i] >= 0 && p->score[i] <= 1))
            return false;
    return (double)gone <= floor((double)p->lines * o->max_ratio + 1e-9);
}

/* ---- Texts ---- */

static uint32_t seed = 1;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* A text out of pieces that mean something to the scanner. */
static struct str random_text(void)
{
    static const char *const PIECES[] = {
        "def run(self):",
        "    return x",
        "}",
        "{",
        "",
        "\t",
        "# heading",
        "=====",
        "import os",
        "ERROR: it failed",
        "commit 0123456789abcdef",
        "diff --git a/x b/x",
        "+added",
        "-gone",
        "2024-01-02T03:04:05Z INFO started",
        "/* opens",
        "closes */",
        "\"\"\"",
        "```",
        "\r",
        "int main(void)",
        "  File \"a.py\", line 3, in f",
        "ValueError: bad",
        "| a | b |",
        "\xe2\x9f\xa6NO_PRUNE_BEGIN\xe2\x9f\xa7",
        "\xe2\x9f\xa6NO_PRUNE_END\xe2\x9f\xa7",
        "\xff\xfe\x80",
        "    -x, --long  an option",
        "class Timeout(Retry):",
        "a\033[31mb\033[0m",
        "E   assert 1 == 2",
        "$ make",
        "key: value",
        "@decorator",
        "1234567890",
        "\xe2\x9f",
    };
    static char text[64 * 1024];
    size_t n = 0, lines = next() % 200, i, k;
    const char *s;

    for (i = 0; i < lines; i++) {
        for (k = next() % 3 + 1; k--;) {
            s = PIECES[next() % (sizeof PIECES / sizeof *PIECES)];
            memcpy(text + n, s, strlen(s));
            n += strlen(s);
        }
        if (next() % 20 == 0)
            text[n++] = '\0';
        if (next() % 20 == 0)
            text[n++] = '\r';
        text[n++] = '\n';
    }
    if (n && next() % 2)
        n--;
    return (struct str){ text, n };
}

static void every_limit(void)
{
    static const double RATIOS[] = { 0, 0.1, 0.5, 0.55, 0.9, 0.99, 1 };
    struct prune_opts o = { 0 };
    struct prune p, again;
    struct str text;
    size_t k;
    int i;

    for (i = 0; i < 3000; i++) {
        text = random_text();
        o.source = (enum prune_source)(next() % 4);
        o.scorer = (enum prune_scorer)(next() % 2);
        o.max_ratio = RATIOS[next() % 7];
        o.min_keep = next() % 3 ? next() % 40 : 0;
        o.budget = next() % 3 ? 0 : next() % 400;
        o.marker_cost = next() % 2 ? 0 : next() % 30;
        p = prune(text, "why does retry fail with timeout in run()?", o);
        CHECK(holds(&p, text, &o));
        again = prune(text, "why does retry fail with timeout in run()?", o);
        CHECK(p.gap_count == again.gap_count && p.kept == again.kept);
        for (k = 0; k < p.gap_count && k < again.gap_count; k++)
            CHECK(p.gaps[k].from == again.gaps[k].from && p.gaps[k].to == again.gaps[k].to &&
                  p.gaps[k].why == again.gaps[k].why);
        CHECK(!p.score || memcmp(p.score, again.score, p.lines * sizeof *p.score) == 0);
        if (!o.budget && !o.marker_cost && !memmem(text.p, text.n, "NO_PRUNE", 8) && p.lines &&
            o.min_keep <= 1 && o.max_ratio < 1)
            CHECK(p.lines - p.kept == (size_t)floor((double)p.lines * o.max_ratio + 1e-9));
        arena_done(&arena);
    }
}

static void blocks_stay(void)
{
    struct str text = STR("a\nb\n\xe2\x9f\xa6NO_PRUNE_BEGIN\xe2\x9f\xa7\nc\n\nd\n  \xe2\x9f\xa6"
                          "NO_PRUNE_END\xe2\x9f\xa7\ne\nthe retry timeout\nf\n");
    struct prune p = prune(text, "retry timeout", (struct prune_opts){ .max_ratio = 1 });
    size_t i;

    CHECK(p.lines == 10);
    for (i = 3; i <= 7; i++)
        CHECK(is_kept(&p, i));
    CHECK(p.kept < 10);
    arena_done(&arena);
}

/* The lines of a text of "b" (BEGIN), "e" (END), "eb" (both) and others that are kept. */
static const char *kept_of(const char *lines)
{
    static char out[40];
    struct prune p;
    struct buf b;
    size_t i;

    buf_init(&b, 4096);
    for (; *lines; lines++)
        buf_adds(&b, *lines == 'b'   ? "\xe2\x9f\xa6NO_PRUNE_BEGIN\xe2\x9f\xa7"
                     : *lines == 'e' ? "\xe2\x9f\xa6NO_PRUNE_END\xe2\x9f\xa7"
                     : *lines == ' ' ? "\n"
                                     : "other");
    p = prune(buf_str(&b), "the retry timeout", (struct prune_opts){ .max_ratio = 1 });
    for (i = 1; i <= p.lines; i++)
        out[i - 1] = is_kept(&p, i) ? 'K' : '.';
    out[p.lines] = '\0';
    buf_done(&b);
    arena_done(&arena);
    return out;
}

static void blocks_in_blocks(void)
{
    CHECK_STR(kept_of("o b o e o"), ".KKK.");
    CHECK_STR(kept_of("o b o b o e o e o"), ".KKKKKKK.");
    CHECK_STR(kept_of("b o eb o e o"), "KKKKK.");
    CHECK_STR(kept_of("o be o"), ".K.");
    CHECK_STR(kept_of("o e o"), ".K.");
    CHECK_STR(kept_of("o e b o o"), ".KKKK");
}

static void impossible(void)
{
    struct prune p =
        prune(STR("a\nb\nc\n"), "a", (struct prune_opts){ .max_ratio = 1, .min_keep = 4 });

    CHECK(p.warning && strcmp(p.warning, "constraints_unmet") == 0 && p.kept == 3);
    p = prune(STR("a\nb\nc\n"), "a", (struct prune_opts){ .max_ratio = 1, .min_keep = 3 });
    CHECK(!p.warning && p.kept == 3);
    p = prune(STR(""), "a", (struct prune_opts){ .max_ratio = 1, .min_keep = 3 });
    CHECK(!p.warning && p.kept == 0);
    arena_done(&arena);
}

static void odd_texts(void)
{
    struct prune_opts o = { .max_ratio = 0.9 };
    struct prune p = prune(STR(""), "x", o);
    char *big = xmalloc(1 << 20);

    CHECK(p.lines == 0 && p.kept == 0 && !p.warning && !p.gap_count);
    p = prune(STR("\n"), "x", o);
    CHECK(p.lines == 1 && p.kept == 1);
    p = prune(STR("one"), "", o);
    CHECK(p.lines == 1 && p.kept == 1);
    memset(big, 'x', 1 << 20);
    p = prune((struct str){ big, 1 << 20 }, "x", o);
    CHECK(p.lines == 1 && p.kept == 1 && !p.warning);
    memset(big, '\n', 1 << 20);
    p = prune((struct str){ big, 1 << 20 }, "x", o);
    CHECK(holds(&p, (struct str){ big, 1 << 20 }, &o));
    memset(big, 0, 1 << 20);
    p = prune((struct str){ big, 1 << 20 }, "x", o);
    CHECK(p.lines == 1);
    o.max_ratio = NAN;
    p = prune(STR("a\nb\n"), "x", o);
    CHECK(p.warning && strcmp(p.warning, "constraints_unmet") == 0 && p.kept == 2);
    free(big);
    arena_done(&arena);
}

static void million(void)
{
    struct prune_opts o = { .max_ratio = 0.95 };
    struct buf b;
    struct prune p;
    size_t i;

    buf_init(&b, 64 << 20);
    for (i = 0; i < 1000000; i++)
        buf_addf(&b, "line %zu of the log\n", i);
    p = prune(buf_str(&b), "line 77 of", o);
    CHECK(p.lines == 1000000 && p.kept == 50000);
    CHECK(holds(&p, buf_str(&b), &o));
    CHECK(is_kept(&p, 78));
    buf_done(&b);
    arena_done(&arena);
}

/* Seed 001's own example: of four lines that look the same the named one stays. */
static void few_lines(void)
{
    struct prune p = prune(STR("L1\nL2\nL3\nL4"), "garder L1",
                           (struct prune_opts){ .source = PRUNE_DOCS, .max_ratio = 0.75 });

    CHECK(p.kept == 1 && is_kept(&p, 1));
    p = prune(STR("a\n\nb\n"), "b", (struct prune_opts){ .max_ratio = 0.9, .marker_cost = 40 });
    CHECK(p.lines == 3 && p.kept == 3);
    arena_done(&arena);
}

static int asked;

static bool third(void *arg)
{
    return ++asked >= *(int *)arg;
}

/* Whenever it becomes late, the answer is whole. */
static void too_late(void)
{
    struct str text = STR("def a():\n    retry()\n\ndef b():\n    pass\n");
    struct prune_opts o = { .max_ratio = 0.9, .late = third };
    struct prune p;
    int when;

    for (when = 1; when < 20; when++) {
        asked = 0;
        o.late_arg = &when;
        p = prune(text, "retry", o);
        if (asked < when)
            break;
        CHECK(p.warning && strcmp(p.warning, "timeout") == 0 && p.kept == 5 && p.lines == 5);
    }
    CHECK(when > 4 && when < 20 && !p.warning);
    arena_done(&arena);
}

/* What scores high may pass the budget, up to twice it; nothing more. */
static void budgets(void)
{
    struct prune_opts o = { .max_ratio = 1, .budget = 100 };
    struct buf b;
    struct prune p;
    size_t i, bytes = 0;

    buf_init(&b, 1 << 20);
    for (i = 0; i < 2000; i++)
        buf_adds(&b, i % 2 ? "the retry timeout is here\n" : "something else entirely\n");
    p = prune(buf_str(&b), "retry timeout", o);
    for (i = 1; i <= p.lines; i++)
        if (is_kept(&p, i))
            bytes += p.at[i] - p.at[i - 1];
    CHECK(bytes / 4 <= 200 && p.kept >= 10);
    o.number_cost = 4;
    o.marker_cost = 3;
    buf_clear(&b);
    for (i = 0; i < 2000; i++)
        buf_adds(&b, i % 9 ? "x\n" : "timeout\n");
    p = prune(buf_str(&b), "retry timeout", o);
    for (i = 1, bytes = 0; i <= p.lines; i++)
        if (is_kept(&p, i))
            bytes += p.at[i] - p.at[i - 1];
    CHECK(bytes / 4 + 4 * p.kept + 3 * p.gap_count <= 200 && p.kept >= 10);
    buf_done(&b);
    arena_done(&arena);
}

/* A line that is long leaves room for others, and words that are nowhere are said. */
static void long_lines(void)
{
    struct prune_opts o = { .source = PRUNE_LOGS, .max_ratio = 1, .marker_cost = 3 };
    struct buf b;
    struct prune p;
    int i;

    o.tokens = tokens_count;
    buf_init(&b, 1 << 20);
    for (i = 0; i < 150; i++)
        buf_addf(&b, "timeout retry step %d done with the pool\n", i);
    buf_adds(&b, "ERROR: timeout connecting to db: ");
    for (i = 0; i < 8000; i++)
        buf_addc(&b, '7');
    for (i = 0; i < 100; i++)
        buf_addf(&b, "\nINFO step %d done", i);
    buf_adds(&b, "\nCaused by: connection refused at pool.c:42\nmake: *** failed\n");
    for (i = 0; i < 50; i++)
        buf_addf(&b, "INFO bye %d\n", i);
    o.budget = tokens_count(buf_str(&b)) / 4;
    p = prune(buf_str(&b), "why did the timeout error happen?", o);
    CHECK(is_kept(&p, 252) && p.kept >= 5);
    CHECK(!p.nothing);
    p = prune(buf_str(&b), "where is kwyjibo defined?", o);
    CHECK(p.nothing);
    p = prune(buf_str(&b), "what is this?", o);
    CHECK(!p.nothing);
    buf_done(&b);
    arena_done(&arena);
}

/* No "^" without its message, no message without its code. */
static void diagnostics(void)
{
    struct prune_opts o = { .source = PRUNE_LOGS, .max_ratio = 1, .marker_cost = 3 };
    struct buf b;
    struct prune p;
    size_t i;

    o.tokens = tokens_count;
    buf_init(&b, 1 << 20);
    for (i = 1; i <= 60; i++) {
        buf_addf(&b, "m.c:%zu:12: error: 'none%zu' undeclared\n", 9 * i, i);
        buf_addf(&b, "  %zu |     return none%zu;\n      |            ^~~~~\n", 9 * i, i);
        buf_addf(&b, "m.c:%zu:9: warning: unused variable 'v%zu'\n", 9 * i - 1, i);
        buf_addf(&b, "  %zu |     int v%zu;\n      |         ^~\n", 9 * i - 1, i);
    }
    o.budget = tokens_count(buf_str(&b)) / 4;
    p = prune(buf_str(&b), "why did it fail?", o);
    CHECK(p.kept > 30 && p.kept < p.lines);
    for (i = 0; i < 60; i++) {
        CHECK(is_kept(&p, 6 * i + 1) == is_kept(&p, 6 * i + 2));
        CHECK(!is_kept(&p, 6 * i + 6) || is_kept(&p, 6 * i + 4));
    }
    buf_done(&b);
    arena_done(&arena);
}

static void explained(void)
{
    struct str text = STR("def connect():\n    retry(timeout)\n\ndef b():\n    pass\n");
    struct prune p = prune(text, "retry timeout", (struct prune_opts){ .max_ratio = 0.5 });
    struct buf b;

    buf_init(&b, 1000);
    prune_explain(&b, &p, 2);
    CHECK_STR(b.data, "'retry', 'timeout' here; under line 1: def connect():");
    CHECK(is_kept(&p, 2));
    buf_done(&b);
    arena_done(&arena);
}

int main(void)
{
    TEST("every limit of pruning holds for 3,000 odd texts", every_limit);
    TEST("NO_PRUNE blocks stay whole with their directives", blocks_stay);
    TEST("NO_PRUNE blocks stand in each other, and several on a line", blocks_in_blocks);
    TEST("more lines to keep than there are is constraints_unmet", impossible);
    TEST("empty, huge and binary texts prune without harm", odd_texts);
    TEST("a million lines are pruned", million);
    TEST("of a few lines the one that was named stays", few_lines);
    TEST("too late at any step leaves the whole text", too_late);
    TEST("a budget is passed only by what scores high, and at most twice, numbers included",
         budgets);
    TEST("a long line leaves room for others, and what is nowhere is said", long_lines);
    TEST("diagnostics stay together with the code they point at", diagnostics);
    TEST("a line's score is explained", explained);
    return test_end();
}
