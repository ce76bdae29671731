/* content.c: tools that answer at once, with each kind of content. */
#include "fixtures.h"

static void run_text(struct call *c)
{
    answer_text(c, "This is a simple text response for testing.");
}

static void run_image(struct call *c)
{
    answer(c,
           JSON({ "content" : [ { "type" : "image", "data" : "%s", "mimeType" : "image/png" } ] }),
           PIXEL);
}

static void run_audio(struct call *c)
{
    answer(c,
           JSON({ "content" : [ { "type" : "audio", "data" : "%s", "mimeType" : "audio/wav" } ] }),
           SILENCE);
}

static void run_embedded(struct call *c)
{
    answer(c, JSON({
               "content" : [ {
                   "type" : "resource",
                   "resource" : {
                       "uri" : "test://embedded-resource",
                       "mimeType" : "text/plain",
                       "text" : "This is an embedded resource content."
                   }
               } ]
           }));
}

static void run_mixed(struct call *c)
{
    answer(c, JSON({
               "content" : [
                   { "type" : "text", "text" : "Multiple content types test:" },
                   { "type" : "image", "data" : "%s", "mimeType" : "image/png" }, {
                       "type" : "resource",
                       "resource" : {
                           "uri" : "test://mixed-content-resource",
                           "mimeType" : "application/json",
                           "text" : "{\"test\":\"data\",\"value\":123}"
                       }
                   }
               ]
           }),
           PIXEL);
}

static void run_error(struct call *c)
{
    err_set(&c->err, ERR_INTERNAL, "This tool intentionally returns an error for testing");
    call_fail(c);
}

/* The arguments of a row with a schema come as they were sent. */
static void run_schema(struct call *c)
{
    answer_text(c, "Arguments: %.*s", (int)c->arguments.n, c->arguments.p);
}

static void run_header(struct call *c)
{
    answer_text(c, "Region: %s", arg_str(c, "region").p);
}

static const char schema_2020_12[] = JSON({
    "$schema" : "https://json-schema.org/draft/2020-12/schema",
    "type" : "object",
    "$defs" : {
        "address" : {
            "$anchor" : "addressDef",
            "type" : "object",
            "properties" : { "street" : { "type" : "string" }, "city" : { "type" : "string" } }
        }
    },
    "properties" : {
        "name" : { "type" : "string" },
        "address" : { "$ref" : "#/$defs/address" },
        "contactMethod" : { "type" : "string", "enum" : [ "phone", "email" ] },
        "phone" : { "type" : "string" },
        "email" : { "type" : "string" }
    },
    "allOf" : [ { "anyOf" : [ { "required" : ["phone"] }, { "required" : ["email"] } ] } ],
    "if" : {
        "properties" : { "contactMethod" : { "const" : "phone" } },
        "required" : ["contactMethod"]
    },
    "then" : { "required" : ["phone"] },
    "else" : { "required" : ["email"] },
    "additionalProperties" : false
});

static const struct field header_fields[] = {
    { "region", F_STR, .required = true, .header = "Region", .text = "repeated in a header" },
    { 0 },
};

/* The first of all is called without arguments (http-header-validation). */
const struct tool content_tools[] = {
    { .name = "test_simple_text", .text = "A text.", .fields = no_fields, .run = run_text },
    { .name = "test_image_content", .text = "An image.", .fields = no_fields, .run = run_image },
    { .name = "test_audio_content", .text = "A sound.", .fields = no_fields, .run = run_audio },
    { .name = "test_embedded_resource",
      .text = "A resource in the answer.",
      .fields = no_fields,
      .run = run_embedded },
    { .name = "test_multiple_content_types",
      .text = "A text, an image and a resource.",
      .fields = no_fields,
      .run = run_mixed },
    { .name = "test_error_handling", .text = "Fails.", .fields = no_fields, .run = run_error },
    { .name = "json_schema_2020_12_tool",
      .text = "Has an input schema with the keywords of 2020-12.",
      .fields = no_fields,
      .schema = schema_2020_12,
      .run = run_schema },
    { .name = "test_header_param",
      .text = "Has an argument that HTTP repeats in a header.",
      .fields = header_fields,
      .run = run_header },
    { 0 },
};
