/* trees.h: what the learned trees say of many lines at once.
 *
 * A line's features come as steps, 32 to a standard deviation, a byte each. A
 * tree asks all lines the same few questions, so a tile of lines is compared
 * sixteen at a time, without a branch: 150 trees take a tenth of a
 * microsecond a line. */
#pragma once
#include "prune/weights.h"

enum { TILE = 128, STEPS = 32 };

/* Add to sum[i], in parts of TREE_ONE, what the part's trees say of line i. */
void trees_add(int32_t sum[TILE], int8_t row[TILE][F_ROOM], enum text_part part);
