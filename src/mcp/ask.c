/* ask.c: questions to the client, in both eras.
 *
 * Up to 2025-11-25 a question is a request of ours on the call's own stream,
 * and its answer comes as a message of its own. From 2026-07-28 on nothing is
 * sent: the request ends as "input_required" with all its questions, and the
 * client makes it again with the answers. */
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/pending.h"

/* One of ours, not answered yet. */
struct question {
    struct question *next, **prev; /* client->questions */
    unsigned long id;
    struct pending *pending;
    struct ask *ask;
};

static const struct {
    const char *method, *capability;
    const char *member; /* that every answer has */
    enum json_type type;
} kinds[] = {
    { "sampling/createMessage", "{\"sampling\":{}}", "content", JSON_NONE },
    { "elicitation/create", "{\"elicitation\":{}}", "action", JSON_STR },
    { "roots/list", "{\"roots\":{}}", "roots", JSON_ARR },
    { "ping", "{}", NULL, JSON_NONE },
};

static size_t kind_of(const struct ask *a)
{
    size_t i = 0;

    while (strcmp(a->method, kinds[i].method) != 0 && i + 1 < sizeof kinds / sizeof *kinds)
        i++;
    return i;
}

/* Elicitation by URL is a capability of its own. */
static bool can_be_asked(const struct call *c, const struct ask *a)
{
    if (strcmp(a->method, "ping") == 0)
        return true;
    if (strcmp(a->method, "elicitation/create") != 0)
        return call_can_ask(c, a->method);
    return c->can & (memmem(a->params.p, a->params.n, "\"mode\":\"url\"", 12) ? CLIENT_ELICITS_URL
                                                                              : CLIENT_ELICITS);
}

/* Is it an answer at all to such a question? */
static bool fits(const struct ask *a, struct json answer)
{
    size_t k = kind_of(a);
    enum json_type t;

    if (!kinds[k].member)
        return json_type(answer) == JSON_OBJ;
    t = json_type(json_get(answer, kinds[k].member));
    return kinds[k].type ? t == kinds[k].type : t != JSON_NONE;
}

/* Keep an answer in the call's arena. */
static void keep(struct call *c, struct ask *a, struct str raw)
{
    struct json_doc *d = arena_alloc(&c->a, sizeof *d);

    if (json_parse(d, &c->a, arena_str(&c->a, raw), &a->err))
        a->answer = json_root(d);
}

/* --- 2026-07-28: input_required --- */

static void put_questions(struct call *c, struct json_out *o)
{
    json_put_key(o, "inputRequests");
    json_obj(o);
    for (size_t i = 0; i < c->ask_count; i++) {
        const struct ask *a = &c->asks[i];

        if (json_type(a->answer))
            continue;
        json_put_key(o, a->key);
        json_obj(o);
        json_kv_strz(o, "method", a->method);
        json_kv_raw(o, "params", a->params.n ? a->params : STR("{}"));
        json_obj_end(o);
    }
    json_obj_end(o);
}

static void end_for_input(struct call *c, struct pending *p)
{
    struct str state = state_seal(p->mcp, &p->bind, p->answers, &c->a);
    struct buf b;
    struct json_out o = json_out(&b);

    c->on_answers = NULL;
    if (!state.p) {
        err_set(&c->err, ERR_TOO_LARGE, "the answers so far are too long to be carried on");
        call_fail(c);
        return;
    }
    buf_init(&b, MAX_REPLY);
    json_kv_strz(&o, "resultType", "input_required");
    put_questions(c, &o);
    json_kv_str(&o, "requestState", state);
    c->members = c->cache = STR("");
    call_json(c, arena_str(&c->a, buf_str(&b)));
    buf_done(&b);
}

static void ask_stateless(struct call *c, struct pending *p)
{
    struct json_doc d = { 0 };
    struct json answers = { 0 };
    bool missing = false;

    if (p->answers.n && json_parse(&d, &c->a, p->answers, NULL))
        answers = json_root(&d);
    for (size_t i = 0; i < c->ask_count; i++) {
        struct ask *a = &c->asks[i];
        struct json v = json_get(answers, a->key);

        if (strcmp(a->method, "ping") == 0) {
            keep(c, a, STR("{}")); /* the request itself shows that it is there */
            continue;
        }
        if (fits(a, v)) {
            keep(c, a, json_raw(v));
            continue;
        }
        missing = true;
        if (can_be_asked(c, a))
            continue;
        c->on_answers = NULL;
        err_set(&c->err, ERR_CAPABILITY, "the client must declare what %s needs", a->method);
        call_refuse(c, err_number(ERR_CAPABILITY),
                    str_of(arena_printf(&c->a, "{\"requiredCapabilities\":%s}",
                                        kinds[kind_of(a)].capability)));
        return;
    }
    if (missing)
        end_for_input(c, p);
    else
        call_answered(c);
}

/* --- up to 2025-11-25: a request of ours --- */

static void question_free(struct question *q)
{
    *q->prev = q->next;
    if (q->next)
        q->next->prev = q->prev;
    q->pending->open--;
    free(q);
}

static bool send_question(struct pending *p, struct ask *a)
{
    unsigned long id = ++p->client->asked;
    struct question *q;
    struct buf b;
    struct json_out o = json_out(&b);
    bool sent;

    buf_init(&b, MAX_REPLY);
    json_obj(&o);
    json_kv_strz(&o, "jsonrpc", "2.0");
    json_kv_int(&o, "id", (long long)id);
    json_kv_strz(&o, "method", a->method);
    json_kv_raw(&o, "params", a->params.n ? a->params : STR("{}"));
    json_obj_end(&o);
    sent = !b.full && p->out->ops->say(p->out, buf_str(&b));
    buf_done(&b);
    if (!sent)
        return err_set(&a->err, ERR_CLIENT,
                       "the client takes one JSON answer and no stream, so it cannot be asked");
    q = xcalloc(1, sizeof *q);
    *q = (struct question){ p->client->questions, &p->client->questions, id, p, a };
    if (q->next)
        q->next->prev = &q->next;
    p->client->questions = q;
    p->open++;
    return true;
}

/* The client need not answer any more. */
static void void_questions(struct pending *p, const char *reason, enum err_code code)
{
    struct buf b, params;

    for (struct question *q = p->client->questions, *next; q; q = next) {
        struct json_out o = json_out(&params);

        next = q->next;
        if (q->pending != p)
            continue;
        buf_init(&b, 4096);
        buf_init(&params, 4096);
        json_obj(&o);
        json_kv_int(&o, "requestId", (long long)q->id);
        json_kv_strz(&o, "reason", reason);
        json_obj_end(&o);
        put_notification(&b, "notifications/cancelled", buf_str(&params));
        p->out->ops->say(p->out, buf_str(&b));
        buf_done(&b);
        buf_done(&params);
        err_set(&q->ask->err, code, "%s", reason);
        question_free(q);
    }
}

static void on_patience_over(void *arg)
{
    struct pending *p = arg;
    char reason[80];

    p->patience = NULL;
    snprintf(reason, sizeof reason, "the client did not answer within %u s", p->mcp->ask_ms / 1000);
    void_questions(p, reason, ERR_TIMEOUT);
    call_answered(p->call);
}

static void on_all_refused(void *arg)
{
    struct pending *p = arg;

    p->patience = NULL;
    call_answered(p->call);
}

static void ask_session(struct call *c, struct pending *p)
{
    for (size_t i = 0; i < c->ask_count; i++) {
        struct ask *a = &c->asks[i];

        if (can_be_asked(c, a))
            send_question(p, a);
        else
            err_set(&a->err, ERR_CAPABILITY, "the client did not declare what %s needs", a->method);
    }
    p->patience = p->open ? timer_start(p->mcp->site->loop, p->mcp->ask_ms, on_patience_over, p)
                          : timer_start(p->mcp->site->loop, 0, on_all_refused, p);
}

void ask_client(struct call *c)
{
    struct pending *p = c->peer_arg;

    if (p->stateless)
        ask_stateless(c, p);
    else
        ask_session(c, p);
}

void ask_no_more(struct call *c)
{
    struct pending *p = c->peer_arg;

    timer_cancel(p->patience);
    p->patience = NULL;
    void_questions(p, "the call was cancelled", ERR_CANCELLED);
}

static struct question *find_question(struct client *client, struct str id)
{
    char text[24];

    for (struct question *q = client->questions; q; q = q->next) {
        snprintf(text, sizeof text, "%lu", q->id);
        if (str_is(id, text))
            return q;
    }
    return NULL;
}

void take_answer(struct req *r)
{
    struct question *q = find_question(r->in->client, r->msg.id);
    struct json root = json_root(&r->msg.doc), error = json_get(root, "error");
    struct pending *p;
    struct ask *a;

    if (!q)
        return; /* too late, or never asked */
    p = q->pending;
    a = q->ask;
    question_free(q);
    if (json_type(error)) {
        struct str why = json_str(json_get(error, "message"), &r->a);

        if (why.n == 0)
            why = STR("an error");
        err_set(&a->err, ERR_CLIENT, "the client answered: %.*s", (int)utf8_cut(why, 150), why.p);
    } else if (fits(a, json_get(root, "result"))) {
        keep(p->call, a, json_raw(json_get(root, "result")));
    } else {
        err_set(&a->err, ERR_CLIENT, "the client's answer to %s is not one", a->method);
    }
    if (p->open > 0)
        return;
    timer_cancel(p->patience);
    p->patience = NULL;
    call_answered(p->call);
}
