/* lists.c: the lists, page by page, and completion of what is typed. */
#include <stdio.h>
#include "mcp/req.h"

enum { MAX_VALUES = 100 };

static const struct {
    const char *key, *cursor;
} lists[] = {
    [LIST_TOOLS] = { "tools", "tools-" },
    [LIST_PROMPTS] = { "prompts", "prompts-" },
    [LIST_RESOURCES] = { "resources", "resources-" },
    [LIST_TEMPLATES] = { "resourceTemplates", "templates-" },
};

/* A cursor is the list's name and the row to go on with; 0: no such page. */
static size_t read_cursor(struct req *r, enum listing what, struct str cursor)
{
    size_t n = strlen(lists[what].cursor), from = 0;

    if (!str_starts(cursor, lists[what].cursor) || cursor.n == n || cursor.n > n + 8)
        return 0;
    for (size_t i = n; i < cursor.n; i++) {
        if (cursor.p[i] < '0' || cursor.p[i] > '9')
            return 0;
        from = from * 10 + (size_t)(cursor.p[i] - '0');
    }
    return from < registry_count(r->mcp->registry, r->in->profile, what) ? from : 0;
}

static void send_list(struct req *r, enum listing what)
{
    struct json cursor = json_get(r->msg.params, "cursor");
    struct json_out o;
    size_t from = 0, next;
    char text[40];
    struct buf b;

    if (json_type(cursor)) {
        from = read_cursor(r, what, json_str(cursor, &r->a));
        if (from == 0) {
            send_field_error(r, "cursor", "is not one of ours; start again without it");
            return;
        }
    }
    o = open_result(r, &b);
    json_put_key(&o, lists[what].key);
    next = registry_list(r->mcp->registry, r->in->profile, what, from, &o);
    if (next) {
        snprintf(text, sizeof text, "%s%zu", lists[what].cursor, next);
        json_kv_strz(&o, "nextCursor", text);
    }
    put_cache(r, &o);
    send_result(r, &b, &o);
}

void do_tools_list(struct req *r)
{
    send_list(r, LIST_TOOLS);
}

void do_prompts_list(struct req *r)
{
    if (r->in->profile->prompts)
        send_list(r, LIST_PROMPTS);
    else
        no_method(r);
}

void do_resources_list(struct req *r)
{
    if (r->in->profile->resources)
        send_list(r, LIST_RESOURCES);
    else
        no_method(r);
}

void do_templates_list(struct req *r)
{
    if (r->in->profile->resources)
        send_list(r, LIST_TEMPLATES);
    else
        no_method(r);
}

/* --- completion --- */

/* The row that a ref names, NULL: none. */
static const struct tool *find_ref(struct req *r, struct json ref)
{
    const struct registry *reg = r->mcp->registry;
    struct str type = json_str(json_get(ref, "type"), &r->a);
    struct str uri = json_str(json_get(ref, "uri"), &r->a);

    if (str_is(type, "ref/prompt"))
        return registry_prompt(reg, r->in->profile, json_str(json_get(ref, "name"), &r->a));
    if (!str_is(type, "ref/resource"))
        return NULL;
    for (const char *const *n = r->in->profile->resources; n && *n; n++)
        for (const struct resource *const *t = reg->resources; *t; t++)
            if (strcmp((*t)->row.name, *n) == 0 && str_is(uri, (*t)->uri))
                return &(*t)->row;
    return NULL;
}

static const struct field *find_field(const struct tool *t, struct str name)
{
    const struct field *f = t->fields;

    while (f->name && !str_is(name, f->name))
        f++;
    return f->name ? f : NULL;
}

/* The row's values as a completion: at most a hundred of them. */
static void put_values(struct req *r, struct json_out *o, const struct tool *t, const char *field,
                       struct str typed)
{
    struct buf b;
    struct json_out all = json_out(&b);
    struct json_doc d;
    size_t total = 0;

    buf_init(&b, 1 << 20);
    json_arr(&all);
    if (t->complete)
        t->complete(field, typed, &all);
    json_arr_end(&all);
    json_put_key(o, "values");
    json_arr(o);
    if (json_parse(&d, &r->a, buf_str(&b), NULL))
        for (struct json v = json_first(json_root(&d)); json_type(v); v = json_next(v))
            if (total++ < MAX_VALUES)
                json_put_raw(o, json_raw(v));
    json_arr_end(o);
    json_kv_int(o, "total", (long long)total);
    json_kv_bool(o, "hasMore", total > MAX_VALUES);
    buf_done(&b);
}

void do_complete(struct req *r)
{
    struct json argument = json_get(r->msg.params, "argument");
    struct str value = json_str(json_get(argument, "value"), &r->a);
    const struct tool *t = find_ref(r, json_get(r->msg.params, "ref"));
    const struct field *f;
    struct json_out o;
    struct buf b;

    if (!t) {
        send_field_error(r, "ref", "names no prompt and no resource template of this profile");
        return;
    }
    f = find_field(t, json_str(json_get(argument, "name"), &r->a));
    if (!f || !value.p) {
        send_field_error(r, "argument", "needs a name, one of the row's, and a value, a string");
        return;
    }
    o = open_result(r, &b);
    json_put_key(&o, "completion");
    json_obj(&o);
    put_values(r, &o, t, f->name, value);
    json_obj_end(&o);
    send_result(r, &b, &o);
}
