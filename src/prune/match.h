/* match.h: where the goal's terms are in a text.
 *
 * At most 64 terms, the most telling ones, so that "which terms" is one word
 * of bits for a line, a window or a block. A term has a weight by hand (its
 * place in the goal times its rarity here) and three learned ones: how much a
 * line gains by holding it, by being near it, by sharing a block with it. */
#pragma once
#include "prune/goal.h"
#include "scan/blocks.h"

enum { MATCH_TERMS = 64 };

/* What the learned term weights are made from; the names are the training's. */
/* clang-format off */
#define TERM_INPUTS(X) \
    X(ONE) X(IDF) X(SHARE) X(COMMENTS) X(DEFS) X(HAND) X(HAND_IDF) X(COUNT) X(AT) X(TERMS) \
    X(TITLE) X(EXACT) X(IDENT) X(QUOTED) X(FENCED) X(GENERIC) X(NUMBER) X(GOAL_COUNT) X(LENGTH) \
    X(TEXT_DF) X(GOAL_DF) X(RARE) X(SOLE) X(FAIL)
/* clang-format on */

enum term_input {
#define X(name) T_##name,
    TERM_INPUTS(X)
#undef X
        T_COUNT_
};

/* On the line, near it, in its block. */
enum { ON_LINE, NEAR, IN_BLOCK, REACHES };

struct match {
    const struct text *t;
    const struct blocks *b;
    enum text_part part;
    struct goal goal;
    const struct goal_term *term[MATCH_TERMS];
    size_t count;
    uint32_t df[MATCH_TERMS]; /* lines that hold it */
    float idf[MATCH_TERMS];   /* log of lines / df */
    float hand[MATCH_TERMS];  /* by hand, with the rarity */
    float w[REACHES][MATCH_TERMS];
    float base[REACHES][MATCH_TERMS]; /* share of all lines within its reach */
    float comment[MATCH_TERMS];       /* share of its lines that are comments */
    float header[MATCH_TERMS];        /* … that are headers */
    float total;                      /* of hand */
    uint32_t goal_df[GOAL_TERMS];     /* per term of the goal, lines that hold it */
    uint64_t exact, quoted, sought;   /* terms that are whole identifiers, quoted, sought */
    uint64_t *mask;                   /* per line */
    uint64_t *block;                  /* per block, the terms in it */
    uint64_t *word;                   /* per word, the terms it is */
    uint8_t *literal;                 /* per line, a bit for each literal; NULL: none is there */
    float literal_idf[GOAL_LITERALS]; /* how rare, 0..1 */
    bool *joined;                     /* per word: two words of the goal in one */
};

/* Find the goal's terms; wants kinds and blocks. */
void match_text(struct match *m, struct arena *a, const struct text *t, const struct blocks *b,
                enum text_part part, const struct goal *goal);

/* The inputs of the learned weights of term k, T_COUNT_ of them. */
void match_inputs(const struct match *m, size_t k, float *x);

/* In how many lines the goal's term i is, roughly. */
uint32_t match_df(const struct match *m, size_t i);

/* The sum of w over the terms in mask. */
static inline float mask_sum(uint64_t mask, const float *w)
{
    float sum = 0;

    for (; mask; mask &= mask - 1)
        sum += w[__builtin_ctzll(mask)];
    return sum;
}
