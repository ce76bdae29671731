/* mcp.c: from the bytes of a message to its method. */
#include "mcp/mcp.h"
#include <stdlib.h>
#include "base/mem.h"
#include "mcp/req.h"
#include "mcp/state.h"

#define META "io.modelcontextprotocol/"

/* --- dispatch --- */

enum where { ANY_ERA, SESSION_ERA, STATELESS_ERA };

static const struct {
    const char *name;
    enum where era;
    bool notification;
    void (*run)(struct req *r);
} methods[] = {
    { "initialize", SESSION_ERA, false, do_initialize },
    { "ping", SESSION_ERA, false, do_ping },
    { "server/discover", STATELESS_ERA, false, do_discover },
    { "health", SESSION_ERA, false, do_health },
    { "tools/list", ANY_ERA, false, do_tools_list },
    { "tools/call", ANY_ERA, false, do_tools_call },
    { "prompts/list", ANY_ERA, false, do_prompts_list },
    { "prompts/get", ANY_ERA, false, do_prompts_get },
    { "resources/list", ANY_ERA, false, do_resources_list },
    { "resources/templates/list", ANY_ERA, false, do_templates_list },
    { "resources/read", ANY_ERA, false, do_resources_read },
    { "resources/subscribe", SESSION_ERA, false, do_subscribe },
    { "resources/unsubscribe", SESSION_ERA, false, do_unsubscribe },
    { "subscriptions/listen", STATELESS_ERA, false, do_listen },
    { "completion/complete", ANY_ERA, false, do_complete },
    { "logging/setLevel", SESSION_ERA, false, do_set_level },
    { "notifications/cancelled", ANY_ERA, true, do_cancelled },
};

static void nothing_to_say(struct req *r)
{
    struct mcp_reply reply = { .stateless = r->era.stateless };

    r->in->out->ops->reply(r->in->out, &reply);
}

static bool params_ok(struct req *r)
{
    enum json_type t = json_type(r->msg.params);

    if (t == JSON_NONE || t == JSON_OBJ)
        return true;
    send_field_error(r, "params", "must be an object");
    return false;
}

static void dispatch(struct req *r)
{
    enum where other = r->era.stateless ? SESSION_ERA : STATELESS_ERA;
    bool note = r->msg.kind == RPC_NOTIFICATION;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!str_is(r->msg.method, methods[i].name) || methods[i].era == other ||
            methods[i].notification != note)
            continue;
        if (note || params_ok(r))
            methods[i].run(r);
        if (note)
            nothing_to_say(r);
        return;
    }
    if (note)
        nothing_to_say(r);
    else
        no_method(r);
}

/* --- the eras --- */

static void refuse_era(struct req *r, const struct err *e)
{
    struct buf b;
    struct json_out o = json_out(&b);

    buf_init(&b, 4096);
    json_obj(&o);
    if (e->code == ERR_VERSION) {
        json_put_key(&o, "supported");
        era_versions(&o);
        json_kv_str(&o, "requested", r->era.version);
    } else if (e->code == ERR_PARAMS) {
        json_put_key(&o, "field_errors");
        render_errors_array(&o, &(struct field_error){ "_meta", e->msg }, 1);
    }
    json_obj_end(&o);
    r->era.stateless = true; /* its statuses tell a client of that era what to do */
    send_error(r, err_number(e->code), e->msg, e->code == ERR_HEADERS ? STR("") : buf_str(&b),
               true);
    buf_done(&b);
}

/* What the client can do and wants to hear: of the request itself, or as it
 * said in `initialize`. False: refused. */
static bool read_client(struct req *r)
{
    struct json meta = json_get(r->msg.params, "_meta");
    struct json level = json_get(meta, META "logLevel");

    r->can = r->in->client->can;
    r->say_from = r->in->client->version ? r->in->client->say_from : SAY_NOTHING;
    if (!r->era.stateless)
        return true;
    r->can = abilities_of(json_get(meta, META "clientCapabilities"));
    r->say_from = SAY_NOTHING;
    if (json_type(level) == JSON_NONE)
        return true;
    r->say_from = say_level_of(json_str(level, &r->a));
    if (r->say_from != SAY_NOTHING)
        return true;
    send_field_error(r, "_meta", "\"" META "logLevel\" is no log level");
    return false;
}

/* --- batches ---
 *
 * Their answers are gathered and go out together, in the order they come. */

enum { MAX_BATCH = 100 };

struct batch {
    struct outlet out; /* first; out.via is where they go */
    struct buf replies;
    size_t waiting;
};

static void batch_end(struct batch *b)
{
    struct mcp_reply reply = { 0 };

    if (--b->waiting > 0)
        return;
    if (b->replies.len) {
        buf_addc(&b->replies, ']');
        reply.message = buf_str(&b->replies);
    }
    b->out.via->ops->reply(b->out.via, &reply);
    buf_done(&b->replies);
    free(b);
}

static bool batch_say(struct outlet *o, struct str message)
{
    return o->via->ops->say(o->via, message);
}

static void batch_reply(struct outlet *o, const struct mcp_reply *r)
{
    struct batch *b = (struct batch *)o;

    if (r->message.n) {
        buf_addc(&b->replies, b->replies.len ? ',' : '[');
        buf_add(&b->replies, r->message.p, r->message.n);
    }
    batch_end(b);
}

static void batch_drop(struct outlet *o)
{
    batch_end((struct batch *)o);
}

static void batch_let_go(struct outlet *o)
{
    o->via->ops->let_go(o->via);
}

static const struct outlet_ops batch_ops = { batch_say, batch_reply, batch_drop, batch_let_go,
                                             NULL };

static void handle_one(struct mcp *m, const struct mcp_in *in, bool in_batch);

/* The door's texts are gone once something is said on a stream, which the first
 * of them may do: `list` lies in memory of ours, and of the headers only the
 * version counts. */
static void handle_batch(struct mcp *m, const struct mcp_in *in, struct json list, struct arena *a)
{
    struct batch *b = xcalloc(1, sizeof *b);
    struct mcp_in one = *in;

    one.headers = (struct era_headers){ .http = in->headers.http,
                                        .version = arena_str(a, in->headers.version) };
    b->out.ops = &batch_ops;
    b->out.via = in->out;
    b->waiting = json_count(list) + 1; /* the one keeps it until all have begun */
    buf_init(&b->replies, (size_t)1 << 29);
    one.out = &b->out;
    for (struct json v = json_first(list); json_type(v); v = json_next(v)) {
        one.text = json_raw(v);
        handle_one(m, &one, true);
    }
    batch_end(b);
}

/* Only 2025-03-26 had batches in MCP; a client that says nothing speaks it. */
static bool batches_taken(const struct mcp_in *in)
{
    const char *version = in->client->version;

    if (in->batches)
        return true;
    if (!in->profile->sessions)
        return false;
    if (version)
        return strcmp(version, "2025-03-26") == 0;
    return in->headers.http &&
           (!in->headers.version.n || str_is(in->headers.version, "2025-03-26"));
}

/* What is no message may be a batch of them. Otherwise *e says what is wrong. */
static bool is_batch(const struct mcp_in *in, struct req *r, struct json *list, struct err *e)
{
    struct json_doc *d = &r->msg.doc;

    if (e->code != ERR_REQUEST || !d->nodes || json_type(json_root(d)) != JSON_ARR ||
        !batches_taken(in) || d->duplicate_keys)
        return false;
    if (json_count(json_root(d)) == 0 || json_count(json_root(d)) > MAX_BATCH)
        return err_set(e, ERR_REQUEST, "a batch has 1 to %d messages", MAX_BATCH);
    if (!json_parse(d, &r->a, arena_str(&r->a, in->text), e))
        return false;
    *list = json_root(d);
    return true;
}

/* --- one message --- */

static void handle_one(struct mcp *m, const struct mcp_in *in, bool in_batch)
{
    struct req r = { .mcp = m, .in = in };
    struct json list;
    struct err e;

    if (!rpc_parse(&r.msg, &r.a, in->text, &e)) {
        if (!in_batch && is_batch(in, &r, &list, &e))
            handle_batch(m, in, list, &r.a);
        else
            send_error(&r, err_number(e.code), e.msg, (struct str){ 0 }, true);
    } else if (in_batch && str_is(r.msg.method, "initialize")) {
        send_error(&r, -32600, "initialize must stand alone", (struct str){ 0 }, true);
    } else if (r.msg.kind == RPC_RESPONSE) {
        take_answer(&r);
        nothing_to_say(&r); /* last: the client may go with it */
    } else if (!era_decode(&r.era, &r.msg, &r.a, &in->headers, &e)) {
        refuse_era(&r, &e);
    } else if (r.msg.kind == RPC_NOTIFICATION || read_client(&r)) {
        dispatch(&r);
    }
    arena_done(&r.a);
}

void mcp_handle(struct mcp *m, const struct mcp_in *in)
{
    handle_one(m, in, false);
}

void mcp_refuse(const struct mcp_in *in, const struct err *e)
{
    struct req r = { .in = in, .msg.id = STR("null") };

    send_error(&r, err_number(e->code), e->msg, (struct str){ 0 }, true);
}

void mcp_done(struct mcp *m)
{
    states_free(m->states);
    m->states = NULL;
}
