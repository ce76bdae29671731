/* http_conn.h: one connection of the HTTP server, for the files that make it
 * up and nobody else.
 *
 *     http_conn.c    its states: reading, sending, lingering, deadlines
 *     http_stream.c  an answer that goes on for a while
 *     http.c         who lets it in and what handlers call
 *
 * A connection is in one of a few states; each event is a step from one to
 * another. */
#pragma once
#include <sys/uio.h>
#include "wire/http_parse.h"
#include "wire/http_reply.h"
#include "wire/listen.h"
#include "wire/tls.h"

enum conn_state {
    CONN_READING, /* a request, or nothing yet */
    CONN_BUSY,    /* a request is with the handler */
    CONN_STREAM,  /* an answer that goes on until the handler ends it */
    CONN_SENDING, /* the rest of an answer */
    CONN_LINGER,  /* all is said, the peer's bytes are thrown away */
    CONN_ORPHAN,  /* closed, but the handler still holds the request */
    CONN_DEAD,    /* closed; the chores free it */
};

struct conn {
    struct http_req req; /* first: http_reply finds its connection by it */
    struct http_server *server;
    struct conn *prev, *next;
    struct conn *chore_next;
    struct watch *watch;
    struct tls *tls; /* NULL: in the clear */
    uint64_t due;    /* when its patience ends, 0: never */
    struct http_parser parser;
    char *out; /* what the socket did not take: at..len of it still waits */
    size_t out_at, out_len, out_cap;
    size_t thrown_away; /* while lingering */
    int fd;
    enum conn_state state;
    bool has_chore;
    bool counted;     /* in server->busy */
    bool close_after; /* this answer is the last */
    bool in_turn;     /* conn_turn is on the stack */
    bool timed;       /* due is the deadline of the request being read */
    bool shaking;     /* TLS: the handshake is not over */
    bool refused;     /* over max_conns */
    bool chunked;     /* the stream is */
    bool broken;      /* the stream's peer left while we wrote; the chores tell */
};

/* A socket that connections come in at. */
struct listener {
    struct http_server *server;
    int fd; /* -1: none */
    struct watch *watch;
    struct timer *pause; /* no descriptor was left */
};

struct http_server {
    struct loop *loop;
    struct http_opts opts;
    struct listener tcp, local;
    int port;
    struct listen_file file; /* of `local` */
    struct tls_context *tls; /* for tcp; NULL: in the clear */
    char *cert, *key;        /* to be read again */
    bool draining;

    struct conn *conns;
    unsigned conn_count, refused_count, busy;
    struct http_hosts hosts;
    char *names; /* of hosts */
    struct http_pool pool;
    struct http_date date;

    struct timer *tick; /* at tick_at somebody's patience ends */
    uint64_t tick_at;
    struct timer *chores_timer;
    struct conn *chores; /* to free, or to go on reading */
};

/* Takes the descriptor. NULL: it cannot be served, and is closed. */
struct conn *conn_new(struct http_server *s, int fd, struct http_peer peer);

/* Wait for its first request. */
void conn_begin(struct conn *c);

/* Only when nothing else knows of it any more. */
void conn_free(struct conn *c);

/* Close now. Who has the request is told, or keeps it as an orphan. */
void conn_drop(struct conn *c);

/* Close now and tell nobody: the request is over. */
void conn_close(struct conn *c);

/* The handler is done with a request whose connection is closed already. */
void conn_orphan_done(struct conn *c);

/* Give it `ms` from now on, then its patience ends. */
void conn_wait(struct conn *c, uint64_t ms);

/* What must not happen on the current stack happens soon. */
void conn_chore(struct conn *c);

/* Send now, or keep behind what waits already; false if the peer is gone. */
bool conn_put(struct conn *c, struct iovec *v, int n);
void conn_forget_out(struct conn *c);

/* The last byte of an answer was put: go on when it is out. */
void conn_answered(struct conn *c);

/* Answer the request; the connection is the caller's no more. */
void conn_answer(struct conn *c, const struct http_reply_line *line, const char *extra,
                 struct str body);

/* An error that we found ourselves; the connection ends with it. */
void conn_refuse(struct conn *c, int status, const char *code, const char *msg);
