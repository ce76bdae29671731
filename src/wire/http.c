/* http.c: the HTTP server: who is let in, how it stops, what handlers call.
 *
 * A listener and its connections (http_conn.c), each with a request at a time
 * for the one handler. Over max_conns a peer is still told so, up to a point;
 * a server that stops answers what is under way and takes nothing new. */
#include "wire/http.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/mem.h"
#include "wire/http_conn.h"

enum {
    ACCEPT_MOST = 64,      /* in one turn, so that others get theirs */
    ACCEPT_PAUSE_MS = 100, /* when no descriptor is left */
    REFUSED_MOST = 64,     /* answered connections over max_conns; more are just closed */
    SEND_MS = 30000,
    MAX_STREAM = 1 << 20,
};

/* Letting in. */

/* A unix socket is for its owner, and for root, who could not be kept out. */
static bool is_welcome(const struct http_peer *who)
{
    return !who->unix_socket || who->uid == 0 || who->uid == geteuid();
}

static void conn_open(struct http_server *s, int fd, struct http_peer peer)
{
    bool refused = s->conn_count >= s->opts.max_conns;
    struct conn *c;

    /* To be told of it by TLS would take a handshake. */
    peer.tls = s->tls && !peer.unix_socket;
    if (refused && (peer.tls || s->refused_count >= REFUSED_MOST)) {
        close(fd);
        return;
    }
    c = conn_new(s, fd, peer);
    if (!c)
        return;
    if (refused) {
        c->refused = true;
        s->refused_count++;
        conn_refuse(c, 503, "overloaded", "too many connections; try again");
        return;
    }
    s->conn_count++;
    conn_begin(c);
}

static void on_accept_again(void *arg)
{
    struct listener *l = arg;

    l->pause = NULL;
    watch_set(l->watch, WATCH_READ);
}

/* With no descriptor left the listener stays readable: without a pause we
 * would spin until one is free. */
static void on_accept(void *arg, int events)
{
    struct listener *l = arg;
    struct http_peer who;

    (void)events;
    for (int i = 0; i < ACCEPT_MOST; i++) {
        int fd = listen_accept(l->fd, &who);

        if (fd >= 0 && is_welcome(&who)) {
            conn_open(l->server, fd, who);
        } else if (fd >= 0) {
            close(fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            watch_set(l->watch, 0);
            l->pause = timer_start(l->server->loop, ACCEPT_PAUSE_MS, on_accept_again, l);
            return;
        } else if (errno == EAGAIN) {
            return;
        } /* else that one left before we came */
    }
}

/* Starting and stopping. */

static bool listener_start(struct http_server *s, struct listener *l, int fd, struct err *e)
{
    l->server = s;
    l->fd = fd;
    if (fd < 0)
        return false;
    l->watch = watch_new(s->loop, fd, on_accept, l, e);
    if (l->watch)
        watch_set(l->watch, WATCH_READ);
    return l->watch != NULL;
}

static void listener_stop(struct listener *l)
{
    timer_cancel(l->pause);
    l->pause = NULL;
    watch_free(l->watch);
    l->watch = NULL;
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

static bool server_start(struct http_server *s, const struct http_opts *o, struct err *e)
{
    if (!o->host && !o->socket)
        return err_set(e, ERR_CONFIG, "neither an address nor a --socket to listen at");
    if (!o->tls_cert != !o->tls_key)
        return err_set(e, ERR_CONFIG, "--tls-cert and --tls-key go together");
    if (s->cert && !http_tls_reload(s, e))
        return false;
    if (o->host && !listener_start(s, &s->tcp, listen_tcp(o->host, o->port, o->any_address, e), e))
        return false;
    if (o->host)
        s->port = listen_port(s->tcp.fd);
    return !o->socket || listener_start(s, &s->local, listen_unix(o->socket, &s->file, e), e);
}

bool http_tls_reload(struct http_server *s, struct err *e)
{
    struct tls_context *x;

    if (!s->cert)
        return err_set(e, ERR_CONFIG, "there is no TLS; --tls-cert and --tls-key make it");
    x = tls_context_new(s->cert, s->key, e);
    if (!x)
        return false;
    tls_context_free(s->tls);
    s->tls = x;
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
    s->names = o->names ? xstrdup(o->names) : NULL;
    s->cert = o->tls_cert ? xstrdup(o->tls_cert) : NULL;
    s->key = o->tls_key ? xstrdup(o->tls_key) : NULL;
    s->hosts = (struct http_hosts){ o->any_address, s->names };
    s->opts.host = s->opts.socket = s->opts.names = NULL; /* borrowed for this call only */
    s->opts.tls_cert = s->opts.tls_key = NULL;
    s->tcp.fd = s->local.fd = -1;
    if (server_start(s, o, e))
        return s;
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
    listener_stop(&s->tcp);
    listener_stop(&s->local);
    listen_file_done(&s->file);
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
    tls_context_free(s->tls);
    free(s->cert);
    free(s->key);
    free(s->names);
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
