/* buf.c: bytes that grow by doubling, up to a ceiling.
 *
 * One byte beyond the text is always allocated for the NUL, so the memory may
 * reach max + 1. A refused append changes nothing but `full`. */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_CAP = 64 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){ .max = max < SIZE_MAX / 4 ? max : SIZE_MAX / 4 };
}

void buf_done(struct buf *b)
{
    if (!b)
        return;
    free(b->data);
    b->data = NULL;
    b->len = b->cap = 0;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->full = false;
    if (b->data)
        b->data[0] = '\0';
}

/* Make cap at least need, which the ceiling allows. */
static void grow(struct buf *b, size_t need)
{
    size_t cap = b->cap ? b->cap * 2 : FIRST_CAP;

    if (cap < need)
        cap = need;
    if (cap > b->max + 1)
        cap = b->max + 1;
    b->data = xrealloc(b->data, cap);
    b->cap = cap;
}

char *buf_room(struct buf *b, size_t n)
{
    if (b->full || n > b->max - b->len) {
        b->full = true;
        return NULL;
    }
    if (b->cap - b->len <= n)
        grow(b, b->len + n + 1);
    return b->data + b->len;
}

bool buf_add(struct buf *b, const void *p, size_t n)
{
    char *to = buf_room(b, n);

    if (!to)
        return false;
    if (n)
        memcpy(to, p, n);
    to[n] = '\0';
    b->len += n;
    return true;
}

bool buf_adds(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

bool buf_addc(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

bool buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    char *to;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(n >= 0);
    to = buf_room(b, (size_t)n);
    if (to) {
        vsnprintf(to, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
    return to != NULL;
}

void buf_drop(struct buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0)
        return;
    b->len -= n;
    memmove(b->data, b->data + n, b->len);
    b->data[b->len] = '\0';
}
