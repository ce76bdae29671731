/* call.c: a call's life, from its row to the moment its arena is dropped. */
#include "call/call.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/mem.h"
#include "call/finish.h"

struct call *call_new(struct site *s, const struct tool *t, const struct root *root,
                      enum answer answer)
{
    struct call *c = xcalloc(1, sizeof *c);

    c->site = s;
    c->tool = t;
    c->root = root;
    c->answer = answer;
    c->exit_code = -1;
    c->say_from = SAY_NOTHING;
    c->progress = -1; /* 0 is worth saying */
    c->result.a = &c->a;
    snprintf(c->request_id, sizeof c->request_id, "req-%lu", ++s->calls);
    return c;
}

void call_free(struct call *c)
{
    if (!c)
        return;
    arena_done(&c->a);
    free(c);
}

void call_start(struct call *c)
{
    c->site->busy++;
    c->started_ms = clock_ms();
    c->tool->run(c);
}

void call_cancel(struct call *c)
{
    if (atomic_exchange(&c->cancelled, true))
        return;
    if (c->finish)
        finish_cancel(c);
    else if (c->on_cancel)
        c->on_cancel(c);
}

/* The one exit of every call that was started. */
static void end(struct call *c, struct str json)
{
    struct site *s = c->site;

    if (call_cancelled(c)) {
        if (c->dropped)
            c->dropped(c->reply_arg, c);
    } else {
        c->reply(c->reply_arg, c, json);
    }
    call_free(c);
    if (--s->busy == 0 && s->idle)
        s->idle(s->idle_arg);
}

static void answer(struct call *c)
{
    c->duration_ms = clock_ms() - c->started_ms;
    c->on_cancel = NULL;
    if (call_cancelled(c))
        end(c, (struct str){ 0 });
    else
        finish_start(c, end);
}

void call_json(struct call *c, struct str members)
{
    c->json = members;
    answer(c);
}

void call_refuse(struct call *c, int code, struct str data)
{
    assert(c->err.code != ERR_NONE);
    c->refused = code;
    c->refused_data = data;
    c->on_cancel = NULL;
    end(c, (struct str){ 0 });
}

void call_done(struct call *c)
{
    answer(c);
}

void call_fail(struct call *c)
{
    assert(c->err.code != ERR_NONE);
    answer(c);
}

struct work {
    struct call *c;
    void (*run)(struct call *c);
    void (*after)(struct call *c);
};

static void work_run(void *arg)
{
    struct work *w = arg;

    w->run(w->c);
}

/* A worker cannot be stopped, only asked: `after` runs for a cancelled call too
 * and ends it, since only the handler knows what it holds open. */
static void work_after(void *arg)
{
    struct work *w = arg;

    w->after(w->c);
}

void call_work(struct call *c, void (*run)(struct call *c), void (*after)(struct call *c))
{
    struct work *w = arena_alloc(&c->a, sizeof *w);

    *w = (struct work){ c, run, after };
    loop_work(c->site->loop, work_run, work_after, w);
}
