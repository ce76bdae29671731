/* profile.c: the named views, and rows found by name. */
#include "registry/registry.h"

static const char *const focus_tools[] = { "read", "bash", "grep", "recover_text", NULL };
static const char *const jeeves_tools[] = { "read", "bash", "grep", NULL };
static const char *const pruner_tools[] = { "prune_text", "recover_text", "health", NULL };
static const char *const nothing[] = { NULL }; /* seed 001: lists that are there, and empty */

static const char focus_help[] =
    "Files, shell and search below one folder. Give context_focus_question when you want only "
    "the part of a long output that answers a question: lines come back numbered, ~33 stands for "
    "33 left out. Whatever an answer leaves out, recover_text brings back by the id it names.";

static const char pruner_help[] =
    "prune_text keeps the lines of a text that matter for goal_hint; recover_text brings back the "
    "others by prune_id and line numbers.";

const struct profile profile_table[] = {
    { "default", ANSWER_PLAIN, true, true, "pith", focus_help, focus_tools, .port = 7717 },
    { "focus", ANSWER_PLAIN, true, true, "pith", focus_help, focus_tools, .port = 7717 },
    { "jeeves", ANSWER_JEEVES, true, false, "@jeeves/mcp-pruner", NULL, jeeves_tools, .port = 0 },
    { "pruner", ANSWER_PRUNER, false, true, "mcp-pruner", pruner_help, pruner_tools, nothing,
      nothing, .port = 8006 },
    { 0 },
};

const struct profile *profile_find(const struct registry *r, struct str name)
{
    if (name.n == 0)
        return r->profiles;
    for (const struct profile *p = r->profiles; p->name; p++)
        if (str_is(name, p->name))
            return p;
    return NULL;
}

void profile_names(const struct registry *r, struct buf *out)
{
    for (const struct profile *p = r->profiles; p->name; p++)
        buf_addf(out, "%s%s", p == r->profiles ? "" : ", ", p->name);
}

static bool has_name(const char *const *names, struct str name)
{
    for (; names && *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

static const struct tool *find_row(const struct tool *const *table, struct str name)
{
    for (; *table; table++)
        if (str_is(name, (*table)->name) || ((*table)->alias && str_is(name, (*table)->alias)))
            return *table;
    return NULL;
}

const struct tool *registry_find(const struct registry *r, const struct profile *p, struct str name)
{
    const struct tool *t = find_row(r->tools, name);

    return t && has_name(p->tools, str_of(t->name)) ? t : NULL;
}

const struct tool *registry_prompt(const struct registry *r, const struct profile *p,
                                   struct str name)
{
    return has_name(p->prompts, name) ? find_row(r->prompts, name) : NULL;
}

/* Does the URI fit the template? Variables ({name}, up to the text behind them
 * and never a slash) go to vars. */
static bool fits(const char *template, struct str uri, struct json_out *vars)
{
    const char *t = template, *u = uri.p, *end = uri.p + uri.n;

    while (*t) {
        const char *close, *stop = u;
        char name[64];
        size_t n;

        if (*t != '{') {
            if (u == end || *t++ != *u++)
                return false;
            continue;
        }
        close = strchr(t, '}');
        n = close ? (size_t)(close - t - 1) : 0;
        if (n == 0 || n >= sizeof name)
            return false;
        memcpy(name, t + 1, n);
        name[n] = 0;
        t = close + 1;
        while (stop < end && *stop != '/' && (*t == 0 || *stop != *t))
            stop++;
        if (stop == u)
            return false;
        json_kv_str(vars, name, (struct str){ u, (size_t)(stop - u) });
        u = stop;
    }
    return u == end;
}

static bool resource_is(const struct resource *res, struct str uri, struct arena *a,
                        struct str *vars)
{
    struct buf b;
    struct json_out o = json_out(&b);
    bool ok;

    *vars = STR("{}");
    if (!res->template)
        return str_is(uri, res->uri);
    buf_init(&b, 6 * uri.n + 4096);
    json_obj(&o);
    ok = fits(res->uri, uri, &o);
    json_obj_end(&o);
    if (ok)
        *vars = arena_str(a, buf_str(&b));
    buf_done(&b);
    return ok;
}

const struct resource *registry_resource(const struct registry *r, const struct profile *p,
                                         struct str uri, struct arena *a, struct str *vars)
{
    for (const struct resource *const *t = r->resources; *t; t++)
        if (has_name(p->resources, str_of((*t)->row.name)) && resource_is(*t, uri, a, vars))
            return *t;
    return NULL;
}
