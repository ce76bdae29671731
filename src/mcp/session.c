/* session.c: the table of sessions, and their end. */
#include "mcp/session.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include "base/base64.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

enum { BUCKETS = 1024, ID_BYTES = 24, KEEP_FINISHED = 32, MANY_ENDED = 1000, DRAIN_MS = 20 };

struct sessions {
    struct session_opts o;
    struct session *buckets[BUCKETS];
    size_t count;
    size_t ended; /* by a sweep, since memory was given back */
    struct timer *sweep, *drain;
};

struct sessions *sessions_new(const struct session_opts *o)
{
    struct sessions *t = xcalloc(1, sizeof *t);

    t->o = *o;
    return t;
}

size_t sessions_count(const struct sessions *t)
{
    return t->count;
}

/* Ids are random: their first letters spread well. */
static struct session **bucket(struct sessions *t, struct str id)
{
    unsigned h = 0;

    for (size_t i = 0; i < id.n && i < 8; i++)
        h = h * 67 + (unsigned char)id.p[i];
    return &t->buckets[h % BUCKETS];
}

/* --- the end --- */

void session_end(struct session *s)
{
    while (s->items) {
        struct session_item *i = s->items;

        session_remove(i);
        i->end(i);
    }
    client_done(&s->client);
    stream_free(s->stream);
    *s->prev = s->next;
    if (s->next)
        s->next->prev = s->prev;
    s->all->count--;
    free(s);
}

void sessions_free(struct sessions *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (t->buckets[i])
            session_end(t->buckets[i]);
    timer_cancel(t->sweep);
    timer_cancel(t->drain);
    free(t);
}

static void on_drain(void *arg)
{
    struct sessions *t = arg;

    t->drain = NULL;
    sessions_drain(t);
}

void sessions_drain(struct sessions *t)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct session *s = t->buckets[i], *next; s; s = next) {
            next = s->next;
            if (!client_waits(&s->client))
                session_end(s);
        }
    }
    if (t->count > 0 && !t->drain) /* the others once their answers are out */
        t->drain = timer_start(t->o.mcp->site->loop, DRAIN_MS, on_drain, t);
}

void sessions_end_of(struct sessions *t, const char *principal)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct session *s = t->buckets[i], *next; s; s = next) {
            next = s->next;
            if (strcmp(s->principal, principal) == 0)
                session_end(s);
        }
    }
}

static bool is_idle(const struct session *s)
{
    return s->in_use == 0 && !s->client.calls && !(s->stream && stream_has_reader(s->stream));
}

static void on_sweep(void *arg);

/* Look again when the first of them may be due. */
static void plan_sweep(struct sessions *t, uint64_t ms)
{
    if (!t->sweep && t->count > 0)
        t->sweep = timer_start(t->o.mcp->site->loop, ms, on_sweep, t);
}

/* Freed memory goes back to the system by itself only from the top of the heap
 * down, and something that lives on may lie there. */
static void give_back(struct sessions *t, size_t ended)
{
    t->ended += ended;
    if (t->ended >= MANY_ENDED || (t->ended > 0 && t->count == 0)) {
        malloc_trim(0);
        t->ended = 0;
    }
}

static void on_sweep(void *arg)
{
    struct sessions *t = arg;
    uint64_t now = clock_ms(), wait = t->o.idle_ms;
    size_t before = t->count;

    t->sweep = NULL;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct session *s = t->buckets[i], *next; s; s = next) {
            uint64_t age = now - s->used_ms;

            next = s->next;
            if (!is_idle(s))
                s->used_ms = now;
            else if (age >= t->o.idle_ms)
                session_end(s);
            else if (t->o.idle_ms - age < wait)
                wait = t->o.idle_ms - age;
        }
    }
    give_back(t, before - t->count);
    plan_sweep(t, wait < 100 ? 100 : wait);
}

/* The one idle longest gives way to a new one. */
static bool make_room(struct sessions *t)
{
    struct session *oldest = NULL;

    for (size_t i = 0; i < BUCKETS; i++)
        for (struct session *s = t->buckets[i]; s; s = s->next)
            if (is_idle(s) && (!oldest || s->used_ms < oldest->used_ms))
                oldest = s;
    if (!oldest)
        return false;
    log_event(LOG_WARN, "session.evicted", NULL, STR("{\"reason\":\"too many sessions\"}"));
    session_end(oldest);
    return true;
}

/* --- the beginning --- */

static void make_id(char out[40])
{
    unsigned char bytes[ID_BYTES];
    struct buf b;

    while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        ;
    buf_init(&b, 39);
    base64_add(&b, bytes, sizeof bytes);
    memcpy(out, b.data, b.len + 1);
    buf_done(&b);
}

/* What belongs to no request is said to who reads; a client that never asked
 * for a stream does not hear it. */
static bool say_aside(struct outlet *o, struct str message)
{
    struct session *s = (struct session *)((char *)o - offsetof(struct session, aside));

    if (!s->stream)
        return false;
    stream_send(s->stream, message);
    return true;
}

static const struct outlet_ops aside_ops = { .say = say_aside };

struct session *session_new(struct sessions *t, const struct profile *p, const char *principal)
{
    struct session *s, **at;

    if (t->count >= t->o.most && !make_room(t))
        return NULL;
    s = xcalloc(1, sizeof *s);
    make_id(s->id);
    snprintf(s->principal, sizeof s->principal, "%s", principal);
    s->all = t;
    s->profile = p;
    s->aside.ops = &aside_ops;
    s->used_ms = clock_ms();
    at = bucket(t, str_of(s->id));
    s->next = *at;
    s->prev = at;
    if (s->next)
        s->next->prev = &s->next;
    *at = s;
    t->count++;
    client_join(t->o.mcp, &s->client, &s->aside);
    plan_sweep(t, t->o.idle_ms);
    return s;
}

struct session *session_find(struct sessions *t, struct str id, const struct profile *p,
                             const char *principal)
{
    for (struct session *s = *bucket(t, id); s; s = s->next) {
        if (!str_is(id, s->id) || s->profile != p || strcmp(s->principal, principal) != 0)
            continue;
        s->used_ms = clock_ms();
        return s;
    }
    return NULL;
}

/* --- items and streams --- */

void session_add(struct session *s, struct session_item *i)
{
    i->next = s->items;
    i->prev = &s->items;
    if (i->next)
        i->next->prev = &i->next;
    s->items = i;
}

void session_remove(struct session_item *i)
{
    if (!i->prev)
        return;
    *i->prev = i->next;
    if (i->next)
        i->next->prev = i->prev;
    i->prev = NULL;
}

/* Finished streams wait for a reader who may come back; only so many. */
static void drop_finished(struct session *s)
{
    struct session_item *oldest = NULL;
    unsigned n = 0;

    for (struct session_item *i = s->items; i; i = i->next) {
        if (!i->stream || !stream_has_ended(i->stream))
            continue;
        n++;
        oldest = i;
    }
    if (n < KEEP_FINISHED)
        return;
    session_remove(oldest);
    oldest->end(oldest);
}

struct stream *session_stream(struct session *s, unsigned *number, void (*lost)(void *arg),
                              void *arg)
{
    const struct session_opts *o = &s->all->o;
    struct stream_opts so = { .loop = o->mcp->site->loop,
                              .keep = true,
                              .number = ++s->streams,
                              .prime =
                                  s->client.version && era_since(s->client.version, "2025-11-25"),
                              .window_ms = o->window_ms,
                              .heartbeat_ms = o->heartbeat_ms,
                              .lost = lost,
                              .arg = arg };

    drop_finished(s);
    *number = so.number;
    return stream_new(&so);
}

static void on_aside_lost(void *arg)
{
    struct session *s = arg;

    stream_free(s->stream);
    s->stream = NULL;
}

/* "7-12" */
static bool read_event_id(struct str text, unsigned *stream, unsigned long *event)
{
    char copy[40], end;

    if (text.n >= sizeof copy)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    return sscanf(copy, "%9u-%18lu%c", stream, event, &end) == 2;
}

static struct stream *find_stream(struct session *s, unsigned number)
{
    if (s->stream && s->stream_number == number)
        return s->stream;
    for (struct session_item *i = s->items; i; i = i->next)
        if (i->stream && i->number == number)
            return i->stream;
    return NULL;
}

static void headers_of(const struct session *s, char *out, size_t room)
{
    snprintf(out, room,
             "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\nMcp-Session-Id: %s\r\n", s->id);
}

bool session_read(struct session *s, struct http_req *r, struct str last, struct err *e)
{
    struct stream *stream;
    unsigned long event;
    char headers[160];
    unsigned number;

    headers_of(s, headers, sizeof headers);
    if (last.n == 0) {
        if (!s->stream)
            s->stream = session_stream(s, &s->stream_number, on_aside_lost, s);
        stream_attach(s->stream, r, headers);
        return true;
    }
    stream = read_event_id(last, &number, &event) ? find_stream(s, number) : NULL;
    if (stream && stream_resume(stream, r, event, headers))
        return true;
    return err_set(e, ERR_MISSING,
                   "what followed event '%.*s' is not kept any more; start a new request",
                   (int)(last.n < 40 ? last.n : 40), last.p);
}
