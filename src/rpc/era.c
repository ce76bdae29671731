/* era.c: versions, and the agreement of headers and body. */
#include "rpc/era.h"
#include <stdio.h>
#include "base/base64.h"
#include "base/utf8.h"

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

bool era_is_stateless(struct str version)
{
    return str_is(version, stateless);
}

bool era_since(const char *a, const char *b)
{
    return strcmp(a, b) >= 0;
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

/* A header's text: as it stands, or out of =?base64?…?=. False where that is
 * broken, or holds what no header may. */
static bool header_text(struct str h, struct arena *a, struct str *out)
{
    struct buf b;
    bool ok = true;

    *out = h;
    if (h.n < 11 || !str_starts(h, "=?base64?") || memcmp(h.p + h.n - 2, "?=", 2) != 0) {
        for (size_t i = 0; i < h.n; i++)
            ok &= (unsigned char)h.p[i] < 0x7f && (h.p[i] >= ' ' || h.p[i] == '\t');
        return ok;
    }
    buf_init(&b, h.n);
    ok = (h.n - 11) % 4 == 0 && base64_read(&b, (struct str){ h.p + 9, h.n - 11 }) &&
         utf8_valid(buf_str(&b)) == b.len;
    *out = arena_str(a, buf_str(&b));
    buf_done(&b);
    return ok;
}

static bool mismatch(struct err *e, const char *header, struct str is, struct str body)
{
    if (!is.p)
        return err_set(e, ERR_HEADERS, "Header mismatch: %s is missing, the body says '%.*s'",
                       header, (int)(body.n < 60 ? body.n : 60), body.p);
    return err_set(e, ERR_HEADERS, "Header mismatch: %s is '%.*s', the body says '%.*s'", header,
                   (int)(is.n < 60 ? is.n : 60), is.p, (int)(body.n < 60 ? body.n : 60), body.p);
}

static bool check_headers(const struct rpc_msg *m, struct arena *a, const struct era_headers *h,
                          struct err *e)
{
    struct str name = json_str(json_get(m->params, "name"), a), said;

    if (!name.p)
        name = json_str(json_get(m->params, "uri"), a);
    if (!str_eq(h->method, m->method))
        return mismatch(e, "Mcp-Method", h->method, m->method);
    if (needs_name(m->method) && name.p &&
        (!h->name.p || !header_text(h->name, a, &said) || !str_eq(said, name)))
        return mismatch(e, "Mcp-Name", h->name, name);
    return true;
}

/* Integers are compared as numbers: 42.0 and 42 are one. */
static bool same_value(struct str said, struct json value, struct arena *a)
{
    struct json_doc d;
    double x, y;

    if (json_type(value) == JSON_STR)
        return str_eq(said, json_str(value, a));
    if (json_type(value) != JSON_NUM)
        return str_eq(said, json_raw(value));
    return json_double(value, &x) && json_parse(&d, a, said, NULL) &&
           json_double(json_root(&d), &y) && x == y;
}

bool era_check_param(const struct era_headers *h, const char *name, struct json value,
                     struct arena *a, struct err *e)
{
    struct str header, said;
    char full[100];

    snprintf(full, sizeof full, "Mcp-Param-%s", name);
    header = h->find(h->arg, full);
    if (json_type(value) == JSON_NONE || json_type(value) == JSON_NULL) {
        if (header.p)
            return mismatch(e, full, header, STR("nothing"));
        return true;
    }
    if (!header.p || !header_text(header, a, &said) || !same_value(said, value, a))
        return mismatch(e, full, header, json_raw(value));
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
    if (h->http && m->kind == RPC_REQUEST && !str_eq(h->version, out->version))
        return mismatch(e, "MCP-Protocol-Version", h->version, out->version);
    if (!str_is(out->version, stateless))
        return unsupported(out->version, e);
    if (m->kind != RPC_REQUEST)
        return true;
    if (json_type(json_get(meta, META "clientCapabilities")) != JSON_OBJ)
        return err_set(e, ERR_PARAMS, "params._meta must have \"" META "clientCapabilities\"");
    return !h->http || check_headers(m, a, h, e);
}
