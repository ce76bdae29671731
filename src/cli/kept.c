/* kept.c: one request to the store, and a loop that runs until it is answered. */
#include "cli/kept.h"
#include "call/principal.h"
#include "cli/home.h"
#include "store/store.h"

struct wait {
    struct loop *loop;
    struct store *store;
    struct buf *out;
    struct err err; /* of the answer; NONE: fine */
};

static bool wait_open(struct wait *w, const struct settings *set, struct err *e)
{
    char dir[PATH_MAX];

    *w = (struct wait){ 0 };
    if (!home_store(dir, set->text[OPT_STORE], e))
        return false;
    w->loop = loop_new(e);
    if (!w->loop)
        return false;
    w->store = store_new(&(struct store_opts){ .loop = w->loop, .dir = dir });
    return true;
}

/* Run until the answer is there. */
static bool wait_end(struct wait *w, struct err *e)
{
    loop_run(w->loop);
    store_free(w->store);
    loop_free(w->loop);
    if (w->err.code == ERR_NONE)
        return true;
    if (e)
        *e = w->err;
    return false;
}

static void on_put(void *arg, const struct err *e)
{
    struct wait *w = arg;

    if (e)
        w->err = *e;
    loop_stop(w->loop);
}

bool kept_put(const struct settings *set, struct str text, char id[40], struct err *e)
{
    uint64_t keep_ms = (uint64_t)set->num[OPT_KEEP] * 1000;
    struct wait w;

    if (!wait_open(&w, set, e))
        return false;
    store_id(id, STORE_PRUNE, text);
    store_put(w.store, STORE_PRUNE, principal_local(), text, keep_ms, on_put, &w);
    return wait_end(&w, e);
}

static void on_got(void *arg, struct str text, const struct err *e)
{
    struct wait *w = arg;

    if (e)
        w->err = *e;
    else
        buf_add(w->out, text.p, text.n);
    loop_stop(w->loop);
}

bool kept_get(const struct settings *set, const char *id, struct buf *out, struct err *e)
{
    struct wait w;

    if (!wait_open(&w, set, e))
        return false;
    w.out = out;
    store_get(w.store, principal_local(), id, on_got, &w);
    return wait_end(&w, e);
}
