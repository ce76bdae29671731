/* pruner.h: the engine inside, at work for one call.
 *
 * Runs prune/ on a worker (small texts at once), under a deadline, then keeps
 * the whole text in the store: an id is given out only once its text is
 * committed. Says what would stay; whoever asked makes the answer of it. */
#pragma once
#include "call/call.h"
#include "prune/prune.h"

/* One text and what the engine says of it. */
struct prune_job {
    struct str text, goal;
    struct prune_opts opts; /* late and tokens are filled in */
    struct prune out;
};

enum { PRUNE_ID_ROOM = 64 };

struct prune_work {
    struct prune_job *jobs; /* in the call's arena, as all texts */
    size_t count;
    struct str keep;      /* the text that the id stands for */
    bool always;          /* keep it even where no line goes */
    bool no_keep;         /* keep nothing: who asked has no way to have it back */
    uint64_t deadline_ms; /* by clock_ms; after it every text stays whole */

    /* On the worker, before and after the jobs: for what takes long (counting,
     * rendering). NULL: nothing. */
    void (*first)(struct call *c, struct prune_work *w);
    void (*then)(struct call *c, struct prune_work *w);
    size_t bytes; /* about how much there is to do: little is done at once */

    char id[PRUNE_ID_ROOM]; /* set in any case */
    struct err keep_err;    /* set: it could not be kept, so nothing may be left out */
    uint64_t duration_ms;   /* of the engine */

    struct call *c;
    void (*done)(struct call *c);
    bool working;
    struct store_op *op;
};

/* `done` comes once, now or on a later turn. */
void pruner_start(struct call *c, struct prune_work *w, void (*done)(struct call *c));

/* The call was cancelled. True: `done` will not come. False: a worker has the
 * texts still, `done` comes when it is through. */
bool pruner_cancel(struct prune_work *w);

/* Does any job leave lines out? */
bool pruner_cuts(const struct prune_work *w);
