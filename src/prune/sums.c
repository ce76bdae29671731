/* sums.c: how well lines, windows, blocks and headers match the goal.
 *
 * Windows of terms are ORs of bits, windows of sums decay by a factor per line,
 * ranks come from a histogram: everything is linear in the number of lines. */
#include "prune/parts.h"

#include <math.h>

#include "scan/log.h"

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

/* out[i] = OR of in[i - k … i + k], by runs of 2k + 1 read from both ends. */
static void or_window(uint64_t *out, const uint64_t *in, uint64_t *scratch, size_t n, size_t k)
{
    size_t w = 2 * k + 1, i, j;
    uint64_t run = 0;

    for (i = n; i--;) { /* from i to the end of its run */
        run = i % w == w - 1 ? in[i] : run | in[i];
        scratch[i] = run;
    }
    run = 0;
    for (i = 0; i < n + k; i++) { /* from the start of the run to i */
        run = i % w == 0 ? 0 : run;
        if (i < n)
            run |= in[i];
        if (i >= k) {
            j = i - k;
            out[j] = j >= k ? run | scratch[j - k] : run;
        }
    }
}

static void mask_sums(float *out, const uint64_t *mask, size_t n, const float *w)
{
    uint64_t last = 0;
    float sum = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        if (mask[i] != last) {
            last = mask[i];
            sum = mask_sum(last, w);
        }
        out[i] = sum;
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

/* The share of lines that have less, by a histogram. */
static void ranks(float *out, const float *x, size_t n)
{
    enum { BINS = 512 };
    uint32_t bin[BINS] = { 0 }, below = 0, k;
    float low = 0, high = 0, scale, share[BINS];
    size_t i;

    for (i = 0; i < n; i++) {
        low = !i || x[i] < low ? x[i] : low;
        high = !i || x[i] > high ? x[i] : high;
    }
    scale = high > low ? (BINS - 1) / (high - low) : 0;
    for (i = 0; i < n; i++)
        bin[(uint32_t)((x[i] - low) * scale)]++;
    for (k = 0; k < BINS; k++) {
        share[k] = n ? ((float)below + 0.5f * (float)bin[k]) / (float)n : 0;
        below += bin[k];
    }
    for (i = 0; i < n; i++)
        out[i] = share[(uint32_t)((x[i] - low) * scale)];
}

static void line_sums(struct features *f, struct arena *a)
{
    const struct match *m = f->m;
    size_t n = f->n, i;
    uint64_t *near = arena_alloc(a, (n + 1) * sizeof *near);
    uint64_t *scratch = arena_alloc(a, (n + 1) * sizeof *scratch);
    float length;

    mask_sums(f->s, m->mask, n, m->hand);
    mask_sums(f->line, m->mask, n, m->w[ON_LINE]);
    for (i = 0; i < n; i++) {
        if (!f->s[i])
            continue;
        length = (float)(m->t->lines[i + 1].words - m->t->lines[i].words);
        f->s[i] *= 1.2f / (1 + 0.02f * length);
        if (m->mask[i] & m->exact)
            f->exact[i] = mask_sum(m->mask[i] & m->exact, m->hand);
    }
    or_window(near, m->mask, scratch, n, 3);
    mask_sums(f->near3, near, n, m->w[NEAR]);
    mask_sums(f->cov3, near, n, m->hand);
    or_window(near, m->mask, scratch, n, 8);
    mask_sums(f->near10, near, n, m->w[NEAR]);
    mask_sums(f->cov8, near, n, m->hand);
    decayed(f->s2, f->s, n, 0.5f, 0);
    decayed(f->s6, f->s, n, 0.8f, 0);
    ranks(f->s_rank, f->s6, n);
    ranks(f->near_rank, f->near10, n);
    f->top_s = largest(f->s, n);
    f->top_s2 = largest(f->s2, n);
    f->top_s6 = largest(f->s6, n);
    f->top_line = largest(f->line, n);
    f->top_near3 = largest(f->near3, n);
    f->top_near10 = largest(f->near10, n);
    f->top_exact = largest(f->exact, n);
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
    f->block_rank = features_floats(a, b->count);
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
    ranks(f->block_rank, f->block_sum, b->count);
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
    float *to[2] = { f->dist, f->dist_best }, at[2] = { 0, f->top_s * 0.6f }, d;
    size_t i, k;

    for (k = 0; k < 2; k++) {
        d = 1000;
        for (i = 0; i < f->n; i++) {
            d = f->s[i] > at[k] ? 0 : d + 1;
            to[k][i] = d;
        }
        d = 1000;
        for (i = f->n; i--;) {
            d = f->s[i] > at[k] ? 0 : d + 1;
            if (d < to[k][i])
                to[k][i] = d;
        }
    }
}

void features_sums(struct features *f, struct arena *a)
{
    line_sums(f, a);
    block_sums(f, a);
    header_sums(f);
    distances(f);
}
