/* door_sse.c: one stream for all answers of a session. */
#include "mcp/door_sse.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "mcp/post.h"

/* The stream of a session, and the outlet of all its requests. */
struct old {
    struct outlet out; /* first */
    struct session_item item;
    struct session *session;
    struct stream *stream;
};

static struct old *old_of(struct session_item *i)
{
    return (struct old *)((char *)i - offsetof(struct old, item));
}

/* The session ends: by its stream, or by its table. */
static void on_end(struct session_item *i)
{
    struct old *o = old_of(i);

    client_forget(&o->session->client, &o->out);
    stream_free(o->stream);
    free(o);
}

static void on_lost(void *arg)
{
    struct old *o = arg;

    session_end(o->session);
}

static bool old_say(struct outlet *out, struct str message)
{
    struct old *o = (struct old *)out;

    stream_send(o->stream, message);
    return true;
}

static void old_reply(struct outlet *out, const struct mcp_reply *r)
{
    if (r->message.n)
        old_say(out, r->message);
}

static void old_drop(struct outlet *out)
{
    (void)out;
}

static struct client *old_welcome(struct outlet *out)
{
    return &((struct old *)out)->session->client;
}

static const struct outlet_ops ops = { old_say, old_reply, old_drop, old_drop, old_welcome };

void door_sse_open(struct door_http *d, struct http_req *r, const struct profile *p,
                   const char *principal)
{
    struct session *s = session_new(d->sessions, p, principal);
    struct stream_opts so = { .loop = d->mcp->site->loop,
                              .heartbeat_ms = d->heartbeat_ms,
                              .lost = on_lost };
    char where[80];
    struct old *o;

    if (!s) {
        http_reply_error(r, 503, "too_many_sessions", "Retry-After: 10\r\n",
                         "too many sessions; try again later");
        return;
    }
    o = xcalloc(1, sizeof *o);
    o->out.ops = &ops;
    o->item.end = on_end;
    o->session = s;
    so.arg = o;
    o->stream = stream_new(&so);
    s->in_use++; /* as long as its stream is there */
    s->client.aside = &o->out;
    session_add(s, &o->item);
    stream_attach(o->stream, r, "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
    snprintf(where, sizeof where, "/messages?sessionId=%s", s->id);
    stream_event(o->stream, "endpoint", str_of(where));
}

/* The session that the query names, if its stream is one of these. */
static struct old *find_old(struct door_http *d, struct http_req *r, const struct profile *p,
                            const char *principal)
{
    static const char key[] = "sessionId=";
    const char *at = r->query.n ? memmem(r->query.p, r->query.n, key, sizeof key - 1) : NULL;
    struct str id = { 0 };
    struct session *s;

    if (!at)
        return NULL;
    id.p = at + sizeof key - 1;
    while (id.p + id.n < r->query.p + r->query.n && id.p[id.n] != '&')
        id.n++;
    s = session_find(d->sessions, id, p, principal);
    for (struct session_item *i = s ? s->items : NULL; i; i = i->next)
        if (i->end == on_end)
            return old_of(i);
    return NULL;
}

void door_sse_post(struct door_http *d, struct http_req *r, const struct profile *p,
                   const char *principal)
{
    struct old *o = find_old(d, r, p, principal);
    struct mcp_in in = { .profile = p, .principal = principal };

    if (!o) {
        http_reply_error(r, 404, "session_not_found", NULL,
                         "no stream is open for this sessionId; GET /sse opens one");
        return;
    }
    if (!post_is_json(r))
        return;
    in.client = &o->session->client;
    in.out = &o->out;
    in.text = r->body;
    mcp_handle(d->mcp, &in);
    http_reply(r, 202, "text/plain", NULL, STR("Accepted"));
}
