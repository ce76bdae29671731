/* door_http.c: which path is what, for which method, and for whom. */
#include "mcp/door_http.h"
#include <stdio.h>
#include "base/clock.h"
#include "mcp/door_auth.h"
#include "mcp/door_prune.h"
#include "mcp/door_sse.h"
#include "mcp/post.h"
#include "tools/health.h"

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

enum route { NOWHERE, MCP, RPC, PRUNE, HEALTHZ, HEALTH, SSE, MESSAGES };

/* The profile is the one that the path names, NULL: it names none. */
static enum route find_route(const struct door_http *d, struct str path,
                             const struct profile **profile)
{
    *profile = NULL;
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
    if (str_is(path, "/prune"))
        return PRUNE;
    if (str_is(path, "/sse"))
        return SSE;
    if (str_is(path, "/messages"))
        return MESSAGES;
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

/* --- /mcp --- */

/* The session that the request names. False: it names one that is not there,
 * which has been said. Requests of the stateless era have none, whatever they
 * name. */
static bool find_session(struct door_http *d, struct http_req *r, const struct profile *p,
                         const char *principal, struct session **session)
{
    struct str id = http_header(r, "mcp-session-id");

    *session = NULL;
    if (!id.p || !p->sessions || era_is_stateless(http_header(r, "mcp-protocol-version")))
        return true;
    *session = session_find(d->sessions, id, p, principal);
    if (*session)
        return true;
    http_reply_error(r, 404, "session_not_found", NULL,
                     "there is no such session (any more); begin again with initialize");
    return false;
}

static void get_stream(struct http_req *r, struct session *s)
{
    struct str accept = http_header(r, "accept");
    struct str last = http_header(r, "last-event-id");
    struct err e;

    if (!accept.p || !memmem(accept.p, accept.n, "text/event-stream", 17))
        http_reply_error(r, 406, "not_acceptable", NULL, "Accept must have text/event-stream");
    else if (!s)
        http_reply_error(r, 400, "no_session", NULL,
                         "a stream belongs to a session: send Mcp-Session-Id");
    else if (!session_read(s, r, last, &e))
        http_reply_error(r, 404, "event_not_found", NULL, "%s", e.msg);
}

static void end_session(struct http_req *r, struct session *s)
{
    if (!s) {
        http_reply_error(r, 400, "no_session", NULL, "which session? Send Mcp-Session-Id");
        return;
    }
    session_end(s);
    http_reply(r, 204, NULL, NULL, (struct str){ 0 });
}

static void serve_mcp(struct door_http *d, struct http_req *r, const struct profile *p,
                      const char *principal)
{
    bool post = str_is(r->method, "POST"), get = str_is(r->method, "GET");
    struct session *s;

    if (!post && (!p->sessions || (!get && !str_is(r->method, "DELETE")))) {
        wrong_method(r, p->sessions ? "GET, POST, DELETE, OPTIONS" : "POST, OPTIONS");
        return;
    }
    if (post && !post_is_json(r))
        return;
    if (!find_session(d, r, p, principal, &s))
        return;
    if (post)
        post_message(d, r, p, principal, s, false);
    else if (get)
        get_stream(r, s);
    else
        end_session(r, s);
}

static void serve_rpc(struct door_http *d, struct http_req *r, const struct profile *p,
                      const char *principal)
{
    if (!str_is(r->method, "POST"))
        wrong_method(r, "POST, OPTIONS");
    else if (post_is_json(r))
        post_message(d, r, p, principal, NULL, true);
}

static void nothing_here(struct http_req *r)
{
    http_reply_error(r, 404, "not_found", NULL, "nothing at %.*s; MCP is at /mcp",
                     (int)(r->path.n < 80 ? r->path.n : 80), r->path.p);
}

static void serve_old(struct door_http *d, struct http_req *r, enum route route,
                      const struct profile *p, const char *principal)
{
    const char *method = route == SSE ? "GET" : "POST";

    if (!p->sessions)
        nothing_here(r);
    else if (!str_is(r->method, method))
        wrong_method(r, route == SSE ? "GET, OPTIONS" : "POST, OPTIONS");
    else if (route == SSE)
        door_sse_open(d, r, p, principal);
    else
        door_sse_post(d, r, p, principal);
}

/* What the table of doors says. OPTIONS says nothing that no document says, and
 * browsers ask it without. */
static enum door_need need_of(const struct http_req *r, enum route route)
{
    if (str_is(r->method, "OPTIONS"))
        return NEED_NOTHING;
    switch (route) {
    case MCP:
    case SSE:
    case MESSAGES:
        return NEED_TOKEN;
    case RPC:
    case PRUNE:
        return r->peer.loopback ? NEED_NOTHING : NEED_TOKEN;
    case NOWHERE:
    case HEALTHZ:
    case HEALTH:
        break;
    }
    return NEED_NOTHING;
}

void door_http(void *arg, struct http_req *r)
{
    struct door_http *d = arg;
    const struct profile *p;
    enum route route = find_route(d, r->path, &p);
    bool get = str_is(r->method, "GET") || str_is(r->method, "HEAD");
    const char *principal;

    if (!door_allows(d, r, need_of(r, route), &principal, &p))
        return;
    switch (route) {
    case MCP:
        serve_mcp(d, r, p, principal);
        break;
    case RPC:
        serve_rpc(d, r, p, principal);
        break;
    case PRUNE:
        if (str_is(r->method, "POST"))
            door_prune(d, r, principal);
        else
            wrong_method(r, "POST, OPTIONS");
        break;
    case SSE:
    case MESSAGES:
        serve_old(d, r, route, p, principal);
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
        if (str_is(r->path, "*") && str_is(r->method, "OPTIONS"))
            wrong_method(r, "GET, HEAD, POST, DELETE, OPTIONS");
        else
            nothing_here(r);
        break;
    }
}

void door_http_drain(struct door_http *d)
{
    mcp_close_listeners(d->mcp);
    sessions_drain(d->sessions);
}

/* Listeners are few and come back by themselves: all of them end. */
void door_http_revoke(struct door_http *d, const char *principal)
{
    sessions_end_of(d->sessions, principal);
    mcp_close_listeners(d->mcp);
}

void door_http_close(struct door_http *d)
{
    posts_close(d);
    sessions_free(d->sessions);
    d->sessions = NULL;
}
