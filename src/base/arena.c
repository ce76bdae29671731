/* arena.c: blocks filled from the front, freed together.
 *
 * Blocks start small, since most calls need a page or less, and double up to
 * 64 KB. A request too large to share a block gets one of its own, put behind
 * the block being filled so that its free end is not lost.
 * There is no way to free or grow one piece; that is what makes it safe. */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { ALIGN = 16, FIRST_BLOCK = 4096, LAST_BLOCK = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    void *adopted; /* memory of somebody else's making, or NULL */
    size_t used;
    size_t cap;
    _Alignas(ALIGN) char data[];
};

static struct arena_block *block_new(size_t cap)
{
    struct arena_block *b = xmalloc(sizeof *b + cap);

    b->next = NULL;
    b->adopted = NULL;
    b->used = 0;
    b->cap = cap;
    return b;
}

/* Link b in behind the block being filled. */
static void put_behind(struct arena *a, struct arena_block *b)
{
    if (!a->head) {
        a->head = b;
        return;
    }
    b->next = a->head->next;
    a->head->next = b;
}

/* A block with n bytes free, linked in. */
static struct arena_block *block_for(struct arena *a, size_t n)
{
    size_t cap = a->head && a->head->cap ? 2 * a->head->cap : FIRST_BLOCK;
    struct arena_block *b;

    if (cap > LAST_BLOCK)
        cap = LAST_BLOCK;
    if (n > cap / 4) {
        b = block_new(n);
        put_behind(a, b);
    } else {
        b = block_new(cap);
        b->next = a->head;
        a->head = b;
    }
    return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_block *b = a->head;
    void *p;

    assert(n < SIZE_MAX / 2);
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!b || b->cap - b->used < n)
        b = block_for(a, n);
    p = b->data + b->used;
    b->used += n;
    a->bytes += n;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}

char *arena_strdup(struct arena *a, const char *s)
{
    return (char *)arena_str(a, str_of(s)).p;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){ p, s.n };
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    char *p;
    int n;

    assert(fmt); /* said for gcc 12, which warns of it under -fsanitize */
    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(n >= 0);
    p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

void arena_adopt(struct arena *a, void *p, size_t n)
{
    struct arena_block *b = block_new(0);

    b->adopted = p;
    a->bytes += n;
    put_behind(a, b);
}

void arena_done(struct arena *a)
{
    struct arena_block *b, *next;

    if (!a)
        return;
    for (b = a->head; b; b = next) {
        next = b->next;
        free(b->adopted);
        free(b);
    }
    *a = (struct arena){ 0 };
}
