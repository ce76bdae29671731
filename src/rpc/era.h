/* era.h: which MCP a request speaks, told from the request alone.
 *
 * Two eras live on one endpoint. Up to 2025-11-25 a client opens with
 * `initialize`. From 2026-07-28 on every request says in `_meta` which version
 * it speaks, and over HTTP says it again in headers that must agree. */
#pragma once
#include "rpc/rpc.h"

struct era {
    bool stateless;     /* 2026-07-28: resultType, its own HTTP statuses */
    struct str version; /* as asked; empty when the request does not say */
};

/* What the HTTP headers say; all empty over stdio. */
struct era_headers {
    bool http;
    struct str version;                                    /* MCP-Protocol-Version */
    struct str method;                                     /* Mcp-Method */
    struct str name;                                       /* Mcp-Name */
    struct str (*find)(const void *arg, const char *name); /* any other; absent: { NULL, 0 } */
    const void *arg;
};

/* Tell the era of a request. Gives false with *e set: PARAMS (`_meta` lacks a
 * field), HEADERS (they contradict the body), VERSION (not one of ours). *out
 * is set in any case. */
bool era_decode(struct era *out, const struct rpc_msg *m, struct arena *a,
                const struct era_headers *h, struct err *e);

/* Does the header Mcp-Param-<name> repeat this argument (none or null: then it
 * must be absent)? False with *e set (HEADERS). */
bool era_check_param(const struct era_headers *h, const char *name, struct json value,
                     struct arena *a, struct err *e);

/* Is it the version of the stateless era? */
bool era_is_stateless(struct str version);

/* The version to answer `initialize` with: the one asked for where we know it,
 * else the newest of that era. */
const char *era_agree(struct str asked);

/* Is version a of the initialize era at least b? They are dates. */
bool era_since(const char *a, const char *b);

/* ["2026-07-28",…], newest first. */
void era_versions(struct json_out *o);
