/* post.c: one POST from its body to its last event. */
#include "mcp/post.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "base/mem.h"

struct post {
    struct outlet out; /* first */
    struct session_item item;
    struct door_http *door;
    struct post *next, **prev; /* door->posts */
    struct http_req *req;      /* until it is answered, or has become a stream */
    const struct profile *profile;
    const char *principal;
    struct session *session; /* NULL: none */
    struct client own;       /* where there is no session */
    struct stream *stream;   /* once it is one */
    struct timer *patience;
    bool plain, takes_json, takes_events;
    bool new_session; /* made by this request: the answer tells its id */
    bool in_use;      /* counted by its session, until it is answered */
    bool closing;
    bool *over; /* set when it is freed while mcp_handle is on the stack */
};

static struct client *client_of(struct post *p)
{
    return p->session && !p->new_session ? &p->session->client : &p->own;
}

/* Its answer is out, or none will come: what is kept of it for a reader who may
 * come back does not keep the session. */
static void answered(struct post *p)
{
    if (p->in_use)
        p->session->in_use--;
    p->in_use = false;
}

static void leave_session(struct post *p)
{
    if (!p->session || p->new_session)
        return;
    session_remove(&p->item);
    answered(p);
    p->session = NULL;
}

static void post_free(struct post *p)
{
    p->closing = true;
    *p->prev = p->next;
    if (p->next)
        p->next->prev = p->prev;
    timer_cancel(p->patience);
    client_forget(client_of(p), &p->out);
    leave_session(p);
    client_done(&p->own);
    stream_free(p->stream);
    if (p->over)
        *p->over = true;
    free(p);
}

void posts_close(struct door_http *d)
{
    while (d->posts)
        post_free(d->posts);
}

/* Nobody reads any more, and nobody will. */
static void on_lost(void *arg)
{
    post_free(arg);
}

static void on_gone(struct http_req *r)
{
    post_free(r->user);
}

/* The session goes. */
static void on_session_end(struct session_item *i)
{
    struct post *p = (struct post *)((char *)i - offsetof(struct post, item));

    if (p->req)
        http_reply_error(p->req, 404, "session_ended", NULL, "the session has ended");
    post_free(p);
}

/* --- becoming a stream --- */

static void open_stream(struct post *p)
{
    struct stream_opts o = { .loop = p->door->mcp->site->loop,
                             .heartbeat_ms = p->door->heartbeat_ms,
                             .lost = on_lost,
                             .arg = p };
    struct http_req *r = p->req;
    char headers[160];
    int n =
        snprintf(headers, sizeof headers, "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");

    if (p->session)
        snprintf(headers + n, sizeof headers - (size_t)n, "Mcp-Session-Id: %s\r\n", p->session->id);
    timer_cancel(p->patience);
    p->patience = NULL;
    p->req = NULL;
    if (p->session && !p->new_session) {
        p->stream = session_stream(p->session, &p->item.number, on_lost, p);
        p->item.stream = p->stream;
    } else {
        p->stream = stream_new(&o);
    }
    stream_attach(p->stream, r, headers);
}

/* A client takes silence for an end after a while. */
static void on_patience_over(void *arg)
{
    struct post *p = arg;

    p->patience = NULL;
    open_stream(p);
}

/* --- the outlet --- */

static bool post_say(struct outlet *out, struct str message)
{
    struct post *p = (struct post *)out;

    if (p->closing || !p->takes_events)
        return false;
    if (!p->stream)
        open_stream(p);
    stream_send(p->stream, message);
    return true;
}

/* The era's statuses where the request is of the stateless era; otherwise what
 * DESIGN.md's table says for the profile. */
static int status_of(const struct post *p, const struct mcp_reply *r)
{
    if (r->message.n == 0)
        return r->malformed ? 400 : 202;
    if (r->stateless)
        return r->code == -32601 ? 404 : r->malformed ? 400 : 200;
    if (p->plain || p->profile->answer == ANSWER_JEEVES)
        return 200;
    return r->malformed ? 400 : 200;
}

static void reply_json(struct post *p, const struct mcp_reply *r)
{
    struct http_req *req = p->req;
    char header[80];

    header[0] = 0;
    if (p->new_session)
        snprintf(header, sizeof header, "Mcp-Session-Id: %s\r\n", p->session->id);
    p->req = NULL;
    http_reply(req, status_of(p, r), r->message.n ? "application/json" : NULL,
               header[0] ? header : NULL, r->message);
    post_free(p);
}

static void post_reply(struct outlet *out, const struct mcp_reply *r)
{
    struct post *p = (struct post *)out;

    if (p->closing)
        return;
    if (!p->stream && !p->takes_json && r->message.n && status_of(p, r) == 200)
        open_stream(p);
    if (!p->stream) {
        reply_json(p, r);
        return;
    }
    if (r->message.n)
        stream_send(p->stream, r->message);
    answered(p);
    stream_end(p->stream); /* on_lost comes later, and frees p */
}

static void post_drop(struct outlet *out)
{
    struct post *p = (struct post *)out;

    if (p->closing)
        return;
    if (p->stream) {
        answered(p);
        stream_end(p->stream);
        return;
    }
    http_reply(p->req, 204, NULL, NULL, (struct str){ 0 });
    p->req = NULL;
    post_free(p);
}

static void post_let_go(struct outlet *out)
{
    struct post *p = (struct post *)out;

    if (p->closing || !p->takes_events || !p->session || !p->session->client.version ||
        !era_since(p->session->client.version, "2025-11-25"))
        return; /* it could not come back: before, no event told it from where */
    if (!p->stream)
        open_stream(p);
    stream_let_go(p->stream);
}

static struct client *post_welcome(struct outlet *out)
{
    struct post *p = (struct post *)out;

    if (p->plain || !p->profile->sessions)
        return &p->own;
    leave_session(p); /* who begins again gets a session of its own */
    p->session = session_new(p->door->sessions, p->profile, p->principal);
    p->new_session = p->session != NULL;
    return p->session ? &p->session->client : NULL;
}

static const struct outlet_ops ops = { post_say, post_reply, post_drop, post_let_go, post_welcome };

/* --- the request --- */

/* application/json, with or without parameters. */
bool post_is_json(struct http_req *r)
{
    static const char want[] = "application/json";
    struct str type = http_header(r, "content-type");
    size_t n = sizeof want - 1;

    if (type.n >= n && strncasecmp(type.p, want, n) == 0 &&
        (type.n == n || type.p[n] == ';' || type.p[n] == ' '))
        return true;
    http_reply_error(r, 415, "unsupported_media_type", NULL,
                     "send the message as Content-Type: application/json");
    return false;
}

static bool accepts(struct str accept, const char *type, const char *range)
{
    return memmem(accept.p, accept.n, type, strlen(type)) ||
           memmem(accept.p, accept.n, range, strlen(range)) || memmem(accept.p, accept.n, "*/*", 3);
}

static struct str find_header(const void *arg, const char *name)
{
    return http_header(arg, name);
}

static struct era_headers headers_of(const struct http_req *r)
{
    return (struct era_headers){ .http = true,
                                 .version = http_header(r, "mcp-protocol-version"),
                                 .method = http_header(r, "mcp-method"),
                                 .name = http_header(r, "mcp-name"),
                                 .find = find_header,
                                 .arg = r };
}

void post_message(struct door_http *d, struct http_req *r, const struct profile *profile,
                  const char *principal, struct session *session, bool plain)
{
    struct mcp_in in = { .profile = profile, .principal = principal, .batches = plain };
    struct str accept = http_header(r, "accept");
    struct post *p = xcalloc(1, sizeof *p);
    bool over = false;

    p->out.ops = &ops;
    p->item.end = on_session_end;
    p->door = d;
    p->req = r;
    p->profile = profile;
    p->principal = principal;
    p->plain = plain;
    p->takes_json = !accept.p || accepts(accept, "application/json", "application/*");
    p->takes_events = accept.p && !plain && profile->sessions &&
                      memmem(accept.p, accept.n, "text/event-stream", 17);
    if (!p->takes_json && !p->takes_events) {
        free(p);
        http_reply_error(r, 406, "not_acceptable", NULL,
                         "Accept must allow application/json, or text/event-stream where it is "
                         "offered");
        return;
    }
    p->next = d->posts;
    p->prev = &d->posts;
    if (p->next)
        p->next->prev = &p->next;
    d->posts = p;
    p->session = session;
    if (session) {
        session->in_use++;
        p->in_use = true;
        session_add(session, &p->item);
    }
    if (!plain)
        in.headers = headers_of(r);
    in.client = client_of(p);
    in.out = &p->out;
    in.text = r->body;
    r->user = p;
    r->gone = on_gone;
    p->over = &over;
    mcp_handle(d->mcp, &in);
    if (over)
        return;
    p->over = NULL;
    if (p->takes_events && !p->stream)
        p->patience = timer_start(d->mcp->site->loop, d->heartbeat_ms, on_patience_over, p);
}
