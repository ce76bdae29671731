/* mcp.c: methods, and the calls they start.
 *
 * The only place where an err becomes a reply: a JSON-RPC error when the
 * request was wrong, isError when a tool failed. */
#include "mcp/mcp.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/log.h"
#include "base/mem.h"
#include "call/render.h"
#include "tools/health.h"

enum { MAX_REPLY = 1 << 24 };

/* One message being handled. */
struct req {
    struct mcp *mcp;
    const struct mcp_in *in;
    struct rpc_msg msg;
    struct era era;
    struct arena a;
};

/* A call under way, in its lease's list. */
struct pending {
    struct lease *lease;
    struct pending *next, **prev;
    struct call *call;
    struct str id; /* in the call's arena */
    bool stateless;
    void (*reply)(void *arg, const struct mcp_reply *r);
    void *arg;
};

/* --- replies --- */

static void send_error(struct req *r, int code, const char *message, struct str data,
                       bool malformed)
{
    struct buf b;
    struct mcp_reply reply = { .code = code,
                               .malformed = malformed,
                               .stateless = r->era.stateless };

    if (r->msg.kind == RPC_NOTIFICATION) {
        r->in->reply(r->in->arg, &reply);
        return;
    }
    buf_init(&b, MAX_REPLY);
    rpc_error(&b, r->msg.id, code, message, data);
    reply.message = buf_str(&b);
    r->in->reply(r->in->arg, &reply);
    buf_done(&b);
}

static void put_server_info(struct json_out *o, const struct profile *p)
{
    json_obj(o);
    json_kv_strz(o, "name", p->server);
    json_kv_strz(o, "version", PITH_VERSION);
    json_obj_end(o);
}

/* Members that every result of the stateless era has. */
static struct str era_members(const struct req *r)
{
    return r->era.stateless ? STR("\"resultType\":\"complete\",") : STR("");
}

static struct str era_meta(struct req *r)
{
    struct buf b;
    struct json_out o = json_out(&b);
    struct str s = { 0 };

    if (!r->era.stateless)
        return s;
    buf_init(&b, 1024);
    json_put_key(&o, "io.modelcontextprotocol/serverInfo");
    put_server_info(&o, r->in->profile);
    s = arena_str(&r->a, buf_str(&b));
    buf_done(&b);
    return s;
}

/* Open a result in b; the caller adds members and hands it to send_result. */
static struct json_out open_result(struct req *r, struct buf *b)
{
    struct json_out o = json_out(b);

    buf_init(b, MAX_REPLY);
    rpc_result_open(b, r->msg.id);
    json_obj(&o);
    if (r->era.stateless)
        json_kv_strz(&o, "resultType", "complete");
    return o;
}

static void send_result(struct req *r, struct buf *b, struct json_out *o)
{
    struct mcp_reply reply = { .stateless = r->era.stateless };
    struct str meta = era_meta(r);

    if (meta.n) {
        json_put_key(o, "_meta");
        buf_addc(b, '{');
        buf_add(b, meta.p, meta.n);
        buf_addc(b, '}');
    }
    json_obj_end(o);
    rpc_result_close(b);
    reply.message = buf_str(b);
    r->in->reply(r->in->arg, &reply);
    buf_done(b);
}

static void log_invalid(const char *tool, struct str errors)
{
    struct buf b;
    struct json_out o = json_out(&b);

    buf_init(&b, MAX_REPLY);
    json_obj(&o);
    if (tool)
        json_kv_strz(&o, "tool", tool);
    json_kv_raw(&o, "field_errors", errors);
    json_obj_end(&o);
    log_event(LOG_WARN, "tool.request_invalid", NULL, buf_str(&b));
    buf_done(&b);
}

/* -32602 with data {"field_errors":[…]}, as seed 000 asks. */
static void send_field_errors(struct req *r, const char *tool, const struct field_error *errors,
                              size_t count)
{
    struct buf b, list;
    struct json_out o = json_out(&list);

    buf_init(&list, MAX_REPLY);
    buf_init(&b, MAX_REPLY);
    render_errors_array(&o, errors, count);
    log_invalid(tool, buf_str(&list));
    buf_adds(&b, "{\"field_errors\":");
    buf_add(&b, list.data, list.len);
    buf_addc(&b, '}');
    send_error(r, -32602, "Invalid params", buf_str(&b), false);
    buf_done(&b);
    buf_done(&list);
}

static void send_field_error(struct req *r, const char *field, const char *message)
{
    send_field_errors(r, NULL, &(struct field_error){ field, message }, 1);
}

/* --- methods --- */

static void no_method(struct req *r)
{
    char message[120];

    snprintf(message, sizeof message, "Method not found: %.*s",
             (int)(r->msg.method.n < 80 ? r->msg.method.n : 80), r->msg.method.p);
    send_error(r, -32601, message, (struct str){ 0 }, false);
}

static void put_capabilities(struct json_out *o, const struct profile *p)
{
    json_put_key(o, "capabilities");
    json_obj(o);
    json_put_key(o, "tools");
    json_obj(o);
    json_kv_bool(o, "listChanged", p->sessions);
    json_obj_end(o);
    json_obj_end(o);
}

static bool params_ok(struct req *r)
{
    enum json_type t = json_type(r->msg.params);

    if (t == JSON_NONE || t == JSON_OBJ)
        return true;
    send_field_error(r, "params", "must be an object");
    return false;
}

static size_t check_initialize(struct req *r, struct field_error *errors)
{
    struct json info = json_get(r->msg.params, "clientInfo");
    struct json caps = json_get(r->msg.params, "capabilities");
    size_t n = 0;

    if (json_type(json_get(r->msg.params, "protocolVersion")) != JSON_STR)
        errors[n++] = (struct field_error){ "protocolVersion", "is required, a string" };
    if (json_type(info) && json_type(info) != JSON_OBJ)
        errors[n++] = (struct field_error){ "clientInfo", "must be an object" };
    else if (json_type(info) && json_type(json_get(info, "name")) != JSON_STR)
        errors[n++] = (struct field_error){ "clientInfo.name", "is required, a string" };
    if (json_type(caps) && json_type(caps) != JSON_OBJ)
        errors[n++] = (struct field_error){ "capabilities", "must be an object" };
    return n;
}

static void do_initialize(struct req *r)
{
    const struct profile *p = r->in->profile;
    struct field_error errors[4];
    size_t n = check_initialize(r, errors);
    struct json_out o;
    struct buf b;

    if (n > 0) {
        send_field_errors(r, NULL, errors, n);
        return;
    }
    o = open_result(r, &b);
    json_kv_strz(&o, "protocolVersion",
                 era_agree(json_str(json_get(r->msg.params, "protocolVersion"), &r->a)));
    put_capabilities(&o, p);
    json_put_key(&o, "serverInfo");
    put_server_info(&o, p);
    if (p->instructions)
        json_kv_strz(&o, "instructions", p->instructions);
    if (p->answer == ANSWER_JEEVES)
        json_kv_raw(&o, "jeeves", STR("{\"schemaVersion\":1}"));
    send_result(r, &b, &o);
}

static void put_cache(struct json_out *o)
{
    json_kv_int(o, "ttlMs", 300000);
    json_kv_strz(o, "cacheScope", "private");
}

static void do_discover(struct req *r)
{
    struct json_out o;
    struct buf b;

    o = open_result(r, &b);
    json_put_key(&o, "supportedVersions");
    era_versions(&o);
    put_capabilities(&o, r->in->profile);
    if (r->in->profile->instructions)
        json_kv_strz(&o, "instructions", r->in->profile->instructions);
    put_cache(&o);
    send_result(r, &b, &o);
}

static void do_ping(struct req *r)
{
    struct json_out o;
    struct buf b;

    o = open_result(r, &b);
    send_result(r, &b, &o);
}

/* Seed 001's health as a method, from before it was a tool. */
static void do_health(struct req *r)
{
    struct result facts = { .a = &r->a };
    struct json_out o;
    struct buf b;

    if (r->in->profile->answer != ANSWER_PRUNER) {
        no_method(r);
        return;
    }
    health_facts(&facts);
    o = open_result(r, &b);
    for (const struct entry *e = facts.first; e; e = e->next)
        json_kv_raw(&o, e->name, e->json);
    send_result(r, &b, &o);
}

static void do_tools_list(struct req *r)
{
    struct json_out o;
    struct buf b;

    if (json_type(json_get(r->msg.params, "cursor"))) {
        send_field_error(r, "cursor", "is not one of ours: the list has one page");
        return;
    }
    o = open_result(r, &b);
    json_put_key(&o, "tools");
    registry_list(r->mcp->registry, r->in->profile, LIST_TOOLS, 0, &o);
    if (r->era.stateless)
        put_cache(&o);
    send_result(r, &b, &o);
}

/* --- tools/call --- */

static void pending_free(struct pending *p)
{
    if (p->prev) {
        *p->prev = p->next;
        if (p->next)
            p->next->prev = p->prev;
    }
    free(p);
}

static void on_reply(void *arg, struct call *c, struct str message)
{
    struct pending *p = arg;
    struct mcp_reply reply = { .message = message, .stateless = p->stateless };
    void (*fn)(void *, const struct mcp_reply *) = p->reply;
    void *fn_arg = p->arg;

    (void)c;
    pending_free(p);
    fn(fn_arg, &reply);
}

static void on_dropped(void *arg, struct call *c)
{
    (void)c;
    pending_free(arg);
}

/* Out of the list first: the call may end, and free p, inside call_cancel. */
static void pending_cancel(struct pending *p)
{
    *p->prev = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->prev = NULL;
    call_cancel(p->call);
}

void lease_end(struct lease *l)
{
    while (l->calls)
        pending_cancel(l->calls);
}

static void start_call(struct req *r, struct call *c)
{
    struct pending *p = xcalloc(1, sizeof *p);
    struct buf b;

    buf_init(&b, MAX_REPLY);
    rpc_result_open(&b, r->msg.id);
    c->before = arena_str(&c->a, buf_str(&b));
    c->members = era_members(r);
    c->meta = arena_str(&c->a, era_meta(r));
    c->after = STR("}");
    buf_done(&b);
    *p = (struct pending){ .lease = r->in->lease,
                           .next = r->in->lease->calls,
                           .prev = &r->in->lease->calls,
                           .call = c,
                           .id = arena_str(&c->a, r->msg.id),
                           .stateless = r->era.stateless,
                           .reply = r->in->reply,
                           .arg = r->in->arg };
    if (p->next)
        p->next->prev = &p->next;
    r->in->lease->calls = p;
    c->reply = on_reply;
    c->dropped = on_dropped;
    c->reply_arg = p;
    call_start(c);
}

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
    r->in->reply(r->in->arg, &reply);
    buf_done(&b);
}

static void unknown_tool(struct req *r, struct str name)
{
    const struct profile *p = r->in->profile;
    struct buf b;

    buf_init(&b, 2048);
    buf_addf(&b, "unknown tool '%.*s'; there is", (int)(name.n < 100 ? name.n : 100), name.p);
    for (size_t i = 0; p->tools[i]; i++)
        buf_addf(&b, "%s %s", i ? "," : "", p->tools[i]);
    send_field_error(r, "name", b.data);
    buf_done(&b);
}

static void do_tools_call(struct req *r)
{
    struct json name = json_get(r->msg.params, "name");
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
    c = call_new(r->mcp->site, t, &r->mcp->site->root, r->in->profile->answer);
    if (call_args(c, json_get(r->msg.params, "arguments"), &errors, &count)) {
        start_call(r, c);
        return;
    }
    refuse_args(r, c, errors, count);
    call_free(c);
}

/* --- notifications --- */

static void do_cancelled(struct req *r)
{
    struct str id = json_raw(json_get(r->msg.params, "requestId"));

    for (struct pending *p = r->in->lease->calls; p; p = p->next) {
        if (str_eq(p->id, id)) {
            pending_cancel(p);
            return;
        }
    }
}

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
    { "notifications/cancelled", ANY_ERA, true, do_cancelled },
};

static void nothing_to_say(struct req *r)
{
    struct mcp_reply reply = { .stateless = r->era.stateless };

    r->in->reply(r->in->arg, &reply);
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

void mcp_handle(struct mcp *m, const struct mcp_in *in)
{
    struct req r = { .mcp = m, .in = in };
    struct err e;

    if (!rpc_parse(&r.msg, &r.a, in->text, &e))
        send_error(&r, err_number(e.code), e.msg, (struct str){ 0 }, true);
    else if (r.msg.kind == RPC_RESPONSE)
        nothing_to_say(&r); /* we ask nothing of clients, so no answer is awaited */
    else if (!era_decode(&r.era, &r.msg, &r.a, &in->headers, &e))
        refuse_era(&r, &e);
    else
        dispatch(&r);
    arena_done(&r.a);
}

void mcp_refuse(const struct mcp_in *in, const struct err *e)
{
    struct req r = { .in = in, .msg.id = STR("null") };

    send_error(&r, err_number(e->code), e->msg, (struct str){ 0 }, true);
}
