/* weights.h: what was learned (data/prune_weights.h, made by `make train`). */
#pragma once
#include "prune/features.h"
#include "prune/match.h"

/* Per part, for each reach, on TERM_INPUTS. */
extern const float TERM_WEIGHTS[PART_COUNT][REACHES][T_COUNT_];

/* Per part: a line's score is bias + sum of clip((f - mean) / sd) * weight. */
struct line_weights {
    float bias;
    float mean[F_ROOM], scale[F_ROOM], weight[F_ROOM]; /* scale is 1 / sd */
};
extern const struct line_weights LINE_WEIGHTS[PART_COUNT];
