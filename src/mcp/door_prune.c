/* door_prune.c: one body in, one JSON object out; 400 for what is neither. */
#include "mcp/door_prune.h"
#include <stdlib.h>
#include "base/mem.h"
#include "mcp/post.h"
#include "tools/table.h"

static void on_reply(void *arg, struct call *c, struct str message)
{
    struct http_req *r = arg;

    if (c->refused)
        http_reply_error(r, 400, "invalid_params", NULL, "%s", c->err.msg);
    else
        http_reply(r, 200, "application/json", NULL, message);
}

static void on_dropped(void *arg, struct call *c)
{
    (void)arg;
    (void)c;
}

static void on_gone(struct http_req *r)
{
    call_cancel(r->user);
}

void door_prune(struct door_http *d, struct http_req *r, const char *principal)
{
    struct site *s = d->mcp->site;
    struct call *c;

    if (!post_is_json(r))
        return;
    c = call_new(s, &tool_prune_service, &s->root, ANSWER_PLAIN);
    c->principal = principal;
    c->arguments = arena_str(&c->a, r->body);
    c->reply = on_reply;
    c->dropped = on_dropped;
    c->reply_arg = r;
    r->user = c;
    r->gone = on_gone;
    call_start(c);
}
