/* score.h: one number per line, 0 to 1; more is more worth its tokens. */
#pragma once
#include "prune/features.h"

/* Score all lines into out; false: too late. */
bool score_learned(float *out, const struct features *f, enum text_part part,
                   const struct late *late);

/* The same by hand-made weights, to compare with. */
bool score_heuristic(float *out, const struct features *f, enum text_part part,
                     const struct late *late);
