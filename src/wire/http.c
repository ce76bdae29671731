/* http.c: the HTTP server: who is let in, how it stops, what handlers call.
 *
 * A listener and its connections (http_conn.c), each with a request at a time
 * for the one handler. Over max_conns a peer is still told so, up to a point;
 * a server that stops answers what is under way and takes nothing new. */
#include "wire/http.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/mem.h"
#include "wire/http_conn.h"

enum {
    BACKLOG = 511,
    ACCEPT_MOST = 64,      /* in one turn, so that others get theirs */
    ACCEPT_PAUSE_MS = 100, /* when no descriptor is left */
    REFUSED_MOST = 64,     /* answered connections over max_conns; more are just closed */
    SEND_MS = 30000,
    MAX_STREAM = 1 << 20,
};

/* Letting in. */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool is_loopback(const union address *a)
{
    const struct in6_addr *v6 = &a->v6.sin6_addr;

    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    if (a->any.sa_family != AF_INET6)
        return false;
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

static void conn_open(struct http_server *s, int fd, struct http_peer peer)
{
    bool refused = s->conn_count >= s->opts.max_conns;
    struct conn *c;

    if (refused && s->refused_count >= REFUSED_MOST) {
        close(fd);
        return;
    }
    c = conn_new(s, fd);
    if (!c)
        return;
    c->req.peer = peer;
    if (refused) {
        c->refused = true;
        s->refused_count++;
        conn_refuse(c, 503, "overloaded", "too many connections; try again");
        return;
    }
    s->conn_count++;
    watch_set(c->watch, WATCH_READ | WATCH_GONE);
    conn_wait(c, s->opts.idle_ms);
}

static void on_accept_again(void *arg)
{
    struct http_server *s = arg;

    s->accept_pause = NULL;
    watch_set(s->watch, WATCH_READ);
}

/* With no descriptor left the listener stays readable: without a pause we
 * would spin until one is free. */
static void on_accept(void *arg, int events)
{
    struct http_server *s = arg;

    (void)events;
    for (int i = 0; i < ACCEPT_MOST; i++) {
        union address a = { 0 };
        socklen_t n = sizeof a;
        int fd = accept4(s->fd, &a.any, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            conn_open(s, fd, (struct http_peer){ .loopback = is_loopback(&a) });
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            watch_set(s->watch, 0);
            s->accept_pause = timer_start(s->loop, ACCEPT_PAUSE_MS, on_accept_again, s);
            return;
        } else if (errno == EAGAIN) {
            return;
        } /* else that one left before we came */
    }
}

/* Listening. */

static bool address_of(const struct http_opts *o, union address *a, socklen_t *n, struct err *e)
{
    const char *host = strcmp(o->host, "localhost") == 0 ? "127.0.0.1" : o->host;

    memset(a, 0, sizeof *a);
    if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons((uint16_t)o->port);
        *n = sizeof a->v4;
    } else if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)o->port);
        *n = sizeof a->v6;
    }
    if (is_loopback(a))
        return true;
    return err_set(e, ERR_CONFIG,
                   "'%s' is not a loopback address; until tokens and TLS exist pith serves "
                   "loopback only: 127.0.0.1 or ::1",
                   o->host);
}

static bool server_bind(struct http_server *s, struct err *e)
{
    const struct http_opts *o = &s->opts;
    union address a;
    socklen_t n;
    int on = 1;

    if (!address_of(o, &a, &n, e))
        return false;
    s->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return err_set(e, ERR_IO, "no socket for %s: %s", o->host, strerror(errno));
    setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s->fd, &a.any, n) != 0 || listen(s->fd, BACKLOG) != 0) {
        if (errno == EADDRINUSE)
            return err_set(e, ERR_IO, "port %d on %s is taken; choose another with --port", o->port,
                           o->host);
        return err_set(e, ERR_IO, "cannot listen on %s port %d: %s", o->host, o->port,
                       strerror(errno));
    }
    if (getsockname(s->fd, &a.any, &n) != 0)
        return err_set(e, ERR_IO, "no name for the listening socket: %s", strerror(errno));
    s->port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
    return true;
}

struct http_server *http_listen(struct loop *l, const struct http_opts *o, struct err *e)
{
    struct http_server *s = xcalloc(1, sizeof *s);

    s->loop = l;
    s->opts = *o;
    if (!s->opts.max_stream)
        s->opts.max_stream = MAX_STREAM;
    if (!s->opts.send_ms)
        s->opts.send_ms = SEND_MS;
    s->fd = -1;
    if (!server_bind(s, e))
        goto fail;
    s->watch = watch_new(l, s->fd, on_accept, s, e);
    if (!s->watch)
        goto fail;
    watch_set(s->watch, WATCH_READ);
    s->opts.host = NULL; /* borrowed for this call only */
    return s;

fail:
    http_free(s);
    return NULL;
}

int http_port(const struct http_server *s)
{
    return s->port;
}

unsigned http_busy(const struct http_server *s)
{
    return s->busy;
}

static void stop_listening(struct http_server *s)
{
    timer_cancel(s->accept_pause);
    s->accept_pause = NULL;
    watch_free(s->watch);
    s->watch = NULL;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

void http_drain(struct http_server *s)
{
    struct conn *next;

    s->draining = true;
    stop_listening(s);
    for (struct conn *c = s->conns; c; c = next) {
        next = c->next;
        if (c->state == CONN_READING && http_parser_idle(&c->parser))
            conn_drop(c);
        else if (c->state == CONN_READING)
            conn_refuse(c, 503, "stopping", "the server is stopping");
    }
}

void http_free(struct http_server *s)
{
    if (!s)
        return;
    stop_listening(s);
    while (s->conns)
        conn_drop(s->conns);
    for (struct conn *c = s->chores, *next; c; c = next) {
        next = c->chore_next;
        c->has_chore = false;
        if (c->state == CONN_DEAD)
            conn_free(c);
    }
    timer_cancel(s->tick);
    timer_cancel(s->chores_timer);
    http_pool_done(&s->pool);
    free(s);
}

/* What handlers call. */

struct str http_header(const struct http_req *r, const char *name)
{
    for (size_t i = 0; i < r->header_count; i++)
        if (http_same_word(r->headers[i].name, name))
            return r->headers[i].value;
    return (struct str){ 0 };
}

void http_reply(struct http_req *r, int status, const char *type, const char *extra,
                struct str body)
{
    struct conn *c = (struct conn *)r;
    struct http_reply_line line = { .status = status, .type = type };

    if (c->state == CONN_ORPHAN) {
        conn_orphan_done(c);
        return;
    }
    assert(c->state == CONN_BUSY); /* else it was answered twice */
    if (!type || status == 204 || status == 304)
        body.n = 0;
    line.length = body.n;
    line.minor = c->parser.head.minor;
    line.close = !c->parser.keep_alive || c->server->draining;
    if (str_is(r->method, "HEAD"))
        body.n = 0;
    conn_answer(c, &line, extra, body);
}

void http_reply_error(struct http_req *r, int status, const char *code, const char *extra,
                      const char *fmt, ...)
{
    char msg[1024];
    struct buf body;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    buf_init(&body, 16 << 10);
    http_error_body(&body, code, str_of(msg));
    http_reply(r, status, "application/json", extra, buf_str(&body));
    buf_done(&body);
}
