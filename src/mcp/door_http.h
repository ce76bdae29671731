/* door_http.h: paths of the HTTP server, and the statuses of each.
 *
 *     POST /mcp, /mcp/<profile>   MCP        POST /rpc    profile pruner
 *     GET  /healthz               seed 000   GET  /health seed 001
 */
#pragma once
#include "mcp/mcp.h"
#include "wire/http.h"

struct door_http {
    struct mcp *mcp;
    const struct profile *profile; /* what /mcp serves */
    bool only_active;              /* no other profile by path */
    bool only_jeeves;              /* /mcp, /mcp/jeeves and /healthz, nothing else */
    uint64_t started_ms;
    char started_at[32];
};

/* The handler for http_listen; arg is a struct door_http. */
void door_http(void *arg, struct http_req *r);
