/* calls.c: tools, prompts and resources: from a request to its call and back. */
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/pending.h"

enum { TICK_MS = 5000, MAX_CALLS = 1000 };

/* --- the list --- */

void pending_link(struct pending *p, struct client *c)
{
    p->client = c;
    p->next = c->calls;
    p->prev = &c->calls;
    if (p->next)
        p->next->prev = &p->next;
    c->calls = p;
}

static void unlink_pending(struct pending *p)
{
    if (!p->prev)
        return;
    *p->prev = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->prev = NULL;
}

void pending_free(struct pending *p)
{
    unlink_pending(p);
    timer_cancel(p->tick);
    timer_cancel(p->patience);
    if (p->over)
        *p->over = true;
    if (p->filter)
        listen_free(p);
    free(p);
}

static bool say_nothing(struct outlet *o, struct str message)
{
    (void)o;
    (void)message;
    return false;
}

/* Whoever has gone hears nothing. */
static struct outlet nobody = { .ops = &(const struct outlet_ops){ .say = say_nothing } };

void pending_cancel(struct pending *p, bool tell)
{
    unlink_pending(p); /* first: the call may end, and free p, inside call_cancel */
    if (!tell)
        p->out = &nobody;
    if (p->call)
        call_cancel(p->call);
    else
        pending_free(p);
}

/* Its outlet goes: a batch must hear that one answer less will come. */
static void abandon(struct pending *p)
{
    struct outlet *out = p->out;

    pending_cancel(p, false);
    if (out->via)
        out->ops->drop(out);
}

void client_forget(struct client *c, const struct outlet *o)
{
    for (struct pending *p = c->calls, *next; p; p = next) {
        next = p->next;
        if (p->out == o || p->out->via == o)
            abandon(p);
    }
}

bool client_waits(const struct client *c)
{
    const struct pending *p = c->calls;

    while (p && !p->call)
        p = p->next;
    return p != NULL;
}

void client_forget_all(struct client *c)
{
    while (c->calls)
        abandon(c->calls);
}

/* --- what a call says to its client --- */

static void notify(struct call *c, const char *method, struct str params)
{
    struct pending *p = c->peer_arg;
    struct buf b;

    buf_init(&b, params.n + 4096);
    put_notification(&b, method, params);
    p->out->ops->say(p->out, buf_str(&b));
    buf_done(&b);
}

static void let_go(struct call *c)
{
    struct pending *p = c->peer_arg;

    p->out->ops->let_go(p->out);
}

static void changed(struct call *c, const char *method, struct str params)
{
    struct pending *p = c->peer_arg;
    struct json_doc d;
    struct str uri = { 0 };
    enum mcp_change what;

    if (!change_named(method, &what))
        return;
    if (json_parse(&d, &c->a, params, NULL))
        uri = arena_str(&c->a, json_str(json_get(json_root(&d), "uri"), &c->a));
    mcp_changed(p->mcp, what, uri.p ? uri.p : "");
}

static const struct peer peer = { notify, ask_client, ask_no_more, let_go, changed };

static void on_tick(void *arg)
{
    struct pending *p = arg;
    struct call *c = p->call;
    char message[80];

    p->tick = timer_start(p->mcp->site->loop, TICK_MS, on_tick, p);
    if (c->progress != p->ticked)
        return; /* the tool counts for itself */
    p->seconds += TICK_MS / 1000;
    p->ticked = p->seconds;
    snprintf(message, sizeof message, "%s: %u s", c->tool->name, p->seconds);
    call_progress(c, p->seconds, 0, message);
}

/* --- its end --- */

static void on_reply(void *arg, struct call *c, struct str message)
{
    struct pending *p = arg;
    struct outlet *out = p->out;
    struct mcp_reply reply = { .message = message, .stateless = p->stateless };
    struct buf b;

    buf_init(&b, MAX_REPLY);
    if (c->refused) {
        rpc_error(&b, p->id, c->refused, c->err.msg, c->refused_data);
        reply.message = buf_str(&b);
        reply.code = c->refused;
        reply.malformed = c->refused == err_number(ERR_CAPABILITY);
    }
    pending_free(p);
    out->ops->reply(out, &reply);
    buf_done(&b);
}

static void on_dropped(void *arg, struct call *c)
{
    (void)c;
    pending_free(arg);
}

/* --- its start --- */

/* A progress token is a string or a number; anything else is none. */
static struct str progress_token(struct req *r)
{
    struct json v = json_get(json_get(r->msg.params, "_meta"), "progressToken");

    return json_type(v) == JSON_STR || json_type(v) == JSON_NUM ? json_raw(v) : (struct str){ 0 };
}

/* What the client brings along for questions it was asked before. False: it
 * was refused, and that has been said. */
static bool take_answers(struct req *r, struct pending *p, struct arena *a)
{
    struct json state = json_get(r->msg.params, "requestState");
    struct json answers = json_get(r->msg.params, "inputResponses");
    struct err e;

    if (!p->stateless || !p->call->tool->asks)
        return true; /* who never asks takes no answers */
    p->bind = state_bind(r->in->principal, r->in->profile->name, r->msg.method, r->msg.params);
    if (json_type(answers) && json_type(answers) != JSON_OBJ) {
        send_field_error(r, "inputResponses", "must be an object");
        return false;
    }
    if (json_type(state) && json_type(state) != JSON_STR) {
        send_field_error(r, "requestState", "must be a string");
        return false;
    }
    if (state_open(r->mcp, &p->bind, json_str(state, a), answers, a, &p->answers, &e))
        return true;
    send_field_error(r, "requestState", e.msg);
    return false;
}

static void start_call(struct req *r, struct call *c)
{
    struct pending *p = xcalloc(1, sizeof *p);
    bool over = false;
    struct buf b;

    p->mcp = r->mcp;
    p->out = r->in->out;
    p->call = c;
    p->stateless = r->era.stateless;
    if (!take_answers(r, p, &c->a)) {
        pending_free(p);
        call_free(c);
        return;
    }
    buf_init(&b, MAX_REPLY);
    rpc_result_open(&b, r->msg.id);
    c->before = arena_str(&c->a, buf_str(&b));
    buf_done(&b);
    c->members = era_members(r);
    c->meta = arena_str(&c->a, era_meta(r));
    c->after = STR("}");
    c->principal = arena_strdup(&c->a, r->in->principal);
    c->progress_token = arena_str(&c->a, progress_token(r));
    c->say_from = r->say_from;
    c->can = r->can;
    c->peer = &peer;
    c->peer_arg = c->reply_arg = p;
    c->reply = on_reply;
    c->dropped = on_dropped;
    p->id = arena_str(&c->a, r->msg.id);
    p->ticked = c->progress;
    p->over = &over;
    pending_link(p, r->in->client);
    call_start(c);
    if (over)
        return;
    p->over = NULL;
    if (c->progress_token.n)
        p->tick = timer_start(r->mcp->site->loop, TICK_MS, on_tick, p);
}

bool too_many(struct req *r)
{
    size_t n = 0;

    for (const struct pending *p = r->in->client->calls; p; p = p->next) {
        n++;
        if (str_eq(p->id, r->msg.id)) {
            send_error(r, -32600, "this id is that of a request under way", (struct str){ 0 },
                       true);
            return true;
        }
    }
    if (n < MAX_CALLS)
        return false;
    send_error(r, -32603, "too many requests under way; wait for answers", (struct str){ 0 },
               false);
    return true;
}

static struct call *new_call(struct req *r, const struct tool *t)
{
    return call_new(r->mcp->site, t, &r->mcp->site->root, r->in->profile->answer);
}

/* --- tools/call --- */

/* Refused arguments: as an error of the request in the seeds' profiles, as a
 * tool's result elsewhere, so that the model sees them and can mend them. */
static void refuse_args(struct req *r, struct call *c, const struct field_error *errors,
                        size_t count)
{
    struct mcp_reply reply = { .stateless = r->era.stateless };
    struct json_out o;
    struct buf b, list;

    if (c->answer != ANSWER_PLAIN) {
        send_field_errors(r, c->tool->name, errors, count);
        return;
    }
    buf_init(&list, MAX_REPLY);
    o = json_out(&list);
    render_errors_array(&o, errors, count);
    log_invalid(c->tool->name, buf_str(&list));
    buf_done(&list);
    buf_init(&b, MAX_REPLY);
    rpc_result_open(&b, r->msg.id);
    c->members = era_members(r);
    c->meta = era_meta(r);
    render_field_errors(c, &b, errors, count);
    rpc_result_close(&b);
    reply.message = buf_str(&b);
    r->in->out->ops->reply(r->in->out, &reply);
    buf_done(&b);
}

static void unknown_tool(struct req *r, struct str name)
{
    const struct profile *p = r->in->profile;
    struct buf b;

    buf_init(&b, 1 << 16);
    buf_addf(&b, "unknown tool '%.*s'; there is", (int)utf8_cut(name, 100), name.p);
    for (size_t i = 0; p->tools[i]; i++)
        buf_addf(&b, "%s %s", i ? "," : "", p->tools[i]);
    send_field_error(r, "name", b.data);
    buf_done(&b);
}

/* In HTTP of the stateless era some arguments stand in headers, too. */
static bool headers_agree(struct req *r, const struct tool *t, struct json arguments)
{
    struct err e;

    if (!r->era.stateless || !r->in->headers.http)
        return true;
    for (const struct field *f = t->fields; f->name; f++) {
        if (!f->header ||
            era_check_param(&r->in->headers, f->header, json_get(arguments, f->name), &r->a, &e))
            continue;
        send_error(r, err_number(e.code), e.msg, (struct str){ 0 }, true);
        return false;
    }
    return true;
}

void do_tools_call(struct req *r)
{
    struct json name = json_get(r->msg.params, "name");
    struct json arguments = json_get(r->msg.params, "arguments");
    const struct field_error *errors;
    const struct tool *t;
    struct call *c;
    size_t count;

    if (json_type(name) != JSON_STR) {
        send_field_error(r, "name", "is required, a string");
        return;
    }
    t = registry_find(r->mcp->registry, r->in->profile, json_str(name, &r->a));
    if (!t) {
        unknown_tool(r, json_str(name, &r->a));
        return;
    }
    if (too_many(r) || !headers_agree(r, t, arguments))
        return;
    c = new_call(r, t);
    if (call_args(c, arguments, &errors, &count)) {
        start_call(r, c);
        return;
    }
    refuse_args(r, c, errors, count);
    call_free(c);
}

/* --- prompts/get, resources/read --- */

/* Whatever is wrong with their arguments is the request's fault. */
static void start_row(struct req *r, struct call *c, struct json arguments)
{
    const struct field_error *errors;
    size_t count;

    if (call_args(c, arguments, &errors, &count)) {
        start_call(r, c);
        return;
    }
    send_field_errors(r, c->tool->name, errors, count);
    call_free(c);
}

void do_prompts_get(struct req *r)
{
    const struct tool *t = registry_prompt(r->mcp->registry, r->in->profile,
                                           json_str(json_get(r->msg.params, "name"), &r->a));

    if (!t)
        send_field_error(r, "name", "names no prompt of this profile; prompts/list shows them");
    else if (!too_many(r))
        start_row(r, new_call(r, t), json_get(r->msg.params, "arguments"));
}

/* -32002 until 2025-11-25, -32602 since. */
static void no_resource(struct req *r, struct str uri)
{
    struct buf b;
    struct json_out o = json_out(&b);

    buf_init(&b, MAX_REPLY);
    json_obj(&o);
    json_kv_str(&o, "uri", uri);
    json_obj_end(&o);
    send_error(r, r->era.stateless ? -32602 : -32002, "Resource not found", buf_str(&b), false);
    buf_done(&b);
}

void do_resources_read(struct req *r)
{
    struct str uri = json_str(json_get(r->msg.params, "uri"), &r->a), vars;
    const struct resource *res;
    struct json_doc d;
    struct call *c;

    if (!uri.p) {
        send_field_error(r, "uri", "is required, a string");
        return;
    }
    res = registry_resource(r->mcp->registry, r->in->profile, uri, &r->a, &vars);
    if (!res) {
        no_resource(r, uri);
        return;
    }
    if (too_many(r))
        return;
    c = new_call(r, &res->row);
    c->uri = arena_str(&c->a, uri);
    if (r->era.stateless)
        c->cache = STR(",\"ttlMs\":0,\"cacheScope\":\"private\"");
    if (json_parse(&d, &c->a, vars, NULL))
        start_row(r, c, json_root(&d));
    else
        call_free(c);
}

/* --- notifications/cancelled --- */

void do_cancelled(struct req *r)
{
    struct str id = json_raw(json_get(r->msg.params, "requestId"));
    struct outlet *out;

    for (struct pending *p = r->in->client->calls; p; p = p->next) {
        if (!str_eq(p->id, id))
            continue;
        out = p->out;
        pending_cancel(p, true);
        out->ops->drop(out);
        return;
    }
}
