/* focus.c: parts in, numbered lines out. */
#include "call/focus.h"
#include <stdio.h>
#include "base/clock.h"
#include "base/utf8.h"
#include "call/cut.h"
#include "prune/ends.h"
#include "tokens/tokens.h"

enum {
    SHORT_LINES = 40, /* pass untouched */
    SHORT_TOKENS = 500,
    BUDGET = 4000,     /* tokens; or a quarter of the text */
    MARK_TOKENS = 3,   /* "~33\n" */
    MOST_CHARS = 48000 /* of all that is pruned: a token may be eighty blanks */
};

struct focus_part {
    struct entry *e;
    struct str text;    /* before pruning */
    size_t offset;      /* number of its first line, less one */
    struct str out;     /* pruned; TEXT: numbered */
    bool *stays;        /* ROWS: this one */
    size_t lines, kept; /* or rows */
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

/* Far from the question is what most gaps are: that one goes without saying. So
 * do all for a single line, which the words would outweigh. */
static void add_gap(struct buf *b, const struct prune_gap *g, bool reasons)
{
    bool far = g->reason == PRUNE_WHY_FAR || g->from == g->to || !reasons;

    buf_addf(b, "~%zu%s%s\n", g->to - g->from + 1, far ? "" : " ", far ? "" : g->why);
}

static struct str render_text(struct arena *a, const struct prune_job *j, size_t offset,
                              bool reasons)
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
                add_gap(&b, &p->gaps[gap++], reasons);
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

/* A row stays if any of its lines does. */
static struct str choose_rows(struct arena *a, struct focus_part *p, const struct prune *out)
{
    const struct rows *rows = &p->e->rows;
    size_t n = 1, gap = 0, end = 1;
    struct buf b;
    struct str s;

    p->stays = arena_zalloc(a, rows->count);
    p->kept = 0;
    buf_init(&b, p->text.n);
    for (size_t i = 0, at = 0; i < rows->count; i++) {
        size_t start = at;

        for (end += rows_lines(rows, i); n < end; n++, at += line_at(p->text, at).n) {
            while (gap < out->gap_count && out->gaps[gap].to < n)
                gap++;
            p->stays[i] |= gap == out->gap_count || n < out->gaps[gap].from;
        }
        p->kept += p->stays[i];
        if (p->stays[i])
            buf_add(&b, p->text.p + start, at - start);
    }
    s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

static bool fits(const struct prune_job *j, struct str out, size_t chars)
{
    return utf8_count(out) <= chars && tokens_count(out) <= 2 * j->opts.budget;
}

static void leave_whole(struct focus_part *p, struct prune_job *j)
{
    p->kept = p->lines;
    p->out = p->text;
    j->out.gap_count = 0;
}

static void render_part(struct call *c, struct focus_part *p, struct prune_job *j, size_t chars)
{
    bool rows = p->e->kind == ENTRY_ROWS;

    p->lines = rows ? p->e->rows.count : j->out.lines;
    if (j->out.gap_count == 0) {
        leave_whole(p, j);
        return;
    }
    if (c->finish->focus->nothing)
        prune_show_ends(&j->out, &c->a, j->opts.budget);
    p->kept = j->out.kept;
    p->out = rows ? choose_rows(&c->a, p, &j->out) : render_text(&c->a, j, p->offset, true);
    if (!rows && !fits(j, p->out, chars)) /* words of why may be what is too much */
        p->out = render_text(&c->a, j, p->offset, false);
    if (fits(j, p->out, chars) && p->out.n < p->text.n)
        return;
    c->finish->focus->too_long |= p->out.n < p->text.n;
    leave_whole(p, j);
}

/* Is the answer smaller for it, with all that the status line has to say? */
static bool saves(const struct focus *f)
{
    const struct pruning p = { .lines = f->lines,
                               .kept = f->kept,
                               .marks = f->marks,
                               .nothing = f->nothing,
                               .id = f->work.id };
    size_t raw = 0, now;
    struct buf b;

    buf_init(&b, 400);
    focus_say(&b, &p);
    now = b.len;
    buf_done(&b);
    for (size_t i = 0; i < f->work.count; i++) {
        raw += f->parts[i].text.n;
        now += f->parts[i].out.n;
    }
    return now < raw;
}

static void render_parts(struct call *c, struct prune_work *w)
{
    struct focus *f = c->finish->focus;
    size_t chars = MOST_CHARS;

    f->nothing = true;
    for (size_t i = 0; i < w->count; i++)
        f->nothing &= w->jobs[i].out.nothing;
    for (size_t i = 0; i < w->count; i++) {
        struct focus_part *p = &f->parts[i];

        render_part(c, p, &w->jobs[i], chars);
        f->lines += p->lines;
        f->kept += p->kept;
        if (w->jobs[i].out.gap_count == 0)
            continue;
        chars -= utf8_count(p->out);
        f->marks |= p->e->kind == ENTRY_TEXT;
    }
    if (!saves(f))
        for (size_t i = 0; i < w->count; i++)
            leave_whole(&f->parts[i], &w->jobs[i]);
}

void focus_say(struct buf *b, const struct pruning *p)
{
    buf_addf(b, "; %skept %zu of %zu lines%s (%srecover_text id %s)",
             p->nothing ? "nothing here answers the question: " : "", p->kept, p->lines,
             p->nothing ? "" : " for the question", p->marks ? "~N: N left out; " : "", p->id);
}

/* --- start --- */

struct prune_opts focus_opts(const struct site *s, struct str text, bool output, bool marks)
{
    size_t tokens = tokens_count(text), quarter = tokens / 4;
    struct prune_opts o = { .source = output ? PRUNE_LOGS : PRUNE_AUTO,
                            .scorer = s->heuristic ? PRUNE_HEURISTIC : PRUNE_LEARNED,
                            .max_ratio = 1,
                            .min_keep = 1,
                            .budget = quarter < BUDGET ? quarter : BUDGET,
                            .marker_cost = marks ? MARK_TOKENS : 0 };

    if (tokens <= SHORT_TOKENS || cut_lines(text) <= SHORT_LINES)
        o.max_ratio = 0;
    return o;
}

/* One budget for all: the later text (stderr) has half of it if both are long. */
static void share_budget(struct prune_work *w)
{
    size_t left = BUDGET;

    for (size_t i = 0; i < w->count; i++) {
        struct prune_opts *o = &w->jobs[i].opts;
        size_t later = 0;

        for (size_t k = i + 1; k < w->count; k++)
            later += w->jobs[k].opts.max_ratio > 0 ? w->jobs[k].opts.budget : 0;
        if (later > left / 2)
            later = left / 2;
        if (o->budget > left - later)
            o->budget = left - later;
        if (o->max_ratio > 0)
            left -= o->budget;
    }
}

/* Of "1234\t": a token for three digits, and the tab. */
static size_t number_tokens(size_t most)
{
    return ((size_t)snprintf(NULL, 0, "%zu", most) + 2) / 3 + 1;
}

static void first(struct call *c, struct prune_work *w)
{
    struct focus *f = c->finish->focus;

    w->keep = whole(c, f);
    for (size_t i = 0; i < w->count; i++) {
        const struct focus_part *p = &f->parts[i];
        const struct entry *e = p->e;
        bool rows = e->kind == ENTRY_ROWS, output = rows || strcmp(e->name, "content") != 0;
        struct prune_job *j = &w->jobs[i];

        j->text = p->text;
        j->goal = c->finish->question;
        j->opts = focus_opts(c->site, p->text, output, !rows);
        if (!rows)
            j->opts.number_cost = number_tokens(p->offset + e->first_line + cut_lines(p->text));
    }
    share_budget(w);
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

static void keep_rows(struct call *c, const struct focus_part *p)
{
    struct rows *rows = &p->e->rows;
    char *items = arena_alloc(&c->a, rows->count * rows->size);
    size_t n = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (p->stays[i])
            memcpy(items + n++ * rows->size, (const char *)rows->items + i * rows->size,
                   rows->size);
    rows->items = items;
    rows->count = n;
}

bool focus_apply(struct call *c)
{
    struct focus *f = c->finish->focus;

    if (!pruner_cuts(&f->work) || f->work.keep_err.code)
        return false;
    for (size_t i = 0; i < f->work.count; i++) {
        struct focus_part *p = &f->parts[i];

        if (f->work.jobs[i].out.gap_count == 0)
            continue;
        p->e->pruned = true;
        if (p->e->kind == ENTRY_TEXT)
            p->e->text = p->out;
        else
            keep_rows(c, p);
    }
    return true;
}
