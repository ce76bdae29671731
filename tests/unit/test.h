/* test.h: a unit test is a sentence and a function.
 *
 *     static void empty(void) { CHECK(buf_str(&b).n == 0); }
 *     int main(void) { TEST("a new buffer is empty", empty); return test_end(); }
 *
 * Prints "ok - sentence" or "not ok - sentence (file:line: what)"; tests/run
 * counts those lines. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int test_failures, test_bad;

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            test_bad++;                                                                            \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #x);                                       \
        }                                                                                          \
    } while (0)

#define CHECK_STR(got, want)                                                                       \
    do {                                                                                           \
        const char *g_ = (got), *w_ = (want);                                                      \
        if (!g_ || strcmp(g_, w_) != 0) {                                                          \
            test_bad++;                                                                            \
            printf("# %s:%d: %s is '%s', not '%s'\n", __FILE__, __LINE__, #got, g_ ? g_ : "NULL",  \
                   w_);                                                                            \
        }                                                                                          \
    } while (0)

static inline void test_run(const char *sentence, void (*fn)(void))
{
    test_bad = 0;
    fn();
    if (test_bad)
        test_failures++;
    printf("%s - %s\n", test_bad ? "not ok" : "ok", sentence);
    fflush(stdout);
}

static inline int test_end(void)
{
    return test_failures != 0;
}

#define TEST(sentence, fn) test_run(sentence, fn)
