/* help.c: what the fixtures share: answers from a format, pauses, answers of a
 * client looked at. */
#include "fixtures.h"
#include <stdarg.h>
#include <stdio.h>

enum { MAX_TEXT = 1 << 16 };

const struct field no_fields[] = { { 0 } };

static const char *format(struct call *c, const char *fmt, va_list ap)
{
    char *text = arena_alloc(&c->a, MAX_TEXT);

    vsnprintf(text, MAX_TEXT, fmt, ap);
    return text;
}

const char *escaped(struct call *c, struct str text)
{
    struct buf b;
    const char *json;

    buf_init(&b, MAX_TEXT);
    json_escape(&b, text);
    json = arena_str(&c->a, b.full ? STR("too long") : buf_str(&b)).p;
    buf_done(&b);
    return json;
}

void answer(struct call *c, const char *fmt, ...)
{
    va_list ap;
    struct str object;

    va_start(ap, fmt);
    object = str_of(format(c, fmt, ap));
    va_end(ap);
    call_json(c, (struct str){ object.p + 1, object.n - 2 }); /* without its braces */
}

void answer_text(struct call *c, const char *fmt, ...)
{
    va_list ap;
    const char *text;

    va_start(ap, fmt);
    text = format(c, fmt, ap);
    va_end(ap);
    answer(c, JSON({ "content" : [ { "type" : "text", "text" : "%s" } ] }),
           escaped(c, str_of(text)));
}

struct pause {
    struct timer *timer;
    void (*then)(struct call *c);
};

static void on_time(void *arg)
{
    struct call *c = arg;
    struct pause *p = c->op;

    c->op = NULL;
    c->on_cancel = NULL;
    p->then(c);
}

static void on_cancel(struct call *c)
{
    struct pause *p = c->op;

    c->op = NULL;
    timer_cancel(p->timer);
    call_done(c);
}

void go_on(struct call *c, unsigned ms, void (*then)(struct call *c))
{
    struct pause *p = arena_alloc(&c->a, sizeof *p);

    p->then = then;
    p->timer = timer_start(c->site->loop, ms, on_time, c);
    c->op = p;
    c->on_cancel = on_cancel;
}

bool answers_fine(struct call *c)
{
    for (size_t i = 0; i < c->ask_count; i++) {
        const struct ask *a = &c->asks[i];

        if (a->err.code != ERR_NONE) {
            c->err = a->err;
            call_fail(c);
            return false;
        }
        if (json_type(a->answer) != JSON_OBJ) {
            err_set(&c->err, ERR_PARAMS, "the answer to %s is not an object", a->key);
            call_refuse(c, err_number(ERR_PARAMS), (struct str){ 0 });
            return false;
        }
    }
    return true;
}
