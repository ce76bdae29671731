/* cut_test.c: head and tail of long texts. */
#include "test.h"
#include "base/buf.h"
#include "base/utf8.h"
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
    struct cut k = cut_text(&a, s, 1000, 1, NULL);

    CHECK(k.text.p == s.p && k.text.n == s.n && k.from == 0);
}

static void long_text(void)
{
    struct str s = numbered(5000);
    struct cut k = cut_text(&a, s, 2000, 1, "read it with lines \"FROM-TO\"");
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
    struct cut k = cut_text(&a, numbered(5000), 2000, 101, NULL), first;

    first = cut_text(&a, numbered(5000), 2000, 1, NULL);
    CHECK(k.from == first.from + 100 && k.to == first.to + 100);
}

static void one_long_line(void)
{
    char *p = arena_alloc(&a, 90000);
    struct cut k;

    for (int i = 0; i < 30000; i++)
        memcpy(p + 3 * i, "\xe2\x82\xac", 3);
    k = cut_text(&a, (struct str){ p, 90000 }, 1000, 1, NULL);
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
        struct cut k = cut_text(&a, s, max, 1, NULL);
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

int main(void)
{
    TEST("a text that fits is given back as it is", short_text);
    TEST("a long text keeps head and tail, with the numbers of the gap", long_text);
    TEST("line numbers start where the text starts", offset_text);
    TEST("one long line is cut at a character", one_long_line);
    TEST("kept lines are verbatim under every ceiling", every_ceiling);
    arena_done(&a);
    return test_end();
}
