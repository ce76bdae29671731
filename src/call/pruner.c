/* pruner.c: worker, deadline, store. */
#include "call/pruner.h"
#include "base/clock.h"
#include "store/store.h"
#include "tokens/tokens.h"

enum { SMALL = 16 << 10 }; /* bytes that take no millisecond */

static bool late(void *arg)
{
    const struct prune_work *w = arg;

    return call_cancelled(w->c) || clock_ms() >= w->deadline_ms;
}

static void work(void *arg)
{
    struct prune_work *w = arg;
    uint64_t start = clock_ms();

    if (w->first)
        w->first(w->c, w);
    for (size_t i = 0; i < w->count; i++) {
        struct prune_job *j = &w->jobs[i];

        j->opts.late = late;
        j->opts.late_arg = w;
        j->opts.tokens = tokens_count;
        prune_text(&j->out, &w->c->a, j->text, j->goal, &j->opts);
    }
    if (!w->no_keep)
        store_id(w->id, STORE_PRUNE, w->keep);
    w->duration_ms = clock_ms() - start;
    if (w->then)
        w->then(w->c, w);
}

bool pruner_cuts(const struct prune_work *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->jobs[i].out.gap_count > 0)
            return true;
    return false;
}

static void on_kept(void *arg, const struct err *e)
{
    struct prune_work *w = arg;

    w->op = NULL;
    if (e)
        w->keep_err = *e;
    w->done(w->c);
}

static void worked(void *arg)
{
    struct prune_work *w = arg;
    const struct site *s = w->c->site;

    w->working = false;
    if (call_cancelled(w->c) || w->no_keep || (!w->always && !pruner_cuts(w)))
        w->done(w->c);
    else
        w->op = store_put(s->store, STORE_PRUNE, w->c->principal, w->keep, s->keep_ms, on_kept, w);
}

void pruner_start(struct call *c, struct prune_work *w, void (*done)(struct call *c))
{
    w->c = c;
    w->done = done;
    w->working = true;
    if (w->bytes > SMALL) {
        loop_work(c->site->loop, work, worked, w);
        return;
    }
    work(w);
    worked(w);
}

bool pruner_cancel(struct prune_work *w)
{
    if (w->working)
        return false;
    store_cancel(w->op);
    w->op = NULL;
    return true;
}
