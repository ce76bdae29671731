/* select.h: from scores to lines, under the limits. */
#pragma once
#include "prune/prune.h"
#include "scan/blocks.h"

/* Set keep[i] for every line that stays. Order of what is obeyed: blocks that
 * must not be pruned, min_keep and max_ratio; then the budget; then what makes
 * an answer readable (signatures, gaps not worth a marker).
 * score has a value per line, high is from where on a line is worth passing the
 * budget. Gives how many are kept. */
size_t select_lines(bool *keep, struct arena *a, const struct text *t, const struct blocks *b,
                    const float *score, float high, const struct prune_opts *o);
