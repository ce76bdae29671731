/* http_stream.c: an answer that goes on for a while.
 *
 * An open stream that is silent costs its connection and nothing else: the
 * parser's block goes back when it opens, and bytes that wait are freed when
 * they are out. Nothing is read meanwhile; what a pipelining peer sends stays
 * in the kernel, or in the block if it came along with the request.
 *
 * A write may find the peer gone. The handler is then in the middle of its own
 * affairs, so `gone` comes soon, from the loop, and until then sends go
 * nowhere. */
#include <assert.h>
#include <stdio.h>
#include "wire/http_conn.h"

static void stream_put(struct conn *c, struct iovec *v, int n)
{
    bool waited = c->out_len > 0;

    if (!conn_put(c, v, n)) {
        c->broken = true;
        c->due = 0;
        conn_forget_out(c);
        watch_set(c->watch, 0);
        conn_chore(c);
    } else if (c->out_len && !waited) {
        watch_set(c->watch, WATCH_WRITE | WATCH_GONE);
        conn_wait(c, c->server->opts.send_ms);
    }
}

/* The texts lie in the block, which is wanted back. */
static void forget_texts(struct conn *c)
{
    struct http_req *r = &c->req;

    r->method = r->path = r->query = r->body = (struct str){ 0 };
    r->headers = NULL;
    r->header_count = 0;
    http_parser_next(&c->parser);
}

void http_stream(struct http_req *r, const char *type, const char *extra)
{
    struct conn *c = (struct conn *)r;
    struct http_reply_line line = { .status = 200, .type = type, .stream = true };
    char head[HTTP_HEAD_ROOM];
    struct iovec v[3] = { { head, 0 },
                          { (char *)extra, extra ? strlen(extra) : 0 },
                          { "\r\n", 2 } };

    if (c->state == CONN_ORPHAN)
        return;
    assert(c->state == CONN_BUSY && !str_is(r->method, "HEAD"));
    line.minor = c->parser.head.minor;
    line.close = line.minor == 0 || !c->parser.keep_alive || c->server->draining;
    v[0].iov_len = http_reply_head(head, &line, &c->server->date);
    c->state = CONN_STREAM;
    c->chunked = line.minor > 0;
    c->close_after = line.close;
    c->broken = false;
    watch_set(c->watch, WATCH_GONE);
    stream_put(c, v, 3);
    forget_texts(c);
}

/* Is there still somebody to send to? */
static bool is_open(const struct conn *c)
{
    assert(c->state == CONN_STREAM || c->state == CONN_ORPHAN);
    return c->state == CONN_STREAM && !c->broken;
}

bool http_stream_send(struct http_req *r, struct str bytes)
{
    struct conn *c = (struct conn *)r;
    char size[24];
    struct iovec v[3] = { { size, 0 }, { (char *)bytes.p, bytes.n }, { "\r\n", 2 } };
    size_t waits = c->out_len - c->out_at;

    if (!is_open(c) || bytes.n == 0) /* an empty chunk would be the end */
        return true;
    if (waits && waits + bytes.n > c->server->opts.max_stream)
        return false;
    if (c->chunked) {
        v[0].iov_len = (size_t)snprintf(size, sizeof size, "%zx\r\n", bytes.n);
        stream_put(c, v, 3);
    } else {
        stream_put(c, v + 1, 1);
    }
    return true;
}

size_t http_stream_pending(const struct http_req *r)
{
    const struct conn *c = (const struct conn *)r;

    return c->out_len - c->out_at;
}

void http_stream_end(struct http_req *r)
{
    struct conn *c = (struct conn *)r;
    struct iovec v = { "0\r\n\r\n", 5 };

    if (c->state == CONN_ORPHAN)
        conn_orphan_done(c);
    else if (!is_open(c) || (c->chunked && !conn_put(c, &v, 1)))
        conn_close(c);
    else
        conn_answered(c);
}

void http_stream_cut(struct http_req *r)
{
    struct conn *c = (struct conn *)r;

    if (c->state == CONN_ORPHAN)
        conn_orphan_done(c);
    else if (c->state != CONN_DEAD) /* `gone` was called, and wants to be sure */
        conn_close(c);
}
