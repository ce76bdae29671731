/* asking.c: tools that ask the client before they answer.
 *
 * What each asks is a row of `questions`; most tools ask all theirs at once and
 * answer with what came back. The same handlers serve both eras: with a session
 * the question travels to the client while the call waits, without one the call
 * is made again with the answers in it. */
#include "fixtures.h"

#define SAMPLE "sampling/createMessage"
#define ELICIT "elicitation/create"
#define ROOTS  "roots/list"

enum { MAX_ASKS = 4 };

struct question {
    const char *tool, *key, *method;
    const char *params; /* JSON; %s: the argument of a tool that has one */
};

static const char name_form[] = JSON({
    "message" : "What is your name?",
    "requestedSchema" : {
        "type" : "object",
        "properties" : { "name" : { "type" : "string" } },
        "required" : ["name"]
    }
});

static const char confirm_form[] = JSON({
    "message" : "Please confirm",
    "requestedSchema" :
        { "type" : "object", "properties" : { "ok" : { "type" : "boolean" } }, "required" : ["ok"] }
});

static const char greeting[] = JSON({
    "messages" :
        [ { "role" : "user", "content" : { "type" : "text", "text" : "Generate a greeting" } } ],
    "maxTokens" : 50
});

static const struct question questions[] = {
    { "test_sampling", "sample", SAMPLE, JSON({
          "messages" : [ { "role" : "user", "content" : { "type" : "text", "text" : "%s" } } ],
          "maxTokens" : 100
      }) },
    { "test_elicitation", "user", ELICIT, JSON({
          "message" : "%s",
          "requestedSchema" : {
              "type" : "object",
              "properties" : {
                  "username" : { "type" : "string", "description" : "User's response" },
                  "email" : { "type" : "string", "description" : "User's email address" }
              },
              "required" : [ "username", "email" ]
          }
      }) },
    { "test_elicitation_sep1034_defaults", "user", ELICIT, JSON({
          "message" : "Please look at these defaults",
          "requestedSchema" : {
              "type" : "object",
              "properties" : {
                  "name" : { "type" : "string", "default" : "John Doe" },
                  "age" : { "type" : "integer", "default" : 30 },
                  "score" : { "type" : "number", "default" : 95.5 },
                  "status" : {
                      "type" : "string",
                      "enum" : [ "active", "inactive", "pending" ],
                      "default" : "active"
                  },
                  "verified" : { "type" : "boolean", "default" : true }
              },
              "required" : []
          }
      }) },
    { "test_elicitation_sep1330_enums", "user", ELICIT, JSON({
          "message" : "Please choose",
          "requestedSchema" : {
              "type" : "object",
              "properties" : {
                  "untitledSingle" :
                      { "type" : "string", "enum" : [ "option1", "option2", "option3" ] },
                  "titledSingle" : {
                      "type" : "string",
                      "oneOf" : [
                          { "const" : "value1", "title" : "First Option" },
                          { "const" : "value2", "title" : "Second Option" },
                          { "const" : "value3", "title" : "Third Option" }
                      ]
                  },
                  "legacyEnum" : {
                      "type" : "string",
                      "enum" : [ "opt1", "opt2", "opt3" ],
                      "enumNames" : [ "Option One", "Option Two", "Option Three" ]
                  },
                  "untitledMulti" : {
                      "type" : "array",
                      "items" : { "type" : "string", "enum" : [ "option1", "option2", "option3" ] }
                  },
                  "titledMulti" : {
                      "type" : "array",
                      "items" : {
                          "anyOf" : [
                              { "const" : "value1", "title" : "First Choice" },
                              { "const" : "value2", "title" : "Second Choice" },
                              { "const" : "value3", "title" : "Third Choice" }
                          ]
                      }
                  }
              },
              "required" : []
          }
      }) },
    { "test_input_required_result_elicitation", "user_name", ELICIT, name_form },
    { "test_input_required_result_sampling", "capital_question", SAMPLE, JSON({
          "messages" : [ {
              "role" : "user",
              "content" : { "type" : "text", "text" : "What is the capital of France?" }
          } ],
          "maxTokens" : 100
      }) },
    { "test_input_required_result_list_roots", "client_roots", ROOTS, "{}" },
    { "test_input_required_result_request_state", "confirm", ELICIT, confirm_form },
    { "test_input_required_result_tampered_state", "confirm", ELICIT, confirm_form },
    { "test_input_required_result_multiple_inputs", "user_name", ELICIT, name_form },
    { "test_input_required_result_multiple_inputs", "greeting", SAMPLE, greeting },
    { "test_input_required_result_multiple_inputs", "client_roots", ROOTS, "{}" },
    { "test_input_required_result_multi_round", "step1", ELICIT, JSON({
          "message" : "Step 1: What is your name?",
          "requestedSchema" : {
              "type" : "object",
              "properties" : { "name" : { "type" : "string" } },
              "required" : ["name"]
          }
      }) },
    { "test_input_required_result_multi_round", "step2", ELICIT, JSON({
          "message" : "Step 2: What is your favorite color?",
          "requestedSchema" : {
              "type" : "object",
              "properties" : { "color" : { "type" : "string" } },
              "required" : ["color"]
          }
      }) },
    { "test_input_required_result_capabilities", "user_name", ELICIT, name_form },
    { "test_input_required_result_capabilities", "greeting", SAMPLE, greeting },
    { "test_missing_capability", "greeting", SAMPLE, greeting },
    { "test_streaming_elicitation", "user_name", ELICIT, name_form },
};

/* All answers, as they came. */
static void tell(struct call *c)
{
    struct buf b;

    if (!answers_fine(c))
        return;
    buf_init(&b, 1 << 15);
    for (size_t i = 0; i < c->ask_count; i++) {
        struct str raw = json_raw(c->asks[i].answer);

        buf_addf(&b, "%s%s: %.*s", i ? ", " : "", c->asks[i].key, (int)raw.n, raw.p);
    }
    answer_text(c, "Answers: %s", b.len ? b.data : "none that fit");
    buf_done(&b);
}

static struct ask make_ask(struct call *c, const struct question *q)
{
    const char *params = q->params, *argument = c->tool->fields->name;

    if (argument)
        params = arena_printf(&c->a, q->params, escaped(c, arg_str(c, argument)));
    return (struct ask){ .key = q->key, .method = q->method, .params = str_of(params) };
}

/* Ask what the table has for this tool: all of it, or (key) one question.
 * `able`: only what the client can be asked. */
static void ask(struct call *c, const char *key, bool able, void (*then)(struct call *c))
{
    struct ask *asks = arena_zalloc(&c->a, MAX_ASKS * sizeof *asks);
    size_t count = 0;

    for (size_t i = 0; i < sizeof questions / sizeof *questions && count < MAX_ASKS; i++) {
        const struct question *q = &questions[i];

        if (strcmp(q->tool, c->tool->name) != 0 || (key && strcmp(q->key, key) != 0))
            continue;
        if (!able || call_can_ask(c, q->method))
            asks[count++] = make_ask(c, q);
    }
    if (count == 0)
        answer_text(c, "This client can be asked nothing of it.");
    else
        call_ask(c, asks, count, then);
}

static void run_all(struct call *c)
{
    ask(c, NULL, false, tell);
}

static void run_able(struct call *c)
{
    ask(c, NULL, true, tell);
}

/* The second question of a call that keeps the first one's answer. */
static void tell_rounds(struct call *c)
{
    struct str step2;

    if (!answers_fine(c))
        return;
    step2 = json_raw(c->asks[0].answer);
    answer_text(c, "Answers: step1: %s, step2: %.*s", (char *)c->op, (int)step2.n, step2.p);
}

static void ask_step2(struct call *c)
{
    struct str step1;

    if (!answers_fine(c))
        return;
    step1 = json_raw(c->asks[0].answer);
    c->op = arena_printf(&c->a, "%.*s", (int)step1.n, step1.p);
    ask(c, "step2", false, tell_rounds);
}

static void run_rounds(struct call *c)
{
    ask(c, "step1", false, ask_step2);
}

static const struct field sampling_fields[] = {
    { "prompt", F_STR, .required = true, .text = "what to ask the model" },
    { 0 },
};

static const struct field elicitation_fields[] = {
    { "message", F_STR, .required = true, .text = "what to ask the user" },
    { 0 },
};

const struct tool asking_tools[] = {
    { .name = "test_sampling",
      .text = "Asks the client's model.",
      .fields = sampling_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_elicitation",
      .text = "Asks the user.",
      .fields = elicitation_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_elicitation_sep1034_defaults",
      .text = "Asks the user, with defaults.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_elicitation_sep1330_enums",
      .text = "Asks the user to choose.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_input_required_result_elicitation",
      .text = "Asks the user for a name.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_input_required_result_sampling",
      .text = "Asks the model for a capital.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_input_required_result_list_roots",
      .text = "Asks for the roots.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_input_required_result_request_state",
      .text = "Asks the user to confirm.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_input_required_result_tampered_state",
      .text = "Asks the user to confirm; for clients that change the state.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_input_required_result_multiple_inputs",
      .text = "Asks user, model and roots at once.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_input_required_result_multi_round",
      .text = "Asks the user twice, one after the other.",
      .fields = no_fields,
      .asks = true,
      .run = run_rounds },
    { .name = "test_input_required_result_capabilities",
      .text = "Asks user and model, where the client has them.",
      .fields = no_fields,
      .asks = true,
      .run = run_able },
    { .name = "test_missing_capability",
      .text = "Needs a model.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { .name = "test_streaming_elicitation",
      .text = "Asks the user; for clients that watch the stream.",
      .fields = no_fields,
      .asks = true,
      .run = run_all },
    { 0 },
};
