/* mcp.h: MCP's methods, one message at a time.
 *
 * A door (stdio, HTTP) brings the bytes of one message, the client it is from,
 * the profile and what its headers say; answers and what comes before them go
 * to the outlet. The eras' differences are rpc/era's and here; methods are
 * written once. */
#pragma once
#include "mcp/client.h"
#include "registry/registry.h"
#include "rpc/era.h"

struct mcp {
    struct site *site;
    const struct registry *registry;
    unsigned ask_ms; /* how long a client may take to answer a question */

    struct states *states;     /* state.c, made at first use */
    struct client *clients;    /* that take messages aside */
    struct pending *listeners; /* subscriptions/listen under way */
};

struct mcp_in {
    const struct profile *profile;
    const char *principal;
    struct client *client;
    struct outlet *out;
    struct str text;
    struct era_headers headers;
    bool batches; /* an array of messages is taken, whatever the version */
};

/* Borrows `in` and its text for the length of this call. */
void mcp_handle(struct mcp *m, const struct mcp_in *in);

/* An error that a door found by itself (a line over the ceiling, say). */
void mcp_refuse(const struct mcp_in *in, const struct err *e);

/* Tell whoever wants to know that a list, or a resource, has changed. */
enum mcp_change { CHANGED_TOOLS, CHANGED_PROMPTS, CHANGED_RESOURCES, CHANGED_RESOURCE };
void mcp_changed(struct mcp *m, enum mcp_change what, const char *uri);

/* End every subscription with its closing answer; for a server that stops. */
void mcp_close_listeners(struct mcp *m);

/* Undo what was made at first use. */
void mcp_done(struct mcp *m);
