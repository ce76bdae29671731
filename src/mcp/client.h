/* client.h: what is under way with one client.
 *
 * A stdio connection, an HTTP session, or a single HTTP request where there is
 * no session. It knows what `initialize` agreed on, the calls it waits for, and
 * the questions we put to it. A zeroed one is a client that said nothing yet. */
#pragma once
#include "call/call.h"
#include "mcp/outlet.h"

struct mcp;
struct pending;
struct question;

struct client {
    const char *version; /* agreed by `initialize`, NULL: none was */
    unsigned can;        /* enum client_can */
    enum say_level say_from;
    struct pending *calls;      /* under way, subscriptions among them */
    struct question *questions; /* that it has not answered */
    unsigned long asked;        /* questions so far: their ids */
    char **uris;                /* resources/subscribe */
    size_t uri_count;

    /* For what belongs to no request (list changes). NULL: it hears none. In
     * mcp->clients while set. */
    struct outlet *aside;
    struct client *next, **prev;
};

/* What clientCapabilities say, as bits of enum client_can. */
unsigned abilities_of(struct json capabilities);

/* Is there a request that will be answered (a subscription is not)? */
bool client_waits(const struct client *c);

/* A client that takes messages aside from now on. */
void client_join(struct mcp *m, struct client *c, struct outlet *aside);

/* Cancel every request whose answers go to that outlet; none comes any more. */
void client_forget(struct client *c, const struct outlet *o);

void client_forget_all(struct client *c);

/* The end: cancel everything, forget what was agreed. The memory of the struct
 * is its owner's. */
void client_done(struct client *c);
