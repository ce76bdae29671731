/* ends.c: gaps, clipped. */
#include "prune/ends.h"

enum { LINES = 5, BYTES = 2000 }; /* of an end */

void prune_show_ends(struct prune *p, struct arena *a, size_t budget)
{
    struct prune_gap *gaps = arena_alloc(a, (p->gap_count + 1) * sizeof *gaps), *g = gaps;
    size_t most = budget && 2 * budget < BYTES ? 2 * budget : BYTES, from = 1, to = p->lines;

    if (!p->at || p->lines <= 2 * LINES)
        return;
    while (from <= LINES && p->at[from] <= most)
        from++;
    while (p->lines - to < LINES && p->at[p->lines] - p->at[to - 1] <= most)
        to--;
    p->kept = p->lines;
    for (size_t i = 0; i < p->gap_count; i++) {
        *g = p->gaps[i];
        if (g->from < from)
            g->from = from;
        if (g->to > to)
            g->to = to;
        if (g->from > g->to)
            continue;
        p->kept -= g->to - g->from + 1;
        g++;
    }
    p->gaps = gaps;
    p->gap_count = (size_t)(g - gaps);
}
