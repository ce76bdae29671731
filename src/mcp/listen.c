/* listen.c: who hears that something changed.
 *
 * Up to 2025-11-25 every session hears of lists, and of the resources it
 * subscribed to, aside from any request. From 2026-07-28 on only who opened
 * subscriptions/listen does, by its filter, on that request's own stream. */
#include <stdlib.h>
#include "base/mem.h"
#include "mcp/pending.h"

enum { MAX_URIS = 1000, MAX_URI = 8192 };

static const struct {
    const char *key, *method;
} changes[] = {
    [CHANGED_TOOLS] = { "toolsListChanged", "notifications/tools/list_changed" },
    [CHANGED_PROMPTS] = { "promptsListChanged", "notifications/prompts/list_changed" },
    [CHANGED_RESOURCES] = { "resourcesListChanged", "notifications/resources/list_changed" },
    [CHANGED_RESOURCE] = { "resourceSubscriptions", "notifications/resources/updated" },
};

bool change_named(const char *method, enum mcp_change *what)
{
    for (int i = 0; i <= CHANGED_RESOURCE; i++) {
        *what = (enum mcp_change)i;
        if (strcmp(changes[i].method, method) == 0)
            return true;
    }
    return false;
}

struct filter {
    bool lists[CHANGED_RESOURCE];
    char **uris;
    size_t uri_count;
    struct str id; /* malloc'ed */
};

/* --- URIs --- */

static bool has_uri(char *const *uris, size_t count, const char *uri)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(uris[i], uri) == 0)
            return true;
    return false;
}

static void add_uri(char ***uris, size_t *count, struct str uri)
{
    *uris = xrealloc(*uris, (*count + 1) * sizeof **uris);
    (*uris)[(*count)++] = xstrndup(uri.p, uri.n);
}

static void free_uris(char **uris, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(uris[i]);
    free(uris);
}

/* --- sessions --- */

/* The URI of the request as a C text, NULL where it is refused. */
static const char *wanted_uri(struct req *r)
{
    struct str uri = json_str(json_get(r->msg.params, "uri"), &r->a);

    if (!r->in->profile->resources) {
        no_method(r);
        return NULL;
    }
    if (uri.n == 0 || uri.n > MAX_URI || memchr(uri.p, 0, uri.n)) {
        send_field_error(r, "uri", "is required, a string of at most 8192 bytes");
        return NULL;
    }
    return arena_str(&r->a, uri).p;
}

void do_subscribe(struct req *r)
{
    struct client *c = r->in->client;
    const char *uri = wanted_uri(r);

    if (!uri)
        return;
    if (c->uri_count == MAX_URIS) {
        send_field_error(r, "uri", "would be one subscription too many: 1000 are the most");
        return;
    }
    if (!has_uri(c->uris, c->uri_count, uri))
        add_uri(&c->uris, &c->uri_count, str_of(uri));
    send_empty(r);
}

void do_unsubscribe(struct req *r)
{
    struct client *c = r->in->client;
    const char *uri = wanted_uri(r);

    if (!uri)
        return;
    for (size_t i = 0; i < c->uri_count; i++) {
        if (strcmp(c->uris[i], uri) != 0)
            continue;
        free(c->uris[i]);
        c->uris[i] = c->uris[--c->uri_count];
        break;
    }
    send_empty(r);
}

void client_join(struct mcp *m, struct client *c, struct outlet *aside)
{
    if (c->aside)
        return;
    c->aside = aside;
    c->next = m->clients;
    c->prev = &m->clients;
    if (c->next)
        c->next->prev = &c->next;
    m->clients = c;
}

void client_done(struct client *c)
{
    client_forget_all(c);
    free_uris(c->uris, c->uri_count);
    if (c->aside) {
        *c->prev = c->next;
        if (c->next)
            c->next->prev = c->prev;
    }
    *c = (struct client){ 0 };
}

/* --- subscriptions/listen --- */

/* A message of a subscription: params get its id. False: it cannot be told. */
static bool tell(struct pending *p, const char *method, struct str members)
{
    struct buf b, params;
    bool told;

    buf_init(&b, MAX_REPLY);
    buf_init(&params, MAX_REPLY);
    buf_adds(&params, "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":");
    buf_add(&params, p->id.p, p->id.n);
    buf_addc(&params, '}');
    buf_add(&params, members.p, members.n);
    buf_addc(&params, '}');
    put_notification(&b, method, buf_str(&params));
    told = p->out->ops->say(p->out, buf_str(&b));
    buf_done(&b);
    buf_done(&params);
    return told;
}

static bool acknowledge(struct pending *p)
{
    const struct filter *f = p->filter;
    struct buf b;
    struct json_out o = json_out(&b);
    bool told;

    buf_init(&b, MAX_REPLY);
    buf_adds(&b, ",\"notifications\":");
    json_obj(&o);
    for (int i = 0; i < CHANGED_RESOURCE; i++)
        if (f->lists[i])
            json_kv_bool(&o, changes[i].key, true);
    if (f->uri_count) {
        json_put_key(&o, changes[CHANGED_RESOURCE].key);
        json_arr(&o);
        for (size_t i = 0; i < f->uri_count; i++)
            json_put_strz(&o, f->uris[i]);
        json_arr_end(&o);
    }
    json_obj_end(&o);
    told = tell(p, "notifications/subscriptions/acknowledged", buf_str(&b));
    buf_done(&b);
    return told;
}

/* What is asked for, as far as the profile has it. */
static bool read_filter(struct req *r, struct filter *f)
{
    const struct profile *p = r->in->profile;
    struct json want = json_get(r->msg.params, "notifications");
    struct json uris = json_get(want, changes[CHANGED_RESOURCE].key);
    const bool has[] = { p->sessions, p->prompts != NULL, p->resources != NULL };

    if (json_type(want) != JSON_OBJ || (json_type(uris) && json_type(uris) != JSON_ARR) ||
        json_count(uris) > MAX_URIS) {
        send_field_error(r, "notifications",
                         "is required, an object; resourceSubscriptions in it is an array of at "
                         "most 1000 URIs");
        return false;
    }
    for (int i = 0; i < CHANGED_RESOURCE; i++)
        f->lists[i] = has[i] && json_is_true(json_get(want, changes[i].key));
    for (struct json v = json_first(uris); p->resources && json_type(v); v = json_next(v)) {
        struct str uri = json_str(v, &r->a);

        if (uri.n && !memchr(uri.p, 0, uri.n))
            add_uri(&f->uris, &f->uri_count, uri);
    }
    return true;
}

void do_listen(struct req *r)
{
    struct filter f = { 0 };
    struct pending *p;

    if (!r->in->profile->sessions) {
        no_method(r);
        return;
    }
    if (too_many(r) || !read_filter(r, &f))
        return;
    p = xcalloc(1, sizeof *p);
    p->mcp = r->mcp;
    p->out = r->in->out;
    p->stateless = true;
    p->filter = xcalloc(1, sizeof f);
    *p->filter = f;
    p->id = p->filter->id = (struct str){ xstrndup(r->msg.id.p, r->msg.id.n), r->msg.id.n };
    pending_link(p, r->in->client);
    p->next_listener = r->mcp->listeners;
    p->prev_listener = &r->mcp->listeners;
    if (p->next_listener)
        p->next_listener->prev_listener = &p->next_listener;
    r->mcp->listeners = p;
    if (acknowledge(p))
        return;
    pending_free(p);
    send_error(r, -32600, "a subscription is a stream: Accept must have text/event-stream",
               (struct str){ 0 }, true);
}

void listen_free(struct pending *p)
{
    *p->prev_listener = p->next_listener;
    if (p->next_listener)
        p->next_listener->prev_listener = p->prev_listener;
    free_uris(p->filter->uris, p->filter->uri_count);
    free((char *)p->filter->id.p);
    free(p->filter);
}

void mcp_close_listeners(struct mcp *m)
{
    while (m->listeners) {
        struct pending *p = m->listeners;
        struct outlet *out = p->out;
        struct mcp_reply reply = { .stateless = true };
        struct buf b;

        buf_init(&b, MAX_REPLY);
        rpc_result_open(&b, p->id);
        buf_adds(&b, "{\"resultType\":\"complete\",\"_meta\":{"
                     "\"io.modelcontextprotocol/subscriptionId\":");
        buf_add(&b, p->id.p, p->id.n);
        buf_adds(&b, "}}");
        rpc_result_close(&b);
        reply.message = buf_str(&b);
        pending_free(p);
        out->ops->reply(out, &reply);
        buf_done(&b);
    }
}

/* --- something changed --- */

static bool wants(const struct filter *f, enum mcp_change what, const char *uri)
{
    return what == CHANGED_RESOURCE ? has_uri(f->uris, f->uri_count, uri) : f->lists[what];
}

void mcp_changed(struct mcp *m, enum mcp_change what, const char *uri)
{
    struct buf b, members;
    struct json_out o = { &members, true };

    buf_init(&b, MAX_REPLY);
    buf_init(&members, MAX_REPLY);
    if (what == CHANGED_RESOURCE)
        json_kv_strz(&o, "uri", uri);
    for (struct pending *p = m->listeners, *next; p; p = next) {
        next = p->next_listener;
        if (wants(p->filter, what, uri))
            tell(p, changes[what].method, buf_str(&members));
    }
    buf_addf(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"", changes[what].method);
    if (members.len)
        buf_addf(&b, ",\"params\":{%.*s}", (int)members.len - 1, members.data + 1);
    buf_addc(&b, '}');
    for (struct client *c = m->clients, *next; c; c = next) {
        next = c->next;
        if (what != CHANGED_RESOURCE || has_uri(c->uris, c->uri_count, uri))
            c->aside->ops->say(c->aside, buf_str(&b));
    }
    buf_done(&b);
    buf_done(&members);
}
