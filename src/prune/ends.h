/* ends.h: head and tail, for a text in which nothing answers.
 *
 * They say what the text is; whatever else was chosen stays with them. */
#pragma once
#include "prune/prune.h"

/* Give back up to five lines of either end to p, as many as a few hundred tokens
 * and half the budget (0: none was set) allow. */
void prune_show_ends(struct prune *p, struct arena *a, size_t budget);
