/* resources.c: the suites' resources and their one template. */
#include "fixtures.h"

static void run_text(struct call *c)
{
    answer(c, JSON({
               "contents" : [ {
                   "uri" : "test://static-text",
                   "mimeType" : "text/plain",
                   "text" : "This is the content of the static text resource."
               } ]
           }));
}

static void run_binary(struct call *c)
{
    answer(c, JSON({
               "contents" :
                   [ { "uri" : "test://static-binary", "mimeType" : "image/png", "blob" : "%s" } ]
           }),
           PIXEL);
}

static void run_watched(struct call *c)
{
    answer(c, JSON({
               "contents" : [ {
                   "uri" : "test://watched-resource",
                   "mimeType" : "text/plain",
                   "text" : "Somebody may want to know when this changes."
               } ]
           }));
}

/* The content is JSON itself, so the id is escaped twice. */
static void run_template(struct call *c)
{
    const char *id = escaped(c, arg_str(c, "id"));
    const char *text = arena_printf(
        &c->a, JSON({ "id" : "%s", "templateTest" : true, "data" : "Data for ID: %s" }), id, id);

    answer(
        c,
        JSON({ "contents" : [ { "uri" : "%s", "mimeType" : "application/json", "text" : "%s" } ] }),
        escaped(c, c->uri), escaped(c, str_of(text)));
}

static const struct field template_fields[] = {
    { "id", F_STR, .required = true, .text = "any" },
    { 0 },
};

const struct resource fixture_resources[] = {
    { .row = { .name = "static-text", .text = "A text.", .fields = no_fields, .run = run_text },
      .uri = "test://static-text",
      .mime = "text/plain" },
    { .row = { .name = "static-binary",
               .text = "An image.",
               .fields = no_fields,
               .run = run_binary },
      .uri = "test://static-binary",
      .mime = "image/png" },
    { .row = { .name = "watched-resource",
               .text = "A text that can be subscribed to.",
               .fields = no_fields,
               .run = run_watched },
      .uri = "test://watched-resource",
      .mime = "text/plain" },
    { .row = { .name = "template",
               .text = "Data by its id.",
               .fields = template_fields,
               .run = run_template },
      .uri = "test://template/{id}/data",
      .template = true,
      .mime = "application/json" },
    { .uri = NULL },
};
