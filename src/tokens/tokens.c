/* tokens.c: pieces, and of each: a token, or several.
 *
 * Most pieces of a text are words that were there before, and to find a token
 * in a table of megabytes is mostly waiting for memory. So each thread keeps
 * the last few thousand short pieces with their counts, by all of their bytes:
 * what it remembers changes the time, never the count. */
#include "tokens/tokens.h"

#include <pthread.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tokens/merge.h"
#include "tokens/split.h"
#include "tokens/table.h"

enum { CACHE_BITS = 13, CACHE_LONGEST = 16 };

struct piece {
    uint64_t a, b;       /* its bytes */
    uint16_t len, count; /* len 0: nothing yet */
};

struct cache {
    struct piece v[1 << CACHE_BITS];
    struct merge_memory parts;
};

static _Thread_local struct cache *own;
static pthread_key_t key; /* frees `own` with its thread */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    if (pthread_key_create(&key, free) != 0)
        abort();
}

static struct cache *cache_get(void)
{
    if (!own) {
        pthread_once(&once, make_key);
        own = xcalloc(1, sizeof *own);
        pthread_setspecific(key, own);
    }
    return own;
}

static size_t count_piece(struct cache *c, const char *p, size_t n, const char *end)
{
    return table_rank(p, n, end) != NO_RANK ? 1 : merge_count(&c->parts, p, n, end);
}

static size_t count_cached(struct cache *c, const char *p, size_t n, const char *end)
{
    uint64_t a = table_word(p, n < 8 ? n : 8, end);
    uint64_t b = n > 8 ? table_word(p + 8, n - 8, end) : 0;
    uint64_t h = (a ^ b) * UINT64_C(0xd6e8feb86659fd93);
    struct piece *e = &c->v[(h ^ h >> 32) * UINT64_C(0xff51afd7ed558ccd) >> (64 - CACHE_BITS)];

    if (e->a != a || e->b != b || e->len != n)
        *e = (struct piece){ a, b, (uint16_t)n, (uint16_t)count_piece(c, p, n, end) };
    return e->count;
}

static size_t count_valid(const char *p, const char *end)
{
    struct cache *c = cache_get();
    size_t count = 0;

    while (p < end) {
        const char *next = split_next(p, end);
        size_t n = (size_t)(next - p);

        if (n == 1) /* every byte is a token */
            count++;
        else
            count += n <= CACHE_LONGEST ? count_cached(c, p, n, end) : count_piece(c, p, n, end);
        p = next;
    }
    return count;
}

static size_t count_repaired(struct str text)
{
    struct buf b;
    size_t count;

    buf_init(&b, text.n * 3 + 8);
    utf8_repair(&b, text);
    count = count_valid(b.data, b.data + b.len);
    buf_done(&b);
    return count;
}

size_t tokens_count(struct str text)
{
    if (text.n == 0)
        return 0;
    if (utf8_valid(text) != text.n)
        return count_repaired(text);
    return count_valid(text.p, text.p + text.n);
}
