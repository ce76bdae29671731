/* parts.h: what is worked out for all lines before any single one is scored.
 * Only for the files of prune/ that make features. */
#pragma once
#include "prune/features.h"

enum { FEATURES_LOGS = 256, RANK_BINS = 512 };

/* Which share of the values is less than one. */
struct ranks {
    float low, scale, share[RANK_BINS];
};

float rank_of(const struct ranks *r, float x);

struct features {
    const struct match *m;
    size_t n;                 /* lines */
    float log[FEATURES_LOGS]; /* log2 of 1 + x */
    /* per line, by sums.c */
    float *s, *s2, *s6;         /* weights by hand: on the line, decayed around it */
    float *near3, *near10;      /* learned weights near it */
    float *cov3, *cov8;         /* distinct terms around it */
    float *chain;               /* the lines it stands under */
    uint16_t *dist, *dist_best; /* lines to the nearest hit, the nearest good one */
    struct ranks s_rank, near_rank, block_rank;
    float top_s, top_s2, top_s6, top_line, top_near3, top_near10, top_exact, top_chain;
    /* per block, per paragraph */
    float *block, *block_cov, *block_max, *block_sum, *block_strong;
    float *para, *para_max;
    float top_block, top_block_sum, top_block_max, top_para;
    /* per line, by shape.c */
    uint32_t *copies,
        *shapes;              /* how often its masked text, its shape occur; FIRST_COPY marks one */
    uint16_t *run;            /* lines of this shape in a row */
    uint16_t *once, *unknown; /* words that occur once, that the world does not know */
    float *rarity;
    uint8_t *joined;
    /* per line, of logs only */
    float *since_strong, *to_strong, *density, *sev_density, *strong_rare, *quiet;
    uint32_t *strong_seen;
    uint32_t strong_count;
};

#define FIRST_COPY 0x80000000u

static inline float *features_floats(struct arena *a, size_t n)
{
    return arena_zalloc(a, (n + 1) * sizeof(float));
}

/* out[i] = sum of in[j] * decay^|i - j|; side 1: only j <= i, -1: only j >= i. */
void decayed(float *out, const float *in, size_t n, float decay, int side);

void features_sums(struct features *f, struct arena *a);
void features_shape(struct features *f, struct arena *a);
void features_trouble(struct features *f, struct arena *a);
