/* door_http.h: paths of the HTTP server, and the statuses of each.
 *
 *     /mcp, /mcp/<profile>   MCP: POST; GET and DELETE for sessions
 *     /sse, /messages        the HTTP+SSE transport of 2024-11-05
 *     /rpc                   plain JSON-RPC, profile pruner
 *     /prune                 the engine, in two other pruners' shapes
 *     /healthz, /health      seed 000's and seed 001's health
 *
 * MCP, old and new, needs a token (door_auth.h); the others do not on loopback,
 * health never does. */
#pragma once
#include "mcp/auth.h"
#include "mcp/session.h"
#include "wire/http.h"

struct door_http {
    struct mcp *mcp;
    const struct auth *auth;       /* NULL: no token is asked for */
    const struct profile *profile; /* what /mcp serves */
    struct sessions *sessions;
    bool only_active; /* no other profile by path */
    bool only_jeeves; /* /mcp, /mcp/jeeves and /healthz, nothing else */
    unsigned heartbeat_ms;
    uint64_t started_ms;
    char started_at[32];
    struct post *posts; /* under way */
};

/* The handler for http_listen; arg is a struct door_http. */
void door_http(void *arg, struct http_req *r);

/* No new work: streams that wait for nothing end; answers under way go on. */
void door_http_drain(struct door_http *d);

/* A token is no longer good: the sessions and streams it opened end. A request
 * that is being answered without a session still gets its answer. */
void door_http_revoke(struct door_http *d, const char *principal);

/* The end: cancel what is under way, end every session. After http_free, which
 * ends what has a connection. */
void door_http_close(struct door_http *d);
