/* prune.c: the lines of a text that answer a question, for people.
 *
 * A filter (a file, a pipe) or a wrapper around a command. stdout has the kept
 * lines, stderr what there is to say about them. What is left out is in the
 * store before stdout gets its first byte; what cannot be kept is not left out.
 * The text is pruned right here, on the only thread: nobody else waits, and
 * Ctrl-C ends it as it ends any filter. */
#include "cli/cli.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "call/cut.h"
#include "cli/input.h"
#include "cli/kept.h"
#include "cli/note.h"
#include "cli/show.h"
#include "prune/ends.h"
#include "store/store.h"
#include "tokens/tokens.h"

enum {
    SHORT_LINES = 40, /* pass untouched */
    SHORT_TOKENS = 500,
    BUDGET = 4000,     /* tokens; or a quarter of the text */
    GAP_TOKENS = 16,   /* of the line that stands for a gap */
    NUMBER_TOKENS = 3, /* of what stands before a line */
    MAX_SHOWN = 1 << 30
};

struct asked {
    const struct settings *set;
    struct str goal;
    const char *file; /* NULL: stdin */
    char **command;   /* NULL: none */
    double ratio;
    bool limited; /* by --ratio or --tokens */
};

struct work {
    const struct asked *ask;
    struct str text;
    struct arena a;
    struct prune p;
    struct show show;
    struct buf shown; /* without colours */
    char id[40];
    bool is_short;
    bool in_vain; /* it stays whole, for less would not be shorter */
    bool explain; /* every line, so nothing is left out */
    struct note note;
};

/* --- what is asked --- */

static bool read_ratio(struct asked *k)
{
    const char *text = k->set->text[OPT_RATIO];
    char *end;

    if (!text)
        return true;
    k->ratio = strtod(text, &end);
    return *text && !text[strspn(text, "0123456789.")] && !*end && k->ratio >= 0 && k->ratio <= 1;
}

static int asked_wrongly(const char *why)
{
    return cli_fail(2, "%s; pith prune --goal TEXT [FILE | -- CMD ...]", why);
}

/* Gives 0, or the status to exit with. */
static int read_ask(struct asked *k, const struct settings *set, int argc, char **argv)
{
    const char *goal = set->text[OPT_GOAL];
    int files = 0;

    *k = (struct asked){ .set = set, .goal = str_of(goal) };
    while (files < argc && strcmp(argv[files], "--") != 0)
        files++;
    if (!goal || !goal[strspn(goal, " \t\r\n")])
        return asked_wrongly("invalid_goal: --goal is the question, and must not be empty");
    if (!read_ratio(k))
        return asked_wrongly("invalid_ratio: --ratio must be a number from 0 to 1");
    if (files > 1 || (files == 1 && files < argc))
        return asked_wrongly("prune takes one file or one command");
    if (argc == 1 && files == 0)
        return asked_wrongly("there is no command after --");
    if (files == 1)
        k->file = argv[0];
    else if (argc > 0)
        k->command = argv + 1;
    else if (isatty(0))
        return asked_wrongly("there is nothing to prune: give a file ('-' is the terminal), a pipe "
                             "or a command");
    k->limited = set->given[OPT_RATIO] || set->given[OPT_TOKENS];
    return 0;
}

static enum prune_source source_of(const char *name)
{
    return !name                       ? PRUNE_AUTO
           : strcmp(name, "code") == 0 ? PRUNE_CODE
           : strcmp(name, "logs") == 0 ? PRUNE_LOGS
                                       : PRUNE_DOCS;
}

/* --- pruning --- */

/* Never late: somebody who waits sees the note, and has Ctrl-C. */
static bool on_late(void *arg)
{
    note_tick(arg, 0);
    return false;
}

/* --ratio alone is the share that goes; a budget otherwise. */
static size_t budget_of(const struct work *w)
{
    const struct settings *set = w->ask->set;
    size_t quarter = w->show.before / 4;

    if (set->given[OPT_TOKENS])
        return (size_t)set->num[OPT_TOKENS];
    if (set->given[OPT_RATIO])
        return 0;
    return quarter < BUDGET ? quarter : BUDGET;
}

static void run_engine(struct work *w)
{
    const struct asked *k = w->ask;
    struct prune_opts o = { .source = source_of(k->set->text[OPT_SOURCE]),
                            .max_ratio = k->set->given[OPT_RATIO] ? k->ratio : 1,
                            .min_keep = 1,
                            .budget = budget_of(w),
                            .marker_cost = GAP_TOKENS,
                            .number_cost = w->show.numbers ? NUMBER_TOKENS : 0,
                            .late = on_late,
                            .late_arg = &w->note,
                            .tokens = tokens_count };

    if (strcmp(k->set->text[OPT_SCORER], "heuristic") == 0)
        o.scorer = PRUNE_HEURISTIC;
    if (w->is_short || (k->set->given[OPT_TOKENS] && o.budget >= w->show.before))
        o.max_ratio = 0;
    prune_text(&w->p, &w->a, w->text, k->goal, &o);
    w->show.warning = w->p.warning;
    if (w->p.nothing && w->p.gap_count > 0)
        prune_show_ends(&w->p, &w->a, o.budget);
}

/* All lines stay after all. */
static void make_whole(struct work *w)
{
    w->p.kept = w->p.lines;
    w->p.gaps = NULL;
    w->p.gap_count = 0;
    buf_clear(&w->shown);
    buf_add(&w->shown, w->text.p, w->text.n);
}

/* Keep the text, or leave nothing out. */
static void keep(struct work *w)
{
    struct err e;

    if (kept_put(w->ask->set, w->text, w->id, &e)) {
        w->show.id = w->id;
        return;
    }
    make_whole(w);
    w->show.warning = "recovery_unavailable";
    note_end(&w->note);
    cli_fail(0, "nothing is left out, since it could not be kept: %s", e.msg);
}

/* A text that the store will refuse is not worth scoring, but for --explain. */
static bool can_keep(struct work *w)
{
    if (w->text.n <= STORE_MOST_BYTES || w->explain)
        return true;
    w->p = (struct prune){ .lines = cut_lines(w->text) };
    make_whole(w);
    w->show.warning = "recovery_unavailable";
    cli_fail(0,
             "nothing is left out: what is cut must be kept, and a text of more than %d MB is not",
             STORE_MOST_BYTES >> 20);
    return false;
}

/* Or did numbers and marks eat up what was saved? */
static bool is_less(const struct work *w)
{
    return !w->shown.full && w->shown.len < w->text.n &&
           tokens_count(buf_str(&w->shown)) < w->show.before;
}

static void prune(struct work *w)
{
    if (can_keep(w) || w->ask->set->num[OPT_JSON])
        w->show.before = tokens_count(w->text);
    if (w->show.warning)
        return;
    w->is_short =
        !w->ask->limited && (cut_lines(w->text) <= SHORT_LINES || w->show.before <= SHORT_TOKENS);
    run_engine(w);
    if (w->explain) {
        show_explained(&w->shown, &w->show);
        return;
    }
    show_text(&w->shown, &w->show);
    if (w->p.gap_count > 0 && !is_less(w)) {
        w->in_vain = true;
        make_whole(w);
    }
    if (w->p.gap_count > 0)
        keep(w);
}

/* --- saying it --- */

static bool in_colour(const struct settings *set)
{
    const char *when = set->text[OPT_COLOR], *no = getenv("NO_COLOR"), *term = getenv("TERM");

    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return isatty(1) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* 9120 as 9,120; out has 32 bytes of room. */
static const char *grouped(char out[32], size_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%zu", n), at = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

static void add_counts(struct buf *b, const struct work *w)
{
    const struct prune *p = &w->p;
    char n[4][32];

    if (p->gap_count == 0)
        buf_addf(b, "all of %s line%s", grouped(n[0], p->lines), p->lines == 1 ? "" : "s");
    else if (w->explain)
        buf_addf(b, "%s of %s lines", grouped(n[0], p->kept), grouped(n[1], p->lines));
    else
        buf_addf(b, "%s of %s lines, %s of %s tokens", grouped(n[0], p->kept),
                 grouped(n[1], p->lines), grouped(n[2], tokens_count(buf_str(&w->shown))),
                 grouped(n[3], w->show.before));
}

/* The last line, on stderr. */
static void say(const struct work *w)
{
    const struct settings *set = w->ask->set;
    struct buf b;

    buf_init(&b, 2 * PATH_MAX);
    if (w->shown.len > 0 && w->shown.data[w->shown.len - 1] != '\n' && isatty(1))
        buf_addc(&b, '\n');
    if (w->p.nothing && w->p.gap_count > 0)
        buf_adds(&b, "nothing here answers the question: ");
    buf_adds(&b, w->explain ? "would keep " : "kept ");
    add_counts(&b, w);
    if (w->p.warning)
        buf_addf(&b, "; not pruned: %s", w->p.warning);
    else if (w->in_vain)
        buf_adds(&b, w->show.numbers ? "; with numbers and marks it would not be shorter"
                                     : "; with marks it would not be shorter");
    else if (w->is_short)
        buf_adds(&b, "; a short text stays whole unless --ratio or --tokens is given");
    if (w->show.id && set->text[OPT_STORE])
        buf_addf(&b, "; pith recover --store %s %s gives the rest", set->text[OPT_STORE], w->id);
    else if (w->show.id)
        buf_addf(&b, "; pith recover %s gives the rest", w->id);
    dprintf(2, "%s\n", b.data);
    buf_done(&b);
}

static int print_json(struct work *w)
{
    struct buf b;
    bool ok;

    buf_init(&b, MAX_SHOWN);
    show_json(&b, &w->show, buf_str(&w->shown), w->ask->set->num[OPT_EXPLAIN]);
    ok = !b.full;
    if (ok)
        ok = cli_print(buf_str(&b));
    else
        cli_fail(1, "the answer is too long for JSON");
    buf_done(&b);
    return ok ? 0 : 1;
}

static bool print_coloured(struct work *w)
{
    struct buf b;
    bool ok;

    w->show.colour = true;
    buf_init(&b, MAX_SHOWN);
    if (w->explain)
        show_explained(&b, &w->show);
    else
        show_text(&b, &w->show);
    ok = cli_print(buf_str(b.full ? &w->shown : &b));
    buf_done(&b);
    return ok;
}

static int print(struct work *w)
{
    const struct settings *set = w->ask->set;

    if (set->num[OPT_JSON])
        return print_json(w);
    if (!(in_colour(set) ? print_coloured(w) : cli_print(buf_str(&w->shown))))
        return 1;
    say(w);
    return 0;
}

static int prune_and_print(const struct asked *k, struct str text)
{
    struct work w = { .ask = k, .text = text };
    int status;

    w.explain = k->set->num[OPT_EXPLAIN] && !k->set->num[OPT_JSON];
    w.show = (struct show){ .text = text, .p = &w.p, .numbers = !k->set->num[OPT_NO_NUMBERS] };
    buf_init(&w.shown, MAX_SHOWN);
    note_start(&w.note, "pruning");
    prune(&w);
    note_end(&w.note);
    status = print(&w);
    buf_done(&w.shown);
    arena_done(&w.a);
    return status;
}

int cmd_prune(struct house *h, int argc, char **argv)
{
    struct asked k;
    struct input in;
    int status = read_ask(&k, &h->set, argc, argv);
    bool ok;

    if (status != 0)
        return status;
    ok = k.command ? input_command(&in, k.command) : input_file(&in, k.file);
    if (ok && !in.through)
        status = prune_and_print(&k, buf_str(&in.text));
    if (in.status != 0)
        status = in.status;
    input_done(&in);
    return status;
}
