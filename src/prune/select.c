/* select.c: the best lines within the limits.
 *
 * In this order: NO_PRUNE blocks; lines by score, one by one (measured on real
 * work that is better than whole blocks, since a block's worth, a failure, a
 * heading, an import are part of the score); the signatures and heads above
 * what was taken; gaps whose marker would cost as much as they do. */
#include "prune/select.h"

#include <math.h>
#include <stdlib.h>

#include "scan/log.h"

struct ranked {
    uint32_t key, line;
};

struct chooser {
    bool *keep;
    const struct text *t;
    const struct blocks *b;
    const float *score;
    const struct prune_opts *o;
    const float *costs;   /* of lines, if a budget counts them */
    struct ranked *order; /* lines, best first */
    size_t n, kept;
    double tokens; /* of kept lines */
    double scale;  /* from our estimate to the caller's count */
};

/* ---- Order ---- */

/* A number that is larger for a larger score. Most scores are small, so the
 * bits of the float, which are finer there, spread them better than a product. */
static uint32_t key_of(float score)
{
    uint32_t bits;

    memcpy(&bits, &score, sizeof bits);
    return bits << 2; /* 1.0 is 0x3f800000 */
}

static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    return a->line < b->line ? -1 : 1;
}

/* Lines that score the same already are in order. */
static bool sorted(const struct ranked *r, size_t n)
{
    size_t i;

    for (i = 1; i < n; i++)
        if (r[i - 1].key < r[i].key)
            return false;
    return true;
}

/* By 14 bits, then in each bin. */
static void sort_many(const struct chooser *c, struct ranked *r, struct arena *a)
{
    enum { BINS = 1 << 14, SHIFT = 18 };
    uint32_t *start = arena_zalloc(a, (BINS + 1) * sizeof *start), bin;
    size_t i, from, to;

    for (i = 0; i < c->n; i++)
        start[BINS - (key_of(c->score[i]) >> SHIFT)]++;
    for (i = 1; i <= BINS; i++)
        start[i] += start[i - 1];
    for (i = c->n; i--;) {
        bin = BINS - 1 - (key_of(c->score[i]) >> SHIFT);
        r[--start[bin + 1]] = (struct ranked){ key_of(c->score[i]), (uint32_t)i };
    }
    for (i = 0; i < BINS; i++) {
        from = start[i + 1];
        to = i + 2 <= BINS ? start[i + 2] : c->n;
        if (!sorted(r + from, to - from))
            qsort(r + from, to - from, sizeof *r, by_rank);
    }
}

/* All lines, best first; of equals the earlier. */
static void sort_lines(struct chooser *c, struct arena *a)
{
    struct ranked *r = arena_alloc(a, (c->n + 1) * sizeof *r);
    size_t i;

    if (c->n > 4096) {
        sort_many(c, r, a);
    } else {
        for (i = 0; i < c->n; i++)
            r[i] = (struct ranked){ key_of(c->score[i]), (uint32_t)i };
        qsort(r, c->n, sizeof *r, by_rank);
    }
    c->order = r;
}

/* ---- Taking ---- */

static double cost(const struct chooser *c, size_t i)
{
    return c->costs ? c->costs[i] : c->scale * c->t->lines[i].tokens;
}

/* With a budget long lines are counted: the estimate is for words, not for
 * 8,000 digits, and one line that is far off leaves no room for any other. */
static void count_long(struct chooser *c, struct arena *a)
{
    const struct line *l = c->t->lines;
    float *costs = arena_alloc(a, (c->n + 1) * sizeof *costs);

    for (size_t i = 0; i < c->n; i++) {
        size_t n = l[i + 1].at - l[i].at;

        costs[i] = (float)cost(c, i);
        if (n > 1000)
            costs[i] = (float)c->o->tokens((struct str){ c->t->bytes.p + l[i].at, n });
    }
    c->costs = costs;
}

static void take(struct chooser *c, size_t i)
{
    if (c->keep[i])
        return;
    c->keep[i] = true;
    c->kept++;
    c->tokens += cost(c, i);
}

/* As many as must stay, best first. */
static void take_least(struct chooser *c, size_t least)
{
    size_t k;

    for (k = 0; k < c->n && c->kept < least; k++)
        take(c, c->order[k].line);
}

static void drop(struct chooser *c, size_t i)
{
    c->keep[i] = false;
    c->kept--;
    c->tokens -= cost(c, i);
}

/* A line that is nine times likelier not to matter does not fill a budget; a few
 * stay for what is around the best. Measured on dev logs: 31 % fewer tokens for
 * .009 of recall; nothing on code and docs, whose lines score higher. */
static const float low = 0.1f;
enum { FEW = 10 };

/* Best first up to the budget; what scores high, up to twice of it. */
static void take_budget(struct chooser *c, float high, double budget)
{
    size_t k, i;

    for (k = 0; k < c->n; k++) {
        i = c->order[k].line;
        if (c->tokens > budget && c->score[i] < high)
            break;
        if (c->score[i] < low && c->kept >= FEW)
            break;
        if (!c->keep[i] && c->tokens + cost(c, i) <= (c->score[i] >= high ? 2 : 1) * budget)
            take(c, i);
    }
}

/* How many kept lines stand under each header. */
static uint32_t *under(const struct chooser *c, struct arena *a)
{
    uint32_t *count = arena_zalloc(a, (c->n + 1) * sizeof *count), h;
    size_t i;

    for (i = 0; i < c->n; i++) {
        h = c->b->header[i];
        if (c->keep[i] && h != NO_LINE && h != i)
            count[h]++;
    }
    return count;
}

/* The signature or heading above kept lines, those of several lines first. */
static void take_headers(struct chooser *c, struct arena *a, double room)
{
    uint32_t *count = under(c, a), least;
    size_t i;

    for (least = 3; least; least--)
        for (i = 0; i < c->n; i++)
            if (count[i] >= least && !c->keep[i] && c->tokens + cost(c, i) <= room)
                take(c, i);
}

/* Failures, what was wanted, summaries and heads say something by themselves. */
static bool is_firm(const struct line *l)
{
    return l->kind & K_KEEP || l->log & (L_STRONG | L_WANT | L_SUMMARY | L_ENTRY | L_TITLE);
}

/* Line i takes the place of the worst line that is neither firm, nor quoted code,
 * nor a header of kept lines; false: only the better ones are left. */
static bool swap(struct chooser *c, size_t i, size_t *worst, const uint32_t *count)
{
    const struct line *l;
    size_t w;

    for (; *worst > c->kept * 3 / 4; --*worst) {
        w = c->order[*worst - 1].line;
        l = &c->t->lines[w];
        if (!c->keep[w] || is_firm(l) || l->log & L_CARET || count[w])
            continue;
        drop(c, w);
        take(c, i);
        return true;
    }
    return false;
}

/* Where the number of lines is given: a header that three kept lines stand under
 * takes the place of the worst line, for one line in twenty and two more. */
static void swap_headers(struct chooser *c, struct arena *a)
{
    uint32_t *count = under(c, a);
    size_t i, worst = c->n, most = c->kept / 20 + 2;

    for (i = 0; i < c->n && most; i++)
        if (count[i] >= 3 && !c->keep[i] && most--)
            if (!swap(c, i, &worst, count))
                return;
}

static bool is_kept(const struct chooser *c, size_t i, uint32_t log)
{
    return i < c->n && c->keep[i] && c->t->lines[i].log & log;
}

/* Does the code that line i is part of belong to a diagnostic above it? */
static bool has_head(const struct chooser *c, size_t i)
{
    while (i && c->t->lines[i].log & L_CARET)
        i--;
    return (c->t->lines[i].log & L_PATH) != 0;
}

/* Is line i the code that a kept failure is about, or the "^" below it? Tools
 * quote it as " 12 | x = y", some with lines around it, which are nothing. */
static bool is_pointed(const struct chooser *c, size_t i)
{
    const struct line *l = &c->t->lines[i];
    bool pointer = l[1].words == l->words;

    if (!(l->log & L_CARET) || c->keep[i])
        return false;
    if (i && is_kept(c, i - 1, L_STRONG))
        return true;
    if (is_kept(c, i + 1, L_STRONG) && !has_head(c, i))
        return true;
    return pointer ? i && is_kept(c, i - 1, L_CARET)
                   : is_kept(c, i + 1, L_CARET) && l[2].words == l[1].words;
}

/* The line that a failure points at comes with it, in place of the worst lines,
 * or as long as there is room. */
static void take_pointed(struct chooser *c, struct arena *a, double room)
{
    uint32_t *count = under(c, a);
    size_t i, worst = c->n, most = c->kept / 10 + 4, k;

    for (i = 0; i < 2 * c->n && most; i++) {
        k = i < c->n ? i : 2 * c->n - 1 - i; /* down, then up again */
        if (!is_pointed(c, k))
            continue;
        most--;
        if (room > 0 && c->tokens + cost(c, k) <= room)
            take(c, k);
        else if (room > 0 || !swap(c, k, &worst, count))
            return;
    }
}

/* Is nothing kept within two lines of line i? A smaller gap is soon filled:
 * counting it as alone saved 2 % of tokens and cost 3 % of recall. */
static bool alone(const struct chooser *c, size_t i)
{
    size_t j = i > 2 ? i - 2 : 0, end = i + 2 < c->n ? i + 3 : c->n;

    for (; j < end; j++)
        if (j != i && c->keep[j])
            return false;
    return true;
}

static bool beside(const struct chooser *c, size_t i)
{
    return (i && c->keep[i - 1]) || (i + 1 < c->n && c->keep[i + 1]);
}

/* A line that stands alone costs two markers for what it says. The worst of
 * them, up to three in ten of all, give their places to lines beside kept ones,
 * the best first: the same number of lines in fewer pieces. */
static void join_lines(struct chooser *c)
{
    size_t most = c->kept * 3 / 10, k, i, worst = c->n, w;

    for (k = 0; k < c->n && most; k++) {
        i = c->order[k].line;
        if (c->keep[i] || !beside(c, i) || c->t->lines[i].kind & K_BLANK)
            continue;
        for (; worst; worst--) {
            w = c->order[worst - 1].line;
            if (c->keep[w] && alone(c, w) && !is_firm(&c->t->lines[w]))
                break;
        }
        if (worst <= c->kept / 2)
            return;
        drop(c, c->order[--worst].line);
        take(c, i);
        most--;
    }
}

/* Gaps that cost no more than the marker in their place. */
static void fill_gaps(struct chooser *c, double most)
{
    double marker = (double)c->o->marker_cost, sum;
    size_t i, j, k;

    for (i = 0; i < c->n; i = j) {
        for (j = i, sum = 0; j < c->n && !c->keep[j]; j++)
            sum += cost(c, j);
        if (j == i)
            j++;
        else if (sum <= marker && c->tokens + sum <= most)
            for (k = i; k < j; k++)
                take(c, k);
    }
}

/* ---- All ---- */

static size_t least_of(const struct chooser *c)
{
    double gone = floor((double)c->n * c->o->max_ratio + 1e-9);
    size_t least = gone >= (double)c->n ? 0 : c->n - (size_t)gone;

    if (least < c->o->min_keep)
        least = c->o->min_keep;
    if (!least)
        least = 1;
    return least < c->n ? least : c->n;
}

static double scale_of(const struct chooser *c)
{
    enum { SMALL = 64 << 10 };
    double sum = 0, exact;
    size_t i;

    if (!c->o->budget && !c->o->marker_cost)
        return 1;
    for (i = 0; i < c->n; i++)
        sum += c->t->lines[i].tokens;
    /* exact where a budget has to hold, or where it costs nothing */
    exact = c->o->tokens && (c->o->budget || c->t->bytes.n <= SMALL)
                ? (double)c->o->tokens(c->t->bytes)
                : (double)c->t->bytes.n / 4;
    return sum > 0 ? exact / sum : 1;
}

/* What the kept lines really cost, by the caller's count, with their numbers
 * and markers. */
static double real_cost(const struct chooser *c)
{
    const struct line *l = c->t->lines;
    double sum = (double)(c->kept * c->o->number_cost);
    size_t i, j;

    for (i = 0; i < c->n; i = j) {
        for (j = i; j < c->n && c->keep[j] == c->keep[i]; j++)
            ;
        if (!c->keep[i])
            sum += (double)c->o->marker_cost;
        else if (c->o->tokens)
            sum += (double)c->o->tokens((struct str){ c->t->bytes.p + l[i].at, l[j].at - l[i].at });
        else
            sum += (double)(l[j].at - l[i].at) / 4;
    }
    return sum;
}

/* What must stay whatever it costs. */
static void take_firm(struct chooser *c, size_t least)
{
    size_t i;

    memset(c->keep, 0, c->n);
    c->kept = 0;
    c->tokens = 0;
    for (i = 0; i < c->n; i++)
        if (c->t->lines[i].kind & K_KEEP)
            take(c, i);
    take_least(c, least);
}

/* Our estimate of tokens may be off for the lines chosen: then again with less. */
static void within_budget(struct chooser *c, struct arena *a, float high, size_t least)
{
    double budget = (double)c->o->budget, most = 2 * budget, part = 0.95, is;
    int tries;

    for (tries = 0; tries < 8; tries++) {
        take_firm(c, least);
        take_budget(c, high, budget * part);
        if (c->o->marker_cost) {
            take_pointed(c, a, budget * part * 1.1);
            join_lines(c);
        }
        take_headers(c, a, budget * part * 1.2);
        if (c->o->marker_cost)
            fill_gaps(c, most * part);
        is = real_cost(c);
        if (is <= most)
            return;
        part *= 0.95 * most / is;
    }
    take_firm(c, least);
}

size_t select_lines(bool *keep, struct arena *a, const struct text *t, const struct blocks *b,
                    const float *score, float high, const struct prune_opts *o)
{
    struct chooser c = { .keep = keep, .t = t, .b = b, .score = score, .o = o, .n = t->count };
    size_t least = least_of(&c);

    c.scale = scale_of(&c);
    sort_lines(&c, a);
    if (o->budget) {
        if (o->tokens)
            count_long(&c, a);
        /* with room for nothing, at least the best line */
        within_budget(&c, a, high, least);
        return c.kept;
    }
    take_firm(&c, least);
    if (o->marker_cost) {
        /* somebody reads it as it is: worth 1 % of recall, not for raw lines */
        take_pointed(&c, a, 0);
        join_lines(&c);
        swap_headers(&c, a);
        fill_gaps(&c, HUGE_VAL);
    }
    return c.kept;
}
