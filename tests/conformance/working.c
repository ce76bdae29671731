/* working.c: tools that take a moment and tell the client meanwhile. */
#include "fixtures.h"

enum { STEP_MS = 50 };

/* --- progress: 0, 50, 100 --- */

static void progress_done(struct call *c)
{
    call_progress(c, 100, 100, NULL);
    answer_text(c, "All steps are done.");
}

static void progress_half(struct call *c)
{
    call_progress(c, 50, 100, "halfway");
    go_on(c, STEP_MS, progress_done);
}

static void run_progress(struct call *c)
{
    call_progress(c, 0, 100, NULL);
    go_on(c, STEP_MS, progress_half);
}

/* --- log messages --- */

static void log_done(struct call *c)
{
    call_say(c, SAY_INFO, NULL, STR("\"Tool execution completed\""));
    answer_text(c, "Three messages were logged.");
}

static void log_half(struct call *c)
{
    call_say(c, SAY_INFO, NULL, STR("\"Tool processing data\""));
    go_on(c, STEP_MS, log_done);
}

static void run_logging(struct call *c)
{
    call_say(c, SAY_INFO, NULL, STR("\"Tool execution started\""));
    go_on(c, STEP_MS, log_half);
}

/* --- a stream that is closed before the answer --- */

static void reconnected(struct call *c)
{
    answer_text(c, "The answer came after the stream was closed.");
}

static void run_reconnection(struct call *c)
{
    call_let_go(c);
    go_on(c, 2 * STEP_MS, reconnected);
}

/* --- lists that others listen to. They are told of a change; the lists stay
 * as they are, so that calls in between see the same rows. --- */

static void run_tool_change(struct call *c)
{
    call_changed(c, "notifications/tools/list_changed", STR("{}"));
    answer_text(c, "Listeners were told that the tools changed.");
}

static void run_prompt_change(struct call *c)
{
    call_changed(c, "notifications/prompts/list_changed", STR("{}"));
    answer_text(c, "Listeners were told that the prompts changed.");
}

const struct tool working_tools[] = {
    { .name = "test_tool_with_progress",
      .text = "Reports its progress three times.",
      .fields = no_fields,
      .run = run_progress },
    { .name = "test_tool_with_logging",
      .text = "Logs three messages.",
      .fields = no_fields,
      .run = run_logging },
    { .name = "test_logging_tool",
      .text = "Logs too; for clients that want no messages.",
      .fields = no_fields,
      .run = run_logging },
    { .name = "test_reconnection",
      .text = "Closes its stream, then answers.",
      .fields = no_fields,
      .run = run_reconnection },
    { .name = "test_trigger_tool_change",
      .text = "Says that the list of tools changed.",
      .effects = WRITES,
      .fields = no_fields,
      .run = run_tool_change },
    { .name = "test_trigger_prompt_change",
      .text = "Says that the list of prompts changed.",
      .effects = WRITES,
      .fields = no_fields,
      .run = run_prompt_change },
    { 0 },
};
