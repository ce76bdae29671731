/* arena_test.c: pieces do not overlap, are aligned, and all go at once (that
 * nothing leaks is what make asan sees). */
#include "base/arena.h"
#include "base/mem.h"
#include "test.h"

#include <stdint.h>

static void pieces(void)
{
    struct arena a = { 0 };
    unsigned char *p[2000];
    size_t n[2000], i, j;

    for (i = 0; i < 2000; i++) {
        n[i] = i * 7919 % 97;
        if (i % 100 == 50)
            n[i] = i * 100; /* larger than any shared block, in between */
        p[i] = arena_alloc(&a, n[i]);
        CHECK((uintptr_t)p[i] % 16 == 0);
        memset(p[i], (int)(i % 251), n[i]);
    }
    for (i = 0; i < 2000; i++)
        for (j = 0; j < n[i]; j++)
            if (p[i][j] != i % 251) {
                CHECK(!"a piece was overwritten");
                i = 2000 - 1;
                break;
            }
    arena_done(&a);
}

static void texts(void)
{
    struct arena a = { 0 };
    struct str s;

    CHECK_STR(arena_strdup(&a, "hello"), "hello");
    s = arena_str(&a, (struct str){ "a\0b", 3 });
    CHECK(s.n == 3 && memcmp(s.p, "a\0b", 4) == 0);
    s = arena_str(&a, (struct str){ 0 });
    CHECK(s.n == 0);
    CHECK_STR(s.p, "");
    CHECK_STR(arena_printf(&a, "%s/%d", "x", 42), "x/42");
    CHECK(strlen(arena_printf(&a, "%09000d", 1)) == 9000);
    arena_done(&a);
}

static void cleared(void)
{
    struct arena a = { 0 };
    char zero[64] = { 0 };
    int i;

    memset(arena_alloc(&a, 3000), 'x', 3000);
    for (i = 0; i < 100; i++)
        CHECK(memcmp(arena_zalloc(&a, 64), zero, 64) == 0);
    arena_done(&a);
}

static void again(void)
{
    struct arena a = { 0 };

    CHECK(arena_alloc(&a, 0) != NULL);
    arena_alloc(&a, 100000);
    CHECK(a.bytes >= 100000);
    arena_done(&a);
    CHECK(a.bytes == 0 && !a.head);
    CHECK_STR(arena_strdup(&a, "still here"), "still here");
    arena_done(&a);
    arena_done(&a);
    arena_done(NULL);
}

static void adopts(void)
{
    struct arena a = { 0 };
    char *first = memset(xmalloc(1000), 'f', 1000);
    char *own, *second = memset(xmalloc(1000), 's', 1000);

    arena_adopt(&a, first, 1000);
    CHECK(a.bytes == 1000);
    own = arena_strdup(&a, "own");
    arena_adopt(&a, second, 1000);
    CHECK_STR(own, "own");
    CHECK(first[999] == 'f' && second[0] == 's');
    CHECK_STR(arena_strdup(&a, "more"), "more");
    arena_done(&a);
}

int main(void)
{
    TEST("pieces of every size are aligned and do not overlap", pieces);
    TEST("texts are copied with their NUL", texts);
    TEST("cleared memory is clear", cleared);
    TEST("an arena is usable again after it was dropped", again);
    TEST("adopted memory lives as long as the arena", adopts);
    return test_end();
}
