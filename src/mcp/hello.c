/* hello.c: who we are, and what a client may ask of us. */
#include "mcp/req.h"
#include "tools/health.h"

/* Does any row of the profile know values for what is typed? */
static bool completes(const struct registry *reg, const struct profile *p)
{
    for (const char *const *n = p->prompts; n && *n; n++) {
        const struct tool *t = registry_prompt(reg, p, str_of(*n));

        if (t && t->complete)
            return true;
    }
    for (const char *const *n = p->resources; n && *n; n++)
        for (const struct resource *const *t = reg->resources; *t; t++)
            if ((*t)->row.complete && strcmp((*t)->row.name, *n) == 0)
                return true;
    return false;
}

static void put_capability(struct json_out *o, const char *name, bool subscribe)
{
    json_put_key(o, name);
    json_obj(o);
    if (subscribe)
        json_kv_bool(o, "subscribe", true);
    json_kv_bool(o, "listChanged", true);
    json_obj_end(o);
}

static void put_capabilities(struct req *r, struct json_out *o)
{
    const struct profile *p = r->in->profile;

    json_put_key(o, "capabilities");
    json_obj(o);
    if (p->sessions) {
        json_kv_raw(o, "logging", STR("{}"));
        put_capability(o, "tools", false);
    } else {
        json_kv_raw(o, "tools", STR("{\"listChanged\":false}"));
    }
    if (p->prompts)
        put_capability(o, "prompts", false);
    if (p->resources)
        put_capability(o, "resources", true);
    if (completes(r->mcp->registry, p))
        json_kv_raw(o, "completions", STR("{}"));
    json_obj_end(o);
}

static bool has_object(struct json v, const char *key)
{
    return json_type(json_get(v, key)) == JSON_OBJ;
}

/* "elicitation": {} means forms, as it did before there was another way. */
unsigned abilities_of(struct json caps)
{
    struct json elicit = json_get(caps, "elicitation");
    bool url = has_object(elicit, "url");
    bool form = json_type(elicit) == JSON_OBJ && (!url || has_object(elicit, "form"));

    return (has_object(caps, "sampling") ? CLIENT_SAMPLES : 0u) |
           (has_object(caps, "roots") ? CLIENT_HAS_ROOTS : 0u) | (form ? CLIENT_ELICITS : 0u) |
           (url ? CLIENT_ELICITS_URL : 0u);
}

static size_t check_initialize(struct req *r, struct field_error *errors)
{
    struct json info = json_get(r->msg.params, "clientInfo");
    struct json caps = json_get(r->msg.params, "capabilities");
    size_t n = 0;

    if (json_type(json_get(r->msg.params, "protocolVersion")) != JSON_STR)
        errors[n++] = (struct field_error){ "protocolVersion", "is required, a string" };
    if (json_type(info) && json_type(info) != JSON_OBJ)
        errors[n++] = (struct field_error){ "clientInfo", "must be an object" };
    else if (json_type(info) && json_type(json_get(info, "name")) != JSON_STR)
        errors[n++] = (struct field_error){ "clientInfo.name", "is required, a string" };
    if (json_type(caps) && json_type(caps) != JSON_OBJ)
        errors[n++] = (struct field_error){ "capabilities", "must be an object" };
    return n;
}

void do_initialize(struct req *r)
{
    const struct profile *p = r->in->profile;
    struct field_error errors[4];
    size_t n = check_initialize(r, errors);
    struct client *client;
    struct json_out o;
    struct buf b;

    if (n > 0) {
        send_field_errors(r, NULL, errors, n);
        return;
    }
    client = r->in->out->ops->welcome(r->in->out);
    if (!client) {
        send_error(r, -32603, "too many sessions; try again later", (struct str){ 0 }, false);
        return;
    }
    client->version = era_agree(json_str(json_get(r->msg.params, "protocolVersion"), &r->a));
    client->can = abilities_of(json_get(r->msg.params, "capabilities"));
    client->say_from = p->sessions ? SAY_INFO : SAY_NOTHING;
    o = open_result(r, &b);
    json_kv_strz(&o, "protocolVersion", client->version);
    put_capabilities(r, &o);
    json_put_key(&o, "serverInfo");
    put_server_info(&o, p);
    if (p->instructions)
        json_kv_strz(&o, "instructions", p->instructions);
    if (p->answer == ANSWER_JEEVES)
        json_kv_raw(&o, "jeeves", STR("{\"schemaVersion\":1}"));
    send_result(r, &b, &o);
}

void do_discover(struct req *r)
{
    struct json_out o;
    struct buf b;

    o = open_result(r, &b);
    json_put_key(&o, "supportedVersions");
    era_versions(&o);
    put_capabilities(r, &o);
    if (r->in->profile->instructions)
        json_kv_strz(&o, "instructions", r->in->profile->instructions);
    put_cache(r, &o);
    send_result(r, &b, &o);
}

void do_ping(struct req *r)
{
    send_empty(r);
}

/* Seed 001's health as a method, from before it was a tool. */
void do_health(struct req *r)
{
    struct result facts = { .a = &r->a };
    struct json_out o;
    struct buf b;

    if (r->in->profile->answer != ANSWER_PRUNER) {
        no_method(r);
        return;
    }
    health_facts(&facts);
    o = open_result(r, &b);
    for (const struct entry *e = facts.first; e; e = e->next)
        json_kv_raw(&o, e->name, e->json);
    send_result(r, &b, &o);
}

void do_set_level(struct req *r)
{
    enum say_level level = say_level_of(json_str(json_get(r->msg.params, "level"), &r->a));

    if (level == SAY_NOTHING) {
        send_field_error(r, "level",
                         "must be debug, info, notice, warning, error, critical, alert or "
                         "emergency");
        return;
    }
    r->in->client->say_from = level;
    send_empty(r);
}
