/* utf8.c: UTF-8 by Unicode's table 3-7 (well-formed byte sequences).
 *
 * One function, utf8_next, knows the table; everything else stands on it and
 * skips ASCII in large steps, since nearly all that passes here is ASCII. */
#include "base/utf8.h"

#include <stdint.h>

/* Length of the ASCII prefix: eight at a time, then one by one. */
static size_t ascii_run(const char *p, size_t n)
{
    size_t i = 0;
    uint64_t w;

    for (; n - i >= 8; i += 8) {
        memcpy(&w, p + i, 8);
        if (w & 0x8080808080808080u)
            break;
    }
    while (i < n && !(p[i] & 0x80))
        i++;
    return i;
}

static bool continues(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Only the second byte has a range that depends on the first: E0 and F0 refuse
 * overlong forms, ED surrogates, F4 what lies above U+10FFFF. */
static bool second_fits(unsigned char first, unsigned char c)
{
    switch (first) {
    case 0xe0:
        return c >= 0xa0 && c <= 0xbf;
    case 0xed:
        return c >= 0x80 && c <= 0x9f;
    case 0xf0:
        return c >= 0x90 && c <= 0xbf;
    case 0xf4:
        return c >= 0x80 && c <= 0x8f;
    default:
        return continues(c);
    }
}

int utf8_next(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    int want, i;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return -1;
    if (s.n < 2 || !second_fits(p[0], p[1]))
        return -1;
    want = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    for (i = 2; i < want; i++)
        if ((size_t)i >= s.n || !continues(p[i]))
            return -i;
    return want;
}

size_t utf8_valid(struct str s)
{
    size_t i = 0;
    int k;

    while (i < s.n) {
        i += ascii_run(s.p + i, s.n - i);
        if (i == s.n)
            break;
        k = utf8_next((struct str){ s.p + i, s.n - i });
        if (k < 0)
            break;
        i += (size_t)k;
    }
    return i;
}

/* A character has at most three continuation bytes; stopping there keeps the
 * cut near n even in text that is not valid after all. */
size_t utf8_cut(struct str s, size_t n)
{
    int back;

    if (n >= s.n)
        return s.n;
    for (back = 0; back < 3 && n > 0 && continues((unsigned char)s.p[n]); back++)
        n--;
    return n;
}

size_t utf8_repair(struct buf *out, struct str s)
{
    size_t replaced = 0, good;
    int k;

    while (s.n) {
        good = utf8_valid(s);
        buf_add(out, s.p, good);
        s.p += good;
        s.n -= good;
        if (s.n == 0)
            break;
        k = -utf8_next(s);
        buf_adds(out, "\xef\xbf\xbd");
        replaced += (size_t)k;
        s.p += k;
        s.n -= (size_t)k;
    }
    return replaced;
}

size_t utf8_count(struct str s)
{
    size_t i, n = 0;

    for (i = 0; i < s.n; i++)
        n += !continues((unsigned char)s.p[i]);
    return n;
}

int utf8_put(char *out, unsigned cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}
