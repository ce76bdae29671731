/* focus.c: parts in, numbered lines out. */
#include "call/focus.h"
#include <stdio.h>
#include "base/clock.h"
#include "call/cut.h"
#include "tokens/tokens.h"

enum {
    SHORT_LINES = 40, /* pass untouched */
    SHORT_TOKENS = 500,
    BUDGET = 4000,  /* tokens; or a quarter of the text */
    MARK_TOKENS = 3 /* "~33\n" */
};

struct focus_part {
    struct entry *e;
    struct str text; /* before pruning */
    size_t offset;   /* number of its first line, less one */
    struct str out;  /* TEXT: pruned and numbered */
};

/* --- what is kept --- */

/* The texts as a plain answer shows them, one after the other; each part learns
 * where its lines begin. */
static struct str whole(struct call *c, struct focus *f)
{
    size_t room = 16, lines = 0;
    struct buf b;
    struct str s;

    for (size_t i = 0; i < f->count; i++)
        room += f->parts[i].text.n + 64;
    buf_init(&b, room);
    for (size_t i = 0; i < f->count; i++) {
        struct focus_part *p = &f->parts[i];

        if (p->e->title && buf_addf(&b, "[%s]\n", p->e->title))
            lines++;
        p->offset = lines;
        buf_add(&b, p->text.p, p->text.n);
        if (i + 1 < f->count && p->text.n > 0 && p->text.p[p->text.n - 1] != '\n')
            buf_addc(&b, '\n');
        lines += cut_lines(p->text);
    }
    s = arena_str(&c->a, buf_str(&b));
    buf_done(&b);
    return s;
}

/* --- rendering, on the worker --- */

/* The line that starts at p, with its line feed if it has one. */
static struct str line_at(struct str text, size_t at)
{
    const char *nl = memchr(text.p + at, '\n', text.n - at);

    return (struct str){ text.p + at, nl ? (size_t)(nl - text.p) + 1 - at : text.n - at };
}

/* Far from the question is what most gaps are: that one goes without saying. */
static void add_gap(struct buf *b, const struct prune_gap *g)
{
    bool far = g->reason == PRUNE_WHY_FAR;

    buf_addf(b, "~%zu%s%s\n", g->to - g->from + 1, far ? "" : " ", far ? "" : g->why);
}

static struct str render_text(struct arena *a, const struct prune_job *j, size_t offset)
{
    const struct prune *p = &j->out;
    size_t at = 0, gap = 0, n = 1;
    struct buf b;
    struct str s;

    buf_init(&b, 2 * j->text.n + 32 * p->lines + 64);
    while (at < j->text.n) {
        struct str line = line_at(j->text, at);

        at += line.n;
        if (gap < p->gap_count && n >= p->gaps[gap].from) {
            if (n == p->gaps[gap].to)
                add_gap(&b, &p->gaps[gap++]);
        } else {
            buf_addf(&b, "%zu\t", offset + n);
            buf_add(&b, line.p, line.n);
        }
        n++;
    }
    s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

static void render_parts(struct call *c, struct prune_work *w)
{
    struct focus *f = c->finish->focus;

    for (size_t i = 0; i < w->count; i++) {
        struct focus_part *p = &f->parts[i];

        if (p->e->kind != ENTRY_TEXT || w->jobs[i].out.gap_count == 0)
            continue;
        p->out = render_text(&c->a, &w->jobs[i], p->offset);
        if (p->out.n < w->jobs[i].text.n)
            continue;
        p->out = (struct str){ 0 }; /* never larger than raw */
        w->jobs[i].out.gap_count = 0;
        w->jobs[i].out.kept = w->jobs[i].out.lines;
    }
}

/* --- start --- */

static struct prune_opts opts_for(const struct call *c, const struct entry *e, struct str text)
{
    size_t tokens = tokens_count(text), quarter = tokens / 4;
    bool output = e->kind == ENTRY_ROWS || strcmp(e->name, "content") != 0;
    struct prune_opts o = { .source = output ? PRUNE_LOGS : PRUNE_AUTO,
                            .scorer = c->site->heuristic ? PRUNE_HEURISTIC : PRUNE_LEARNED,
                            .max_ratio = 1,
                            .min_keep = 1,
                            .budget = quarter < BUDGET ? quarter : BUDGET,
                            .marker_cost = e->kind == ENTRY_TEXT ? MARK_TOKENS : 0 };

    if (tokens <= SHORT_TOKENS || cut_lines(text) <= SHORT_LINES)
        o.max_ratio = 0;
    return o;
}

static void first(struct call *c, struct prune_work *w)
{
    struct focus *f = c->finish->focus;

    w->keep = whole(c, f);
    for (size_t i = 0; i < w->count; i++) {
        w->jobs[i].text = f->parts[i].text;
        w->jobs[i].goal = c->finish->question;
        w->jobs[i].opts = opts_for(c, f->parts[i].e, f->parts[i].text);
    }
}

/* A part of a file is numbered as the file is; the id then carries how far its
 * own lines are off. */
static void number_as_file(struct focus *f)
{
    const struct entry *e = f->count == 1 ? f->parts[0].e : NULL;
    size_t n = strlen(f->work.id);

    if (!e || e->kind != ENTRY_TEXT || e->first_line <= 1)
        return;
    f->parts[0].offset = e->first_line - 1;
    snprintf(f->work.id + n, sizeof f->work.id - n, "~%zu", e->first_line - 1);
}

static void then(struct call *c, struct prune_work *w)
{
    number_as_file(c->finish->focus);
    render_parts(c, w);
}

void focus_start(struct call *c, void (*done)(struct call *c))
{
    struct finish *fin = c->finish;
    struct focus *f = arena_zalloc(&c->a, sizeof *f);
    size_t most = 0;

    for (struct entry *e = c->result.first; e; e = e->next)
        most++;
    f->parts = arena_zalloc(&c->a, most * sizeof *f->parts);
    for (struct entry *e = c->result.first; e; e = e->next) {
        struct focus_part *p = &f->parts[f->count];

        if (e->kind == ENTRY_TEXT && e->text.n > 0)
            p->text = e->text;
        else if (e->kind == ENTRY_ROWS && e->rows.count > 0)
            p->text = rows_text(&c->a, &e->rows);
        else
            continue;
        p->e = e;
        f->work.bytes += p->text.n;
        f->count++;
    }
    f->work.count = fin->question.n ? f->count : 0;
    f->work.jobs = arena_zalloc(&c->a, (f->work.count + 1) * sizeof *f->work.jobs);
    f->work.always = fin->question.n == 0;
    f->work.deadline_ms = clock_ms() + c->site->pruner_timeout_ms;
    f->work.first = first;
    f->work.then = then;
    fin->focus = f;
    pruner_start(c, &f->work, done);
}

void focus_number(struct call *c)
{
    const struct focus *f = c->finish->focus;

    for (size_t i = 0; i < f->count; i++)
        f->parts[i].e->first_line = f->parts[i].offset + 1;
}

/* --- apply --- */

static void keep_rows(struct call *c, struct entry *e, const struct prune *p)
{
    struct rows *rows = &e->rows;
    char *items = arena_alloc(&c->a, rows->count * rows->size);
    size_t n = 0, gap = 0;

    for (size_t i = 0; i < rows->count; i++) {
        while (gap < p->gap_count && p->gaps[gap].to < i + 1)
            gap++;
        if (gap < p->gap_count && i + 1 >= p->gaps[gap].from)
            continue;
        memcpy(items + n++ * rows->size, (const char *)rows->items + i * rows->size, rows->size);
    }
    rows->items = items;
    rows->count = n;
}

bool focus_apply(struct call *c)
{
    struct focus *f = c->finish->focus;
    bool cut = pruner_cuts(&f->work), nothing = true;

    if (!cut || f->work.keep_err.code)
        return false;
    for (size_t i = 0; i < f->work.count; i++) {
        const struct prune *p = &f->work.jobs[i].out;
        struct entry *e = f->parts[i].e;

        f->lines += p->lines;
        f->kept += p->kept;
        nothing &= p->nothing || p->gap_count == 0;
        if (p->gap_count == 0)
            continue;
        if (e->kind == ENTRY_TEXT)
            e->text = f->parts[i].out;
        else
            keep_rows(c, e, p);
    }
    f->nothing = nothing;
    return true;
}
