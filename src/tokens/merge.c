/* merge.c: byte pair encoding: of all neighbours that together are a token,
 * join those of the lowest rank, leftmost first, until none are left.
 *
 * Nearly every piece is short: then a row of parts that closes up, searched
 * from end to end. A long one (a megabyte of one letter is one piece) would
 * take square time: there every position keeps the rank of the pair that starts
 * at it, and a tree of minima, sixteen to a node, finds the lowest. */
#include "tokens/merge.h"

#include <stdint.h>
#include <stdlib.h>
#include "base/mem.h"
#include "tokens/table.h"

enum { SHORT = 96, FAN = 16, LEVELS = 16 };

/* The rank of the n bytes at p. The same few letters meet again and again, and
 * the table is far away: one line of memory here saves three there. */
static uint32_t rank_of(struct merge_memory *m, const char *p, size_t n, const char *end)
{
    uint64_t w, h;
    uint32_t at;

    if (n > 8)
        return table_rank(p, n, end);
    w = table_word(p, n, end);
    h = (w ^ n) * UINT64_C(0xd6e8feb86659fd93);
    at = (uint32_t)((h ^ h >> 32) * UINT64_C(0xff51afd7ed558ccd) >> 52);
    if (m->part[at].bytes != w || m->part[at].len != n) {
        m->part[at].bytes = w;
        m->part[at].len = (uint32_t)n;
        m->part[at].rank = table_rank(p, n, end);
    }
    return m->part[at].rank;
}

/* --- short --- */

static size_t lowest_of(const uint32_t *rank, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (rank[i] < rank[best])
            best = i;
    return best;
}

static size_t merge_short(struct merge_memory *m, const char *p, size_t n, const char *end)
{
    uint32_t rank[SHORT]; /* of part i with the next one */
    uint8_t start[SHORT + 1];
    size_t i;

    for (i = 0; i + 1 < n; i++) {
        start[i] = (uint8_t)i;
        rank[i] = rank_of(m, p + i, 2, end);
    }
    start[n - 1] = (uint8_t)(n - 1);
    start[n] = (uint8_t)n;
    while (n > 1) {
        i = lowest_of(rank, n - 1);
        if (rank[i] == NO_RANK)
            break;
        /* part i + 1 goes into part i */
        memmove(start + i + 1, start + i + 2, n - i - 1);
        memmove(rank + i, rank + i + 1, (n - i - 2) * sizeof *rank);
        n--;
        if (i + 1 < n)
            rank[i] = rank_of(m, p + start[i], start[i + 2] - start[i], end);
        if (i > 0)
            rank[i - 1] = rank_of(m, p + start[i - 1], start[i + 1] - start[i - 1], end);
    }
    return n;
}

/* --- long --- */

struct tree {
    uint32_t *level[LEVELS]; /* 0: one per byte; above: the lowest of sixteen */
    int levels;
    uint8_t *len;  /* of the part that starts here */
    uint8_t *back; /* of the part that ends before here */
    struct merge_memory *m;
    const char *p, *end;
    size_t n;
};

static uint32_t lowest_of_node(const uint32_t *v)
{
    uint32_t low = v[0];

    for (int i = 1; i < FAN; i++)
        low = v[i] < low ? v[i] : low;
    return low;
}

static void set_rank(struct tree *t, size_t at, uint32_t rank)
{
    t->level[0][at] = rank;
    for (int l = 1; l < t->levels; l++) {
        at /= FAN;
        rank = lowest_of_node(t->level[l - 1] + at * FAN);
        if (t->level[l][at] == rank)
            return;
        t->level[l][at] = rank;
    }
}

/* The leftmost position of the lowest rank. */
static size_t find_lowest(const struct tree *t)
{
    uint32_t low = t->level[t->levels - 1][0];
    size_t at = 0;

    for (int l = t->levels - 2; l >= 0; l--)
        for (at *= FAN; t->level[l][at] != low;)
            at++;
    return at;
}

static uint32_t pair_rank(const struct tree *t, size_t at)
{
    size_t next = at + t->len[at];

    if (next >= t->n)
        return NO_RANK;
    return rank_of(t->m, t->p + at, (size_t)t->len[at] + t->len[next], t->end);
}

static void tree_init(struct tree *t, struct merge_memory *m, const char *p, size_t n,
                      const char *end)
{
    size_t width = n;

    *t = (struct tree){ .m = m, .p = p, .end = end, .n = n };
    do {
        width = (width + FAN - 1) / FAN * FAN;
        t->level[t->levels] = xmalloc(width * sizeof **t->level);
        for (size_t i = 0; i < width; i++)
            t->level[t->levels][i] = NO_RANK;
        t->levels++;
        width /= FAN;
    } while (width > 1);
    t->level[t->levels] = xmalloc(sizeof **t->level);
    t->levels++;
    t->len = xmalloc(n + 1);
    t->back = xmalloc(n + 1);
    memset(t->len, 1, n + 1);
    memset(t->back, 1, n + 1);
    for (size_t i = 0; i < n; i++)
        t->level[0][i] = pair_rank(t, i);
    width = n;
    for (int l = 1; l < t->levels; l++) {
        width = (width + FAN - 1) / FAN;
        for (size_t i = 0; i < width; i++)
            t->level[l][i] = lowest_of_node(t->level[l - 1] + i * FAN);
    }
}

static void tree_done(struct tree *t)
{
    for (int l = 0; l < t->levels; l++)
        free(t->level[l]);
    free(t->len);
    free(t->back);
}

static void join(struct tree *t, size_t at)
{
    size_t next = at + t->len[at], after = next + t->len[next];

    t->len[at] = (uint8_t)(after - at);
    t->back[after] = t->len[at];
    set_rank(t, next, NO_RANK);
    set_rank(t, at, pair_rank(t, at));
    if (at > 0)
        set_rank(t, at - t->back[at], pair_rank(t, at - t->back[at]));
}

static size_t merge_long(struct merge_memory *m, const char *p, size_t n, const char *end)
{
    struct tree t;
    size_t left = n;

    tree_init(&t, m, p, n, end);
    while (t.level[t.levels - 1][0] != NO_RANK) {
        join(&t, find_lowest(&t));
        left--;
    }
    tree_done(&t);
    return left;
}

size_t merge_count(struct merge_memory *m, const char *p, size_t n, const char *end)
{
    return n <= SHORT ? merge_short(m, p, n, end) : merge_long(m, p, n, end);
}
