/* peer.c: what a call tells and asks its client while it works. */
#include <assert.h>
#include <stdio.h>
#include "call/call.h"

static const char *const level_words[] = { "debug", "info",     "notice", "warning",
                                           "error", "critical", "alert",  "emergency" };

/* 3 as "3", 0.5 as "0.5". */
static void put_number(struct json_out *o, const char *key, double v)
{
    char text[32];

    snprintf(text, sizeof text, "%.10g", v);
    json_kv_raw(o, key, str_of(text));
}

void call_progress(struct call *c, double progress, double total, const char *message)
{
    struct buf b;
    struct json_out o = json_out(&b);

    if (!c->peer || c->progress_token.n == 0 || call_cancelled(c) || progress <= c->progress)
        return;
    c->progress = progress;
    buf_init(&b, 4096);
    json_obj(&o);
    json_kv_raw(&o, "progressToken", c->progress_token);
    put_number(&o, "progress", progress);
    if (total > 0)
        put_number(&o, "total", total);
    if (message)
        json_kv_strz(&o, "message", message);
    json_obj_end(&o);
    if (!b.full)
        c->peer->notify(c, "notifications/progress", buf_str(&b));
    buf_done(&b);
}

void call_say(struct call *c, enum say_level level, const char *logger, struct str data)
{
    struct buf b;
    struct json_out o = json_out(&b);

    if (!c->peer || level < c->say_from || call_cancelled(c))
        return;
    buf_init(&b, 1 << 16);
    json_obj(&o);
    json_kv_strz(&o, "level", level_words[level]);
    if (logger)
        json_kv_strz(&o, "logger", logger);
    json_kv_raw(&o, "data", data);
    json_obj_end(&o);
    if (!b.full)
        c->peer->notify(c, "notifications/message", buf_str(&b));
    buf_done(&b);
}

enum say_level say_level_of(struct str word)
{
    int i = 0;

    while (i < SAY_NOTHING && !str_is(word, level_words[i]))
        i++;
    return (enum say_level)i;
}

static void on_cancel(struct call *c)
{
    c->peer->unask(c);
    for (size_t i = 0; i < c->ask_count; i++)
        err_set(&c->asks[i].err, ERR_CANCELLED, "the call was cancelled");
    call_answered(c);
}

static void nobody_there(void *arg)
{
    call_answered(arg);
}

void call_ask(struct call *c, struct ask *asks, size_t count, void (*then)(struct call *c))
{
    assert(!c->on_answers); /* one round at a time */
    assert(c->tool->asks);
    c->asks = asks;
    c->ask_count = count;
    c->on_answers = then;
    if (c->peer && !call_cancelled(c)) {
        c->on_cancel = on_cancel;
        c->peer->ask(c);
        return;
    }
    for (size_t i = 0; i < count; i++)
        err_set(&asks[i].err, ERR_CLIENT, "there is no client that could be asked");
    loop_soon(c->site->loop, nobody_there, c);
}

bool call_can_ask(const struct call *c, const char *method)
{
    static const struct {
        const char *method;
        unsigned can;
    } needs[] = {
        { "sampling/createMessage", CLIENT_SAMPLES },
        { "elicitation/create", CLIENT_ELICITS | CLIENT_ELICITS_URL },
        { "roots/list", CLIENT_HAS_ROOTS },
    };

    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(method, needs[i].method) == 0)
            return (c->can & needs[i].can) != 0;
    return false;
}

void call_answered(struct call *c)
{
    void (*then)(struct call * c) = c->on_answers;

    c->on_answers = NULL;
    c->on_cancel = NULL;
    then(c);
}

void call_let_go(struct call *c)
{
    if (c->peer && !call_cancelled(c))
        c->peer->let_go(c);
}

void call_changed(struct call *c, const char *method, struct str params)
{
    if (c->peer && c->peer->changed)
        c->peer->changed(c, method, params);
}
