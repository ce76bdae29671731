/* outlet.h: where what is said about one request goes.
 *
 * A door makes it: over HTTP one for each POST, over stdio one for the whole
 * connection. It outlives the request, or cancels it (client_forget); a batch
 * may still reply while that runs, and is then not listened to. */
#pragma once
#include "base/str.h"

struct client;
struct outlet;

struct mcp_reply {
    struct str message; /* empty: there is nothing to say (a notification) */
    int code;           /* JSON-RPC error code, 0 for a result */
    bool malformed;     /* what came was not a request of its era */
    bool stateless;     /* the 2026-07-28 era's statuses hold */
};

struct outlet_ops {
    /* A notification or a request of ours, before the answer. False: this peer
     * cannot be told (it takes one JSON answer and no stream). */
    bool (*say)(struct outlet *o, struct str message);

    /* The answer, once a request. */
    void (*reply)(struct outlet *o, const struct mcp_reply *r);

    /* The client took the request back: no answer will come. */
    void (*drop)(struct outlet *o);

    /* Close the stream; the client comes back for the rest. */
    void (*let_go)(struct outlet *o);

    /* `initialize` was accepted: the client that it makes, NULL when there
     * are too many. */
    struct client *(*welcome)(struct outlet *o);
};

struct outlet {
    const struct outlet_ops *ops;
    struct outlet *via; /* a batch's: where its gathered answers go, else NULL */
};
