/* finish.c: truncate -> prune -> cut -> render, one way for every call.
 *
 * Each step is reported: `truncated`, PruningMetadata, the status line. The
 * pruner fails open: whatever goes wrong with it, the raw text goes out and
 * says so. Where pruned text would not be smaller, raw is used. */
#include "call/finish.h"
#include <stdlib.h>
#include "base/log.h"
#include "base/utf8.h"
#include "call/args.h"
#include "call/cut.h"
#include "call/focus.h"
#include "call/remote_pruner.h"
#include "call/render.h"

enum {
    MAX_OUTPUT = 10 << 20,     /* default and largest max_output_bytes */
    PLAIN_CHARS = 24000 - 400, /* clients cut at 30-50k without a word; room for the status */
    LEAST_CHARS = 4000         /* of this, beside texts that are pruned */
};

struct prune_step {
    struct entry *e;
    struct str input, output;
};

/* --- truncation --- */

static void repair(struct call *c, struct entry *e)
{
    struct buf b;

    if (utf8_valid(e->text) == e->text.n)
        return;
    buf_init(&b, e->text.n * 3 + 16);
    c->result.replaced += utf8_repair(&b, e->text);
    e->text = arena_str(&c->a, buf_str(&b));
    buf_done(&b);
}

/* Lines may be asked for from a character to another: a line may be longer than
 * any answer. */
static void take_chars(struct call *c)
{
    struct str lines = c->result.lines;
    struct entry *e = c->result.first;
    size_t first, last;

    if (!lines.n && field_find(c->tool, "lines"))
        lines = arg_str(c, "lines");
    while (e && e->kind != ENTRY_TEXT)
        e = e->next;
    lines_chars(lines, &first, &last);
    if (!e || (!first && !last))
        return;
    e->text = cut_chars(e->text, first, last);
    e->skipped = first > 1 ? first - 1 : 0;
    if (e->skipped) /* an id that counts lines cannot say where this one begins */
        c->finish->question = (struct str){ 0 };
    result_status(&c->result, "%s, characters %.*s", c->result.status ? c->result.status : "",
                  (int)lines.n, lines.p);
}

struct str rows_text(struct arena *a, const struct rows *rows)
{
    struct buf b;
    struct str s;

    buf_init(&b, (size_t)1 << 30);
    for (size_t i = 0; i < rows->count; i++) {
        rows->text(&b, (const char *)rows->items + i * rows->size);
        buf_addc(&b, '\n');
    }
    s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

size_t rows_lines(const struct rows *rows, size_t i)
{
    struct buf b;
    size_t n;

    buf_init(&b, (size_t)1 << 30);
    rows->text(&b, (const char *)rows->items + i * rows->size);
    buf_addc(&b, '\n');
    n = cut_lines(buf_str(&b));
    buf_done(&b);
    return n;
}

/* Drop whole rows from the end until their text fits; gives its bytes. */
static size_t fit_rows(struct rows *rows, size_t max)
{
    struct buf b;
    size_t used = 0, i;

    buf_init(&b, (size_t)1 << 30);
    for (i = 0; i < rows->count; i++) {
        buf_clear(&b);
        rows->text(&b, (const char *)rows->items + i * rows->size);
        if (used + b.len + 1 > max)
            break;
        used += b.len + 1;
    }
    rows->count = i;
    buf_done(&b);
    return used;
}

/* The later text of two (stderr) may take half if both are long: it is where a
 * failing command says why. */
static size_t share(const struct entry *e, size_t left)
{
    size_t later = 0;

    for (const struct entry *n = e->next; n; n = n->next)
        if (n->kind == ENTRY_TEXT && !n->pruned)
            later += n->text.n;
    if (later > left / 2)
        later = left / 2;
    return left - later;
}

static void truncate_parts(struct call *c, struct finish *f)
{
    size_t left = f->max_output > 0 ? (size_t)f->max_output : MAX_OUTPUT, had;

    f->truncated = c->result.cut;
    for (struct entry *e = c->result.first; e; e = e->next) {
        if (e->kind == ENTRY_TEXT) {
            size_t max = share(e, left);

            had = e->text.n;
            if (had > max)
                e->text.n = utf8_cut(e->text, max);
            f->truncated |= e->text.n < had;
            left -= e->text.n;
            f->pruning.raw_bytes += e->text.n;
        } else if (e->kind == ENTRY_ROWS) {
            had = e->rows.count;
            f->pruning.raw_bytes += fit_rows(&e->rows, left);
            f->truncated |= e->rows.count < had;
        }
    }
}

/* --- pruning --- */

static void log_pruner(struct call *c, enum log_level level, const char *event,
                       const struct remote_answer *a, const struct prune_step *s)
{
    struct buf b;
    struct json_out o = json_out(&b);

    if (!log_wants(level))
        return;
    buf_init(&b, 4096);
    json_obj(&o);
    if (!a) /* without the query: it may hold a key */
        json_kv_str(&o, "endpoint",
                    (struct str){ c->site->pruner_url, strcspn(c->site->pruner_url, "?#") });
    json_kv_strz(&o, "tool", c->tool->name);
    if (!a) {
        json_kv_int(&o, "input_bytes", (long long)s->input.n);
    } else {
        if (a->err.code)
            json_kv_strz(&o, "reason", err_word(a->err.code));
        json_kv_int(&o, "pruner_duration_ms", (long long)a->duration_ms);
        if (a->err.code)
            json_kv_strz(&o, "message", a->err.msg);
        else
            json_kv_int(&o, "pruned_bytes", (long long)a->output.n);
    }
    json_obj_end(&o);
    log_event(level, event, c->request_id, buf_str(&b));
    buf_done(&b);
}

struct line_ref {
    struct str text;
    size_t row;
};

static int by_text(const void *x, const void *y)
{
    const struct line_ref *a = x, *b = y;
    size_t n = a->text.n < b->text.n ? a->text.n : b->text.n;
    int d = memcmp(a->text.p, b->text.p, n);

    return d ? d : (a->text.n > b->text.n) - (a->text.n < b->text.n);
}

/* Keep the rows whose line came back verbatim, in their own order. Gives the
 * bytes kept, 0 if no line is one of ours. */
static size_t keep_rows(struct call *c, struct prune_step *s)
{
    struct rows *rows = &s->e->rows;
    struct line_ref *refs = arena_alloc(&c->a, cut_lines(s->input) * sizeof *refs), *hit,
                    key = { .row = 0 };
    bool *keep = arena_zalloc(&c->a, rows->count);
    char *items = arena_alloc(&c->a, rows->count * rows->size);
    size_t n = 0, lines = 0, bytes = 0;
    const char *p = s->input.p, *nl;

    for (size_t i = 0, end = 0; i < rows->count; i++)
        for (end += rows_lines(rows, i); lines < end; p = nl + 1) {
            nl = memchr(p, '\n', (size_t)(s->input.p + s->input.n - p));
            refs[lines++] = (struct line_ref){ { p, (size_t)(nl - p) }, i };
        }
    qsort(refs, lines, sizeof *refs, by_text);
    for (p = s->output.p; p < s->output.p + s->output.n; p += key.text.n + 1) {
        nl = memchr(p, '\n', (size_t)(s->output.p + s->output.n - p));
        key.text = (struct str){ p, (size_t)((nl ? nl : s->output.p + s->output.n) - p) };
        hit = bsearch(&key, refs, lines, sizeof *refs, by_text);
        if (hit && !keep[hit->row]) {
            keep[hit->row] = true;
            bytes += key.text.n + 1;
        }
    }
    if (bytes == 0)
        return 0;
    for (size_t i = 0; i < rows->count; i++)
        if (keep[i])
            memcpy(items + n++ * rows->size, (const char *)rows->items + i * rows->size,
                   rows->size);
    rows->items = items;
    rows->count = n;
    return bytes;
}

static void cut_and_render(struct call *c);

static void prune_failed(struct call *c, const struct err *e)
{
    struct pruning *p = &c->finish->pruning;

    p->fallback = true;
    p->reason = "pruner_error";
    p->err = *e;
    cut_and_render(c);
}

static void prune_apply(struct call *c)
{
    struct finish *f = c->finish;
    struct err e;

    for (size_t i = 0; i < f->step_count; i++) {
        struct prune_step *s = &f->steps[i];

        if (s->e->kind == ENTRY_ROWS && s->output.n > 0 && keep_rows(c, s) == 0) {
            err_set(&e, ERR_RESPONSE, "no line of the pruner's output is one of the matches");
            prune_failed(c, &e);
            return;
        }
    }
    for (size_t i = 0; i < f->step_count; i++) {
        struct prune_step *s = &f->steps[i];

        if (s->e->kind == ENTRY_TEXT)
            s->e->text = s->output;
        else if (s->output.n == 0)
            s->e->rows.count = 0;
        f->pruning.pruned_bytes +=
            s->e->kind == ENTRY_TEXT ? s->output.n : rows_text(&c->a, &s->e->rows).n;
    }
    f->pruning.applied = true;
    cut_and_render(c);
}

static void prune_next(struct call *c);

static void on_pruned(struct call *c, const struct remote_answer *a)
{
    struct finish *f = c->finish;

    f->remote = NULL;
    f->pruning.duration_ms += a->duration_ms;
    if (a->err.code) {
        log_pruner(c, LOG_WARN, "pruner.call_failed", a, NULL);
        prune_failed(c, &a->err);
        return;
    }
    log_pruner(c, LOG_INFO, "pruner.call_ok", a, NULL);
    f->steps[f->step++].output = a->output;
    prune_next(c);
}

static void prune_next(struct call *c)
{
    struct finish *f = c->finish;

    if (f->step == f->step_count) {
        prune_apply(c);
        return;
    }
    log_pruner(c, LOG_INFO, "pruner.call_start", NULL, &f->steps[f->step]);
    f->remote = remote_prune(c, f->question, f->steps[f->step].input, f->max_output, on_pruned);
}

/* --- by the engine inside --- */

static void log_engine(struct call *c)
{
    const struct pruning *p = &c->finish->pruning;
    struct buf b;
    struct json_out o = json_out(&b);

    if (!log_wants(p->fallback ? LOG_WARN : LOG_DEBUG))
        return;
    buf_init(&b, 4096);
    json_obj(&o);
    json_kv_strz(&o, "tool", c->tool->name);
    if (p->fallback)
        json_kv_strz(&o, "reason", err_word(p->err.code));
    json_kv_int(&o, "pruner_duration_ms", (long long)p->duration_ms);
    if (p->fallback)
        json_kv_strz(&o, "message", p->err.msg);
    else
        json_kv_int(&o, "pruned_bytes", (long long)p->pruned_bytes);
    json_obj_end(&o);
    log_event(p->fallback ? LOG_WARN : LOG_DEBUG,
              p->fallback ? "pruner.call_failed" : "pruner.call_ok", c->request_id, buf_str(&b));
    buf_done(&b);
}

static size_t bytes_now(struct call *c)
{
    size_t n = 0;

    for (struct entry *e = c->result.first; e; e = e->next)
        n += e->kind == ENTRY_TEXT   ? e->text.n
             : e->kind == ENTRY_ROWS ? rows_text(&c->a, &e->rows).n
                                     : 0;
    return n;
}

static void on_focused(struct call *c)
{
    struct finish *f = c->finish;
    struct focus *focus = f->focus;
    struct pruning *p = &f->pruning;

    if (call_cancelled(c)) {
        finish_cancel(c);
        return;
    }
    p->duration_ms = focus->work.duration_ms;
    if (focus->work.keep_err.code)
        err_set(&p->err, ERR_NO_RECOVERY, "%s", focus->work.keep_err.msg);
    for (size_t i = 0; i < focus->work.count; i++)
        if (focus->work.jobs[i].out.warning && !p->err.code)
            err_set(&p->err, ERR_TIMEOUT, "the engine gave up: %s",
                    focus->work.jobs[i].out.warning);
    p->applied = !p->err.code && focus_apply(c);
    p->fallback = p->err.code != ERR_NONE;
    p->too_long = !p->fallback && focus->too_long;
    if (p->fallback)
        p->reason = "pruner_error";
    if (p->applied) {
        p->id = focus->work.id;
        p->lines = focus->lines;
        p->kept = focus->kept;
        p->marks = focus->marks;
        p->nothing = focus->nothing;
        p->pruned_bytes = bytes_now(c);
    }
    log_engine(c);
    cut_and_render(c);
}

static const char *why_not_prune(const struct call *c, const struct finish *f)
{
    if (f->question.n == 0)
        return "no_focus_question";
    if (c->site->pruner == PRUNER_OFF)
        return "disabled_or_unconfigured";
    if (f->pruning.raw_bytes == 0)
        return "output_empty";
    if (f->pruning.raw_bytes > c->site->max_prune_input &&
        (c->site->pruner == PRUNER_REMOTE || c->answer == ANSWER_JEEVES))
        return "too_large";
    return NULL;
}

static void prune_start(struct call *c)
{
    struct finish *f = c->finish;
    size_t parts = 0;

    f->pruning.reason = why_not_prune(c, f);
    if (f->pruning.reason) {
        cut_and_render(c);
        return;
    }
    f->pruning.attempted = true;
    if (c->site->pruner == PRUNER_BUILTIN) {
        focus_start(c, on_focused);
        return;
    }
    for (struct entry *e = c->result.first; e; e = e->next)
        parts++;
    f->steps = arena_zalloc(&c->a, parts * sizeof *f->steps);
    for (struct entry *e = c->result.first; e; e = e->next) {
        struct prune_step *s = &f->steps[f->step_count];

        s->e = e;
        if (e->kind == ENTRY_TEXT && e->text.n > 0)
            s->input = e->text;
        else if (e->kind == ENTRY_ROWS && e->rows.count > 0)
            s->input = rows_text(&c->a, &e->rows);
        else
            continue;
        f->step_count++;
    }
    prune_next(c);
}

/* --- the ceiling of plain answers --- */

static void cut_rows(struct call *c, struct entry *e, size_t max)
{
    size_t had = e->rows.count;

    fit_rows(&e->rows, max);
    if (e->rows.count == had)
        return;
    c->finish->cut = true;
    result_status(&c->result, "%s; the first %zu of %zu shown%s%s",
                  c->result.status ? c->result.status : "", e->rows.count, had,
                  c->result.more ? ": " : "", c->result.more ? c->result.more : "");
}

/* What is pruned is within its budget; the rest has what is left. */
static size_t plain_room(struct call *c)
{
    size_t used = 0;

    for (struct entry *e = c->result.first; e; e = e->next)
        if (e->pruned && e->kind == ENTRY_TEXT)
            used += utf8_count(e->text);
    return used < PLAIN_CHARS - LEAST_CHARS ? PLAIN_CHARS - used : LEAST_CHARS;
}

static void cut_plain(struct call *c)
{
    size_t left = plain_room(c);

    for (struct entry *e = c->result.first; e; e = e->next) {
        if (e->pruned)
            continue;
        if (e->kind == ENTRY_ROWS) {
            cut_rows(c, e, left);
        } else if (e->kind == ENTRY_TEXT) {
            struct cut k =
                cut_text(&c->a, e->text, share(e, left), e->first_line, e->skipped, c->result.more);

            c->finish->cut |= k.from > 0;
            e->text = k.text;
            left -= k.text.n < left ? k.text.n : left;
        }
    }
}

/* Would cut_plain leave something out that cannot be had otherwise? */
static bool must_keep(struct call *c)
{
    return c->answer == ANSWER_PLAIN && c->result.keep && c->site->store &&
           c->finish->pruning.raw_bytes > PLAIN_CHARS;
}

/* --- the way through --- */

static void render(struct call *c)
{
    struct finish *f = c->finish;
    struct buf b;

    buf_init(&b, (size_t)1 << 29);
    buf_room(&b, f->pruning.raw_bytes * 5 / 2 + 4096); /* grows once, as a rule */
    buf_add(&b, c->before.p, c->before.n);
    render_result(c, &b);
    buf_add(&b, c->after.p, c->after.n);
    c->finish = NULL;
    f->end(c, buf_str(&b));
    buf_done(&b);
}

/* A result that came ready-made goes out as it is. */
static void send_ready(struct call *c)
{
    struct finish *f = c->finish;
    struct buf b;

    buf_init(&b, (size_t)1 << 29);
    buf_add(&b, c->before.p, c->before.n);
    render_ready(c, &b);
    buf_add(&b, c->after.p, c->after.n);
    c->finish = NULL;
    f->end(c, buf_str(&b));
    buf_done(&b);
}

/* The id brings back what a ceiling leaves out. */
static void say_kept(struct call *c)
{
    c->result.more =
        arena_printf(&c->a, "recover_text with id %s and lines \"FROM-TO\"", c->finish->pruning.id);
    focus_number(c);
}

/* The whole is kept, or cannot be. */
static void on_kept(struct call *c)
{
    const struct prune_work *w = &c->finish->focus->work;

    if (call_cancelled(c)) {
        finish_cancel(c);
        return;
    }
    if (!w->keep_err.code) {
        c->finish->pruning.id = w->id;
        say_kept(c);
    }
    cut_plain(c);
    render(c);
}

static void cut_and_render(struct call *c)
{
    struct finish *f = c->finish;

    if (f->pruning.applied && c->site->pruner == PRUNER_BUILTIN) {
        say_kept(c);
        if (c->answer == ANSWER_PLAIN)
            cut_plain(c);
        render(c);
    } else if (must_keep(c)) {
        f->question = (struct str){ 0 };
        focus_start(c, on_kept);
    } else {
        if (c->answer == ANSWER_PLAIN)
            cut_plain(c);
        render(c);
    }
}

static void log_failure(struct call *c)
{
    struct buf b;
    struct json_out o = json_out(&b);
    bool timeout = c->err.code == ERR_TIMEOUT && field_find(c->tool, "timeout_ms");

    if (c->err.code == ERR_NONE || !log_wants(LOG_WARN))
        return;
    buf_init(&b, 4096);
    json_obj(&o);
    json_kv_strz(&o, "tool", c->tool->name);
    if (timeout) {
        json_kv_int(&o, "timeout_ms", arg_int(c, "timeout_ms"));
    } else {
        json_kv_strz(&o, "code", err_word(c->err.code));
        json_kv_strz(&o, "message", c->err.msg);
        if (c->exit_code >= 0)
            json_kv_int(&o, "exit_code", c->exit_code);
    }
    json_obj_end(&o);
    log_event(LOG_WARN, timeout ? "tool.exec_timeout" : "tool.exec_failed", c->request_id,
              buf_str(&b));
    buf_done(&b);
}

void finish_start(struct call *c, void (*end)(struct call *c, struct str message))
{
    struct finish *f = arena_zalloc(&c->a, sizeof *f);

    f->end = end;
    c->finish = f;
    log_failure(c);
    if (c->json.n) {
        send_ready(c);
        return;
    }
    if (field_find(c->tool, "context_focus_question"))
        f->question = arg_str(c, "context_focus_question");
    if (field_find(c->tool, "max_output_bytes"))
        f->max_output = arg_int(c, "max_output_bytes");
    for (struct entry *e = c->result.first; e; e = e->next)
        if (e->kind == ENTRY_TEXT)
            repair(c, e);
    take_chars(c);
    truncate_parts(c, f);
    prune_start(c);
}

void finish_cancel(struct call *c)
{
    struct finish *f = c->finish;

    if (f->focus && !pruner_cancel(&f->focus->work))
        return; /* a worker has the texts; on_focused or on_kept comes back here */
    remote_prune_cancel(f->remote);
    f->remote = NULL;
    c->finish = NULL;
    f->end(c, (struct str){ 0 });
}
