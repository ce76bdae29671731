/* pending.h: a request that is answered later. Private to mcp/.
 *
 * In its client's list from the start until its answer, or its cancellation,
 * is out. A tool, prompt or resource has a call; a subscription has a filter. */
#pragma once
#include "mcp/req.h"
#include "mcp/state.h"

struct pending {
    struct mcp *mcp;
    struct client *client;
    struct pending *next, **prev; /* client->calls */
    struct outlet *out;
    bool stateless;
    struct call *call; /* NULL: a subscription */
    struct str id;     /* in the call's arena, or malloc'ed by a subscription */

    /* Progress for clients that wait: a tool that says none is reported by the
     * seconds it has taken. */
    struct timer *tick;
    unsigned seconds;
    double ticked; /* the progress we said last */
    bool *over;    /* set when it ends while call_start is on the stack */

    /* Questions (ask.c). */
    struct state_bind bind; /* stateless: what a requestState is tied to */
    struct str answers;     /* stateless: an object with those that came */
    unsigned open;          /* questions not answered yet */
    struct timer *patience;

    struct filter *filter; /* listen.c */
    struct pending *next_listener, **prev_listener;
};

/* Has the client too many under way, or one of this id? Then it was refused. */
bool too_many(struct req *r);

/* Put it into the client's list. */
void pending_link(struct pending *p, struct client *c);

/* Out of the list, and freed; the call is not touched. */
void pending_free(struct pending *p);

/* Out of the list and cancelled. tell: the client still hears that questions
 * to it are void. */
void pending_cancel(struct pending *p, bool tell);

/* --- ask.c: call->peer's side of questions --- */

void ask_client(struct call *c);
void ask_no_more(struct call *c);

/* --- listen.c --- */

void listen_free(struct pending *p);

/* Which change a notification tells; false: none of them. */
bool change_named(const char *method, enum mcp_change *what);
