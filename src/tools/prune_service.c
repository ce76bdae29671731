/* prune_service.c: pruning for programs that speak another pruner's HTTP.
 *
 * Two shapes of one request, told apart by their fields: seed 000's, which a
 * Jeeves installation sends to JEEVES_PRUNER_ENDPOINT, and SWE-Pruner's own.
 * Neither has a way to bring lines back, so nothing is kept; gaps are marked
 * "~33" in seed 000's answer, except for grep, whose lines are matched back,
 * and "(filtered 33 lines)" in SWE-Pruner's, as its clients know them.
 * SWE-Pruner's threshold is a line's score here: 0.5 is where the engine finds
 * a line as likely to matter as not. Its chunk_overlap_tokens has no meaning
 * here, since no text is cut into chunks. */
#include <stdio.h>
#include "base/clock.h"
#include "base/utf8.h"
#include "call/focus.h"
#include "tokens/tokens.h"
#include "tools/table.h"

struct service {
    struct prune_work work;
    struct prune_job job;
    bool swe;         /* SWE-Pruner's shape */
    bool output;      /* seed 000's: of a command or a search, not a file */
    bool marks;       /* the same: but for grep */
    size_t most;      /* bytes of output, 0: no limit */
    double threshold; /* SWE-Pruner's */
    bool keep_first;  /* the same */
    struct str answer;
};

/* A field of a request; "!" before its name: it must be there. */
struct member {
    const char *name;
    enum json_type type;
    const char *what;
};

/* Are the members that are there of their types? Others are nobody's business. */
static bool members_ok(struct json root, const struct member *m, struct err *e)
{
    for (; m->name; m++) {
        bool must = *m->name == '!';
        enum json_type type = json_type(json_get(root, m->name + must));

        if (type != m->type && (type || must))
            return err_set(e, ERR_PARAMS, "'%s' must be %s", m->name + must, m->what);
    }
    return true;
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

static const struct member seed_members[] = {
    { "!focus_question", JSON_STR, "a string" },
    { "!input", JSON_STR, "a string" },
    { "request_id", JSON_STR, "a string" },
    { "tool", JSON_STR, "a string" },
    { "input_bytes", JSON_NUM, "a number" },
    { "max_output_bytes", JSON_NUM, "a number" },
    { 0 },
};

/* As pith's own tools are pruned to a question. */
static void first(struct call *c, struct prune_work *w)
{
    struct service *s = c->op;

    (void)w;
    s->job.opts = focus_opts(c->site, s->job.text, s->output, s->marks);
}

static bool read_seed(struct call *c, struct service *s, struct json root)
{
    struct str tool = json_str(json_get(root, "tool"), &c->a);
    long long most;

    if (!members_ok(root, seed_members, &c->err))
        return false;
    s->job.goal = json_str(json_get(root, "focus_question"), &c->a);
    s->job.text = json_str(json_get(root, "input"), &c->a);
    s->marks = !str_is(tool, "grep");
    s->output = !str_is(tool, "read");
    s->work.first = first;
    if (json_int(json_get(root, "max_output_bytes"), &most) && most > 0)
        s->most = (size_t)most;
    return true;
}

/* --- SWE-Pruner's --- */

/* The engine kept only what it must: NO_PRUNE blocks, or else one line. */
static bool stays(const struct service *s, size_t line, bool firm)
{
    const struct prune *p = &s->job.out;

    return !p->score || p->score[line] >= s->threshold || (s->keep_first && line == 0) ||
           (firm && p->kept > 1);
}

/* Lines that go, until the next that stays is known. */
struct filtered {
    size_t at, from, count; /* byte and number of the first */
};

/* A mark in their place; where it would be no shorter, they stay. */
static void end_filtered(struct filtered *f, struct str text, size_t end, struct buf *out,
                         struct json_out *frags)
{
    bool nl = f->count && text.p[end - 1] == '\n';
    char mark[48];
    size_t n =
        (size_t)snprintf(mark, sizeof mark, "(filtered %zu lines)%s", f->count, nl ? "\n" : "");

    if (f->count == 0)
        return;
    if (end - f->at > n) {
        buf_add(out, mark, n);
    } else {
        buf_add(out, text.p + f->at, end - f->at);
        for (size_t i = 0; i < f->count; i++)
            json_put_int(frags, (long long)(f->from + i));
    }
    f->count = 0;
}

/* The text that is left and the numbers of its lines; gives the best score. */
static double put_left(const struct service *s, struct buf *out, struct json_out *frags)
{
    const struct prune *p = &s->job.out;
    struct str text = s->job.text;
    struct filtered f = { 0 };
    size_t at = 0, gap = 0;
    double best = 0;

    for (size_t n = 1; at < text.n; n++) {
        const char *nl = memchr(text.p + at, '\n', text.n - at);
        size_t len = nl ? (size_t)(nl - text.p) + 1 - at : text.n - at;

        while (gap < p->gap_count && p->gaps[gap].to < n)
            gap++;
        if (p->score && p->score[n - 1] > best)
            best = p->score[n - 1];
        if (stays(s, n - 1, gap == p->gap_count || n < p->gaps[gap].from)) {
            end_filtered(&f, text, at, out, frags);
            buf_add(out, text.p + at, len);
            json_put_int(frags, (long long)n);
        } else if (f.count++ == 0) {
            f.at = at;
            f.from = n;
        }
        at += len;
    }
    end_filtered(&f, text, at, out, frags);
    return best;
}

static void answer_swe(struct call *c, struct service *s)
{
    size_t tokens = tokens_count(s->job.text), room = 24 * (s->job.out.lines + 2);
    const char *warning = s->job.out.warning;
    struct buf out, frags, b;
    struct json_out o = json_out(&b), f = json_out(&frags);
    double best;

    buf_init(&out, s->job.text.n + 16);
    buf_init(&frags, room);
    buf_init(&b, 6 * s->job.text.n + room + 4096);
    json_arr(&f);
    best = put_left(s, &out, &f);
    json_arr_end(&f);
    json_kv_raw(&o, "score", str_of(arena_printf(&c->a, "%.4f", best)));
    json_kv_str(&o, "pruned_code", buf_str(&out));
    json_kv_raw(&o, "token_scores", STR("[]"));
    json_kv_raw(&o, "kept_frags", buf_str(&frags));
    json_kv_int(&o, "origin_token_cnt", (long long)tokens);
    json_kv_int(&o, "left_token_cnt", (long long)tokens_count(buf_str(&out)));
    json_kv_int(&o, "model_input_token_cnt", (long long)tokens);
    if (warning)
        json_kv_strz(&o, "error_msg", warning);
    else
        json_kv_raw(&o, "error_msg", STR("null"));
    s->answer = arena_str(&c->a, buf_str(&b));
    buf_done(&b);
    buf_done(&frags);
    buf_done(&out);
}

static const struct member swe_members[] = {
    { "!query", JSON_STR, "a string" },
    { "!code", JSON_STR, "a string" },
    { "threshold", JSON_NUM, "a number" },
    { "always_keep_first_frags", JSON_BOOL, "true or false" },
    { "chunk_overlap_tokens", JSON_NUM, "a number" },
    { 0 },
};

static bool read_swe(struct call *c, struct service *s, struct json root)
{
    if (!members_ok(root, swe_members, &c->err))
        return false;
    s->swe = true;
    s->threshold = 0.5;
    s->job.goal = json_str(json_get(root, "query"), &c->a);
    s->job.text = json_str(json_get(root, "code"), &c->a);
    json_double(json_get(root, "threshold"), &s->threshold);
    s->keep_first = json_is_true(json_get(root, "always_keep_first_frags"));
    s->job.opts.max_ratio = 1;
    s->job.opts.scorer = c->site->heuristic ? PRUNE_HEURISTIC : PRUNE_LEARNED;
    return true;
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

static bool read_request(struct call *c, struct service *s)
{
    struct json_doc d;
    struct json root;

    if (!json_parse(&d, &c->a, c->arguments, &c->err))
        return false;
    root = json_root(&d);
    if (json_type(json_get(root, "query")) || json_type(json_get(root, "code")))
        return read_swe(c, s, root);
    if (json_type(json_get(root, "focus_question")) || json_type(json_get(root, "input")))
        return read_seed(c, s, root);
    return err_set(&c->err, ERR_PARAMS,
                   "send {focus_question, input} as Jeeves does, or {query, code} as SWE-Pruner's "
                   "clients do");
}

static void run(struct call *c)
{
    struct service *s = arena_zalloc(&c->a, sizeof *s);

    if (!read_request(c, s)) {
        call_refuse(c, -32602, (struct str){ 0 });
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
