/* era.c: versions, and the agreement of headers and body. */
#include "rpc/era.h"

#define META "io.modelcontextprotocol/"

static const char stateless[] = "2026-07-28";
static const char *const session_versions[] = { "2025-11-25", "2025-06-18", "2025-03-26",
                                                "2024-11-05", NULL };

static bool known_session(struct str v)
{
    for (size_t i = 0; session_versions[i]; i++)
        if (str_is(v, session_versions[i]))
            return true;
    return false;
}

const char *era_agree(struct str asked)
{
    for (size_t i = 0; session_versions[i]; i++)
        if (str_is(asked, session_versions[i]))
            return session_versions[i];
    return session_versions[0];
}

void era_versions(struct json_out *o)
{
    json_arr(o);
    json_put_strz(o, stateless);
    for (size_t i = 0; session_versions[i]; i++)
        json_put_strz(o, session_versions[i]);
    json_arr_end(o);
}

/* Mcp-Name repeats params.name (or params.uri) for these. */
static bool needs_name(struct str method)
{
    return str_is(method, "tools/call") || str_is(method, "prompts/get") ||
           str_is(method, "resources/read");
}

static bool check_headers(const struct rpc_msg *m, struct arena *a, const struct era_headers *h,
                          struct str version, struct err *e)
{
    struct str name = json_str(json_get(m->params, "name"), a);

    if (!name.p)
        name = json_str(json_get(m->params, "uri"), a);
    if (!str_eq(h->version, version))
        return err_set(
            e, ERR_HEADERS, "Header mismatch: MCP-Protocol-Version is '%.*s', the body says '%.*s'",
            (int)h->version.n, h->version.p ? h->version.p : "", (int)version.n, version.p);
    if (!str_eq(h->method, m->method))
        return err_set(e, ERR_HEADERS,
                       "Header mismatch: Mcp-Method is '%.*s', the body says '%.*s'",
                       (int)(h->method.n < 60 ? h->method.n : 60), h->method.p ? h->method.p : "",
                       (int)(m->method.n < 60 ? m->method.n : 60), m->method.p);
    if (needs_name(m->method) && name.p && !str_eq(h->name, name))
        return err_set(e, ERR_HEADERS, "Header mismatch: Mcp-Name is '%.*s', the body says '%.*s'",
                       (int)(h->name.n < 60 ? h->name.n : 60), h->name.p ? h->name.p : "",
                       (int)(name.n < 60 ? name.n : 60), name.p);
    return true;
}

static bool unsupported(struct str version, struct err *e)
{
    return err_set(e, ERR_VERSION, "Unsupported protocol version '%.*s'",
                   (int)(version.n < 40 ? version.n : 40), version.p);
}

/* A request without version in `_meta`: the older era, unless its header says
 * otherwise or only the newer era has such a method. */
static bool decode_silent(struct era *out, const struct rpc_msg *m, const struct era_headers *h,
                          struct err *e)
{
    out->stateless = str_is(h->version, stateless) || str_is(m->method, "server/discover");
    if (out->stateless && m->kind == RPC_REQUEST)
        return err_set(e, ERR_PARAMS, "params._meta must have \"" META "protocolVersion\"");
    if (h->version.n && !known_session(h->version) && !out->stateless) {
        out->version = h->version;
        return unsupported(h->version, e);
    }
    return true;
}

bool era_decode(struct era *out, const struct rpc_msg *m, struct arena *a,
                const struct era_headers *h, struct err *e)
{
    struct json meta = json_get(m->params, "_meta");
    struct json version = json_get(meta, META "protocolVersion");

    *out = (struct era){ 0 };
    if (json_type(version) == JSON_NONE)
        return decode_silent(out, m, h, e);
    out->stateless = true;
    if (json_type(version) != JSON_STR)
        return err_set(e, ERR_PARAMS, "\"" META "protocolVersion\" must be a string");
    out->version = json_str(version, a);
    if (known_session(out->version)) {
        out->stateless = false;
        return true;
    }
    if (!str_is(out->version, stateless))
        return unsupported(out->version, e);
    if (m->kind != RPC_REQUEST)
        return true;
    if (json_type(json_get(meta, META "clientCapabilities")) != JSON_OBJ)
        return err_set(e, ERR_PARAMS, "params._meta must have \"" META "clientCapabilities\"");
    return !h->http || check_headers(m, a, h, out->version, e);
}
