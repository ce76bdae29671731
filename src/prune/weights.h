/* weights.h: what was learned (data/prune_weights.h, made by `make train`). */
#pragma once
#include "prune/features.h"
#include "prune/match.h"

/* Per part, for each reach, on TERM_INPUTS. */
extern const float TERM_WEIGHTS[PART_COUNT][REACHES][T_COUNT_];

/* Per part: a line's score is bias + sum of clip((f - mean) / sd) * weight, and
 * what the trees say. */
struct line_weights {
    float bias;
    float mean[F_ROOM], scale[F_ROOM], weight[F_ROOM]; /* scale is 1 / sd */
};
extern const struct line_weights LINE_WEIGHTS[PART_COUNT];

enum { TREES = 150, TREE_ASKS = 4 };

/* A tree that asks the same four questions of every line: is feature[k], in
 * steps (trees.h), above[k]? The answers, as bits, are the number of the leaf. */
struct line_tree {
    uint8_t feature[TREE_ASKS];
    int8_t above[TREE_ASKS];
    int16_t leaf[1 << TREE_ASKS]; /* in parts of TREE_ONE */
};
enum { TREE_ONE = 8192 };
extern const struct line_tree LINE_TREES[PART_COUNT][TREES];
