/* prune_fuzz.c: whatever bytes come in as text and goal, the limits hold: gaps
 * in order and apart, no more lines gone than allowed, scores between 0 and 1,
 * NO_PRUNE blocks whole, and twice the same answer. */
#include "prune/prune.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool gone(const struct prune *p, size_t line)
{
    size_t i;

    for (i = 0; i < p->gap_count; i++)
        if (line >= p->gaps[i].from && line <= p->gaps[i].to)
            return true;
    return false;
}

static size_t count(struct str s, const char *what)
{
    const char *p = s.p, *end = s.p + s.n;
    size_t n = 0;

    for (; (p = memmem(p, (size_t)(end - p), what, strlen(what))) != NULL; p++)
        n++;
    return n;
}

static void holds(const struct prune *p, const struct prune_opts *o, struct str text)
{
    size_t i, last = 0, removed = 0;
    size_t open = 0, ends;
    struct str line;

    for (i = 0; i < p->gap_count; i++) {
        must(p->gaps[i].from > last + (last > 0) && p->gaps[i].to >= p->gaps[i].from);
        last = p->gaps[i].to;
        removed += p->gaps[i].to - p->gaps[i].from + 1;
    }
    must(last <= p->lines && p->kept + removed == p->lines);
    must((double)removed <= floor((double)p->lines * o->max_ratio + 1e-9));
    must(p->kept >= o->min_keep || (p->kept == p->lines && (p->warning || !p->lines)));
    must(p->at && p->at[0] == 0 && p->at[p->lines] == text.n);
    for (i = 0; p->score && i < p->lines; i++)
        must(p->score[i] >= 0 && p->score[i] <= 1);
    for (i = 0; i < p->lines; i++) {
        must(p->at[i] < p->at[i + 1]);
        line = (struct str){ text.p + p->at[i], p->at[i + 1] - p->at[i] };
        /* Counted here, there taken in the order of the line: never fewer are open. */
        open += count(line, "\xe2\x9f\xa6NO_PRUNE_BEGIN\xe2\x9f\xa7");
        must(!open || !gone(p, i + 1));
        ends = count(line, "\xe2\x9f\xa6NO_PRUNE_END\xe2\x9f\xa7");
        must(!ends || !gone(p, i + 1));
        open = open > ends ? open - ends : 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prune_opts o = { 0 };
    struct arena a = { 0 };
    struct prune p, again;
    struct buf why;
    struct str goal, text;
    size_t i, cut;

    if (size < 8)
        return 0;
    o.source = (enum prune_source)(data[0] % 4);
    o.scorer = (enum prune_scorer)(data[1] % 2);
    o.max_ratio = data[2] / 255.0;
    o.min_keep = data[3] % 2 ? data[3] : 0;
    o.budget = data[4] % 2 ? data[4] : 0;
    o.marker_cost = data[5] % 2 ? data[5] : 0;
    cut = 7 + data[6] % (size - 7);
    goal = (struct str){ (const char *)data + 7, cut - 7 };
    text = (struct str){ (const char *)data + cut, size - cut };
    prune_text(&p, &a, text, goal, &o);
    holds(&p, &o, text);
    prune_text(&again, &a, text, goal, &o);
    must(p.gap_count == again.gap_count && p.kept == again.kept && p.nothing == again.nothing);
    for (i = 0; i < p.gap_count; i++)
        must(p.gaps[i].from == again.gaps[i].from && p.gaps[i].to == again.gaps[i].to);
    buf_init(&why, 1 << 20);
    for (i = 0; i <= p.lines && i < 20; i++)
        prune_explain(&why, &p, i);
    buf_done(&why);
    arena_done(&a);
    return 0;
}
