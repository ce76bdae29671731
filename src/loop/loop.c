/* loop.c: libuv behind one small header.
 *
 * libuv wants a handle's memory back only after a close callback. That stays
 * in here: a cancelled timer or a freed watch has `fn` cleared, so it is
 * silent at once, and its memory goes at the end of the turn. Hence a callback
 * may free the very thing that called it.
 *
 * Each handle is the first member of our struct, so that one close callback
 * (free) serves all. */
#include "loop/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <uv.h>
#include "base/mem.h"
#include "loop/pool.h"

struct soon {
    loop_fn *fn;
    void *arg;
};

struct soon_list {
    struct soon *v;
    size_t n, cap;
};

struct loop {
    uv_loop_t uv;
    uv_async_t wake;              /* workers have something for us */
    uv_idle_t idle;               /* active while soon.n: poll does not wait */
    uv_check_t check;             /* runs soon, after poll */
    struct soon_list soon, taken; /* to call next turn; being called */
    struct pool *pool;            /* NULL until the first work */
};

struct timer {
    uv_timer_t uv;
    loop_fn *fn; /* NULL once it fired or was cancelled */
    void *arg;
};

struct watch {
    uv_poll_t uv;
    watch_fn *fn; /* NULL once freed */
    void *arg;
    int want;  /* what the owner asked for */
    int armed; /* what libuv listens for */
};

struct sig {
    uv_signal_t uv;
    loop_fn *fn;
    void *arg;
};

static void on_closed(uv_handle_t *h)
{
    free(h);
}

/* Soon. */

/* Those added meanwhile wait for the next turn, or two that add each other
 * would keep descriptors from being served. */
static void soon_run(struct loop *l)
{
    struct soon_list now = l->soon;

    l->soon = l->taken;
    l->soon.n = 0;
    for (size_t i = 0; i < now.n; i++)
        now.v[i].fn(now.v[i].arg);
    l->taken = now;
}

static void on_check(uv_check_t *h)
{
    struct loop *l = h->data;

    soon_run(l);
    if (l->soon.n == 0) {
        uv_idle_stop(&l->idle);
        uv_check_stop(&l->check);
    }
}

/* Its being active is its work: poll then does not wait. */
static void on_idle(uv_idle_t *h)
{
    (void)h;
}

void loop_soon(struct loop *l, loop_fn *fn, void *arg)
{
    struct soon_list *s = &l->soon;

    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->v = xrealloc(s->v, s->cap * sizeof *s->v);
    }
    s->v[s->n++] = (struct soon){ fn, arg };
    if (s->n == 1) {
        uv_idle_start(&l->idle, on_idle);
        uv_check_start(&l->check, on_check);
    }
}

/* The loop itself. */

static void on_wake(uv_async_t *h)
{
    struct loop *l = h->data;

    if (l->pool)
        pool_collect(l->pool);
}

struct loop *loop_new(struct err *e)
{
    struct loop *l = xcalloc(1, sizeof *l);
    int rc = uv_loop_init(&l->uv);

    if (rc != 0)
        goto fail;
    rc = uv_async_init(&l->uv, &l->wake, on_wake);
    if (rc != 0)
        goto fail_loop;
    uv_idle_init(&l->uv, &l->idle);
    uv_check_init(&l->uv, &l->check);
    l->wake.data = l->idle.data = l->check.data = l;
    return l;

fail_loop:
    uv_loop_close(&l->uv);
fail:
    err_set(e, ERR_IO, "no event loop: %s", uv_strerror(rc));
    free(l);
    return NULL;
}

static void close_handle(uv_handle_t *h, void *arg)
{
    struct loop *l = arg;
    bool ours = h == (uv_handle_t *)&l->wake || h == (uv_handle_t *)&l->idle ||
                h == (uv_handle_t *)&l->check;

    if (!uv_is_closing(h))
        uv_close(h, ours ? NULL : on_closed);
}

void loop_free(struct loop *l)
{
    int rc;

    if (!l)
        return;
    do {
        soon_run(l);
        if (l->pool)
            pool_drain(l->pool);
    } while (l->soon.n);
    pool_free(l->pool);

    uv_walk(&l->uv, close_handle, l);
    while (uv_run(&l->uv, UV_RUN_DEFAULT) != 0) /* again if loop_stop was pending */
        ;
    rc = uv_loop_close(&l->uv);
    assert(rc == 0);
    (void)rc;
    free(l->soon.v);
    free(l->taken.v);
    free(l);
}

void loop_run(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

/* Timers. */

static void on_timer(uv_timer_t *h)
{
    struct timer *t = (struct timer *)h;
    loop_fn *fn = t->fn;

    t->fn = NULL;
    uv_close((uv_handle_t *)h, on_closed);
    fn(t->arg);
}

struct timer *timer_start(struct loop *l, uint64_t ms, loop_fn *fn, void *arg)
{
    struct timer *t = xcalloc(1, sizeof *t);

    t->fn = fn;
    t->arg = arg;
    uv_timer_init(&l->uv, &t->uv);
    /* libuv counts from the start of the turn; a long turn would make the
     * timer fire early. */
    uv_update_time(&l->uv);
    uv_timer_start(&t->uv, on_timer, ms, 0);
    return t;
}

void timer_cancel(struct timer *t)
{
    if (!t || !t->fn)
        return;
    t->fn = NULL;
    uv_close((uv_handle_t *)&t->uv, on_closed);
}

/* Watches. */

static void on_poll(uv_poll_t *h, int status, int events);

static void watch_arm(struct watch *w, int events)
{
    int uv = (events & WATCH_READ ? UV_READABLE : 0) | (events & WATCH_WRITE ? UV_WRITABLE : 0) |
             (events & WATCH_GONE ? UV_DISCONNECT : 0);

    w->armed = events;
    if (uv)
        uv_poll_start(&w->uv, uv, on_poll);
    else
        uv_poll_stop(&w->uv);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    struct watch *w = (struct watch *)h;
    int ready = 0;

    if (status < 0) {
        w->armed = 0; /* libuv has stopped it */
        if (w->want)
            ready = WATCH_READ | WATCH_WRITE | (w->want & WATCH_GONE);
    } else {
        ready = (events & UV_READABLE ? WATCH_READ : 0) | (events & UV_WRITABLE ? WATCH_WRITE : 0) |
                (events & UV_DISCONNECT ? WATCH_GONE : 0);
        ready &= w->want;
    }
    if (ready)
        w->fn(w->arg, ready);
    else
        watch_arm(w, w->want); /* something came that nobody wants now */
    if (w->fn && (w->want & ~w->armed))
        watch_arm(w, w->want); /* after an error, still level triggered */
}

struct watch *watch_new(struct loop *l, int fd, watch_fn *fn, void *arg, struct err *e)
{
    struct watch *w = xcalloc(1, sizeof *w);
    int rc = uv_poll_init(&l->uv, &w->uv, fd);

    if (rc != 0) {
        err_set(e, ERR_IO, "cannot watch descriptor %d: %s", fd, uv_strerror(rc));
        free(w);
        return NULL;
    }
    w->fn = fn;
    w->arg = arg;
    return w;
}

/* Wanting less changes nothing at first: a connection that pauses reading
 * while a request is answered, then goes on, costs no system call unless
 * something did come meanwhile. on_poll sees to that case. */
void watch_set(struct watch *w, int events)
{
    w->want = events;
    if (events & ~w->armed)
        watch_arm(w, events);
}

void watch_free(struct watch *w)
{
    if (!w || !w->fn)
        return;
    w->fn = NULL;
    w->want = 0;
    uv_close((uv_handle_t *)&w->uv, on_closed);
}

/* Workers and signals. */

/* Called by workers; uv_async_send is the one call of libuv they may make. */
static void wake_loop(void *arg)
{
    struct loop *l = arg;

    uv_async_send(&l->wake);
}

void loop_work(struct loop *l, loop_fn *run, loop_fn *done, void *arg)
{
    if (!l->pool)
        l->pool = pool_new(wake_loop, l);
    pool_add(l->pool, run, done, arg);
}

static void on_signal(uv_signal_t *h, int signo)
{
    struct sig *s = (struct sig *)h;

    (void)signo;
    s->fn(s->arg);
}

void loop_on_signal(struct loop *l, int signo, loop_fn *fn, void *arg)
{
    struct sig *s = xcalloc(1, sizeof *s);

    s->fn = fn;
    s->arg = arg;
    uv_signal_init(&l->uv, &s->uv);
    uv_signal_start(&s->uv, on_signal, signo);
}
