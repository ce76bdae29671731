/* rpc.c: one message in, one frame out. */
#include "rpc/rpc.h"

/* A string or a number; null is not an id here, as MCP says. */
static bool id_ok(struct json id)
{
    return json_type(id) == JSON_STR || json_type(id) == JSON_NUM;
}

static bool has_response(struct json root)
{
    return json_type(json_get(root, "result")) || json_type(json_get(root, "error"));
}

bool rpc_parse(struct rpc_msg *m, struct arena *a, struct str text, struct err *e)
{
    struct json root, id, method;

    *m = (struct rpc_msg){ .id = STR("null") };
    if (!json_parse(&m->doc, a, text, e))
        return false;
    root = json_root(&m->doc);
    if (json_type(root) == JSON_ARR)
        return err_set(e, ERR_REQUEST, "a message must be one object; batches are not taken here");
    if (json_type(root) != JSON_OBJ)
        return err_set(e, ERR_REQUEST, "a message must be an object");
    if (m->doc.duplicate_keys)
        return err_set(e, ERR_REQUEST, "an object in the message has a key twice");
    id = json_get(root, "id");
    if (json_type(id) && !id_ok(id))
        return err_set(e, ERR_REQUEST, "'id' must be a string or a number");
    if (json_type(id))
        m->id = json_raw(id);
    if (!str_is(json_str(json_get(root, "jsonrpc"), a), "2.0"))
        return err_set(e, ERR_REQUEST, "'jsonrpc' must be \"2.0\"");

    method = json_get(root, "method");
    if (json_type(method) == JSON_NONE && json_type(id) && has_response(root)) {
        m->kind = RPC_RESPONSE;
        return true;
    }
    if (json_type(method) != JSON_STR)
        return err_set(e, ERR_REQUEST, "'method' must be a string");
    m->method = json_str(method, a);
    m->params = json_get(root, "params");
    m->kind = json_type(id) ? RPC_REQUEST : RPC_NOTIFICATION;
    return true;
}

void rpc_error(struct buf *out, struct str id, int code, const char *message, struct str data)
{
    struct json_out o = json_out(out);

    json_obj(&o);
    json_kv_strz(&o, "jsonrpc", "2.0");
    json_kv_raw(&o, "id", id);
    json_put_key(&o, "error");
    json_obj(&o);
    json_kv_int(&o, "code", code);
    json_kv_strz(&o, "message", message);
    if (data.n)
        json_kv_raw(&o, "data", data);
    json_obj_end(&o);
    json_obj_end(&o);
}

void rpc_result_open(struct buf *out, struct str id)
{
    buf_adds(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add(out, id.p, id.n);
    buf_adds(out, ",\"result\":");
}

void rpc_result_close(struct buf *out)
{
    buf_addc(out, '}');
}
