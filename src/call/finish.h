/* finish.h: from what a tool found to the answer that goes out.
 *
 * truncate -> prune -> cut -> render. The only place where an answer gets
 * smaller; own tools and, later, foreign ones all pass here. */
#pragma once
#include "call/call.h"

/* Seed 000's PruningMetadata. */
struct pruning {
    bool attempted, applied, fallback;
    const char *reason; /* NULL: none */
    size_t raw_bytes, pruned_bytes;
    uint64_t duration_ms;
    struct err err;
    const char *id;     /* brings back what was left out, NULL: none */
    size_t lines, kept; /* by the engine inside, when applied */
    bool marks;         /* "~33" stands where lines were left out: not among rows */
    bool nothing;       /* nothing answers the question */
    bool too_long;      /* some text is not pruned: lines that would stay are too long */
};

struct finish {
    void (*end)(struct call *c, struct str message);
    bool truncated; /* max_output_bytes or a tool's ceiling cut something off */
    bool cut;       /* a plain answer's ceiling left something out */
    struct pruning pruning;
    struct str question; /* empty: none */
    long max_output;
    struct prune_step *steps; /* one per part that is sent to the pruner */
    size_t step_count, step;
    struct remote_prune *remote;
    struct focus *focus; /* the engine inside, at work or done */
};

/* Make the answer of a call whose handler is done, now or later, then `end`. */
void finish_start(struct call *c, void (*end)(struct call *c, struct str message));

/* The lines of rows, in the arena. */
struct str rows_text(struct arena *a, const struct rows *rows);

/* How many lines row i is: a path may hold a newline. */
size_t rows_lines(const struct rows *rows, size_t i);

/* The call was cancelled meanwhile: stop and end it. */
void finish_cancel(struct call *c);
