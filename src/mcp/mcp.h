/* mcp.h: MCP's methods, one message at a time.
 *
 * A door (stdio, HTTP) brings the bytes of one message, the profile and what
 * its headers say; the answer comes back through a callback, now or later,
 * exactly once, unless the lease ends first. Nothing is remembered between
 * messages but the calls under way. */
#pragma once
#include "call/call.h"
#include "registry/registry.h"
#include "rpc/era.h"

struct mcp {
    struct site *site;
    const struct registry *registry;
};

/* The calls under way of one peer: a stdio connection, or one HTTP request.
 * Zeroed is empty. */
struct lease {
    struct pending *calls;
};

/* Cancel every call of the lease; no reply comes any more. */
void lease_end(struct lease *l);

struct mcp_reply {
    struct str message; /* empty: there is nothing to say (a notification) */
    int code;           /* JSON-RPC error code, 0 for a result */
    bool malformed;     /* what came was not a request of its era */
    bool stateless;     /* the 2026-07-28 era's statuses hold */
};

struct mcp_in {
    const struct profile *profile;
    struct lease *lease;
    struct str text;
    struct era_headers headers;
    void (*reply)(void *arg, const struct mcp_reply *r);
    void *arg;
};

/* Borrows `in` and its text for the length of this call. */
void mcp_handle(struct mcp *m, const struct mcp_in *in);

/* An error that a door found by itself (a line over the ceiling, say). */
void mcp_refuse(const struct mcp_in *in, const struct err *e);
