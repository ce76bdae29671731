/* base64.c: six bits a letter. */
#include "base/base64.h"

bool base64_add(struct buf *out, const void *data, size_t n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const unsigned char *p = data;
    unsigned bits = 0, have = 0;
    bool ok = true;

    for (size_t i = 0; i < n; i++) {
        bits = bits << 8 | p[i];
        have += 8;
        while (have >= 6) {
            have -= 6;
            ok = buf_addc(out, letters[bits >> have & 63]);
        }
    }
    if (have > 0)
        ok = buf_addc(out, letters[bits << (6 - have) & 63]);
    return ok;
}

static int value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '-' || c == '+')
        return 62;
    return c == '_' || c == '/' ? 63 : -1;
}

bool base64_read(struct buf *out, struct str text)
{
    unsigned bits = 0, have = 0;

    if (text.n % 4 == 0)
        for (int i = 0; i < 2 && text.n > 0 && text.p[text.n - 1] == '='; i++)
            text.n--;
    if (text.n % 4 == 1)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        int v = value(text.p[i]);

        if (v < 0)
            return false;
        bits = bits << 6 | (unsigned)v;
        have += 6;
        if (have >= 8) {
            have -= 8;
            if (!buf_addc(out, (char)(bits >> have & 255)))
                return false;
        }
    }
    return (bits & ((1u << have) - 1)) == 0;
}
