/* key.c: keys compared byte by byte as they are unescaped, so that nothing is
 * copied and no key is too long. Where neither side has an escape, and that is
 * nearly always, it is a memcmp. */
#include "json/key.h"

#include "base/utf8.h"

/* Its unescaped bytes, one by one. */
struct walk {
    const char *p;
    const char *end;
    bool escaped;
    int n, i;
    char ch[4];
};

int key_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static unsigned hex4(const char *p)
{
    unsigned v = 0;
    int i;

    for (i = 0; i < 4; i++)
        v = v << 4 | (unsigned)key_hex(p[i]);
    return v;
}

/* Every escape is followed by a quote at least, so looking for the second half
 * of a pair stays inside the text. */
int key_unescape(const char **p, char ch[4])
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *s = *p;
    unsigned cp, low;

    if (s[1] != 'u') {
        *p += 2;
        ch[0] = to[strchr(from, s[1]) - from];
        return 1;
    }
    *p += 6;
    cp = hex4(s + 2);
    if (cp < 0xd800 || cp > 0xdfff)
        return utf8_put(ch, cp);
    if (cp < 0xdc00 && s[6] == '\\' && s[7] == 'u') {
        low = hex4(s + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *p += 6;
            return utf8_put(ch, 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00));
        }
    }
    return utf8_put(ch, 0xfffd);
}

static struct walk walk(struct key k)
{
    return (struct walk){ .p = k.raw.p, .end = k.raw.p + k.raw.n, .escaped = k.escaped };
}

/* The next byte, or -1. */
static int walk_next(struct walk *w)
{
    if (w->i < w->n)
        return (unsigned char)w->ch[w->i++];
    if (w->p == w->end)
        return -1;
    if (!w->escaped || *w->p != '\\')
        return (unsigned char)*w->p++;
    w->n = key_unescape(&w->p, w->ch);
    w->i = 1;
    return (unsigned char)w->ch[0];
}

bool key_eq(struct key a, struct key b)
{
    struct walk x, y;
    int c;

    if (!a.escaped && !b.escaped)
        return str_eq(a.raw, b.raw);
    x = walk(a);
    y = walk(b);
    do {
        c = walk_next(&x);
        if (c != walk_next(&y))
            return false;
    } while (c >= 0);
    return true;
}

/* The key as a polynomial at the point r, modulo the prime 2^61 - 1: two keys
 * of n bytes collide for at most n of all r. */
uint64_t key_hash(struct key k, uint64_t r)
{
    const uint64_t prime = ((uint64_t)1 << 61) - 1;
    struct walk w = walk(k);
    uint64_t h = 0;
    int c;

    while ((c = walk_next(&w)) >= 0) {
        unsigned __int128 m = (unsigned __int128)h * r + (unsigned)c + 1;

        h = ((uint64_t)m & prime) + (uint64_t)(m >> 61);
        if (h >= prime)
            h -= prime;
    }
    return h;
}
