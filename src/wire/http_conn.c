/* http_conn.c: a connection of the HTTP server and its deadlines.
 *
 * It reads one request at a time: while one is under way nothing is read, and
 * what came with it waits in the parser's block. An answer goes out at once,
 * in one system call; what the socket does not take is copied and waits, and
 * no further request is looked at before it is gone. So no more than one
 * answer ever waits.
 *
 * A peer that closes, or half-closes, while its request is under way is gone:
 * the two look the same until we write, and a closed connection must cancel
 * its call at once. Who wants the answer keeps the sending side open.
 *
 * After a refusal the rest of what the peer sends is read and thrown away for
 * a while (`LINGER`): a close with unread bytes resets the connection, and
 * the peer would see that instead of its answer.
 *
 * With TLS the same steps are taken, only that bytes pass through a session
 * (tls.c) on their way in and out. A session may hold bytes that the socket
 * does not tell of any more: who goes on reading looks there first. The
 * handshake has the deadline of a request.
 *
 * Deadlines are a number in each connection and one timer for all: setting one
 * is then free, and a busy connection sets them all the time. */
#include "wire/http_conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"

enum {
    LINGER_MS = 5000,         /* in all */
    LINGER_BYTES = 64 << 20,  /* room for the rest of a body that was refused */
    LINGER_AT_ONCE = 1 << 20, /* in one turn */
    TLS_READS = 64,           /* in one turn */
};

static void conn_resume(struct conn *c);
static bool conn_put_records(struct conn *c);
static void conn_event(void *arg, int events);
static void on_tick(void *arg);

/* Chores: what must not happen on the current stack. */

void conn_free(struct conn *c)
{
    http_parser_done(&c->parser);
    tls_free(c->tls);
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
            conn_resume(c);
        else if (c->state == CONN_STREAM && c->broken)
            conn_drop(c);
        c = next;
    }
}

void conn_chore(struct conn *c)
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

void conn_wait(struct conn *c, uint64_t ms)
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

void conn_close(struct conn *c)
{
    conn_unlink(c);
    c->state = CONN_DEAD;
    conn_chore(c);
}

/* A handler that does not want to hear of it keeps its request: the memory
 * then goes with its last call for it, which may come after http_free. */
void conn_drop(struct conn *c)
{
    bool held = c->state == CONN_BUSY || c->state == CONN_STREAM;

    if (held && !c->req.gone) {
        conn_unlink(c);
        conn_forget_out(c);
        c->state = CONN_ORPHAN;
        c->parser.pool = NULL;
        c->server = NULL;
        return;
    }
    conn_close(c);
    if (held)
        c->req.gone(&c->req);
}

void conn_orphan_done(struct conn *c)
{
    c->state = CONN_DEAD;
    if (!c->has_chore)
        conn_free(c);
}

static void conn_linger(struct conn *c)
{
    c->state = CONN_LINGER;
    http_parser_done(&c->parser);
    if (c->tls) {
        tls_goodbye(c->tls);
        conn_put_records(c); /* whether it arrives or not */
        conn_forget_out(c);
    }
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

void conn_forget_out(struct conn *c)
{
    free(c->out);
    c->out = NULL;
    c->out_at = c->out_len = c->out_cap = 0;
}

/* The answer is out. A stream has left the parser at the next request. */
static void conn_sent(struct conn *c)
{
    conn_uncount(c);
    conn_forget_out(c);
    if (c->close_after || c->server->draining) {
        conn_linger(c);
        return;
    }
    c->state = CONN_READING;
    if (c->parser.state == HTTP_IS_DONE)
        http_parser_next(&c->parser);
    watch_set(c->watch, WATCH_READ | WATCH_GONE);
    if (http_parser_idle(&c->parser))
        conn_wait(c, c->server->opts.idle_ms);
    if (!c->in_turn && (!http_parser_idle(&c->parser) || (c->tls && tls_waits(c->tls))))
        conn_chore(c); /* not on the stack of who answered */
}

/* Room behind what waits. A single answer gets just what it needs; a stream
 * whose reader lags uses the room of what has gone before it takes more. */
static void conn_out_room(struct conn *c, size_t more)
{
    size_t waits = c->out_len - c->out_at;

    if (more <= c->out_cap - c->out_len)
        return;
    if (c->out_at)
        memmove(c->out, c->out + c->out_at, waits);
    c->out_at = 0;
    c->out_len = waits;
    if (waits + more > c->out_cap / 2) {
        c->out_cap = waits ? 2 * (waits + more) : more;
        c->out = xrealloc(c->out, c->out_cap);
    }
}

static void conn_keep(struct conn *c, const struct iovec *v, int n, size_t taken, size_t all)
{
    conn_out_room(c, all - taken);
    for (int i = 0; i < n; i++) {
        size_t skip = taken < v[i].iov_len ? taken : v[i].iov_len;

        taken -= skip;
        if (v[i].iov_len > skip)
            memcpy(c->out + c->out_len, (char *)v[i].iov_base + skip, v[i].iov_len - skip);
        c->out_len += v[i].iov_len - skip;
    }
}

static bool conn_put_raw(struct conn *c, struct iovec *v, int n)
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
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent < 0)
            sent = 0;
    }
    if ((size_t)sent < all)
        conn_keep(c, v, n, (size_t)sent, all);
    return true;
}

/* What the session has to say. */
static bool conn_put_records(struct conn *c)
{
    struct str r = tls_records();
    struct iovec v = { (char *)r.p, r.n };
    bool ok = r.n == 0 || conn_put_raw(c, &v, 1);

    tls_records_sent();
    return ok;
}

bool conn_put(struct conn *c, struct iovec *v, int n)
{
    bool ok;

    if (!c->tls)
        return conn_put_raw(c, v, n);
    ok = tls_write(c->tls, v, n);
    return conn_put_records(c) && ok;
}

/* All that waited is out. */
static void conn_flushed(struct conn *c)
{
    switch (c->state) {
    case CONN_READING: /* it was a 100, or a handshake's part */
        conn_forget_out(c);
        watch_set(c->watch, WATCH_READ | WATCH_GONE);
        break;
    case CONN_STREAM:
        conn_forget_out(c);
        c->due = 0;
        watch_set(c->watch, WATCH_GONE);
        break;
    default:
        conn_sent(c);
        if (c->state == CONN_READING)
            conn_resume(c);
    }
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
        if (c->state != CONN_READING)
            conn_wait(c, c->server->opts.send_ms);
    }
    if (c->out_at == c->out_len)
        conn_flushed(c);
}

void conn_answered(struct conn *c)
{
    c->state = CONN_SENDING;
    if (c->out_len == 0) {
        conn_sent(c);
        return;
    }
    watch_set(c->watch, WATCH_WRITE);
    conn_wait(c, c->server->opts.send_ms);
}

/* The request is over, whatever becomes of the sending. */
void conn_answer(struct conn *c, const struct http_reply_line *line, const char *extra,
                 struct str body)
{
    char head[HTTP_HEAD_ROOM];
    struct iovec v[4] = {
        { head, http_reply_head(head, line, &c->server->date) },
        { (char *)extra, extra ? strlen(extra) : 0 },
        { "\r\n", 2 },
        { (char *)body.p, body.n },
    };

    c->close_after = line->close;
    if (conn_put(c, v, body.n ? 4 : 3))
        conn_answered(c);
    else
        conn_close(c);
}

void conn_refuse(struct conn *c, int status, const char *code, const char *msg)
{
    struct http_reply_line line = {
        .status = status, .type = "application/json", .minor = 1, .close = true
    };
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
        .peer = c->req.peer,
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

    if (!conn_put(c, &v, 1))
        conn_drop(c);
    else if (c->out_len)
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

/* The peer may now take its time with the first request. */
static void conn_shaken(struct conn *c)
{
    c->shaking = c->timed = false;
    conn_wait(c, c->server->opts.idle_ms);
}

/* One record, or what fits of it. False: nothing more is here now, or the
 * connection is not reading any more. */
static bool conn_read_record(struct conn *c)
{
    size_t room;
    char *p = http_parser_room(&c->parser, &room);
    ssize_t n = tls_read(c->tls, p, room);

    if (!conn_put_records(c) || n == 0) {
        conn_drop(c);
        return false;
    }
    if (c->out_len)
        watch_set(c->watch, WATCH_READ | WATCH_WRITE | WATCH_GONE);
    if (c->shaking && tls_ready(c->tls))
        conn_shaken(c);
    if (n < 0) {
        http_parser_rest(&c->parser);
        return false;
    }
    http_parser_fed(&c->parser, (size_t)n);
    conn_turn(c);
    return c->state == CONN_READING && tls_waits(c->tls);
}

static void conn_read_tls(struct conn *c)
{
    for (int i = 0; i < TLS_READS; i++)
        if (!conn_read_record(c))
            return;
    conn_chore(c);
}

static void conn_read(struct conn *c)
{
    size_t room;
    char *p;
    ssize_t n;

    if (c->tls) {
        conn_read_tls(c);
        return;
    }
    p = http_parser_room(&c->parser, &room);
    n = recv(c->fd, p, room, 0);
    if (n > 0) {
        http_parser_fed(&c->parser, (size_t)n);
        conn_turn(c);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        conn_drop(c);
    } else {
        http_parser_rest(&c->parser);
    }
}

/* Go on with what is here already. */
static void conn_resume(struct conn *c)
{
    conn_turn(c);
    if (c->state == CONN_READING && c->tls && tls_waits(c->tls))
        conn_read_tls(c);
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
    case CONN_STREAM:
        if (events & WATCH_GONE)
            conn_drop(c);
        else if (c->out_len)
            conn_send_rest(c);
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

/* Opening. */

struct conn *conn_new(struct http_server *s, int fd, struct http_peer peer)
{
    struct conn *c = xcalloc(1, sizeof *c);
    int on = 1;

    if (peer.tls)
        c->tls = tls_new(s->tls, fd);
    if (c->tls || !peer.tls)
        c->watch = watch_new(s->loop, fd, conn_event, c, NULL);
    if (!c->watch) {
        tls_free(c->tls);
        free(c);
        close(fd);
        return NULL;
    }
    c->req.peer = peer;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->server = s;
    c->fd = fd;
    http_parser_init(&c->parser, &s->pool, s->opts.max_header, s->opts.max_body);
    c->parser.hosts = &s->hosts;
    c->next = s->conns;
    if (c->next)
        c->next->prev = c;
    s->conns = c;
    return c;
}

void conn_begin(struct conn *c)
{
    const struct http_opts *o = &c->server->opts;

    c->shaking = c->timed = c->tls != NULL;
    watch_set(c->watch, WATCH_READ | WATCH_GONE);
    conn_wait(c, c->tls ? o->request_ms : o->idle_ms);
}
