/* reply.c: the frames of answers. The only place where an err becomes one. */
#include <stdio.h>
#include "base/log.h"
#include "base/utf8.h"
#include "mcp/req.h"

void send_error(struct req *r, int code, const char *message, struct str data, bool malformed)
{
    struct buf b;
    struct mcp_reply reply = { .code = code,
                               .malformed = malformed,
                               .stateless = r->era.stateless };

    if (r->msg.kind == RPC_NOTIFICATION) {
        r->in->out->ops->reply(r->in->out, &reply);
        return;
    }
    buf_init(&b, MAX_REPLY);
    rpc_error(&b, r->msg.id, code, message, data);
    reply.message = buf_str(&b);
    r->in->out->ops->reply(r->in->out, &reply);
    buf_done(&b);
}

void put_server_info(struct json_out *o, const struct profile *p)
{
    json_obj(o);
    json_kv_strz(o, "name", p->server);
    json_kv_strz(o, "version", PITH_VERSION);
    json_obj_end(o);
}

struct str era_members(const struct req *r)
{
    return r->era.stateless ? STR("\"resultType\":\"complete\",") : STR("");
}

struct str era_meta(struct req *r)
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

struct json_out open_result(struct req *r, struct buf *b)
{
    struct json_out o = json_out(b);

    buf_init(b, MAX_REPLY);
    rpc_result_open(b, r->msg.id);
    json_obj(&o);
    if (r->era.stateless)
        json_kv_strz(&o, "resultType", "complete");
    return o;
}

void send_result(struct req *r, struct buf *b, struct json_out *o)
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
    r->in->out->ops->reply(r->in->out, &reply);
    buf_done(b);
}

void send_empty(struct req *r)
{
    struct buf b;
    struct json_out o = open_result(r, &b);

    send_result(r, &b, &o);
}

void put_cache(struct req *r, struct json_out *o)
{
    if (!r->era.stateless)
        return;
    json_kv_int(o, "ttlMs", 300000);
    json_kv_strz(o, "cacheScope", "private");
}

void put_notification(struct buf *b, const char *method, struct str params)
{
    struct json_out o = json_out(b);

    json_obj(&o);
    json_kv_strz(&o, "jsonrpc", "2.0");
    json_kv_strz(&o, "method", method);
    json_kv_raw(&o, "params", params);
    json_obj_end(&o);
}

void log_invalid(const char *tool, struct str errors)
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

void send_field_errors(struct req *r, const char *tool, const struct field_error *errors,
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

void send_field_error(struct req *r, const char *field, const char *message)
{
    send_field_errors(r, NULL, &(struct field_error){ field, message }, 1);
}

void no_method(struct req *r)
{
    char message[120];

    snprintf(message, sizeof message, "Method not found: %.*s", (int)utf8_cut(r->msg.method, 80),
             r->msg.method.p);
    send_error(r, -32601, message, (struct str){ 0 }, false);
}
