/* session.h: HTTP sessions of the initialize era.
 *
 * One has a client, a stream for what belongs to no request, and whatever is
 * under way on its POSTs. Its id is random and good only for the principal and
 * the profile it was made for; to anybody else it is not there. A session that
 * nobody uses and nobody reads from ends after a while; when there are too
 * many, the one that was idle longest gives way. */
#pragma once
#include "mcp/mcp.h"
#include "mcp/stream.h"

struct sessions;

struct session_opts {
    struct mcp *mcp;
    unsigned most;    /* sessions at once */
    unsigned idle_ms; /* without a request, a call or a reader */
    unsigned window_ms, heartbeat_ms;
};

/* Something under way in a session: it goes when the session does. */
struct session_item {
    struct session_item *next, **prev;
    struct stream *stream; /* resumable by its number, NULL: not */
    unsigned number;
    void (*end)(struct session_item *i); /* the session goes: undo yourself */
};

struct session {
    struct client client;
    struct sessions *all;
    struct session *next, **prev; /* in its bucket */
    char id[40];
    char principal[64];
    const struct profile *profile;
    struct outlet aside; /* goes to `stream` */
    struct stream *stream;
    unsigned stream_number; /* of `stream`: a new one each time it was lost */
    struct session_item *items;
    unsigned streams; /* made so far */
    unsigned in_use;  /* requests being answered */
    uint64_t used_ms;
};

struct sessions *sessions_new(const struct session_opts *o);
void sessions_free(struct sessions *t); /* ends them all; NULL is fine */

/* A server that stops: end those that wait for no answer, the others when theirs is out. */
void sessions_drain(struct sessions *t);

/* End all that this principal has: its token is no longer good. */
void sessions_end_of(struct sessions *t, const char *principal);

size_t sessions_count(const struct sessions *t);

/* A new one, NULL when there are too many and none is idle. */
struct session *session_new(struct sessions *t, const struct profile *p, const char *principal);

/* By id, for the one who made it; NULL: not there. It counts as used. */
struct session *session_find(struct sessions *t, struct str id, const struct profile *p,
                             const char *principal);
void session_end(struct session *s);

/* Items; the last finished ones are kept for resumption, older ones go. */
void session_add(struct session *s, struct session_item *i);
void session_remove(struct session_item *i);

/* A stream of the session, numbered; lost and arg as stream_new's. */
struct stream *session_stream(struct session *s, unsigned *number, void (*lost)(void *arg),
                              void *arg);

/* GET: r reads the session's own stream, or, with the number of an event it has
 * seen ("7-12"), the stream of that one. False with *e set: no such event is kept. */
bool session_read(struct session *s, struct http_req *r, struct str last, struct err *e);
