/* buf_test.c: the buffer keeps its ceiling, and errors keep to their room. */
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "test.h"

#include <stdlib.h>

static void grows(void)
{
    struct buf b;
    int i;

    buf_init(&b, 1 << 20);
    CHECK(buf_str(&b).n == 0 && buf_str(&b).p);
    for (i = 0; i < 10000; i++)
        CHECK(buf_addc(&b, (char)('a' + i % 26)));
    CHECK(b.len == 10000 && b.data[9999] == 'a' + 9999 % 26 && b.data[10000] == '\0');
    CHECK(buf_add(&b, NULL, 0) && b.len == 10000);
    CHECK(buf_add(&b, "\0x", 2) && b.len == 10002 && b.data[10001] == 'x');
    buf_done(&b);
    CHECK(!b.data && b.len == 0);
    buf_done(&b);
    buf_done(NULL);
}

static void ceiling(void)
{
    struct buf b;

    buf_init(&b, 8);
    CHECK(buf_adds(&b, "12345678"));
    CHECK(!b.full);
    CHECK(!buf_addc(&b, '9'));
    CHECK(b.full && b.len == 8);
    CHECK_STR(b.data, "12345678");
    buf_clear(&b);
    CHECK(!b.full && b.len == 0);
    CHECK_STR(b.data, "");
    CHECK(buf_adds(&b, "1234567"));
    CHECK(!buf_addf(&b, "%d", 89));
    CHECK_STR(b.data, "1234567");
    CHECK(!buf_addc(&b, '8')); /* would fit, but an append was lost before it */
    CHECK(b.cap <= 9);
    buf_done(&b);
}

static void no_ceiling_wraps(void)
{
    struct buf b;

    buf_init(&b, (size_t)-1);
    CHECK(buf_adds(&b, "x"));
    CHECK(!buf_room(&b, (size_t)-1));
    CHECK(b.full && b.len == 1);
    buf_done(&b);
    b = (struct buf){ 0 };
    CHECK(!buf_addc(&b, 'x'));
    buf_done(&b);
}

static void room(void)
{
    struct buf b;
    char *p;

    buf_init(&b, 100);
    p = buf_room(&b, 100);
    CHECK(p != NULL);
    memset(p, 'y', 100);
    b.len += 100;
    CHECK(!buf_room(&b, 1));
    buf_clear(&b);
    CHECK(buf_room(&b, 0) != NULL);
    buf_done(&b);
}

static void formats(void)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    CHECK(buf_addf(&b, "%s-%d", "one", 2));
    CHECK(buf_addf(&b, "%0300d", 7));
    CHECK(b.len == 305 && strlen(b.data) == 305);
    CHECK(memcmp(b.data, "one-2000", 8) == 0 && b.data[304] == '7');
    buf_done(&b);
}

static void drops(void)
{
    struct buf b;

    buf_init(&b, 100);
    buf_drop(&b, 0);
    buf_adds(&b, "hello world");
    buf_drop(&b, 6);
    CHECK_STR(b.data, "world");
    buf_drop(&b, 5);
    CHECK_STR(b.data, "");
    CHECK(b.len == 0);
    buf_done(&b);
}

static void err_fills(void)
{
    struct err e = { 0 };

    CHECK(!err_set(&e, ERR_MISSING, "no file '%s'", "a"));
    CHECK(e.code == ERR_MISSING);
    CHECK_STR(e.msg, "no file 'a'");
    err_set(&e, ERR_IO, "%s; try again", e.msg);
    CHECK_STR(e.msg, "no file 'a'; try again");
    CHECK(!err_set(NULL, ERR_IO, "nobody asks"));
    CHECK_STR(err_word(ERR_MISSING), "not_found");
    CHECK_STR(err_word(ERR_CONFIG), "config_invalid");
    CHECK(err_number(ERR_PARSE) == -32700 && err_number(ERR_CONFIG) == -32603);
}

static void err_cuts(void)
{
    char text[300];
    struct err e;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&e, ERR_IO, "%s", text);
    CHECK(strlen(e.msg) == sizeof e.msg - 1);
    memcpy(text + sizeof e.msg - 3, "\xe2\x82\xac", 3); /* its last byte does not fit */
    err_set(&e, ERR_IO, "%s", text);
    CHECK(strlen(e.msg) == sizeof e.msg - 3);
    memset(text, 'x', sizeof text - 1);
    memcpy(text + sizeof e.msg - 4, "\xe2\x82\xac", 3); /* just fits */
    err_set(&e, ERR_IO, "%s", text);
    CHECK(strlen(e.msg) == sizeof e.msg - 1);
}

static void mem_copies(void)
{
    char *a = xstrdup("abc"), *b = xstrndup("abcdef", 3), *c = xstrndup("ab", 9);
    void *none = xmalloc(0);

    CHECK_STR(a, "abc");
    CHECK_STR(b, "abc");
    CHECK_STR(c, "ab");
    CHECK(none != NULL);
    free(a);
    free(b);
    free(c);
    free(none);
}

int main(void)
{
    TEST("a buffer grows and stays NUL-terminated", grows);
    TEST("an append past the ceiling changes nothing and is remembered", ceiling);
    TEST("sizes near the end of the address space are refused, not wrapped", no_ceiling_wraps);
    TEST("room up to the ceiling is given, and no more", room);
    TEST("formatted text is appended whole, whatever its length", formats);
    TEST("dropping from the front keeps the rest", drops);
    TEST("an err takes a sentence, even one made of its old one", err_fills);
    TEST("a long message is cut between characters", err_cuts);
    TEST("copies of text end where they should", mem_copies);
    return test_end();
}
