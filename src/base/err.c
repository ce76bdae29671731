/* err.c: filling an err and naming its code. Never logs; the floor that turns
 * an err into a reply does. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const struct {
    const char *word;
    int number;
} codes[] = {
#define X(name, word, number) { word, number },
    ERR_CODES(X)
#undef X
};

/* A message may name a file of any bytes, and ends up in JSON. */
static void replace_invalid(char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        at += utf8_valid((struct str){ s + at, n - at });
        if (at < n)
            s[at++] = '?';
    }
}

/* The text is made aside, so that the old message may be one of the arguments,
 * and with a byte to spare, to see whether the cut falls inside a character. */
bool err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    char text[sizeof((struct err){ 0 }.msg) + 1];
    size_t n;
    va_list ap;

    if (!e)
        return false;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    replace_invalid(text, strlen(text));
    n = utf8_cut((struct str){ text, strlen(text) }, sizeof e->msg - 1);
    memcpy(e->msg, text, n);
    e->msg[n] = '\0';
    e->code = code;
    return false;
}

const char *err_word(enum err_code code)
{
    return codes[code].word;
}

int err_number(enum err_code code)
{
    return codes[code].number;
}
