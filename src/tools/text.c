/* text.c: small things that several tools say alike. */
#include "tools/text.h"

#include <stdio.h>

struct str text_whole(struct str s)
{
    size_t back = 0;
    unsigned char c;

    while (back < 3 && back < s.n && ((unsigned char)s.p[s.n - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back == s.n)
        return s;
    c = (unsigned char)s.p[s.n - 1 - back];
    if ((c >= 0xf0 && back < 3) || (c >= 0xe0 && back < 2) || (c >= 0xc0 && back < 1))
        s.n -= back + 1;
    return s;
}

const char *text_count(struct arena *a, unsigned long long n, const char *one, const char *many)
{
    char digits[24], out[32];
    int len = snprintf(digits, sizeof digits, "%llu", n), at = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return arena_printf(a, "%s %s", out, n == 1 ? one : many);
}
