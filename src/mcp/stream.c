/* stream.c: events out, kept, and sent again. */
#include "mcp/stream.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"

/* More is kept than may wait for a slow reader (http_opts.max_stream): who is
 * dropped for that can then still come back for all of it. */
enum { MAX_KEPT = 2 << 20, RETRY_MS = 500 };

struct event {
    struct event *next;
    unsigned long number;
    size_t n;
    char bytes[];
};

struct stream {
    struct stream_opts o;
    struct http_req *req; /* NULL: nobody reads */
    struct timer *heartbeat;
    struct timer *window; /* runs while nobody reads, or all is said */
    bool ended;

    struct event *first, **last; /* kept */
    size_t bytes;
    unsigned long next; /* number of the next event */
    unsigned long sent; /* all up to here went to somebody */
};

struct stream *stream_new(const struct stream_opts *o)
{
    struct stream *s = xcalloc(1, sizeof *s);

    s->o = *o;
    s->last = &s->first;
    s->next = 1;
    return s;
}

static void forget_first(struct stream *s)
{
    struct event *e = s->first;

    s->first = e->next;
    if (!s->first)
        s->last = &s->first;
    s->bytes -= e->n;
    free(e);
}

/* --- without a reader --- */

static void on_window_over(void *arg)
{
    struct stream *s = arg;

    s->window = NULL;
    s->o.lost(s->o.arg);
}

static void wait_for_reader(struct stream *s)
{
    timer_cancel(s->window);
    s->window = timer_start(s->o.loop, s->o.keep ? s->o.window_ms : 0, on_window_over, s);
}

static void detach(struct stream *s)
{
    s->req = NULL;
    timer_cancel(s->heartbeat);
    s->heartbeat = NULL;
}

static void on_gone(struct http_req *r)
{
    struct stream *s = r->user;

    detach(s);
    wait_for_reader(s);
}

void stream_free(struct stream *s)
{
    if (!s)
        return;
    timer_cancel(s->window);
    if (s->req)
        http_stream_end(s->req);
    detach(s);
    while (s->first)
        forget_first(s);
    free(s);
}

/* --- writing --- */

static void log_slow(const struct stream *s)
{
    char data[120];

    snprintf(data, sizeof data, "{\"waiting_bytes\":%zu,\"resumable\":%s}",
             http_stream_pending(s->req), s->o.keep ? "true" : "false");
    log_event(LOG_WARN, "sse.slow_reader", NULL, str_of(data));
}

/* To the reader, if there is one. Who reads too slowly is dropped, and may come
 * back for what is kept. */
static bool put(struct stream *s, struct str bytes)
{
    struct http_req *r = s->req;

    if (!r)
        return false;
    if (http_stream_send(r, bytes))
        return true;
    log_slow(s);
    detach(s);
    http_stream_cut(r);
    wait_for_reader(s);
    return false;
}

static void on_heartbeat(void *arg)
{
    struct stream *s = arg;

    s->heartbeat = timer_start(s->o.loop, s->o.heartbeat_ms, on_heartbeat, s);
    put(s, STR(":\n\n"));
}

static void keep(struct stream *s, struct str bytes)
{
    struct event *e = xmalloc(sizeof *e + bytes.n);

    e->next = NULL;
    e->number = s->next - 1;
    e->n = bytes.n;
    memcpy(e->bytes, bytes.p, bytes.n);
    *s->last = e;
    s->last = &e->next;
    s->bytes += bytes.n;
    while (s->bytes > MAX_KEPT && s->first->next) /* the newest may be the answer */
        forget_first(s);
}

/* White space between JSON's tokens may be a line feed, which would end the
 * event's line. */
static void add_data(struct buf *b, struct str text)
{
    size_t at;

    buf_adds(b, "data: ");
    at = b->len;
    buf_add(b, text.p, text.n);
    for (char *p = b->data + at; (p = strpbrk(p, "\r\n")); p++)
        *p = ' ';
    buf_adds(b, "\n\n");
}

void stream_send(struct stream *s, struct str message)
{
    struct buf b;

    buf_init(&b, message.n + 200);
    if (s->o.keep)
        buf_addf(&b, "id: %u-%lu\n", s->o.number, s->next++);
    add_data(&b, message);
    if (s->o.keep)
        keep(s, buf_str(&b));
    if (put(s, buf_str(&b)))
        s->sent = s->next - 1;
    buf_done(&b);
}

void stream_event(struct stream *s, const char *name, struct str data)
{
    struct buf b;

    buf_init(&b, data.n + 200);
    buf_addf(&b, "event: %s\n", name);
    add_data(&b, data);
    put(s, buf_str(&b));
    buf_done(&b);
}

/* --- readers --- */

static void prime(struct stream *s)
{
    char text[80];

    snprintf(text, sizeof text, "id: %u-%lu\nretry: %d\ndata: \n\n", s->o.number, s->sent,
             RETRY_MS);
    put(s, str_of(text));
}

static void open_for(struct stream *s, struct http_req *r, const char *headers)
{
    if (s->req)
        stream_let_go(s);
    timer_cancel(s->window);
    s->window = NULL;
    http_stream(r, "text/event-stream", headers);
    r->user = s;
    r->gone = on_gone;
    s->req = r;
    s->heartbeat = timer_start(s->o.loop, s->o.heartbeat_ms, on_heartbeat, s);
}

static void send_from(struct stream *s, unsigned long after)
{
    for (struct event *e = s->first; e && s->req; e = e->next)
        if (e->number > after && put(s, (struct str){ e->bytes, e->n }))
            s->sent = e->number;
    if (s->ended && s->req)
        stream_end(s);
}

void stream_attach(struct stream *s, struct http_req *r, const char *headers)
{
    open_for(s, r, headers);
    if (s->o.prime)
        prime(s);
    send_from(s, s->sent);
}

bool stream_resume(struct stream *s, struct http_req *r, unsigned long last, const char *headers)
{
    unsigned long kept_from = s->first ? s->first->number : s->next;

    if (last >= s->next || last + 1 < kept_from)
        return false;
    open_for(s, r, headers);
    send_from(s, last);
    return true;
}

void stream_let_go(struct stream *s)
{
    struct http_req *r = s->req;
    char retry[40];

    if (!r)
        return;
    snprintf(retry, sizeof retry, "retry: %d\n\n", RETRY_MS);
    if (!put(s, str_of(retry)))
        return;
    detach(s);
    http_stream_end(r);
    wait_for_reader(s);
}

void stream_end(struct stream *s)
{
    struct http_req *r = s->req;

    s->ended = true;
    if (r) {
        detach(s);
        http_stream_end(r);
    }
    wait_for_reader(s);
}

bool stream_has_reader(const struct stream *s)
{
    return s->req != NULL;
}

bool stream_has_ended(const struct stream *s)
{
    return s->ended;
}
