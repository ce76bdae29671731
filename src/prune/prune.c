/* prune.c: the whole way from a text and a goal to gaps.
 *
 * Every step can be too late; then the whole text stays and says so. A text
 * too large for 32-bit offsets, or for the memory its lines would take, stays
 * whole too. */
#include "prune/prune.h"

#include <math.h>

#include "prune/score.h"
#include "prune/select.h"
#include "scan/log.h"

enum { MOST_BYTES = 512 * 1024 * 1024, MOST_LINES = 8 * 1024 * 1024 };

struct prune_notes {
    const struct text *t;
    const struct blocks *b;
    const struct match *m;
};

struct work {
    struct text t;
    struct blocks b;
    struct match m;
    struct goal g;
    struct prune_notes notes;
};

const char *prune_why(enum prune_why why, bool french)
{
    static const char *const WORDS[][2] = {
#define X(name, english, french_words) { english, french_words },
        PRUNE_WHYS(X)
#undef X
    };

    return WORDS[why < PRUNE_WHY_COUNT ? why : 0][french];
}

static enum text_part part_of(enum prune_source source, const struct text *t)
{
    switch (source) {
    case PRUNE_CODE:
        return PART_CODE;
    case PRUNE_LOGS:
        return PART_LOGS;
    case PRUNE_DOCS:
        return PART_DOCS;
    default:
        return text_guess(t);
    }
}

static enum prune_source source_of(enum text_part part)
{
    return part == PART_CODE ? PRUNE_CODE : part == PART_LOGS ? PRUNE_LOGS : PRUNE_DOCS;
}

/* ---- Scores ---- */

/* Code that a tool quotes below what it says of it (" 12 | x = y", "   |   ^") is
 * worth nearly as much as that: neither is read without the other. */
static void score_quoted(float *score, const struct text *t)
{
    enum { CLOSE = 4 };
    const struct line *l;
    float most = -1; /* below 0: nobody said anything */
    size_t i, quoted = 0;

    for (i = 0; i < t->count; i++) {
        l = &t->lines[i];
        if (l->log & L_CARET && most >= 0) {
            most *= ++quoted <= CLOSE ? 0.98f : 0.5f;
            score[i] = quoted <= CLOSE || score[i] > most ? most : score[i];
        } else if (l->log & (L_STRONG | L_SEV | L_WARN)) {
            most = score[i];
            quoted = 0;
        } else if (quoted || !(l->log & L_PATH)) { /* but for rustc's "--> file:12:3" */
            most = -1;
        }
    }
}

/* Below this the words found are those any text has. */
static float least_fit(enum text_part part)
{
    return part == PART_LOGS ? 0.1f : 0.08f;
}

static float *score(struct prune *p, struct work *w, struct arena *a, enum text_part part,
                    const struct prune_opts *o, const struct late *late)
{
    struct features *f;
    float *out;
    bool ok;

    if (!(part == PART_LOGS ? text_logs(&w->t, late) : text_kinds(&w->t, part, late)) ||
        !text_blocks(&w->b, a, &w->t, part, late))
        return NULL;
    text_protected(&w->t);
    match_text(&w->m, a, &w->t, &w->b, part, &w->g);
    f = features_make(a, &w->m, late);
    if (!f)
        return NULL;
    out = arena_alloc(a, (w->t.count + 1) * sizeof *out);
    ok = o->scorer == PRUNE_HEURISTIC ? score_heuristic(out, f, part, late)
                                      : score_learned(out, f, part, late);
    if (part == PART_LOGS)
        score_quoted(out, &w->t);
    p->fit = features_fit(f);
    p->nothing = p->fit < least_fit(part) && !features_some(f) && !features_trouble_seen(f);
    return ok ? out : NULL;
}

/* ---- Gaps ---- */

static enum prune_why why_of(const struct line *l)
{
    if (l->kind & K_BLANK)
        return PRUNE_WHY_BLANK;
    if (l->kind & K_LICENCE)
        return PRUNE_WHY_LICENCE;
    if (l->kind & K_COMMENT)
        return PRUNE_WHY_COMMENT;
    if (l->kind & K_IMPORT)
        return PRUNE_WHY_IMPORT;
    if (l->kind & K_PUNCT)
        return PRUNE_WHY_SIGNS;
    if (l->log & L_FRAME)
        return PRUNE_WHY_FRAMES;
    if (l->log & L_OK && !(l->log & (L_SEV | L_SUMMARY)))
        return PRUNE_WHY_PASSED;
    if (l->log & L_DULL)
        return PRUNE_WHY_ROUTINE;
    return PRUNE_WHY_FAR;
}

/* What most of the lines from … to - 1 are; blank ones do not count. */
static enum prune_why gap_why(const struct text *t, size_t from, size_t to)
{
    size_t count[PRUNE_WHY_COUNT] = { 0 }, lines = to - from, same = 0, i, k;

    for (i = from; i < to; i++) {
        count[why_of(&t->lines[i])]++;
        same += i > from && t->lines[i].mask == t->lines[i - 1].mask;
    }
    lines -= count[PRUNE_WHY_BLANK];
    if (!lines)
        return PRUNE_WHY_BLANK;
    if (same * 3 > lines * 2 && lines > 3)
        return PRUNE_WHY_REPEAT;
    for (k = PRUNE_WHY_BLANK + 1; k < PRUNE_WHY_COUNT; k++)
        if (count[k] * 3 > lines * 2)
            return (enum prune_why)k;
    return PRUNE_WHY_FAR;
}

static void gaps(struct prune *out, struct arena *a, const struct text *t, const bool *keep)
{
    struct prune_gap *g;
    size_t i, j, n = 0;

    for (i = 0; i < t->count; i++)
        n += !keep[i] && (!i || keep[i - 1]);
    g = arena_alloc(a, (n + 1) * sizeof *g);
    out->gaps = g;
    for (i = 0; i < t->count; i = j) {
        for (j = i; j < t->count && !keep[j]; j++)
            ;
        if (j == i) {
            j++;
            continue;
        }
        g->from = i + 1;
        g->to = j;
        g->reason = gap_why(t, i, j);
        g->why = prune_why(g->reason, false);
        g++;
    }
    out->gap_count = n;
}

/* ---- All ---- */

static size_t count_lines(struct str text)
{
    const char *p = text.p, *end = p + text.n, *nl;
    size_t n = 0;

    for (; p < end; p = nl + 1, n++)
        if (!(nl = memchr(p, '\n', (size_t)(end - p))))
            return n + 1;
    return n;
}

static void whole(struct prune *out, const char *warning)
{
    out->kept = out->lines;
    out->gaps = NULL;
    out->gap_count = 0;
    out->score = NULL;
    out->notes = NULL;
    out->nothing = false;
    out->warning = warning;
}

static void starts(struct prune *out, struct arena *a, const struct text *t)
{
    uint32_t *at = arena_alloc(a, (t->count + 1) * sizeof *at);
    size_t i;

    for (i = 0; i <= t->count; i++)
        at[i] = t->lines[i].at;
    out->at = at;
    out->lines = t->count;
}

/* The score from which on a line may pass the budget. */
static float high_of(const struct prune_opts *o)
{
    return o->scorer == PRUNE_HEURISTIC ? 0.85f : 0.9f;
}

void prune_text(struct prune *out, struct arena *a, struct str text, struct str goal,
                const struct prune_opts *o)
{
    struct late late = { o->late, o->late_arg };
    struct prune_opts opts;
    struct work *w;
    enum text_part part;
    bool *keep;

    *out = (struct prune){ .source = o->source };
    if (text.n > MOST_BYTES || count_lines(text) > MOST_LINES) {
        out->lines = count_lines(text);
        whole(out, "input_too_large");
        return;
    }
    w = arena_zalloc(a, sizeof *w);
    goal_read(&w->g, goal);
    if (!text_read(&w->t, a, text, w->g.keep, w->g.keep_count, &late)) {
        out->lines = count_lines(text);
        whole(out, "timeout");
        return;
    }
    starts(out, a, &w->t);
    part = part_of(o->source, &w->t);
    out->source = source_of(part);
    if (!out->lines) {
        whole(out, NULL);
        return;
    }
    if (!(o->max_ratio >= 0 && o->max_ratio <= 1) || o->min_keep > out->lines) {
        whole(out, "constraints_unmet");
        return;
    }
    out->score = score(out, w, a, part, o, &late);
    if (!out->score) {
        whole(out, "timeout");
        return;
    }
    keep = arena_alloc(a, out->lines);
    opts = *o;
    if (out->nothing) /* a taste of it, no more */
        opts.budget = (opts.budget + 7) / 8;
    out->kept = select_lines(keep, a, &w->t, &w->b, out->score, high_of(o), &opts);
    gaps(out, a, &w->t, keep);
    if (is_late(&late)) {
        whole(out, "timeout");
        return;
    }
    w->notes = (struct prune_notes){ &w->t, &w->b, &w->m };
    out->notes = &w->notes;
}

/* ---- Why ---- */

void prune_explain(struct buf *out, const struct prune *p, size_t line)
{
    const struct prune_notes *n = p->notes;
    const char *sep = "";
    struct str s;
    uint64_t mask;
    uint32_t h;
    int k;

    if (!n || !line || line > p->lines)
        return;
    for (mask = n->m->mask[line - 1]; mask; mask &= mask - 1) {
        k = __builtin_ctzll(mask);
        s = n->m->term[k]->word;
        buf_addf(out, "%s'%.*s'", sep, (int)(s.n < 40 ? s.n : 40), s.p);
        sep = ", ";
    }
    if (*sep) {
        buf_adds(out, " here");
        sep = "; ";
    }
    h = n->b->header[line - 1];
    if (h != NO_LINE && h != line - 1) {
        s = line_str(n->t, h);
        while (s.n && (*s.p == ' ' || *s.p == '\t'))
            s.p++, s.n--;
        buf_addf(out, "%s%sunder line %u: %.*s", sep, n->m->mask[h] ? "matched " : "", h + 1,
                 (int)(s.n < 60 ? s.n : 60), s.p);
        sep = "; ";
    }
    if (n->t->lines[line - 1].log & L_STRONG)
        buf_addf(out, "%sa failure", sep);
}
