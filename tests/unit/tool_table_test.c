/* tool_table_test.c: what holds for every row, whatever the tool. */
#include "test.h"
#include "call/args.h"
#include "registry/registry.h"
#include "tools/table.h"

static struct site site;
static const struct tool *const no_prompts[] = { NULL };
static const struct resource *const no_resources[] = { NULL };
static const struct registry registry = { tool_table, no_prompts, no_resources, profile_table };

/* Check arguments given as JSON text; gives the number of field errors. */
static size_t check(const struct tool *t, enum answer answer, const char *json, char *fields,
                    size_t room)
{
    struct call *c = call_new(&site, t, &site.root, answer);
    const struct field_error *errors;
    struct arena a = { 0 };
    struct json_doc d;
    size_t count = 0;

    fields[0] = 0;
    CHECK(json_parse(&d, &a, str_of(json), NULL));
    call_args(c, json_root(&d), &errors, &count);
    for (size_t i = 0; i < count; i++) {
        strncat(fields, errors[i].field, room - strlen(fields) - 2);
        strcat(fields, " ");
    }
    call_free(c);
    arena_done(&a);
    return count;
}

static const struct tool *tool(const char *name)
{
    for (const struct tool *const *t = tool_table; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

static void rows_have_text(void)
{
    for (const struct tool *const *t = tool_table; *t; t++) {
        CHECK((*t)->name && (*t)->text && (*t)->fields && (*t)->run);
        CHECK((*t)->nouns && (*t)->nouns->noun && (*t)->nouns->action);
        for (const struct field *f = (*t)->fields; f->name; f++)
            CHECK(f->text && strlen(f->text) > 3);
        for (const struct tool *const *u = t + 1; *u; u++)
            CHECK(strcmp((*t)->name, (*u)->name) != 0);
    }
}

static void listings_are_json(void)
{
    static const char *const names[] = { "focus", "jeeves", "pruner", NULL };

    for (size_t i = 0; names[i]; i++) {
        const struct profile *p = profile_find(&registry, str_of(names[i]));
        struct arena a = { 0 };
        struct json_doc d;
        struct buf b;
        struct json_out o = json_out(&b);
        size_t want = 0;

        buf_init(&b, 1 << 20);
        registry_list(&registry, p, LIST_TOOLS, 0, &o);
        CHECK(json_parse(&d, &a, buf_str(&b), NULL));
        CHECK(!d.duplicate_keys);
        while (p->tools[want])
            want++;
        CHECK(json_count(json_root(&d)) == want);
        for (struct json t = json_first(json_root(&d)); json_type(t); t = json_next(t)) {
            struct json schema = json_get(t, "inputSchema");

            CHECK(str_is(json_str(json_get(schema, "type"), &a), "object"));
            CHECK(json_type(json_get(schema, "properties")) == JSON_OBJ);
        }
        buf_done(&b);
        arena_done(&a);
    }
}

static void missing_fields(void)
{
    char fields[2048];

    for (const struct tool *const *t = tool_table; *t; t++) {
        size_t required = 0;

        for (const struct field *f = (*t)->fields; f->name; f++)
            required += f->required && field_shown(f, ANSWER_JEEVES);
        CHECK(check(*t, ANSWER_JEEVES, "{}", fields, sizeof fields) == required);
        for (const struct field *f = (*t)->fields; f->name; f++)
            CHECK(!f->required || strstr(fields, f->name));
    }
}

static void wrong_types(void)
{
    char fields[2048], json[200];

    for (const struct tool *const *t = tool_table; *t; t++)
        for (const struct field *f = (*t)->fields; f->name; f++) {
            snprintf(json, sizeof json, "{\"%s\":%s}", f->name, f->type == F_BOOL ? "1" : "null");
            check(*t, f->answers == 1u << ANSWER_PLAIN ? ANSWER_PLAIN : ANSWER_JEEVES, json, fields,
                  sizeof fields);
            CHECK(strstr(fields, f->name) != NULL);
        }
}

static void all_at_once(void)
{
    char fields[2048];

    CHECK(check(tool("bash"), ANSWER_JEEVES,
                "{\"cmd\":\"\",\"cwd\":\"../x\",\"env\":{\"LD_PRELOAD\":\"x\",\"lower\":\"y\","
                "\"N\":3},\"timeout_ms\":99,\"context_focus_question\":\" \\t\"}",
                fields, sizeof fields) == 7);
    CHECK_STR(fields, "cmd cwd env.LD_PRELOAD env.lower env.N timeout_ms context_focus_question ");
}

static void ranges(void)
{
    const struct tool *t = tool("grep");
    char fields[2048];

#define GREP(more) check(t, ANSWER_JEEVES, "{\"pattern\":\"x\"," more "}", fields, sizeof fields)
    CHECK(GREP("\"paths\":[\".\"],\"max_matches\":1") == 0);
    CHECK(GREP("\"paths\":[\".\"],\"max_matches\":5000.0") == 0);
    CHECK(GREP("\"paths\":[\".\"],\"max_matches\":5001") == 1);
    CHECK(GREP("\"paths\":[\".\"],\"max_matches\":0") == 1);
    CHECK(GREP("\"paths\":[\".\"],\"max_matches\":1.5") == 1);
    CHECK(GREP("\"paths\":[\".\"],\"max_matches\":1e99") == 1);
    CHECK(GREP("\"paths\":[]") == 1);
    CHECK(GREP("\"paths\":[\"\"]") == 1);
    CHECK(GREP("\"paths\":[\"a\",3,\"/etc\"]") == 2);
    CHECK_STR(fields, "paths[1] paths[2] ");
    CHECK(GREP("\"paths\":[\"a\\u0000b\"]") == 1);
}

static void unknown_arguments(void)
{
    char fields[2048];

    CHECK(check(tool("read"), ANSWER_PLAIN, "{\"path\":\"a\",\"offset\":3}", fields,
                sizeof fields) == 1);
    CHECK_STR(fields, "offset ");
    CHECK(check(tool("read"), ANSWER_JEEVES, "{\"path\":\"a\",\"offset\":3}", fields,
                sizeof fields) == 0);
}

int main(void)
{
    CHECK(root_open(&site.root, "/tmp", true, NULL));
    TEST("every row has a text, fields with texts, a noun and a handler", rows_have_text);
    TEST("every profile lists its tools with valid schemas", listings_are_json);
    TEST("every row refuses a missing field by name", missing_fields);
    TEST("every field refuses a value of a wrong type", wrong_types);
    TEST("all failing fields are reported together", all_at_once);
    TEST("ranges and counts are checked", ranges);
    TEST("an unknown argument is refused, but not in jeeves", unknown_arguments);
    root_done(&site.root);
    return test_end();
}
