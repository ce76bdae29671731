/* utf8_test.c: every rule of Unicode's table 3-7, and its advice on
 * replacement (chapter 3.9, tables 3-8 to 3-11). */
#include "base/utf8.h"
#include "test.h"

static struct buf out;

/* Is the one code point cp valid when encoded by hand as n bytes? */
static bool as_bytes(unsigned cp, int n)
{
    static const unsigned lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    char p[4];
    int i;

    if (n == 1)
        p[0] = (char)cp;
    else
        p[0] = (char)(lead[n] | cp >> 6 * (n - 1));
    for (i = 1; i < n; i++)
        p[i] = (char)(0x80 | (cp >> 6 * (n - 1 - i) & 0x3f));
    return utf8_valid((struct str){ p, (size_t)n }) == (size_t)n;
}

static void every_code_point(void)
{
    unsigned cp, wrong = 0;
    char p[4];
    int n;

    for (cp = 0; cp < 0x200000; cp++) {
        n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
        wrong += as_bytes(cp, n) != (cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff));
        if (n < 2)
            wrong += as_bytes(cp, 2);
        if (n < 3)
            wrong += as_bytes(cp, 3);
        if (n < 4)
            wrong += as_bytes(cp, 4);
        if (cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff)) {
            wrong += utf8_put(p, cp) != n;
            wrong += utf8_next((struct str){ p, (size_t)n }) != n;
            wrong += n > 1 && utf8_valid((struct str){ p, (size_t)n - 1 }) != 0;
        }
    }
    CHECK(wrong == 0);
}

static void prefix(void)
{
    char text[100];
    size_t i;

    memset(text, 'a', sizeof text);
    CHECK(utf8_valid((struct str){ text, sizeof text }) == sizeof text);
    CHECK(utf8_valid((struct str){ text, 0 }) == 0);
    CHECK(utf8_valid((struct str){ NULL, 0 }) == 0);
    for (i = 0; i < sizeof text; i++) {
        text[i] = (char)0xff;
        CHECK(utf8_valid((struct str){ text, sizeof text }) == i);
        text[i] = 'a';
    }
    CHECK(utf8_valid(STR("a\0b\xc3\xa9z")) == 6);
    CHECK(utf8_valid(STR("ab\xe2\x82")) == 2);
}

static void cuts(void)
{
    struct str s = STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"); /* 1 2 3 4 1 */
    static const size_t want[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
    size_t i;

    for (i = 0; i < sizeof want / sizeof *want; i++)
        CHECK(utf8_cut(s, i) == want[i]);
    CHECK(utf8_count(s) == 5);
    CHECK(utf8_count((struct str){ 0 }) == 0);
    CHECK(utf8_cut(STR("\x80\x80\x80\x80\x80\x80"), 5) == 2); /* not valid: still near */
}

static void repaired(const char *in, size_t n, const char *want, size_t replaced)
{
    buf_clear(&out);
    CHECK(utf8_repair(&out, (struct str){ in, n }) == replaced);
    CHECK_STR(buf_str(&out).p, want);
}

#define R               "\xef\xbf\xbd"
#define REPAIR(i, w, k) repaired(i, sizeof(i) - 1, w, k)

static void repairs(void)
{
    buf_init(&out, 1 << 16);
    REPAIR("", "", 0);
    REPAIR("plain \xc3\xa9", "plain \xc3\xa9", 0);
    REPAIR("a\xff", "a" R, 1);
    REPAIR("\x80\xbf", R R, 2);
    /* Tables 3-8 to 3-11 of the Unicode standard. */
    REPAIR("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", R R R R R R R R "A", 8);
    REPAIR("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", R R R R R R R R "A", 8);
    REPAIR("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", R R R R R "A" R R "B", 7);
    REPAIR("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", R R R R "A", 8);
    REPAIR("\xf0\x9f\x98", R, 3);
    REPAIR("\xf0\x9f\x98\xf0\x9f\x98\x80", R "\xf0\x9f\x98\x80", 3);
    buf_done(&out);
}

static void repair_is_valid(void)
{
    unsigned x = 12345;
    char in[40];
    int round, i;

    buf_init(&out, 1 << 16);
    for (round = 0; round < 20000; round++) {
        for (i = 0; i < (int)sizeof in; i++) {
            x = x * 1664525 + 1013904223;
            in[i] = (char)(x >> 24);
            if (x >> 22 & 1) /* more of the bytes that matter */
                in[i] = "\xc3\xe0\xed\xf0\xf4\x80\x9f\xbf"[x >> 24 & 7];
        }
        buf_clear(&out);
        utf8_repair(&out, (struct str){ in, sizeof in });
        CHECK(utf8_valid(buf_str(&out)) == out.len);
    }
    buf_done(&out);
}

int main(void)
{
    TEST("every code point is taken in its shortest form only", every_code_point);
    TEST("the valid prefix ends before the first bad or unfinished character", prefix);
    TEST("a cut never splits a character", cuts);
    TEST("maximal invalid parts become one U+FFFD each, as Unicode advises", repairs);
    TEST("repaired bytes are always valid", repair_is_valid);
    return test_end();
}
