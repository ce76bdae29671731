/* cut_test.c: head and tail of long texts. */
#include "test.h"
#include <stdlib.h>
#include "base/buf.h"
#include "base/utf8.h"
#include "call/args.h"
#include "call/cut.h"

static struct arena a;

static struct str numbered(size_t lines)
{
    struct buf b;
    struct str s;

    buf_init(&b, 1 << 24);
    for (size_t i = 1; i <= lines; i++)
        buf_addf(&b, "line %zu\n", i);
    s = arena_str(&a, buf_str(&b));
    buf_done(&b);
    return s;
}

static void short_text(void)
{
    struct str s = numbered(10);
    struct cut k = cut_text(&a, s, 1000, 1, 0, NULL);

    CHECK(k.text.p == s.p && k.text.n == s.n && k.from == 0);
}

static void long_text(void)
{
    struct str s = numbered(5000);
    struct cut k = cut_text(&a, s, 2000, 1, 0, "read it with lines \"FROM-TO\"");
    char marker[200], before[40], after[40];

    CHECK(utf8_count(k.text) <= 2000);
    CHECK(k.lines_total == 5000 && k.from > 1 && k.to < 5000 && k.from < k.to);
    snprintf(marker, sizeof marker, "[... lines %zu-%zu left out (%zu lines, ", k.from, k.to,
             k.to - k.from + 1);
    CHECK(strstr(k.text.p, marker) != NULL);
    snprintf(marker, sizeof marker, "): read it with lines \"%zu-%zu\" ...]\n", k.from, k.to);
    CHECK(strstr(k.text.p, marker) != NULL);
    snprintf(before, sizeof before, "\nline %zu\n[...", k.from - 1);
    snprintf(after, sizeof after, "...]\nline %zu\n", k.to + 1);
    CHECK(strstr(k.text.p, before) != NULL);
    CHECK(strstr(k.text.p, after) != NULL);
}

static void offset_text(void)
{
    struct cut k = cut_text(&a, numbered(5000), 2000, 101, 0, NULL), first;

    first = cut_text(&a, numbered(5000), 2000, 1, 0, NULL);
    CHECK(k.from == first.from + 100 && k.to == first.to + 100);
}

static void one_long_line(void)
{
    char *p = arena_alloc(&a, 90000);
    struct cut k;

    for (int i = 0; i < 30000; i++)
        memcpy(p + 3 * i, "\xe2\x82\xac", 3);
    k = cut_text(&a, (struct str){ p, 90000 }, 1000, 1, 0, NULL);
    CHECK(utf8_count(k.text) <= 1000);
    CHECK(utf8_valid(k.text) == k.text.n);
    CHECK(strstr(k.text.p, "characters left out") != NULL);
    CHECK(k.from == 1 && k.to == 1);
}

/* Whatever the cut, the lines outside the marker are verbatim and in order. */
static void every_ceiling(void)
{
    struct str s = numbered(300);

    for (size_t max = 700; max < 3200; max += 13) {
        struct cut k = cut_text(&a, s, max, 1, 0, NULL);
        const char *mark = memmem(k.text.p, k.text.n, "[... ", 5), *rest;

        if (k.from == 0)
            continue;
        CHECK(utf8_count(k.text) <= max);
        CHECK(mark && memcmp(k.text.p, s.p, (size_t)(mark - k.text.p)) == 0);
        rest = (const char *)memchr(mark, '\n', (size_t)(k.text.p + k.text.n - mark)) + 1;
        CHECK(memcmp(rest, s.p + s.n - (k.text.p + k.text.n - rest),
                     (size_t)(k.text.p + k.text.n - rest)) == 0);
    }
}

/* How many bytes the first n lines are. */
static size_t bytes_of(struct str text, size_t n)
{
    size_t i = 0;

    while (i < text.n && n > 0)
        n -= text.p[i++] == '\n';
    return i;
}

/* The part of the text that a range names. */
static struct str part_of(struct str text, struct str range, size_t *from, size_t *skipped)
{
    size_t to = 0, start, first, last;

    CHECK(lines_parse(range, from, &to) && to > 0);
    lines_chars(range, &first, &last);
    *skipped = first ? first - 1 : 0;
    start = bytes_of(text, *from - 1);
    return cut_chars((struct str){ text.p + start, bytes_of(text, to) - start }, first, last);
}

/* What a marker names is what is left out, whatever it is cut from, and less
 * each time. */
static void follow(struct str text, const char *range)
{
    size_t from, skipped, head, tail;
    struct str part = part_of(text, str_of(range), &from, &skipped), gap;
    struct cut k = cut_text(&a, part, 900, from, skipped, "@FROM-TO@");
    const char *mark = memmem(k.text.p, k.text.n, "[... ", 5), *end;
    char hint[100] = "";

    if (k.from == 0)
        return;
    CHECK(utf8_count(k.text) <= 900 && mark && sscanf(mark, "%*[^@]@%99[^@]", hint) == 1);
    gap = part_of(text, str_of(hint), &from, &skipped);
    end = (const char *)memchr(mark, '\n', (size_t)(k.text.p + k.text.n - mark)) + 1;
    head = (size_t)(mark - k.text.p);
    tail = (size_t)(k.text.p + k.text.n - end);
    gap.n -= gap.p + gap.n + tail > part.p + part.n; /* its newline is in the tail, too */
    CHECK(gap.p + gap.n + tail == part.p + part.n && memcmp(gap.p + gap.n, end, tail) == 0);
    head -= part.p + head != gap.p; /* a line that is cut gets an end */
    CHECK(part.p + head == gap.p && memcmp(k.text.p, part.p, head) == 0);
    CHECK(gap.n < part.n);
    if (gap.n < part.n)
        follow(text, hint);
}

static void every_marker(void)
{
    static const size_t lengths[] = { 0, 1, 40, 300, 599, 600, 601, 1500, 20000 };
    struct buf b;
    size_t n;

    for (unsigned seed = 1; seed <= 400; seed++) {
        srand(seed);
        buf_init(&b, 1 << 20);
        for (int line = 0; line < 8; line++) {
            n = lengths[(size_t)rand() % 9];
            for (size_t i = 0; i < n; i++)
                buf_adds(&b, i % 3 ? "x" : "\xe2\x82\xac");
            if (line < 7 || rand() % 2)
                buf_addc(&b, '\n');
        }
        n = cut_lines(buf_str(&b));
        follow(buf_str(&b), arena_printf(&a, "1-%zu", n));
        buf_done(&b);
    }
}

static void ranges(void)
{
    static const char *const good[] = {
        "7", "7-", "7-9", "7:2", "7:2-", "7:2-4", "7-9:1", "7:5-9:2"
    };
    static const char *const bad[] = { "",      "0",     "-7",    "9-7",     "7:",
                                       "7:0",   "7:4-2", "7-7:0", "7:2-9:",  "7:2:3",
                                       "7-8-9", "a",     "7 ",    "7:5-7:2", "7:2-6:9" };
    size_t from, to;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(lines_parse(str_of(good[i]), &from, &to) && from == 7);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!lines_parse(str_of(bad[i]), &from, &to));
}

int main(void)
{
    TEST("a text that fits is given back as it is", short_text);
    TEST("a long text keeps head and tail, with the numbers of the gap", long_text);
    TEST("line numbers start where the text starts", offset_text);
    TEST("one long line is cut at a character", one_long_line);
    TEST("kept lines are verbatim under every ceiling", every_ceiling);
    TEST("a marker names what is left out, to the character", every_marker);
    TEST("ranges of lines and characters are read, others refused", ranges);
    arena_done(&a);
    return test_end();
}
