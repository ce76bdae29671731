/* score.c: the learned scorer and the one made by hand.
 *
 * Learned: a logistic model per part and small trees, trained so that their
 * output is a density (gain per token). Features are standardised and cut at
 * four deviations, so that one odd number cannot decide.
 * By hand: a dozen of the same features with weights that a person would give;
 * kept to show what learning brings. */
#include "prune/score.h"

#include <math.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "prune/trees.h"

enum { ASK_LINES = 2048 };

/* What the goal names to the letter, a version or a path, is meant; training
 * texts seldom have it, and measured on them this changes nothing. */
static const float literal = 3;

/* In a text of a few lines every window is the whole text and ranks say
 * nothing: there what stands on the line itself decides. */
static float few(size_t lines)
{
    return lines < 16 ? 6 * (1 - (float)lines / 16) : 0;
}

static float squash(float z)
{
    return z == z ? 1 / (1 + expf(-z)) : 0;
}

/* The sum of weights times features, cut at four deviations; the features as
 * steps for the trees. */
static float weighed(int8_t *step, const struct line_weights *w, const float *x)
{
#ifdef __SSE2__
    __m128 all = _mm_setzero_ps(), y;
    __m128i s[4];
    float part[4];
    size_t k, j;

    for (k = 0; k < F_ROOM; k += 16) {
        for (j = 0; j < 4; j++) {
            y = _mm_sub_ps(_mm_loadu_ps(x + k + 4 * j), _mm_loadu_ps(w->mean + k + 4 * j));
            y = _mm_mul_ps(y, _mm_loadu_ps(w->scale + k + 4 * j));
            y = _mm_max_ps(_mm_min_ps(y, _mm_set1_ps(4)), _mm_set1_ps(-4));
            all = _mm_add_ps(all, _mm_mul_ps(y, _mm_loadu_ps(w->weight + k + 4 * j)));
            s[j] = _mm_cvtps_epi32(_mm_mul_ps(y, _mm_set1_ps(STEPS)));
        }
        _mm_storeu_si128((__m128i *)(step + k),
                         _mm_packs_epi16(_mm_packs_epi32(s[0], s[1]), _mm_packs_epi32(s[2], s[3])));
    }
    _mm_storeu_ps(part, all);
    return (part[0] + part[1]) + (part[2] + part[3]);
#else
    float sum = 0, v;
    size_t k;

    for (k = 0; k < F_ROOM; k++) {
        v = (x[k] - w->mean[k]) * w->scale[k];
        v = v > -4 ? v < 4 ? v : 4 : -4;
        sum += v * w->weight[k];
        step[k] = (int8_t)(v * STEPS < 127 ? lrintf(v * STEPS) : 127);
    }
    return sum;
#endif
}

bool score_learned(float *out, const struct features *f, enum text_part part,
                   const struct late *late)
{
    const struct line_weights *w = &LINE_WEIGHTS[part];
    int8_t step[TILE][F_ROOM] = { 0 };
    float x[F_ROOM];
    int32_t said[TILE];
    size_t i, k, n = features_lines(f), most;

    for (i = 0; i < n; i += TILE) {
        if (is_late(late))
            return false;
        most = n - i < TILE ? n - i : TILE;
        memset(said, 0, sizeof said);
        for (k = 0; k < most; k++) {
            features_of(f, i + k, x);
            out[i + k] =
                w->bias + weighed(step[k], w, x) + few(n) * x[F_S_MAX] + literal * x[F_LITERAL];
        }
        trees_add(said, step, part);
        for (k = 0; k < most; k++)
            out[i + k] = squash(out[i + k] + (float)said[k] / TREE_ONE);
    }
    return true;
}

/* ---- By hand ---- */

struct hand {
    uint8_t feature;
    float weight;
};

static const struct hand CODE[] = {
    { F_S2, 1.2f },      { F_S6, 1.5f },       { F_BLOCK_SUM, 1.2f }, { F_BLOCK_COV, 1.0f },
    { F_COV8, 1.0f },    { F_HEAD_S, 0.6f },   { F_CHAIN, 0.6f },     { F_EXACT, 0.4f },
    { F_LITERAL, 2.0f }, { F_BLANK, -3.0f },   { F_PUNCT, -2.5f },    { F_COMMENT, -1.2f },
    { F_IMPORT, -1.0f }, { F_LICENCE, -3.0f }, { F_DOCSTR, -1.0f },   { F_TOKENS, -0.15f },
    { F_RARITY, 1.0f },
};
static const struct hand DOCS[] = {
    { F_S2, 1.5f },        { F_S6, 1.5f },       { F_PARA, 1.0f },    { F_BLOCK_SUM, 1.0f },
    { F_BLOCK_COV, 0.8f }, { F_COV8, 1.0f },     { F_HEAD_S, 0.8f },  { F_UP_HEAD, 0.3f },
    { F_BLANK, -3.0f },    { F_PUNCT, -2.0f },   { F_HEADING, 0.3f }, { F_EXACT, 0.5f },
    { F_LITERAL, 2.0f },   { F_TOKENS, -0.25f },
};
static const struct hand LOGS[] = {
    { F_S_MAX, 3.0f },   { F_S2, 1.0f },          { F_COV3, 1.5f },        { F_EXACT, 1.0f },
    { F_LITERAL, 3.0f }, { F_FAIL_STRONG, 3.0f }, { F_STRONG_RARE, 1.0f }, { F_FAIL_RARE, 1.5f },
    { F_SEV, 0.4f },     { F_DENSITY, 0.2f },     { F_COPIES, -0.25f },    { F_BLANK, -3.0f },
    { F_PUNCT, -1.5f },  { F_ENTRY_S, 2.0f },     { F_TITLE_S, 2.0f },     { F_DEF_NAMED, 3.0f },
    { F_SUMMARY, 0.6f }, { F_BLOCK_SUM, 0.8f },   { F_WARN_WARN, 2.0f },   { F_DULL, -0.5f },
    { F_OK, -0.6f },     { F_TOKENS, -0.15f },
};

bool score_heuristic(float *out, const struct features *f, enum text_part part,
                     const struct late *late)
{
    const struct hand *hands[PART_COUNT] = { CODE, LOGS, DOCS };
    size_t counts[PART_COUNT] = { sizeof CODE / sizeof *CODE, sizeof LOGS / sizeof *LOGS,
                                  sizeof DOCS / sizeof *DOCS };
    float x[F_ROOM], z;
    size_t i, k, n = features_lines(f);

    for (i = 0; i < n; i++) {
        if (i % ASK_LINES == 0 && is_late(late))
            return false;
        features_of(f, i, x);
        for (z = few(n) * x[F_S_MAX] - 2, k = 0; k < counts[part]; k++)
            z += x[hands[part][k].feature] * hands[part][k].weight;
        out[i] = squash(z);
    }
    return true;
}
