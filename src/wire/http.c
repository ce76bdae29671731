/* http.c: the HTTP server, its connections and their deadlines.
 *
 * A connection is in one of a few states (enum conn_state); each event is a
 * step from one to another. It reads one request at a time: while one is under
 * way nothing is read, and what came with it waits in the parser's block. An
 * answer goes out at once, in one system call; what the socket does not take
 * is copied and waits, and no further request is looked at before it is gone.
 * So no more than one answer ever waits.
 *
 * A peer that closes, or half-closes, while its request is under way is gone:
 * the two look the same until we write, and a closed connection must cancel
 * its call at once. Who wants the answer keeps the sending side open.
 *
 * After a refusal the rest of what the peer sends is read and thrown away for
 * a while (`LINGER`): a close with unread bytes resets the connection, and
 * the peer would see that instead of its answer.
 *
 * Deadlines are a number in each connection and one timer for all: setting one
 * is then free, and a busy connection sets them all the time. */
#include "wire/http.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "wire/http_parse.h"
#include "wire/http_reply.h"

enum {
    BACKLOG = 511,
    ACCEPT_MOST = 64,         /* in one turn, so that others get theirs */
    ACCEPT_PAUSE_MS = 100,    /* when no descriptor is left */
    REFUSED_MOST = 64,        /* answered connections over max_conns; more are just closed */
    SEND_MS = 30000,          /* without progress, then the peer is dropped */
    LINGER_MS = 5000,         /* in all */
    LINGER_BYTES = 64 << 20,  /* room for the rest of a body that was refused */
    LINGER_AT_ONCE = 1 << 20, /* in one turn */
};

enum conn_state {
    CONN_READING, /* a request, or nothing yet */
    CONN_BUSY,    /* a request is with the handler */
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
    bool has_chore;
    enum conn_state state;
    int fd;
    struct watch *watch;
    uint64_t due; /* when its patience ends, 0: never */
    struct http_parser parser;
    char *out; /* what the socket did not take */
    size_t out_at, out_len;
    size_t thrown_away; /* while lingering */
    bool counted;       /* in server->busy */
    bool close_after;   /* this answer is the last */
    bool in_turn;       /* conn_turn is on the stack */
    bool timed;         /* due is the deadline of the request being read */
    bool refused;       /* over max_conns */
};

struct http_server {
    struct loop *loop;
    struct http_opts opts;
    int fd, port;
    struct watch *watch;
    struct timer *accept_pause;
    bool draining;

    struct conn *conns;
    unsigned conn_count, refused_count, busy;
    struct http_pool pool;
    struct http_date date;

    struct timer *tick; /* at tick_at somebody's patience ends */
    uint64_t tick_at;
    struct timer *chores_timer;
    struct conn *chores; /* to free, or to go on reading */
};

static void conn_turn(struct conn *c);
static void conn_event(void *arg, int events);
static void on_tick(void *arg);

/* Chores: what must not happen on the current stack. */

static void conn_free(struct conn *c)
{
    http_parser_done(&c->parser);
    free(c->out);
    free(c);
}

static void on_chores(void *arg)
{
    struct http_server *s = arg;
    struct conn *c = s->chores;

    s->chores_timer = NULL;
    s->chores = NULL;
    while (c) {
        struct conn *next = c->chore_next;

        c->has_chore = false;
        if (c->state == CONN_DEAD)
            conn_free(c);
        else if (c->state == CONN_READING)
            conn_turn(c);
        c = next;
    }
}

static void conn_chore(struct conn *c)
{
    struct http_server *s = c->server;

    if (c->has_chore)
        return;
    c->has_chore = true;
    c->chore_next = s->chores;
    s->chores = c;
    if (!s->chores_timer)
        s->chores_timer = timer_start(s->loop, 0, on_chores, s);
}

/* Deadlines. */

static void tick_arm(struct http_server *s, uint64_t at, uint64_t now)
{
    timer_cancel(s->tick);
    s->tick_at = at;
    s->tick = timer_start(s->loop, at > now ? at - now : 0, on_tick, s);
}

static void conn_wait(struct conn *c, uint64_t ms)
{
    struct http_server *s = c->server;
    uint64_t now = clock_ms();

    c->due = now + ms;
    if (!s->tick || c->due < s->tick_at)
        tick_arm(s, c->due, now);
}

/* Closing. */

static void conn_uncount(struct conn *c)
{
    if (c->counted)
        c->server->busy--;
    c->counted = false;
}

/* Take it out of the server; only its memory is left. */
static void conn_unlink(struct conn *c)
{
    struct http_server *s = c->server;

    watch_free(c->watch);
    c->watch = NULL;
    close(c->fd);
    c->fd = -1;
    c->due = 0;
    conn_uncount(c);
    if (c->prev)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    if (c->refused)
        s->refused_count--;
    else
        s->conn_count--;
}

/* Close now. A handler that does not want to hear of it keeps its request:
 * the memory then goes with its http_reply, which may come after http_free. */
static void conn_drop(struct conn *c)
{
    bool busy = c->state == CONN_BUSY;

    conn_unlink(c);
    if (busy && !c->req.gone) {
        c->state = CONN_ORPHAN;
        c->parser.pool = NULL;
        c->server = NULL;
        return;
    }
    c->state = CONN_DEAD;
    conn_chore(c);
    if (busy)
        c->req.gone(&c->req);
}

static void conn_linger(struct conn *c)
{
    c->state = CONN_LINGER;
    http_parser_done(&c->parser);
    if (shutdown(c->fd, SHUT_WR) != 0) {
        conn_drop(c);
        return;
    }
    watch_set(c->watch, WATCH_READ);
    conn_wait(c, LINGER_MS);
}

static void conn_throw_away(struct conn *c)
{
    static char waste[64 << 10];
    size_t turn = 0;
    ssize_t n;

    do {
        n = recv(c->fd, waste, sizeof waste, 0);
        if (n > 0)
            turn += (size_t)n;
    } while ((n > 0 && turn < LINGER_AT_ONCE) || (n < 0 && errno == EINTR));
    c->thrown_away += turn;
    if (n == 0 || (n < 0 && errno != EAGAIN) || c->thrown_away > LINGER_BYTES)
        conn_drop(c);
}

/* Sending. */

static void conn_forget_out(struct conn *c)
{
    free(c->out);
    c->out = NULL;
    c->out_at = c->out_len = 0;
}

/* The answer is out. */
static void conn_sent(struct conn *c)
{
    conn_uncount(c);
    conn_forget_out(c);
    if (c->close_after || c->server->draining) {
        conn_linger(c);
        return;
    }
    c->state = CONN_READING;
    http_parser_next(&c->parser);
    watch_set(c->watch, WATCH_READ | WATCH_GONE);
    if (http_parser_idle(&c->parser))
        conn_wait(c, c->server->opts.idle_ms);
    else if (!c->in_turn)
        conn_chore(c); /* not on the stack of who answered */
}

/* Keep what was not taken, behind what waits already (a 100, at most). */
static void conn_keep(struct conn *c, const struct iovec *v, int n, size_t taken)
{
    size_t more = 0;

    for (int i = 0; i < n; i++)
        more += v[i].iov_len;
    c->out = xrealloc(c->out, c->out_len + more - taken);
    for (int i = 0; i < n; i++) {
        size_t skip = taken < v[i].iov_len ? taken : v[i].iov_len;

        taken -= skip;
        if (v[i].iov_len > skip)
            memcpy(c->out + c->out_len, (char *)v[i].iov_base + skip, v[i].iov_len - skip);
        c->out_len += v[i].iov_len - skip;
    }
}

/* Send or keep; false if the peer is gone (the connection is then dropped). */
static bool conn_send(struct conn *c, struct iovec *v, int n)
{
    struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)n };
    size_t all = 0;
    ssize_t sent = 0;

    for (int i = 0; i < n; i++)
        all += v[i].iov_len;
    if (c->out_len == 0) {
        do
            sent = sendmsg(c->fd, &m, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        if (sent < 0 && errno != EAGAIN) {
            conn_drop(c);
            return false;
        }
        if (sent < 0)
            sent = 0;
    }
    if ((size_t)sent < all)
        conn_keep(c, v, n, (size_t)sent);
    return true;
}

static void conn_send_rest(struct conn *c)
{
    ssize_t n;

    do
        n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN) {
        conn_drop(c);
        return;
    }
    if (n > 0) {
        c->out_at += (size_t)n;
        if (c->state == CONN_SENDING)
            conn_wait(c, SEND_MS);
    }
    if (c->out_at < c->out_len)
        return;
    if (c->state == CONN_READING) { /* it was a 100 */
        conn_forget_out(c);
        watch_set(c->watch, WATCH_READ | WATCH_GONE);
        return;
    }
    conn_sent(c);
    if (c->state == CONN_READING)
        conn_turn(c);
}

/* The request is over, whatever becomes of the sending. */
static void conn_answer(struct conn *c, const struct http_reply_line *line, const char *extra,
                        struct str body)
{
    char head[HTTP_HEAD_ROOM];
    struct iovec v[4] = {
        { head, http_reply_head(head, line, &c->server->date) },
        { (char *)extra, extra ? strlen(extra) : 0 },
        { "\r\n", 2 },
        { (char *)body.p, body.n },
    };

    c->state = CONN_SENDING;
    c->close_after = line->close;
    if (!conn_send(c, v, body.n ? 4 : 3))
        return;
    if (c->out_len == 0) {
        conn_sent(c);
        return;
    }
    watch_set(c->watch, WATCH_WRITE);
    conn_wait(c, SEND_MS);
}

/* An error that we found ourselves; the connection ends with it. */
static void conn_refuse(struct conn *c, int status, const char *code, const char *msg)
{
    struct http_reply_line line = { status, "application/json", 0, 1, true };
    struct buf body;

    buf_init(&body, 4096);
    http_error_body(&body, code, str_of(msg));
    line.length = body.len;
    if (str_is(c->parser.head.method, "HEAD"))
        buf_clear(&body);
    conn_answer(c, &line, status == 503 ? "Retry-After: 1\r\n" : NULL, buf_str(&body));
    buf_done(&body);
}

/* Reading. */

static void conn_start_request(struct conn *c)
{
    const struct http_parser *p = &c->parser;

    c->req = (struct http_req){
        .method = p->head.method,
        .path = p->head.path,
        .query = p->head.query,
        .body = p->body,
        .headers = p->head.headers,
        .header_count = p->head.count,
    };
    c->state = CONN_BUSY;
    c->due = 0;
    c->timed = false;
    c->counted = true;
    c->server->busy++;
    c->server->opts.handler(c->server->opts.arg, &c->req);
    if (c->state == CONN_BUSY)
        watch_set(c->watch, WATCH_GONE);
}

static void conn_say_continue(struct conn *c)
{
    struct iovec v = { "HTTP/1.1 100 Continue\r\n\r\n", 25 };

    if (conn_send(c, &v, 1) && c->out_len)
        watch_set(c->watch, WATCH_READ | WATCH_WRITE | WATCH_GONE);
}

/* Make what can be made of the bytes that are here. */
static void conn_turn(struct conn *c)
{
    c->in_turn = true;
    while (c->state == CONN_READING) {
        enum http_step step = http_parser_step(&c->parser);

        if (step == HTTP_DONE) {
            conn_start_request(c);
        } else if (step == HTTP_CONTINUE) {
            conn_say_continue(c);
        } else if (step == HTTP_BAD) {
            struct http_bad bad = c->parser.bad;

            conn_refuse(c, bad.status, bad.code, bad.msg);
        } else {
            break;
        }
    }
    c->in_turn = false;
    if (c->state == CONN_READING && !c->timed && !http_parser_idle(&c->parser)) {
        c->timed = true;
        conn_wait(c, c->server->opts.request_ms);
    }
}

static void conn_read(struct conn *c)
{
    size_t room;
    char *p = http_parser_room(&c->parser, &room);
    ssize_t n = recv(c->fd, p, room, 0);

    if (n > 0) {
        http_parser_fed(&c->parser, (size_t)n);
        conn_turn(c);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        conn_drop(c);
    } else {
        http_parser_rest(&c->parser);
    }
}

static void conn_event(void *arg, int events)
{
    struct conn *c = arg;

    switch (c->state) {
    case CONN_READING:
        if ((events & WATCH_WRITE) && c->out_len)
            conn_send_rest(c);
        if (c->state == CONN_READING && (events & (WATCH_READ | WATCH_GONE)))
            conn_read(c);
        break;
    case CONN_BUSY:
        conn_drop(c); /* only its end is watched for now */
        break;
    case CONN_SENDING:
        conn_send_rest(c);
        break;
    case CONN_LINGER:
        conn_throw_away(c);
        break;
    case CONN_ORPHAN:
    case CONN_DEAD:
        break;
    }
}

static void conn_too_late(struct conn *c)
{
    c->due = 0;
    if (c->state == CONN_READING && !http_parser_idle(&c->parser))
        conn_refuse(c, 408, "request_timeout", "the request did not arrive in time");
    else
        conn_drop(c);
}

static void on_tick(void *arg)
{
    struct http_server *s = arg;
    uint64_t now = clock_ms(), first = 0;
    struct conn *next;

    s->tick = NULL;
    for (struct conn *c = s->conns; c; c = next) {
        next = c->next;
        if (c->due && c->due <= now)
            conn_too_late(c);
        else if (c->due && (!first || c->due < first))
            first = c->due;
    }
    if (first && (!s->tick || first < s->tick_at))
        tick_arm(s, first, now);
}

/* Listening. */

static struct conn *conn_new(struct http_server *s, int fd)
{
    struct conn *c = xcalloc(1, sizeof *c);
    int on = 1;

    c->watch = watch_new(s->loop, fd, conn_event, c, NULL);
    if (!c->watch) {
        free(c);
        close(fd);
        return NULL;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->server = s;
    c->fd = fd;
    http_parser_init(&c->parser, &s->pool, s->opts.max_header, s->opts.max_body);
    c->next = s->conns;
    if (c->next)
        c->next->prev = c;
    s->conns = c;
    return c;
}

static void conn_open(struct http_server *s, int fd)
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
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            conn_open(s, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            watch_set(s->watch, 0);
            s->accept_pause = timer_start(s->loop, ACCEPT_PAUSE_MS, on_accept_again, s);
            return;
        } else if (errno == EAGAIN) {
            return;
        } /* else that one left before we came */
    }
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool address_of(const struct http_opts *o, union address *a, socklen_t *n, struct err *e)
{
    const char *host = strcmp(o->host, "localhost") == 0 ? "127.0.0.1" : o->host;

    memset(a, 0, sizeof *a);
    if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons((uint16_t)o->port);
        *n = sizeof a->v4;
        if (ntohl(a->v4.sin_addr.s_addr) >> 24 == 127)
            return true;
    } else if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)o->port);
        *n = sizeof a->v6;
        if (IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr))
            return true;
    }
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
        c->state = CONN_DEAD;
        if (!c->has_chore)
            conn_free(c);
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
