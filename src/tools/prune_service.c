/* prune_service.c: pruning for programs that speak another pruner's HTTP.
 *
 * Two shapes of one request, told apart by their fields: seed 000's, which a
 * Jeeves installation sends to JEEVES_PRUNER_ENDPOINT, and SWE-Pruner's own.
 * Neither has a way to bring lines back, so nothing is kept; gaps are marked
 * "~33" in seed 000's answer, except for grep, whose lines are matched back.
 * SWE-Pruner's threshold is a line's score here: 0.5 is where the engine finds
 * a line as likely to matter as not. */
#include "base/clock.h"
#include "base/utf8.h"
#include "call/pruner.h"
#include "tokens/tokens.h"
#include "tools/table.h"

enum { BUDGET = 4000 };

struct service {
    struct prune_work work;
    struct prune_job job;
    bool swe;         /* SWE-Pruner's shape */
    bool marks;       /* seed 000's: but for grep */
    size_t most;      /* bytes of output, 0: no limit */
    double threshold; /* SWE-Pruner's */
    bool keep_first;  /* the same */
    struct str answer;
};

static void refuse(struct call *c, const char *message)
{
    err_set(&c->err, ERR_PARAMS, "%s", message);
    call_refuse(c, -32602, (struct str){ 0 });
}

/* --- seed 000's --- */

static void answer_seed(struct call *c, struct service *s)
{
    const struct prune *p = &s->job.out;
    struct str text = s->job.text;
    size_t at = 0, gap = 0;
    struct buf out, b;
    struct json_out o = json_out(&b);

    buf_init(&out, text.n + 32 * p->gap_count + 64);
    for (size_t n = 1; at < text.n; n++) {
        const char *nl = memchr(text.p + at, '\n', text.n - at);
        size_t len = nl ? (size_t)(nl - text.p) + 1 - at : text.n - at;

        if (gap >= p->gap_count || n < p->gaps[gap].from) {
            buf_add(&out, text.p + at, len);
        } else if (n == p->gaps[gap].to) {
            if (s->marks)
                buf_addf(&out, "~%zu\n", n - p->gaps[gap].from + 1);
            gap++;
        }
        at += len;
    }
    if (out.len > text.n) {
        buf_clear(&out);
        buf_add(&out, text.p, text.n);
    }
    if (s->most && out.len > s->most)
        out.len = utf8_cut(buf_str(&out), s->most);
    buf_init(&b, 6 * out.len + 4096);
    json_kv_str(&o, "output", buf_str(&out));
    json_kv_int(&o, "output_bytes", (long long)out.len);
    s->answer = arena_str(&c->a, buf_str(&b));
    buf_done(&b);
    buf_done(&out);
}

static bool read_seed(struct call *c, struct service *s, struct json root)
{
    long long most;

    s->job.goal = json_str(json_get(root, "focus_question"), &c->a);
    s->job.text = json_str(json_get(root, "input"), &c->a);
    if (!s->job.goal.p || !s->job.text.p)
        return false;
    s->marks = !str_is(json_str(json_get(root, "tool"), &c->a), "grep");
    s->job.opts.source =
        str_is(json_str(json_get(root, "tool"), &c->a), "read") ? PRUNE_AUTO : PRUNE_LOGS;
    s->job.opts.budget = BUDGET;
    s->job.opts.marker_cost = s->marks ? 3 : 0;
    if (json_int(json_get(root, "max_output_bytes"), &most) && most > 0)
        s->most = (size_t)most;
    return true;
}

/* --- SWE-Pruner's --- */

static bool stays(const struct service *s, size_t line)
{
    const struct prune *p = &s->job.out;

    return !p->score || p->score[line] >= s->threshold || (s->keep_first && line == 0);
}

static void answer_swe(struct call *c, struct service *s)
{
    struct str text = s->job.text;
    double best = 0;
    size_t at = 0;
    struct buf out, frags, b;
    struct json_out o = json_out(&b), f = json_out(&frags);

    buf_init(&out, text.n + 16);
    buf_init(&frags, 24 * (s->job.out.lines + 2));
    buf_init(&b, 6 * text.n + 24 * (s->job.out.lines + 2) + 4096);
    json_arr(&f);
    for (size_t n = 0; at < text.n; n++) {
        const char *nl = memchr(text.p + at, '\n', text.n - at);
        size_t len = nl ? (size_t)(nl - text.p) + 1 - at : text.n - at;

        if (s->job.out.score && s->job.out.score[n] > best)
            best = s->job.out.score[n];
        if (stays(s, n)) {
            buf_add(&out, text.p + at, len);
            json_put_int(&f, (long long)n + 1);
        }
        at += len;
    }
    json_arr_end(&f);
    json_kv_raw(&o, "score", str_of(arena_printf(&c->a, "%.4f", best)));
    json_kv_str(&o, "pruned_code", buf_str(&out));
    json_kv_raw(&o, "token_scores", STR("[]"));
    json_kv_raw(&o, "kept_frags", buf_str(&frags));
    json_kv_int(&o, "origin_token_cnt", (long long)tokens_count(text));
    json_kv_int(&o, "left_token_cnt", (long long)tokens_count(buf_str(&out)));
    json_kv_int(&o, "model_input_token_cnt", (long long)tokens_count(text));
    json_kv_raw(&o, "error_msg", STR("null"));
    s->answer = arena_str(&c->a, buf_str(&b));
    buf_done(&b);
    buf_done(&frags);
    buf_done(&out);
}

static bool read_swe(struct call *c, struct service *s, struct json root)
{
    s->swe = true;
    s->threshold = 0.5;
    s->job.goal = json_str(json_get(root, "query"), &c->a);
    s->job.text = json_str(json_get(root, "code"), &c->a);
    json_double(json_get(root, "threshold"), &s->threshold);
    s->keep_first = json_is_true(json_get(root, "always_keep_first_frags"));
    return s->job.goal.p && s->job.text.p;
}

/* --- both --- */

static void then(struct call *c, struct prune_work *w)
{
    struct service *s = c->op;

    (void)w;
    if (s->swe)
        answer_swe(c, s);
    else
        answer_seed(c, s);
}

static void done(struct call *c)
{
    struct service *s = c->op;

    c->on_cancel = NULL;
    call_json(c, s->answer);
}

static void on_cancel(struct call *c)
{
    struct service *s = c->op;

    if (pruner_cancel(&s->work))
        done(c);
}

static void run(struct call *c)
{
    struct service *s = arena_zalloc(&c->a, sizeof *s);
    struct json_doc d;
    struct json root = { 0 };

    if (json_parse(&d, &c->a, c->arguments, NULL))
        root = json_root(&d);
    s->job.opts.max_ratio = 1;
    s->job.opts.scorer = c->site->heuristic ? PRUNE_HEURISTIC : PRUNE_LEARNED;
    if (!(json_type(json_get(root, "query")) ? read_swe(c, s, root) : read_seed(c, s, root))) {
        refuse(c, "send {focus_question, input} as Jeeves does, or {query, code} as SWE-Pruner's "
                  "clients do, all of them strings");
        return;
    }
    s->work.jobs = &s->job;
    s->work.count = 1;
    s->work.bytes = s->job.text.n;
    s->work.no_keep = true;
    s->work.deadline_ms = clock_ms() + c->site->pruner_timeout_ms;
    s->work.then = then;
    c->op = s;
    c->on_cancel = on_cancel;
    pruner_start(c, &s->work, done);
}

static const struct field fields[] = { { 0 } };

const struct tool tool_prune_service = {
    .name = "prune",
    .category = CAT_PRUNE,
    .effects = READS,
    .text = "POST /prune.",
    .fields = fields,
    .schema = "{\"type\":\"object\"}",
    .run = run,
};
