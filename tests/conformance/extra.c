/* extra.c: rows that no suite asks for; our own transcripts and cuts do.
 *
 * They are in the profiles `talk` and `pages`, not in `conformance`, whose list
 * is the suites'. */
#include "fixtures.h"

/* --- one message of every level --- */

static void run_levels(struct call *c)
{
    for (int level = SAY_DEBUG; level < SAY_NOTHING; level++)
        call_say(c, (enum say_level)level, "levels", STR("\"said\""));
    answer_text(c, "Eight messages were logged.");
}

/* --- many long messages, one after the other --- */

struct flood {
    struct timer *timer;
    long left;
    struct str data;
};

static void stop_flood(struct call *c)
{
    struct flood *f = c->op;

    timer_cancel(f->timer);
    call_done(c);
}

static void on_flood(void *arg)
{
    struct call *c = arg;
    struct flood *f = c->op;

    f->timer = NULL;
    call_say(c, SAY_INFO, NULL, f->data);
    if (--f->left == 0) {
        c->on_cancel = NULL;
        answer_text(c, "All is said.");
        return;
    }
    f->timer = timer_start(c->site->loop, (uint64_t)arg_int(c, "pause_ms"), on_flood, c);
}

static void run_flood(struct call *c)
{
    struct flood *f = arena_zalloc(&c->a, sizeof *f);
    size_t n = (size_t)arg_int(c, "bytes");
    char *data = arena_alloc(&c->a, n + 2);

    memset(data, 'x', n + 2);
    data[0] = data[n + 1] = '"';
    *f = (struct flood){ NULL, arg_int(c, "count"), { data, n + 2 } };
    c->op = f;
    c->on_cancel = stop_flood;
    f->timer = timer_start(c->site->loop, 0, on_flood, c);
}

static const struct field flood_fields[] = {
    { "count", F_INT, .min = 1, .max = 100000, .def = 10, .text = "how many messages" },
    { "bytes", F_INT, .min = 1, .max = 60000, .def = 100, .text = "of each" },
    { "pause_ms", F_INT, .min = 1, .max = 10000, .def = 10, .text = "between two" },
    { 0 },
};

/* --- a resource that changed --- */

static void run_update(struct call *c)
{
    const char *uri = escaped(c, arg_str(c, "uri"));

    call_changed(c, "notifications/resources/updated",
                 str_of(arena_printf(&c->a, JSON({ "uri" : "%s" }), uri)));
    answer_text(c, "Who subscribed was told.");
}

static const struct field update_fields[] = {
    { "uri", F_STR, .required = true, .text = "which" },
    { 0 },
};

/* --- a question that leads elsewhere --- */

static void tell(struct call *c)
{
    struct str raw;

    if (!answers_fine(c))
        return;
    raw = json_raw(c->asks[0].answer);
    answer_text(c, "Answered: %.*s", (int)raw.n, raw.p);
}

static void run_ask_url(struct call *c)
{
    struct ask *a = arena_zalloc(&c->a, sizeof *a);

    *a = (struct ask){ .key = "visit",
                       .method = "elicitation/create",
                       /* as json/write.h writes it, without spaces */
                       .params = STR("{\"mode\":\"url\",\"message\":\"Please sign in\","
                                     "\"url\":\"https://example.com/sign-in\","
                                     "\"elicitationId\":\"e1\"}") };
    call_ask(c, a, 1, tell);
}

static void run_ping(struct call *c)
{
    struct ask *a = arena_zalloc(&c->a, sizeof *a);

    *a = (struct ask){ .key = "there", .method = "ping" };
    call_ask(c, a, 1, tell);
}

const struct tool extra_tools[] = {
    { .name = "test_levels",
      .text = "Logs one message of every level.",
      .fields = no_fields,
      .run = run_levels },
    { .name = "test_flood",
      .text = "Logs many long messages.",
      .fields = flood_fields,
      .run = run_flood },
    { .name = "test_resource_update",
      .text = "Says that a resource changed.",
      .effects = WRITES,
      .fields = update_fields,
      .run = run_update },
    { .name = "test_ask_url",
      .text = "Asks the user to visit a page.",
      .fields = no_fields,
      .asks = true,
      .run = run_ask_url },
    { .name = "test_ping",
      .text = "Asks the client whether it is there.",
      .fields = no_fields,
      .asks = true,
      .run = run_ping },
    { 0 },
};
