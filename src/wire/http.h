/* http.h: an HTTP/1.1 server, bytes to requests and back.
 *
 * libuv for the sockets, llhttp for the grammar; ours are the ceilings, the
 * deadline per whole request, 100-continue, pipelining in order (reading
 * pauses while a request is under way), and the refusal of what llhttp lets
 * through: folded header lines, none or two Host headers. Host and Origin must
 * be names of this machine's loopback, or be allowed (http_check.h). Errors it finds itself (400,
 * 403, 408, 413, 417, 431, 501, 503, 505) carry {"ok":false,"error":{"code","message"}} and end the
 * connection. Does not know what a path means; the handler does. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "loop/loop.h"

struct http_server;
struct http_header {
    struct str name, value;
};

/* Where a request came from. */
struct http_peer {
    bool unix_socket; /* by our own user or root: `uid` is theirs */
    unsigned uid;     /* of a unix socket's peer, else 0 */
    bool tls;
    bool loopback; /* from this machine: a loopback address, or a unix socket */
};

/* One request, whole. Lives until http_reply, http_stream_end or
 * http_stream_cut is called, or `gone` returns. */
struct http_req {
    struct str method; /* "GET" */
    struct str path;   /* without the query, as sent */
    struct str query;  /* without the '?' */
    struct str body;
    const struct http_header *headers;
    size_t header_count;
    struct http_peer peer;

    /* For the handler: set these when the answer comes later. `gone` is called
     * if the peer leaves before the answer (a stream's end); the request is then
     * over. It comes from the loop, never from within a function below. A peer
     * that only half-closes counts as gone: the two look alike until we write.
     * Without `gone` the request stays and its answer is dropped quietly. */
    void *user;
    void (*gone)(struct http_req *r);
};

/* Answers now or later, exactly once, with http_reply or http_stream. */
typedef void http_handler(void *arg, struct http_req *r);

struct http_opts {
    const char *host;     /* an address; NULL: no TCP */
    bool any_address;     /* host may be one off loopback, and Host and Origin any address */
    const char *names;    /* further names allowed in Host and Origin, between commas */
    int port;             /* 0: any */
    const char *tls_cert; /* PEM files: TCP then speaks TLS; both or neither */
    const char *tls_key;
    const char *socket;  /* path of a unix socket, for our own user only; NULL: none */
    size_t max_header;   /* 16 KB -> 431 */
    size_t max_body;     /* -> 413 */
    unsigned max_conns;  /* -> 503 with Retry-After */
    unsigned request_ms; /* whole request -> 408 */
    unsigned idle_ms;    /* between requests -> close */
    unsigned send_ms;    /* bytes wait and none goes -> close; 0: 30 s */
    size_t max_stream;   /* bytes of a stream that may wait for its reader; 0: 1 MB */
    http_handler *handler;
    void *arg;
};

/* Listen. Gives a server, or NULL with *e set (a taken port names --port, a
 * socket --socket). The socket's file is made with mode 0600 and goes when the
 * server drains or is freed. */
struct http_server *http_listen(struct loop *l, const struct http_opts *o, struct err *e);
int http_port(const struct http_server *s); /* 0 without TCP */

/* Read certificate and key anew; connections under way keep what they have. If
 * they cannot be used all stays as it was, and *e says why. */
bool http_tls_reload(struct http_server *s, struct err *e);

/* No new connections or requests; answers under way go out and their
 * connections close. */
void http_drain(struct http_server *s);

/* How many requests wait for their answer, or have it partly sent; streams
 * count until they end. Draining leaves them to the handler. */
unsigned http_busy(const struct http_server *s);

/* Close everything. Requests under way are gone; one without `gone` may still
 * be answered afterwards, into the void. Not from a handler or `gone`. */
void http_free(struct http_server *s);

/* Value of a header (name in any case), { NULL, 0 } if absent. */
struct str http_header(const struct http_req *r, const char *name);

/* Answer. `extra` is further header lines ("Allow: POST\r\n") or NULL; type
 * (up to 200 letters) NULL means no body. For HEAD the body is counted and not
 * sent. Copies what cannot go out at once. */
void http_reply(struct http_req *r, int status, const char *type, const char *extra,
                struct str body);

/* {"ok":false,"error":{"code":…,"message":…}} */
void http_reply_error(struct http_req *r, int status, const char *code, const char *extra,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* --- an answer that goes on for a while (server-sent events) --- */

/* Open the answer: 200, the type, in chunks (HTTP/1.0: until close). `extra` as
 * in http_reply. After this the request's texts (method, path, headers, body)
 * are gone; `user`, `peer` and `gone` stay, and `gone` is still called if the
 * peer leaves before the end. Not for HEAD. */
void http_stream(struct http_req *r, const char *type, const char *extra);

/* Send bytes now; what the socket does not take is copied and waits. False when
 * some wait already and with these it would be more than opts.max_stream (a
 * slow reader): nothing of it was taken; use http_stream_cut then. So one send
 * may be of any size when nothing waits, as an answer may. */
bool http_stream_send(struct http_req *r, struct str bytes);

/* Bytes waiting for the peer. */
size_t http_stream_pending(const struct http_req *r);

/* The end: the last chunk; the connection may serve further requests. The
 * request is over. */
void http_stream_end(struct http_req *r);

/* Close the connection now, without an end; `gone` is not called. The request
 * is over. Safe from any callback. */
void http_stream_cut(struct http_req *r);
