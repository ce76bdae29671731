/* sums.c: how well lines, windows, blocks and headers match the goal.
 *
 * Windows of terms are ORs of bits, windows of sums decay by a factor per line,
 * ranks come from a histogram: everything is linear in the number of lines. What
 * is cheap to work out again for one line is not kept: on large texts memory is
 * the cost. */
#include "prune/parts.h"

#include <math.h>

#include "scan/log.h"

/* No hit is farther away than this. */
enum { FAR_LINES = 1000 };

/* ---- Sums and windows ---- */

void decayed(float *out, const float *in, size_t n, float decay, int side)
{
    float sum = 0;
    size_t i;

    for (i = 0; i < n && side >= 0; i++) {
        sum = sum * decay + in[i];
        out[i] = sum;
    }
    sum = 0;
    for (i = n; i-- && side <= 0;) {
        if (side < 0) {
            sum = sum * decay + in[i];
            out[i] = sum;
        } else {
            out[i] += sum;
            sum = (sum + in[i]) * decay;
        }
    }
}

/* The terms within k lines of line i. */
static uint64_t within(const uint64_t *mask, size_t n, size_t i, size_t k)
{
    size_t j = i > k ? i - k : 0, end = i + k < n ? i + k + 1 : n;
    uint64_t all = 0;

    for (; j < end; j++)
        all |= mask[j];
    return all;
}

/* What the terms within k lines weigh: by hand, and learned for what is near. */
static void window_sums(float *hand, float *learned, const struct match *m, size_t n, size_t k)
{
    uint64_t last = 0, mask;
    float x = 0, y = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        mask = within(m->mask, n, i, k);
        if (mask != last) {
            last = mask;
            x = mask_sum(mask, m->hand);
            y = mask_sum(mask, m->w[NEAR]);
        }
        hand[i] = x;
        learned[i] = y;
    }
}

static float largest(const float *x, size_t n)
{
    float most = n ? x[0] : 0;
    size_t i;

    for (i = 1; i < n; i++)
        if (x[i] > most)
            most = x[i];
    return most;
}

static uint32_t bin_of(const struct ranks *r, float x)
{
    return (uint32_t)((x - r->low) * r->scale);
}

/* The share of values that are less, by a histogram. */
static void ranks_make(struct ranks *r, const float *x, size_t n)
{
    uint32_t bin[RANK_BINS] = { 0 }, below = 0, k;
    float high = 0;
    size_t i;

    r->low = 0;
    for (i = 0; i < n; i++) {
        r->low = !i || x[i] < r->low ? x[i] : r->low;
        high = !i || x[i] > high ? x[i] : high;
    }
    r->scale = high > r->low ? (RANK_BINS - 1) / (high - r->low) : 0;
    for (i = 0; i < n; i++)
        bin[bin_of(r, x[i])]++;
    for (k = 0; k < RANK_BINS; k++) {
        r->share[k] = n ? ((float)below + 0.5f * (float)bin[k]) / (float)n : 0;
        below += bin[k];
    }
}

float rank_of(const struct ranks *r, float x)
{
    return r->share[bin_of(r, x)];
}

static void line_sums(struct features *f)
{
    const struct match *m = f->m;
    size_t n = f->n, i;
    float length, x;

    f->top_line = -HUGE_VALF;
    for (i = 0; i < n; i++) {
        f->s[i] = 0;
        if (!m->mask[i]) {
            f->top_line = f->top_line > 0 ? f->top_line : 0;
            continue;
        }
        length = (float)(m->t->lines[i + 1].words - m->t->lines[i].words);
        f->s[i] = mask_sum(m->mask[i], m->hand) * (1.2f / (1 + 0.02f * length));
        x = mask_sum(m->mask[i], m->w[ON_LINE]);
        if (x > f->top_line)
            f->top_line = x;
        x = mask_sum(m->mask[i] & m->exact, m->hand);
        if (x > f->top_exact)
            f->top_exact = x;
    }
    window_sums(f->cov3, f->near3, m, n, 3);
    window_sums(f->cov8, f->near10, m, n, 8);
    decayed(f->s2, f->s, n, 0.5f, 0);
    decayed(f->s6, f->s, n, 0.8f, 0);
    ranks_make(&f->s_rank, f->s6, n);
    ranks_make(&f->near_rank, f->near10, n);
    f->top_s = largest(f->s, n);
    f->top_s2 = largest(f->s2, n);
    f->top_s6 = largest(f->s6, n);
    f->top_near3 = largest(f->near3, n);
    f->top_near10 = largest(f->near10, n);
}

/* ---- Blocks ---- */

static void block_sums(struct features *f, struct arena *a)
{
    const struct match *m = f->m;
    const struct blocks *b = m->b;
    float lines;
    size_t i, k;

    f->block = features_floats(a, b->count);
    f->block_cov = features_floats(a, b->count);
    f->block_max = features_floats(a, b->count);
    f->block_sum = features_floats(a, b->count);
    f->block_strong = features_floats(a, b->count);
    f->para = features_floats(a, b->para_count);
    f->para_max = features_floats(a, b->para_count);
    for (i = 0; i < b->count; i++) {
        f->block[i] = mask_sum(m->block[i], m->w[IN_BLOCK]);
        f->block_cov[i] = mask_sum(m->block[i], m->hand);
        for (k = b->all[i].from; k < b->all[i].to; k++) {
            f->block_sum[i] += f->s[k];
            if (f->s[k] > f->block_max[i])
                f->block_max[i] = f->s[k];
            if (m->t->lines[k].log & L_STRONG)
                f->block_strong[i] = 1;
        }
        lines = (float)(b->all[i].to - b->all[i].from);
        f->block_sum[i] /= sqrtf(lines + 3);
    }
    for (i = 0; i < b->para_count; i++) {
        for (k = b->paras[i].from; k < b->paras[i].to; k++) {
            f->para[i] += f->s[k];
            if (f->s[k] > f->para_max[i])
                f->para_max[i] = f->s[k];
        }
        f->para[i] /= sqrtf((float)(b->paras[i].to - b->paras[i].from) + 2);
    }
    f->top_block = largest(f->block, b->count);
    f->top_block_sum = largest(f->block_sum, b->count);
    f->top_block_max = largest(f->block_max, b->count);
    f->top_para = largest(f->para, b->para_count);
    ranks_make(&f->block_rank, f->block_sum, b->count);
}

static void header_sums(struct features *f)
{
    const struct blocks *b = f->m->b;
    uint32_t up;
    size_t i;

    for (i = 0; i < f->n; i++) {
        up = b->parent[i];
        if (up != NO_LINE && up < i)
            f->chain[i] = 0.8f * f->chain[up] + f->s[up];
    }
    f->top_chain = largest(f->chain, f->n);
}

/* Lines to the nearest hit, and to the nearest of the best hits. */
static void distances(struct features *f)
{
    uint16_t *to[2] = { f->dist, f->dist_best };
    float at[2] = { 0, f->top_s * 0.6f };
    uint32_t d;
    size_t i, k;

    for (k = 0; k < 2; k++) {
        d = FAR_LINES;
        for (i = 0; i < f->n; i++) {
            d = f->s[i] > at[k] ? 0 : d + (d < FAR_LINES);
            to[k][i] = (uint16_t)d;
        }
        d = FAR_LINES;
        for (i = f->n; i--;) {
            d = f->s[i] > at[k] ? 0 : d + (d < FAR_LINES);
            if (d < to[k][i])
                to[k][i] = (uint16_t)d;
        }
    }
}

void features_sums(struct features *f, struct arena *a)
{
    line_sums(f);
    block_sums(f, a);
    header_sums(f);
    distances(f);
}
