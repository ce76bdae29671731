/* prune_text.c: seed 001's tool: a text, pruned to a goal, with every gap told.
 *
 * Fails open: whatever keeps it from pruning (a text too large, the deadline,
 * limits that cannot be kept, a store that cannot keep the text), the text
 * comes back whole with a warning that says so. */
#include <stdio.h>
#include "base/clock.h"
#include "base/utf8.h"
#include "call/cut.h"
#include "call/pruner.h"
#include "tokens/tokens.h"
#include "tools/check.h"
#include "tools/table.h"

/* A marker in French, with its id, is some 40 tokens; the caller asked for them
 * all the same, so only gaps of next to nothing are kept for its sake. */
enum { MARK_TOKENS = 4 };

struct pruning_text {
    struct prune_work work;
    struct prune_job job;
    bool numbers, marks;
    const char *warning; /* the text stays whole: why; NULL: it is pruned */
    size_t tokens_before, tokens_after;
    struct str pruned;      /* the text that goes out */
    struct str annotations; /* JSON */
    size_t kept;
    uint64_t started_ms;
};

/* --- the pruned text and its annotations, on the worker --- */

static void add_marker(struct buf *b, const struct prune_work *w, const struct prune_gap *g)
{
    buf_addf(b, "⟦PRUNÉ: prune_id=%s lignes %zu-%zu (%zu) raison=%s⟧", w->id, g->from, g->to,
             g->to - g->from + 1, prune_why(g->reason, true));
}

static void put_annotations(struct pruning_text *t, struct arena *a)
{
    const struct prune *p = &t->job.out;
    struct buf b, marker;
    struct json_out o = json_out(&b);

    buf_init(&b, 400 * p->gap_count + 64);
    buf_init(&marker, 400);
    json_arr(&o);
    for (size_t i = 0; i < p->gap_count; i++) {
        const struct prune_gap *g = &p->gaps[i];

        buf_clear(&marker);
        add_marker(&marker, &t->work, g);
        json_obj(&o);
        json_kv_strz(&o, "kind", "pruned_block");
        json_kv_int(&o, "original_start_line", (long long)g->from);
        json_kv_int(&o, "original_end_line", (long long)g->to);
        json_kv_int(&o, "pruned_line_count", (long long)(g->to - g->from + 1));
        json_kv_strz(&o, "reason", prune_why(g->reason, true));
        json_kv_str(&o, "marker", buf_str(&marker));
        json_obj_end(&o);
    }
    json_arr_end(&o);
    t->annotations = arena_str(a, buf_str(&b));
    buf_done(&marker);
    buf_done(&b);
}

/* Lines as they are, numbered if that was asked for, with markers between. */
static struct str put_text(const struct pruning_text *t, struct arena *a)
{
    const struct prune *p = &t->job.out;
    struct str text = t->job.text, s;
    size_t at = 0, gap = 0;
    struct buf b;

    buf_init(&b, text.n + 24 * p->lines + 400 * p->gap_count + 64);
    for (size_t n = 1; at < text.n; n++) {
        const char *nl = memchr(text.p + at, '\n', text.n - at);
        size_t len = nl ? (size_t)(nl - text.p) + 1 - at : text.n - at;

        if (gap < p->gap_count && n >= p->gaps[gap].from) {
            if (n == p->gaps[gap].to) {
                if (t->marks) {
                    add_marker(&b, &t->work, &p->gaps[gap]);
                    if (nl)
                        buf_addc(&b, '\n');
                }
                gap++;
            }
        } else {
            if (t->numbers)
                buf_addf(&b, "%zu│ ", n);
            buf_add(&b, text.p + at, len);
        }
        at += len;
    }
    s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

static void then(struct call *c, struct prune_work *w)
{
    struct pruning_text *t = c->op;

    t->tokens_before = tokens_count(t->job.text);
    if (t->warning)
        return;
    t->warning = t->job.out.warning;
    if (t->warning)
        return;
    put_annotations(t, &c->a);
    t->pruned = put_text(t, &c->a);
    t->tokens_after = tokens_count(t->pruned);
    if (clock_ms() >= w->deadline_ms)
        t->warning = "timeout";
}

/* --- the answer --- */

static void put_stats(struct call *c, struct pruning_text *t, size_t lines)
{
    size_t gone = t->warning ? 0 : lines - t->job.out.kept;
    struct buf b;
    struct json_out o = json_out(&b);
    char ratio[32];

    snprintf(ratio, sizeof ratio, "%.4g", lines ? (double)gone / (double)lines : 0.0);
    buf_init(&b, 4096);
    json_obj(&o);
    json_kv_int(&o, "original_lines", (long long)lines);
    json_kv_int(&o, "kept_lines", (long long)(lines - gone));
    json_kv_int(&o, "pruned_lines", (long long)gone);
    json_kv_raw(&o, "pruned_ratio", str_of(ratio));
    json_kv_int(&o, "tokens_est_before", (long long)t->tokens_before);
    json_kv_int(&o, "tokens_est_after",
                (long long)(t->warning ? t->tokens_before : t->tokens_after));
    json_kv_int(&o, "elapsed_ms", (long long)(clock_ms() - t->started_ms));
    json_kv_bool(&o, "used_fallback", t->warning != NULL);
    json_obj_end(&o);
    result_json(&c->result, "stats", arena_str(&c->a, buf_str(&b)));
    buf_done(&b);
}

static void done(struct call *c)
{
    struct pruning_text *t = c->op;
    struct result *r = &c->result;
    const char *no_recovery = NULL;

    c->on_cancel = NULL;
    if (t->work.keep_err.code) {
        no_recovery = "recovery_unavailable";
        if (t->job.out.gap_count && !t->warning)
            t->warning = no_recovery; /* what cannot be brought back is not taken away */
    }
    if (t->warning) {
        t->pruned = t->job.text;
        t->annotations = STR("[]");
    }
    result_str(r, "prune_id", str_of(t->work.id));
    result_str(r, "pruned_text", t->pruned);
    result_json(r, "annotations", t->annotations);
    put_stats(c, t, cut_lines(t->job.text));
    result_json(r, "warnings",
                str_of(t->warning && no_recovery && t->warning != no_recovery
                           ? arena_printf(&c->a, "[\"%s\",\"%s\"]", t->warning, no_recovery)
                       : t->warning || no_recovery
                           ? arena_printf(&c->a, "[\"%s\"]", t->warning ? t->warning : no_recovery)
                           : "[]"));
    call_done(c);
}

static void on_cancel(struct call *c)
{
    struct pruning_text *t = c->op;

    if (pruner_cancel(&t->work))
        done(c);
}

/* --- the request --- */

static const struct check_field option_fields[] = {
    { "max_prune_ratio", .type = JSON_NUM, .max = 1 },
    { "min_keep_lines", .type = JSON_NUM, .max = 9e18, .integer = true },
    { "timeout_ms", .type = JSON_NUM, .min = 1, .max = 9e18, .integer = true },
    { "annotate_lines", .type = JSON_BOOL },
    { "include_markers", .type = JSON_BOOL },
    { 0 },
};

static const struct check_field text_fields[] = {
    { "text", .type = JSON_STR },
    { "goal_hint", .type = JSON_STR },
    { "source_type", .type = JSON_STR, .words = "code logs docs" },
    { "options", .type = JSON_OBJ, .inside = option_fields },
    { 0 },
};

static enum prune_source source_of(struct str word)
{
    return str_is(word, "code") ? PRUNE_CODE : str_is(word, "logs") ? PRUNE_LOGS : PRUNE_DOCS;
}

static void read_options(struct call *c, struct pruning_text *t, struct json root)
{
    struct json options = json_get(root, "options");
    struct prune_opts *o = &t->job.opts;
    long long num = 0;

    o->source = source_of(json_str(json_get(root, "source_type"), &c->a));
    o->scorer = c->site->heuristic ? PRUNE_HEURISTIC : PRUNE_LEARNED;
    json_double(json_get(options, "max_prune_ratio"), &o->max_ratio);
    json_int(json_get(options, "min_keep_lines"), &num);
    o->min_keep = (size_t)num;
    json_int(json_get(options, "timeout_ms"), &num);
    t->work.deadline_ms = t->started_ms + (uint64_t)num;
    t->numbers = json_is_true(json_get(options, "annotate_lines"));
    t->marks = json_is_true(json_get(options, "include_markers"));
    o->marker_cost = t->marks ? MARK_TOKENS : 0;
}

static void run(struct call *c)
{
    struct pruning_text *t = arena_zalloc(&c->a, sizeof *t);
    struct json_doc d;

    if (!check_object(c, c->arguments, text_fields, &d))
        return;
    t->started_ms = clock_ms();
    read_options(c, t, json_root(&d));
    t->job.text = json_str(json_get(json_root(&d), "text"), &c->a);
    t->job.goal = json_str(json_get(json_root(&d), "goal_hint"), &c->a);
    t->work.jobs = &t->job;
    t->work.count = 1;
    t->work.keep = t->job.text;
    t->work.always = true;
    t->work.bytes = t->job.text.n;
    t->work.then = then;
    if (utf8_count(t->job.text) > c->site->max_input_chars) {
        t->warning = "input_too_large";
        t->work.count = 0;
    }
    c->op = t;
    c->on_cancel = on_cancel;
    pruner_start(c, &t->work, done);
}

static const struct field fields[] = { { 0 } };

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"goal_hint\":{\"type\":"
    "\"string\"},\"source_type\":{\"type\":\"string\",\"enum\":[\"code\",\"logs\",\"docs\"]},"
    "\"options\":{\"type\":\"object\",\"properties\":{\"max_prune_ratio\":{\"type\":\"number\","
    "\"minimum\":0,\"maximum\":1},\"min_keep_lines\":{\"type\":\"integer\",\"minimum\":0},"
    "\"timeout_ms\":{\"type\":\"integer\",\"minimum\":1},\"annotate_lines\":{\"type\":\"boolean\"},"
    "\"include_markers\":{\"type\":\"boolean\"}},\"required\":[\"max_prune_ratio\","
    "\"min_keep_lines\",\"timeout_ms\",\"annotate_lines\",\"include_markers\"],"
    "\"additionalProperties\":false}},\"required\":[\"text\",\"goal_hint\",\"source_type\","
    "\"options\"],\"additionalProperties\":false}";

static const struct tool_noun nouns[] = { { "pruner", "prune" }, { 0 } };

const struct tool tool_prune_text = {
    .name = "prune_text",
    .category = CAT_PRUNE,
    .effects = READS,
    .text = "Keeps the lines of a text that matter for a goal; every gap is marked and can be "
            "recovered by its id.",
    .fields = fields,
    .nouns = nouns,
    .schema = schema,
    .run = run,
};
