/* features.c: the program's own numbers, for training.
 *
 *     features MODE <items >numbers
 *
 * An item on stdin is five little-endian 32-bit numbers (part, bytes of the
 * goal, bytes of the text, how many gold lines, how many lines are wanted),
 * then goal, text, gold lines and wanted lines (from 1, 32 bits each). On
 * stdout, per item, 32-bit numbers: how many rows, then the rows.
 *   stems   the distinct stems: a row is the stem and 1 (goal) or 2 (text)
 *   terms   a row per term: its inputs, then for each reach the share of gold
 *           lines in it
 *   lines   a row per wanted line: its features and its tokens
 *   scores  a row per line: learned score, heuristic score
 *   kept    the fit (negative: nothing answers), then a row per kept line; the
 *           first wanted "line" is the ratio * 1e6, the second the budget, the
 *           third what a marker costs
 *   sent    a row for the same: tokens of the kept lines, and of what a reader
 *           gets, with their numbers and "~33" for gaps
 * A development tool: data/train/train.py is its only reader. */
#include <stdio.h>
#include <stdlib.h>

#include "prune/score.h"
#include "prune/weights.h"
#include "prune/prune.h"
#include "scan/log.h"
#include "tokens/tokens.h"

struct item {
    uint32_t head[5];
    struct str goal, text;
    uint32_t *gold, *want;
};

static struct arena arena;

static bool item_read(struct item *it)
{
    char *p;

    if (fread(it->head, sizeof it->head, 1, stdin) != 1)
        return false;
    p = arena_alloc(&arena, (size_t)it->head[1] + it->head[2] + 1);
    it->gold = arena_alloc(&arena, 4ull * it->head[3] + 4);
    it->want = arena_alloc(&arena, 4ull * it->head[4] + 4);
    it->goal = (struct str){ p, it->head[1] };
    it->text = (struct str){ p + it->head[1], it->head[2] };
    return fread(p, 1, (size_t)it->head[1] + it->head[2], stdin) ==
               (size_t)it->head[1] + it->head[2] &&
           fread(it->gold, 4, it->head[3], stdin) == it->head[3] &&
           fread(it->want, 4, it->head[4], stdin) == it->head[4];
}

static void put(const void *p, size_t n)
{
    fwrite(p, 4, n, stdout);
}

struct all {
    struct text t;
    struct blocks b;
    struct match m;
    struct goal g;
};

static struct all *look(const struct item *it, const struct late *late)
{
    struct all *w = arena_alloc(&arena, sizeof *w);
    enum text_part part = (enum text_part)it->head[0];

    goal_read(&w->g, it->goal);
    text_read(&w->t, &arena, it->text, w->g.keep, w->g.keep_count, late);
    if (part == PART_LOGS)
        text_logs(&w->t, late);
    else
        text_kinds(&w->t, part, late);
    text_blocks(&w->b, &arena, &w->t, part, late);
    match_text(&w->m, &arena, &w->t, &w->b, part, &w->g);
    return w;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void stems(const struct all *w)
{
    size_t n = 0, i, k, rows = 0;
    uint32_t *all, out[2], count;

    for (i = 1; i < w->t.word_count; i++)
        n += w->t.words[i].parts;
    all = arena_alloc(&arena, 4 * n + 4);
    for (n = 0, i = 1; i < w->t.word_count; i++)
        for (k = 0; k < w->t.words[i].parts; k++)
            all[n++] = w->t.stems[w->t.words[i].stems + k];
    qsort(all, n, 4, by_number);
    for (i = 0; i < n; i++)
        rows += !i || all[i] != all[i - 1];
    count = (uint32_t)(rows + w->g.count);
    put(&count, 1);
    for (i = 0; i < n; i++)
        if (!i || all[i] != all[i - 1])
            put((out[0] = all[i], out[1] = 2, out), 2);
    for (i = 0; i < w->g.count; i++)
        put((out[0] = w->g.terms[i].hash, out[1] = 1, out), 2);
}

static void terms(const struct all *w, const struct item *it)
{
    float x[T_COUNT_ + REACHES];
    uint32_t rows = (uint32_t)w->m.count, line;
    uint64_t near;
    size_t k, i, j;

    put(&rows, 1);
    for (k = 0; k < rows; k++) {
        match_inputs(&w->m, k, x);
        for (i = 0; i < REACHES; i++)
            x[T_COUNT_ + i] = 0;
        for (i = 0; i < it->head[3]; i++) {
            line = it->gold[i] - 1;
            for (near = 0, j = line > 3 ? line - 3 : 0; j <= line + 3 && j < w->t.count; j++)
                near |= w->m.mask[j];
            x[T_COUNT_ + ON_LINE] += (float)(w->m.mask[line] >> k & 1) / (float)it->head[3];
            x[T_COUNT_ + NEAR] += (float)(near >> k & 1) / (float)it->head[3];
            x[T_COUNT_ + IN_BLOCK] +=
                (float)(w->m.block[w->b.of[line]] >> k & 1) / (float)it->head[3];
        }
        put(x, T_COUNT_ + REACHES);
    }
}

static void lines(const struct all *w, const struct item *it, const struct late *late)
{
    struct features *f = features_make(&arena, &w->m, late);
    float x[F_ROOM + 1];
    size_t i;

    put(&it->head[4], 1);
    for (i = 0; i < it->head[4]; i++) {
        features_of(f, it->want[i] - 1, x);
        x[F_COUNT] = w->t.lines[it->want[i] - 1].tokens;
        put(x, F_COUNT + 1);
    }
}

static void scores(const struct all *w, const struct item *it, const struct late *late)
{
    struct features *f = features_make(&arena, &w->m, late);
    float *learned = arena_alloc(&arena, (w->t.count + 1) * sizeof *learned);
    float *heuristic = arena_alloc(&arena, (w->t.count + 1) * sizeof *heuristic);
    uint32_t rows = (uint32_t)w->t.count;
    size_t i;

    score_learned(learned, f, (enum text_part)it->head[0], late);
    score_heuristic(heuristic, f, (enum text_part)it->head[0], late);
    put(&rows, 1);
    for (i = 0; i < rows; i++) {
        put(&learned[i], 1);
        put(&heuristic[i], 1);
    }
}

static struct prune prune(const struct item *it)
{
    static const enum prune_source SOURCES[] = { PRUNE_CODE, PRUNE_LOGS, PRUNE_DOCS };
    struct prune_opts o = { .source = SOURCES[it->head[0]], .max_ratio = it->want[0] / 1e6 };
    struct prune p;

    o.budget = it->head[4] > 1 ? it->want[1] : 0;
    o.marker_cost = it->head[4] > 2 ? it->want[2] : 0;
    o.tokens = tokens_count;
    prune_text(&p, &arena, it->text, it->goal, &o);
    return p;
}

static void kept(const struct item *it)
{
    struct prune p = prune(it);
    uint32_t count = (uint32_t)p.kept + 1, i, g = 0;

    put(&count, 1);
    p.fit = p.nothing ? -p.fit - 1e-6f : p.fit;
    put(&p.fit, 1);
    for (i = 1; i <= p.lines; i++) {
        if (g < p.gap_count && p.gaps[g].from == i)
            i = (uint32_t)p.gaps[g++].to;
        else
            put(&i, 1);
    }
}

static void sent(const struct item *it)
{
    struct prune p = prune(it);
    struct buf bare, full;
    uint32_t out[3] = { 1 };
    size_t i, g = 0, n;

    buf_init(&bare, it->text.n + 16);
    buf_init(&full, it->text.n + 32 * p.lines + 64);
    for (i = 1; i <= p.lines; i++) {
        if (g < p.gap_count && p.gaps[g].from == i) {
            buf_addf(&full, "~%zu\n", p.gaps[g].to - i + 1);
            i = p.gaps[g++].to;
            continue;
        }
        n = p.at[i] - p.at[i - 1];
        buf_add(&bare, it->text.p + p.at[i - 1], n);
        buf_addf(&full, "%zu\t", i);
        buf_add(&full, it->text.p + p.at[i - 1], n);
    }
    out[1] = (uint32_t)tokens_count(buf_str(&bare));
    out[2] = (uint32_t)tokens_count(buf_str(&full));
    put(out, 3);
    buf_done(&bare);
    buf_done(&full);
}

int main(int argc, char **argv)
{
    struct late late = { 0 };
    struct all *w;
    struct item it;
    size_t i;

    if (argc != 2)
        return fprintf(stderr, "usage: features names|stems|terms|lines|scores|kept|sent\n"), 2;
    if (strcmp(argv[1], "names") == 0) {
        for (i = 0; i < F_COUNT; i++)
            puts(LINE_FEATURE_NAMES[i]);
        return 0;
    }
    while (item_read(&it)) {
        if (strcmp(argv[1], "kept") == 0 || strcmp(argv[1], "sent") == 0) {
            argv[1][0] == 'k' ? kept(&it) : sent(&it);
            fflush(stdout);
            arena_done(&arena);
            continue;
        }
        w = look(&it, &late);
        if (strcmp(argv[1], "stems") == 0)
            stems(w);
        else if (strcmp(argv[1], "terms") == 0)
            terms(w, &it);
        else if (strcmp(argv[1], "lines") == 0)
            lines(w, &it, &late);
        else
            scores(w, &it, &late);
        arena_done(&arena);
    }
    return 0;
}
