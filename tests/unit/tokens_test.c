/* tokens_test.c: counts that gpt-tokenizer gave, written down; what holds for
 * every text; and texts made to take long.
 *
 * `tokens_test count` is our side of tests/tokens.mjs: texts on stdin, each
 * after its length in four bytes, a count a line on stdout. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include "base/mem.h"
#include "test.h"
#include "tokens/tokens.h"

static int count_stdin(void)
{
    uint32_t n;

    while (fread(&n, 4, 1, stdin) == 1) {
        char *text = xmalloc(n); /* exactly as long, so that ASan sees a read beyond */

        if (fread(text, 1, n, stdin) != n)
            return 2;
        printf("%zu\n", tokens_count((struct str){ text, n }));
        free(text);
    }
    return 0;
}

static const struct {
    struct str text;
    size_t count;
} known[] = {
    { STR(""), 0 },
    { STR("a"), 1 },
    { STR("hello world"), 2 },
    { STR("Hello, World!\n"), 4 },
    { STR("The quick brown fox jumps over the lazy dog."), 10 },
    { STR("I'm sure they've said we'll don't"), 6 },
    { STR("HE'S they'RE ISN'T"), 8 },
    { STR("camelCaseWord XMLHttpRequest snake_case_word kebab-case"), 11 },
    { STR("    if (x == NULL)\n\t\treturn -1;\n"), 12 },
    { STR("int main(void)\r\n{\r\n    return 0;\r\n}\r\n"), 11 },
    { STR("1234567890"), 4 },
    { STR("3.14159e-10 0x7fffffff 1,000,000"), 19 },
    { STR("2026-01-31T12:00:00.000Z ERROR [main] boom"), 20 },
    { STR("\n"), 1 },
    { STR("\n\n\n"), 1 },
    { STR(" \n \n x"), 2 },
    { STR("   "), 1 },
    { STR("    x"), 2 },
    { STR("\t\t\tx\t"), 3 },
    { STR("x   \n"), 2 },
    { STR("...---===///\n/\n"), 5 },
    { STR("// comment\n/* c */"), 6 },
    { STR("https://example.com/a/b?c=d&e=f#g"), 12 },
    { STR("naïve café"), 4 },
    { STR("nai\314\210ve cafe\314\201"), 5 },
    { STR("e\314\201\314\202\314\203"), 4 },
    { STR("\314\201A"), 2 },
    { STR("A\314\201B"), 3 },
    { STR("Stra\303\237e \357\254\201 \307\205 \305\277"), 8 },
    { STR("it'ſ"), 3 },
    { STR("Привет, мир"), 4 },
    { STR("\344\275\240\345\245\275\357\274\214\344\270\226\347\225\214"), 3 },
    { STR("漢字とかなとカナ"), 7 },
    { STR("안녕하세요 세계"), 3 },
    { STR("\340\270\252\340\270\247\340\270\261\340\270\252\340\270\224\340\270\265"), 4 },
    { STR("\340\244\250\340\244\256\340\244\270\340\245\215\340\244\244\340\245\207 "
          "\340\244\246\340\245\201\340\244\250\340\244\277\340\244\257\340\244\276"),
      5 },
    { STR("\331\205\330\261\330\255\330\250\330\247 "
          "\330\250\330\247\331\204\330\271\330\247\331\204\331\205"),
      4 },
    { STR("\327\251\327\234\327\225\327\235"), 1 },
    { STR("\360\237\230\200"), 1 },
    { STR("\360\237\221\251\342\200\215\360\237\222\273 "
          "\360\237\221\250\342\200\215\360\237\221\251\342\200\215\360\237\221\247\342\200\215\360"
          "\237\221\246 \360\237\217\263\357\270\217\342\200\215\360\237\214\210 "
          "\360\237\207\253\360\237\207\267 \360\237\221\215\360\237\217\275"),
      30 },
    { STR("\342\235\244\357\270\217\342\230\203"), 3 },
    { STR("\302\240x\342\200\203y\343\200\200z"), 6 },
    { STR("\302\205x"), 3 },
    { STR("\342\200\213\342\200\215"), 2 },
    { STR("\302\275 \302\262 \342\205\247 \331\243"), 8 },
    { STR("\360\235\222\234\360\235\223\221\360\220\220\200\360\220\220\250"), 14 },
    { STR("\364\217\277\277\363\240\200\201"), 7 },
    { STR("<|endoftext|>"), 7 },
    { STR("⟦PRUNÉ: prune_id=prn_x lignes 120-154 (35) raison=hors focus⟧"), 28 },
    { STR("120│ text"), 3 },
};

static void as_known(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t got = tokens_count(known[i].text);

        CHECK(got == known[i].count);
        if (got != known[i].count)
            printf("# %zu, not %zu: '%s'\n", got, known[i].count, known[i].text.p);
    }
}

static void not_utf8(void)
{
    CHECK(tokens_count(STR("\xff")) == tokens_count(STR("\xef\xbf\xbd")));
    CHECK(tokens_count(STR("a\xc3")) == tokens_count(STR("a\xef\xbf\xbd")));
    CHECK(tokens_count(STR("\xed\xa0\x80 b")) ==
          tokens_count(STR("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd b")));
    CHECK(tokens_count(STR("nul\0nul")) == 3);
    CHECK(tokens_count((struct str){ NULL, 0 }) == 0);
    CHECK(tokens_count(STR("\xef\xbb\xbf")) == 1);
}

/* --- long ones --- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* `unit` again and again: n bytes. */
static char *repeat(const char *unit, size_t n)
{
    size_t len = strlen(unit);
    char *p = xmalloc(n);

    for (size_t i = 0; i < n; i++)
        p[i] = unit[i % len];
    return p;
}

/* Four times the text takes about four times as long, not sixteen times. */
static void no_bad_text(void)
{
    static const char *const units[] = { "a",
                                         " ",
                                         "\n",
                                         "\t",
                                         "=",
                                         "0",
                                         "A",
                                         "\xf0\x9f\x98\x80",
                                         "\xe6\xbc\xa2",
                                         "e\xcc\x81",
                                         "aA",
                                         "ab",
                                         "\xff",
                                         " \n",
                                         "\xe6\xbc\xa2"
                                         "A",
                                         "'s",
                                         "x\n " };
    enum { LARGE = 1 << 20, SMALL = LARGE / 4 };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char *p = repeat(units[i], LARGE);
        double t = seconds(), small, large;
        size_t n;

        tokens_count((struct str){ p, SMALL });
        small = seconds() - t;
        t = seconds();
        n = tokens_count((struct str){ p, LARGE });
        large = seconds() - t;
        CHECK(n > 0 && n <= LARGE);
        CHECK(large < small * 9 + 0.02);
        if (large > 0.15)
            printf("# unit %zu: %.0f ms a megabyte\n", i, large * 1000);
        free(p);
    }
}

/* --- any --- */

static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * below >> 32);
}

static size_t mixed(char *out, size_t n)
{
    static const char *const bits[] = { "a",
                                        "The",
                                        " ",
                                        "\n",
                                        "\r\n",
                                        "1",
                                        "=",
                                        "/",
                                        "'s",
                                        "\xc3\xa9",
                                        "\xcc\x81",
                                        "\xe6\xbc\xa2",
                                        "\xf0\x9f\x98\x80",
                                        "\xff",
                                        "\xe2\x80",
                                        "_",
                                        "Q" };
    size_t at = 0;

    while (at + 8 < n) {
        const char *b = bits[draw(sizeof bits / sizeof *bits)];

        for (uint32_t times = draw(5) ? 1 : 1 + draw(9); times > 0 && at + 8 < n; times--) {
            memcpy(out + at, b, strlen(b));
            at += strlen(b);
        }
    }
    return at;
}

/* Never more tokens than bytes, the same each time, and a part of a text is no
 * longer than the text and a joint. */
static void any_text(void)
{
    for (int i = 0; i < 3000; i++) {
        size_t room = 10 + draw(300);
        char *p = xmalloc(room);
        size_t n = mixed(p, room), cut = draw((uint32_t)n + 1);
        size_t all = tokens_count((struct str){ p, n });

        CHECK(all <= n && all == tokens_count((struct str){ p, n }));
        CHECK(tokens_count((struct str){ p, cut }) +
                  tokens_count((struct str){ p + cut, n - cut }) + 8 >=
              all);
        free(p);
    }
}

struct job {
    pthread_t thread;
    size_t counts[sizeof known / sizeof *known];
};

static void *count_all(void *arg)
{
    struct job *j = arg;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        j->counts[i] = tokens_count(known[i].text);
    return NULL;
}

static void from_threads(void)
{
    struct job jobs[4];

    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&jobs[i].thread, NULL, count_all, &jobs[i]) == 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(jobs[i].thread, NULL);
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            CHECK(jobs[i].counts[k] == known[k].count);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "count") == 0)
        return count_stdin();
    TEST("tokens are counted as o200k_base does", as_known);
    TEST("what is not UTF-8 counts as U+FFFD", not_utf8);
    TEST("no text takes square time", no_bad_text);
    TEST("a text has no more tokens than bytes", any_text);
    TEST("threads count at the same time", from_threads);
    return test_end();
}
