/* listing.c: rows as JSON Schema for clients, and as text for people.
 *
 * The listing is read by a model on every turn, so it holds what a model acts
 * on and no defaults: an annotation that says what a client assumes anyway is
 * left out. The order is fixed, for prompt caches. */
#include "call/args.h"
#include "registry/registry.h"

enum { PAGE = 100, MAX_CHARS = 500000 };

static const char env_name[] = "^[A-Z_][A-Z0-9_]*$";

static void put_range(struct json_out *o, const char *low, const char *high, long min, long max)
{
    if (min > 0)
        json_kv_int(o, low, min);
    if (max > 0)
        json_kv_int(o, high, max);
}

static void put_field(struct json_out *o, const struct field *f)
{
    json_put_key(o, f->name);
    json_obj(o);
    switch (f->type) {
    case F_STR:
        json_kv_strz(o, "type", "string");
        if (f->only) {
            json_put_key(o, "enum");
            json_arr(o);
            json_put_strz(o, f->only);
            json_arr_end(o);
        }
        put_range(o, "minLength", "maxLength", f->min, f->max);
        if (f->def_str)
            json_kv_strz(o, "default", f->def_str);
        break;
    case F_INT:
        json_kv_strz(o, "type", "integer");
        put_range(o, "minimum", "maximum", f->min, f->max);
        if (f->def)
            json_kv_int(o, "default", f->def);
        break;
    case F_BOOL:
        json_kv_strz(o, "type", "boolean");
        json_kv_bool(o, "default", f->def != 0);
        break;
    case F_STRS:
        json_kv_strz(o, "type", "array");
        json_kv_raw(o, "items", STR("{\"type\":\"string\"}"));
        put_range(o, "minItems", "maxItems", f->min, f->max);
        break;
    case F_MAP:
        json_kv_strz(o, "type", "object");
        json_kv_raw(o, "additionalProperties", STR("{\"type\":\"string\"}"));
        put_range(o, "minProperties", "maxProperties", f->min, f->max);
        if (f->rules & FIELD_ENV) {
            json_put_key(o, "propertyNames");
            json_obj(o);
            json_kv_strz(o, "pattern", env_name);
            json_obj_end(o);
        }
        break;
    }
    if (f->header)
        json_kv_strz(o, "x-mcp-header", f->header);
    if (f->text)
        json_kv_strz(o, "description", f->text);
    json_obj_end(o);
}

static void put_schema(struct json_out *o, const struct tool *t, enum answer answer)
{
    bool any = false;

    json_put_key(o, "inputSchema");
    json_obj(o);
    json_kv_strz(o, "type", "object");
    json_put_key(o, "properties");
    json_obj(o);
    for (const struct field *f = t->fields; f->name; f++) {
        if (!field_shown(f, answer))
            continue;
        put_field(o, f);
        any |= f->required;
    }
    json_obj_end(o);
    if (any) {
        json_put_key(o, "required");
        json_arr(o);
        for (const struct field *f = t->fields; f->name; f++)
            if (f->required && field_shown(f, answer))
                json_put_strz(o, f->name);
        json_arr_end(o);
    }
    json_obj_end(o);
}

/* A client assumes: not read-only, destructive, open to the world. */
static void put_annotations(struct json_out *o, const struct tool *t)
{
    bool reads = !(t->effects & (WRITES | DESTROYS));

    if (!reads && (t->effects & DESTROYS) && (t->effects & OUTSIDE))
        return;
    json_put_key(o, "annotations");
    json_obj(o);
    if (reads)
        json_kv_bool(o, "readOnlyHint", true);
    else if (!(t->effects & DESTROYS))
        json_kv_bool(o, "destructiveHint", false);
    if (!(t->effects & OUTSIDE))
        json_kv_bool(o, "openWorldHint", false);
    json_obj_end(o);
}

/* Claude hides tools behind a search unless told not to, and cuts answers at
 * 50,000 characters unless told that more may come. */
static void put_tool_meta(struct json_out *o, const struct tool *t, enum answer answer)
{
    bool long_answers = t->may_be_long && answer == ANSWER_JEEVES; /* plain ones have a ceiling */

    if (!t->always_load && !long_answers)
        return;
    json_put_key(o, "_meta");
    json_obj(o);
    if (t->always_load)
        json_kv_bool(o, "anthropic/alwaysLoad", true);
    if (long_answers)
        json_kv_int(o, "anthropic/maxResultSizeChars", MAX_CHARS);
    json_obj_end(o);
}

static void put_tool(struct json_out *o, const struct tool *t, enum answer answer)
{
    json_obj(o);
    json_kv_strz(o, "name", t->name);
    json_kv_strz(o, "description", t->text);
    if (schema_shown(t, answer))
        json_kv_raw(o, "inputSchema", str_of(t->schema));
    else
        put_schema(o, t, answer);
    put_annotations(o, t);
    put_tool_meta(o, t, answer);
    json_obj_end(o);
}

static void put_prompt(struct json_out *o, const struct tool *t)
{
    json_obj(o);
    json_kv_strz(o, "name", t->name);
    json_kv_strz(o, "description", t->text);
    if (t->fields->name) {
        json_put_key(o, "arguments");
        json_arr(o);
        for (const struct field *f = t->fields; f->name; f++) {
            json_obj(o);
            json_kv_strz(o, "name", f->name);
            json_kv_strz(o, "description", f->text);
            json_kv_bool(o, "required", f->required);
            json_obj_end(o);
        }
        json_arr_end(o);
    }
    json_obj_end(o);
}

static void put_resource(struct json_out *o, const struct resource *r)
{
    json_obj(o);
    json_kv_strz(o, r->template ? "uriTemplate" : "uri", r->uri);
    json_kv_strz(o, "name", r->row.name);
    json_kv_strz(o, "description", r->row.text);
    if (r->mime)
        json_kv_strz(o, "mimeType", r->mime);
    json_obj_end(o);
}

static const struct resource *resource_named(const struct registry *r, const char *name,
                                             bool template)
{
    for (const struct resource *const *t = r->resources; *t; t++)
        if (strcmp((*t)->row.name, name) == 0 && (*t)->template == template)
            return *t;
    return NULL;
}

static const char *const *names_of(const struct profile *p, enum listing what)
{
    static const char *const none[] = { NULL };
    const char *const *names = what == LIST_TOOLS     ? p->tools
                               : what == LIST_PROMPTS ? p->prompts
                                                      : p->resources;

    return names ? names : none;
}

/* Write the row of that name; o NULL: only look. False: it is not in this list. */
static bool put_row(const struct registry *r, const struct profile *p, enum listing what,
                    const char *name, struct json_out *o)
{
    const struct resource *res;
    const struct tool *t;

    if (what == LIST_TOOLS || what == LIST_PROMPTS) {
        t = what == LIST_TOOLS ? registry_find(r, p, str_of(name))
                               : registry_prompt(r, p, str_of(name));
        if (t && o && what == LIST_TOOLS)
            put_tool(o, t, p->answer);
        else if (t && o)
            put_prompt(o, t);
        return t != NULL;
    }
    res = resource_named(r, name, what == LIST_TEMPLATES);
    if (res && o)
        put_resource(o, res);
    return res != NULL;
}

size_t registry_count(const struct registry *r, const struct profile *p, enum listing what)
{
    size_t n = 0;

    for (const char *const *name = names_of(p, what); *name; name++)
        n += put_row(r, p, what, *name, NULL);
    return n;
}

size_t registry_list(const struct registry *r, const struct profile *p, enum listing what,
                     size_t from, struct json_out *o)
{
    size_t at = 0, to = from + (p->page ? p->page : PAGE), next = 0;

    json_arr(o);
    for (const char *const *name = names_of(p, what); *name && !next; name++) {
        if (!put_row(r, p, what, *name, at >= from && at < to ? o : NULL))
            continue;
        if (at == to)
            next = at;
        at++;
    }
    json_arr_end(o);
    return next;
}

static const char *type_name(const struct field *f)
{
    static const char *const names[] = { "string", "integer", "boolean", "strings", "map" };

    return names[f->type];
}

static void add_limits(struct buf *b, const struct field *f)
{
    if (f->only)
        buf_addf(b, "only `%s`", f->only);
    else if (f->type == F_INT)
        buf_addf(b, "%ld to %ld", f->min, f->max);
    else if (f->type == F_STR && f->max)
        buf_addf(b, "at most %ld characters", f->max);
    else if (f->max)
        buf_addf(b, "%ld to %ld entries", f->min, f->max);
    if (f->type == F_INT && f->def)
        buf_addf(b, ", default %ld", f->def);
    if (f->type == F_BOOL)
        buf_addf(b, "default %s", f->def ? "true" : "false");
}

static void add_where(struct buf *b, const struct field *f)
{
    if (f->answers == 1u << ANSWER_JEEVES)
        buf_adds(b, " (only in profile jeeves)");
    else if (f->answers == 1u << ANSWER_PLAIN)
        buf_adds(b, " (not in profile jeeves)");
}

void registry_markdown(const struct registry *r, struct buf *out)
{
    buf_adds(out, "# Tools\n\nMade by `pith tools --markdown` from the rows in src/tools/; `make "
                  "test` fails when it is stale.\n");
    for (const struct tool *const *table = r->tools; *table; table++) {
        const struct tool *t = *table;

        buf_addf(out, "\n## %s\n\n%s\n", t->name, t->text);
        if (t->fields->name)
            buf_adds(out, "\n| argument | type | limits | what |\n|---|---|---|---|\n");
        for (const struct field *f = t->fields; f->name; f++) {
            buf_addf(out, "| `%s`%s | %s | ", f->name, f->required ? " (required)" : "",
                     type_name(f));
            add_limits(out, f);
            buf_addf(out, " | %s", f->text ? f->text : "");
            add_where(out, f);
            buf_adds(out, " |\n");
        }
    }
}

void registry_help(const struct tool *t, enum answer answer, struct buf *out)
{
    buf_addf(out, "%s: %s\n", t->name, t->text);
    for (const struct field *f = t->fields; f->name; f++) {
        if (!field_shown(f, answer))
            continue;
        buf_addf(out, "  %-24s %s%s", f->name, f->text ? f->text : "",
                 f->required ? " (required; " : " (");
        buf_addf(out, "%s", type_name(f));
        if (f->only || f->max || f->type == F_BOOL) {
            buf_adds(out, ", ");
            add_limits(out, f);
        }
        buf_adds(out, ")\n");
    }
}
