/* select.c: the best lines within the limits.
 *
 * Lines are taken by score, one by one: measured on real work that is better
 * than whole blocks, since a block's worth is part of its lines' scores. With
 * a budget, the lines that a reader needs around the best come next, in this
 * order: the signatures and heads above kept lines, then gaps whose marker
 * would cost as much as they do. */
#include "prune/select.h"

#include <math.h>
#include <stdlib.h>

struct chooser {
    bool *keep;
    const struct text *t;
    const struct blocks *b;
    const float *score;
    const struct prune_opts *o;
    uint32_t *order; /* lines, best first */
    size_t n, kept;
    double tokens; /* of kept lines */
    double scale;  /* from our estimate to the caller's count */
};

/* ---- Order ---- */

static uint32_t key_of(float score)
{
    return (uint32_t)(score * 4294967040.0f);
}

struct ranked {
    uint32_t key, line;
};

static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    return a->line < b->line ? -1 : 1;
}

/* All lines, best first; of equals the earlier. By 14 bits, then in each bin;
 * where only the first `upto` matter, in the bin where they end. */
static void sort_lines(struct chooser *c, struct arena *a, size_t upto)
{
    enum { BINS = 1 << 14, SHIFT = 18 };
    uint32_t *start = arena_zalloc(a, (BINS + 1) * sizeof *start), bin;
    struct ranked *r = arena_alloc(a, (c->n + 1) * sizeof *r);
    size_t i, from, to;

    for (i = 0; i < c->n; i++)
        start[BINS - (key_of(c->score[i]) >> SHIFT)]++;
    for (i = 1; i <= BINS; i++)
        start[i] += start[i - 1];
    for (i = c->n; i--;) {
        bin = BINS - 1 - (key_of(c->score[i]) >> SHIFT);
        r[--start[bin + 1]] = (struct ranked){ key_of(c->score[i]), (uint32_t)i };
    }
    for (i = 0; i < BINS; i++) {
        from = start[i + 1];
        to = i + 2 <= BINS ? start[i + 2] : c->n;
        if (to > from + 1 && (!upto || (from < upto && upto < to)))
            qsort(r + from, to - from, sizeof *r, by_rank);
    }
    c->order = arena_alloc(a, (c->n + 1) * sizeof *c->order);
    for (i = 0; i < c->n; i++)
        c->order[i] = r[i].line;
}

/* ---- Taking ---- */

static double cost(const struct chooser *c, size_t i)
{
    return c->scale * c->t->lines[i].tokens;
}

static void take(struct chooser *c, size_t i)
{
    if (c->keep[i])
        return;
    c->keep[i] = true;
    c->kept++;
    c->tokens += cost(c, i);
}

/* As many as must stay, best first. */
static void take_least(struct chooser *c, size_t least)
{
    size_t k;

    for (k = 0; k < c->n && c->kept < least; k++)
        take(c, c->order[k]);
}

static void take_budget(struct chooser *c, float high)
{
    double budget = (double)c->o->budget;
    size_t k, i;

    for (k = 0; k < c->n; k++) {
        i = c->order[k];
        if (c->keep[i])
            continue;
        if (c->tokens + cost(c, i) > (c->score[i] >= high ? 2 : 1) * budget * 0.95)
            continue;
        if (c->tokens > budget && c->score[i] < high)
            break;
        take(c, i);
    }
}

/* The signature or heading above each kept line. */
static void take_headers(struct chooser *c, double room)
{
    uint32_t h;
    size_t i;

    for (i = 0; i < c->n; i++) {
        if (!c->keep[i])
            continue;
        h = c->b->header[i];
        if (h != NO_LINE && !c->keep[h] && c->tokens + cost(c, h) <= room)
            take(c, h);
    }
}

/* Gaps that cost no more than the marker in their place. */
static void fill_gaps(struct chooser *c, double most)
{
    double marker = (double)c->o->marker_cost, sum;
    size_t i, j, k;

    for (i = 0; i < c->n; i = j) {
        for (j = i, sum = 0; j < c->n && !c->keep[j]; j++)
            sum += cost(c, j);
        if (j == i)
            j++;
        else if (sum <= marker && c->tokens + sum <= most)
            for (k = i; k < j; k++)
                take(c, k);
    }
}

/* ---- All ---- */

static size_t least_of(const struct chooser *c)
{
    double gone = floor((double)c->n * c->o->max_ratio + 1e-9);
    size_t least = gone >= (double)c->n ? 0 : c->n - (size_t)gone;

    if (least < c->o->min_keep)
        least = c->o->min_keep;
    if (!least)
        least = 1;
    return least < c->n ? least : c->n;
}

static double scale_of(const struct chooser *c)
{
    double sum = 0, exact;
    size_t i;

    if (!c->o->budget && !c->o->marker_cost)
        return 1;
    for (i = 0; i < c->n; i++)
        sum += c->t->lines[i].tokens;
    exact = c->o->tokens ? (double)c->o->tokens(c->t->bytes) : (double)c->t->bytes.n / 4;
    return sum > 0 ? exact / sum : 1;
}

size_t select_lines(bool *keep, struct arena *a, const struct text *t, const struct blocks *b,
                    const float *score, float high, const struct prune_opts *o)
{
    struct chooser c = { .keep = keep, .t = t, .b = b, .score = score, .o = o, .n = t->count };
    size_t i, least = least_of(&c);
    double most = HUGE_VAL;

    memset(keep, 0, c.n);
    c.scale = scale_of(&c);
    for (i = 0; i < c.n; i++)
        if (t->lines[i].kind & K_KEEP)
            take(&c, i);
    sort_lines(&c, a, o->budget || c.kept ? 0 : least);
    if (!o->budget || c.kept < least)
        take_least(&c, least);
    if (o->budget) {
        most = 2.0 * (double)o->budget * 0.95;
        take_budget(&c, high);
        take_headers(&c, (double)o->budget * 1.2 < most ? (double)o->budget * 1.2 : most);
    }
    if (o->marker_cost)
        fill_gaps(&c, most);
    return c.kept;
}
