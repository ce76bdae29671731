/* door_http.c: one HTTP request in, one answer out.
 *
 * A request is a lease of its own: when its connection closes, its call is
 * cancelled. So an id of one client can never reach another's call, and
 * notifications/cancelled over HTTP finds nothing to cancel. */
#include "mcp/door_http.h"
#include <stdlib.h>
#include <stdio.h>
#include <strings.h>
#include "base/clock.h"
#include "base/mem.h"
#include "tools/health.h"

/* A request whose answer is not out yet. */
struct visit {
    struct http_req *req;
    const struct profile *profile;
    bool plain_rpc; /* errors travel with 200, whatever the profile */
    struct lease lease;
};

/* The era's statuses where the request is of the stateless era; otherwise what
 * DESIGN.md's table says for the profile. */
static int status_of(const struct visit *v, const struct mcp_reply *r)
{
    if (r->message.n == 0)
        return r->malformed ? 400 : 202;
    if (r->stateless)
        return r->code == -32601 ? 404 : r->malformed ? 400 : 200;
    if (v->plain_rpc || v->profile->answer == ANSWER_JEEVES)
        return 200;
    return r->malformed ? 400 : 200;
}

static void on_reply(void *arg, const struct mcp_reply *r)
{
    struct visit *v = arg;

    http_reply(v->req, status_of(v, r), r->message.n ? "application/json" : NULL, NULL, r->message);
    free(v);
}

static void on_gone(struct http_req *r)
{
    struct visit *v = r->user;

    lease_end(&v->lease);
    free(v);
}

/* application/json, with or without parameters. */
static bool is_json(struct str type)
{
    static const char want[] = "application/json";
    size_t n = sizeof want - 1;

    return type.n >= n && strncasecmp(type.p, want, n) == 0 &&
           (type.n == n || type.p[n] == ';' || type.p[n] == ' ');
}

static bool accepts_json(struct str accept)
{
    return !accept.p || memmem(accept.p, accept.n, "application/json", 16) ||
           memmem(accept.p, accept.n, "application/*", 13) || memmem(accept.p, accept.n, "*/*", 3);
}

static void serve_rpc(struct door_http *d, struct http_req *r, const struct profile *p, bool plain)
{
    struct mcp_in in = { .profile = p, .text = r->body, .reply = on_reply };
    struct visit *v;

    if (!is_json(http_header(r, "content-type"))) {
        http_reply_error(r, 415, "unsupported_media_type", NULL,
                         "send the message as Content-Type: application/json");
        return;
    }
    if (!accepts_json(http_header(r, "accept"))) {
        http_reply_error(r, 406, "not_acceptable", NULL, "Accept must allow application/json");
        return;
    }
    v = xcalloc(1, sizeof *v);
    v->req = r;
    v->profile = p;
    v->plain_rpc = plain;
    in.lease = &v->lease;
    in.arg = v;
    if (!plain)
        in.headers = (struct era_headers){ .http = true,
                                           .version = http_header(r, "mcp-protocol-version"),
                                           .method = http_header(r, "mcp-method"),
                                           .name = http_header(r, "mcp-name") };
    r->user = v;
    r->gone = on_gone;
    mcp_handle(d->mcp, &in);
}

/* --- health --- */

static void serve_healthz(struct door_http *d, struct http_req *r)
{
    struct buf b;
    struct json_out o = json_out(&b);

    buf_init(&b, 4096);
    json_obj(&o);
    json_kv_bool(&o, "ok", true);
    json_kv_strz(&o, "status", "ok");
    json_put_key(&o, "server");
    json_obj(&o);
    json_kv_strz(&o, "name", d->profile->server);
    json_kv_strz(&o, "version", PITH_VERSION);
    json_obj_end(&o);
    json_put_key(&o, "time");
    json_obj(&o);
    json_kv_strz(&o, "started_at", d->started_at);
    json_kv_int(&o, "uptime_ms", (long long)(clock_ms() - d->started_ms));
    json_obj_end(&o);
    json_obj_end(&o);
    http_reply(r, 200, "application/json", NULL, buf_str(&b));
    buf_done(&b);
}

static void serve_health(struct http_req *r)
{
    struct arena a = { 0 };
    struct result facts = { .a = &a };
    struct buf b;
    struct json_out o = json_out(&b);

    health_facts(&facts);
    buf_init(&b, 4096);
    json_obj(&o);
    for (const struct entry *e = facts.first; e; e = e->next)
        json_kv_raw(&o, e->name, e->json);
    json_obj_end(&o);
    http_reply(r, 200, "application/json", NULL, buf_str(&b));
    buf_done(&b);
    arena_done(&a);
}

/* --- routes --- */

enum route { NOWHERE, MCP, RPC, HEALTHZ, HEALTH };

/* /mcp is the active profile, /mcp/<name> the one named. */
static enum route find_route(const struct door_http *d, struct str path,
                             const struct profile **profile)
{
    *profile = d->profile;
    if (str_is(path, "/healthz"))
        return HEALTHZ;
    if (str_is(path, "/mcp"))
        return MCP;
    if (str_starts(path, "/mcp/")) {
        struct str name = { path.p + 5, path.n - 5 };

        *profile = name.n ? profile_find(d->mcp->registry, name) : NULL;
        if (!*profile || (d->only_active && *profile != d->profile))
            return NOWHERE;
        return MCP;
    }
    if (d->only_jeeves)
        return NOWHERE;
    if (str_is(path, "/health"))
        return HEALTH;
    if (str_is(path, "/rpc")) {
        *profile = profile_find(d->mcp->registry, STR("pruner"));
        return RPC;
    }
    return NOWHERE;
}

static void wrong_method(struct http_req *r, const char *allow)
{
    char header[64];

    snprintf(header, sizeof header, "Allow: %s\r\n", allow);
    if (str_is(r->method, "OPTIONS"))
        http_reply(r, 204, NULL, header, (struct str){ 0 });
    else
        http_reply_error(r, 405, "method_not_allowed", header, "%.*s takes %s",
                         (int)(r->path.n < 80 ? r->path.n : 80), r->path.p, allow);
}

void door_http(void *arg, struct http_req *r)
{
    struct door_http *d = arg;
    const struct profile *p;
    enum route route = find_route(d, r->path, &p);
    bool get = str_is(r->method, "GET") || str_is(r->method, "HEAD");

    switch (route) {
    case MCP:
    case RPC:
        if (str_is(r->method, "POST"))
            serve_rpc(d, r, p, route == RPC);
        else
            wrong_method(r, "POST, OPTIONS");
        break;
    case HEALTHZ:
    case HEALTH:
        if (!get)
            wrong_method(r, "GET, HEAD, OPTIONS");
        else if (route == HEALTHZ)
            serve_healthz(d, r);
        else
            serve_health(r);
        break;
    case NOWHERE:
        http_reply_error(r, 404, "not_found", NULL, "nothing at %.*s; MCP is at /mcp",
                         (int)(r->path.n < 80 ? r->path.n : 80), r->path.p);
        break;
    }
}
