/* prompts.c: the suites' prompts. */
#include "fixtures.h"

static void run_simple(struct call *c)
{
    answer(c, JSON({
               "messages" : [ {
                   "role" : "user",
                   "content" : { "type" : "text", "text" : "This is a simple prompt for testing." }
               } ]
           }));
}

static void run_arguments(struct call *c)
{
    answer(c, JSON({
               "messages" : [ {
                   "role" : "user",
                   "content" :
                       { "type" : "text", "text" : "Prompt with arguments: arg1='%s', arg2='%s'" }
               } ]
           }),
           escaped(c, arg_str(c, "arg1")), escaped(c, arg_str(c, "arg2")));
}

static void run_embedded(struct call *c)
{
    answer(
        c, JSON({
            "messages" : [
                {
                    "role" : "user",
                    "content" : {
                        "type" : "resource",
                        "resource" : {
                            "uri" : "%s",
                            "mimeType" : "text/plain",
                            "text" : "Embedded resource content for testing."
                        }
                    }
                },
                {
                    "role" : "user",
                    "content" :
                        { "type" : "text", "text" : "Please process the embedded resource above." }
                }
            ]
        }),
        escaped(c, arg_str(c, "resourceUri")));
}

static void run_image(struct call *c)
{
    answer(c, JSON({
               "messages" : [
                   {
                       "role" : "user",
                       "content" : { "type" : "image", "data" : "%s", "mimeType" : "image/png" }
                   },
                   {
                       "role" : "user",
                       "content" : { "type" : "text", "text" : "Please analyze the image above." }
                   }
               ]
           }),
           PIXEL);
}

/* --- a prompt that asks the user first --- */

static void with_context(struct call *c)
{
    struct str context;

    if (!answers_fine(c))
        return;
    context = json_str(json_get(json_get(c->asks[0].answer, "content"), "context"), &c->a);
    answer(c, JSON({
               "messages" : [ {
                   "role" : "user",
                   "content" : { "type" : "text", "text" : "Prompt with context: %s" }
               } ]
           }),
           escaped(c, context));
}

static void run_asking(struct call *c)
{
    struct ask *a = arena_zalloc(&c->a, sizeof *a);

    a->key = "user_context";
    a->method = "elicitation/create";
    a->params = STR(JSON({
        "message" : "What context should the prompt use?",
        "requestedSchema" : {
            "type" : "object",
            "properties" : { "context" : { "type" : "string" } },
            "required" : ["context"]
        }
    }));
    call_ask(c, a, 1, with_context);
}

static void complete(const char *field, struct str typed, struct json_out *values)
{
    static const char *const known[] = { "test", "testing", "tested", "other", NULL };

    (void)field;
    for (const char *const *k = known; *k; k++)
        if (typed.n <= strlen(*k) && memcmp(*k, typed.p, typed.n) == 0)
            json_put_strz(values, *k);
}

static const struct field two_fields[] = {
    { "arg1", F_STR, .required = true, .text = "first test argument" },
    { "arg2", F_STR, .required = true, .text = "second test argument" },
    { 0 },
};

static const struct field embedded_fields[] = {
    { "resourceUri", F_STR, .required = true, .text = "URI of the resource to embed" },
    { 0 },
};

const struct tool fixture_prompts[] = {
    { .name = "test_simple_prompt", .text = "A text.", .fields = no_fields, .run = run_simple },
    { .name = "test_prompt_with_arguments",
      .text = "A text with two arguments in it.",
      .fields = two_fields,
      .complete = complete,
      .run = run_arguments },
    { .name = "test_prompt_with_embedded_resource",
      .text = "A resource and a text.",
      .fields = embedded_fields,
      .run = run_embedded },
    { .name = "test_prompt_with_image",
      .text = "An image and a text.",
      .fields = no_fields,
      .run = run_image },
    { .name = "test_input_required_result_prompt",
      .text = "Asks the user for its context.",
      .fields = no_fields,
      .asks = true,
      .run = run_asking },
    { 0 },
};
