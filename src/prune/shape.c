/* shape.c: how unusual a line is, and how near trouble. */
#include "prune/parts.h"

#include <math.h>

#include "prune/background.h"
#include "scan/log.h"

/* A hash and how often it occurs. */
struct cell {
    uint32_t key, count;
};

/* How often each line's hash occurs; the first of its kind is marked. */
static void copies(uint32_t *out, struct cell *cells, size_t slots, const struct text *t,
                   bool shape)
{
    size_t i, k;
    uint32_t h;

    memset(cells, 0, slots * sizeof *cells);
    for (i = 0; i < t->count; i++) {
        h = (shape ? t->lines[i].shape : t->lines[i].mask) | 1;
        k = (h >> 1 ^ h >> 16) & (slots - 1);
        while (cells[k].key && cells[k].key != h)
            k = (k + 1) & (slots - 1);
        cells[k].key = h;
        out[i] = (uint32_t)k | (cells[k].count++ ? 0 : FIRST_COPY);
    }
    for (i = 0; i < t->count; i++)
        out[i] = cells[out[i] & ~FIRST_COPY].count | (out[i] & FIRST_COPY);
}

static void runs(struct features *f)
{
    const struct line *l = f->m->t->lines;
    size_t i, j, k;

    for (i = 0; i < f->n; i = j) {
        for (j = i + 1; j < f->n && l[j].shape == l[i].shape; j++)
            ;
        for (k = i; k < j; k++)
            f->run[k] = (uint16_t)(j - i < 60000 ? j - i : 60000);
    }
}

/* Per word: how rare in the text, and unknown to the world at large. */
static float *word_rarity(struct features *f, struct arena *a, uint8_t *unknown)
{
    const struct text *t = f->m->t;
    float *out = features_floats(a, t->word_count), n = logf((float)t->count + 1);
    const struct word *w;
    size_t i, k;

    for (i = 1; i < t->word_count; i++) {
        w = &t->words[i];
        out[i] = 1 - logf((float)w->lines) / n;
        for (k = 0; k < w->parts; k++)
            if (background_text(t->stems[w->stems + k]) == 0 && w->len > 2)
                unknown[i] = 1;
    }
    return out;
}

static void words(struct features *f, struct arena *a)
{
    const struct text *t = f->m->t;
    uint8_t *unknown = arena_zalloc(a, t->word_count + 1);
    float *rare = word_rarity(f, a, unknown), sum;
    const struct word *w;
    size_t i, k, n, once, odd;
    uint32_t id;

    for (i = 0; i < f->n; i++) {
        sum = 0;
        once = odd = 0;
        for (n = 0, k = t->lines[i].words; k < t->lines[i + 1].words; k++) {
            id = t->places[k];
            if (!id)
                continue;
            w = &t->words[id];
            n++;
            sum += rare[id];
            once += w->count == 1;
            odd += unknown[id];
            f->joined[i] |= f->m->joined[id];
        }
        f->rarity[i] = n ? sum / (float)n : 0;
        f->once[i] = (uint16_t)(once < 60000 ? once : 60000);
        f->unknown[i] = (uint16_t)(odd < 60000 ? odd : 60000);
    }
}

void features_shape(struct features *f, struct arena *a)
{
    struct cell *cells;
    size_t slots = 64;

    f->copies = arena_alloc(a, (f->n + 1) * sizeof *f->copies);
    f->shapes = arena_alloc(a, (f->n + 1) * sizeof *f->shapes);
    f->run = arena_alloc(a, (f->n + 1) * sizeof *f->run);
    f->once = arena_zalloc(a, (f->n + 1) * sizeof *f->once);
    f->unknown = arena_zalloc(a, (f->n + 1) * sizeof *f->unknown);
    f->rarity = features_floats(a, f->n);
    f->joined = arena_zalloc(a, f->n + 1);
    while (slots < f->n + f->n / 2)
        slots *= 2;
    cells = arena_alloc(a, slots * sizeof *cells);
    copies(f->copies, cells, slots, f->m->t, false);
    copies(f->shapes, cells, slots, f->m->t, true);
    runs(f);
    words(f, a);
}

/* ---- Trouble ---- */

/* How far is told up to here; beyond, far is far. */
static float far(const struct features *f, uint32_t lines)
{
    return f->log[lines < FEATURES_LOGS ? lines : FEATURES_LOGS - 1];
}

void features_trouble(struct features *f, struct arena *a)
{
    const struct text *t = f->m->t;
    float *strong = features_floats(a, f->n), *sev = features_floats(a, f->n);
    float *rare = features_floats(a, f->n), n = logf((float)f->n + 1);
    uint32_t log, seen = 0, d, quiet = 0;
    size_t i;

    f->since_strong = features_floats(a, f->n);
    f->to_strong = features_floats(a, f->n);
    f->density = features_floats(a, f->n);
    f->sev_density = features_floats(a, f->n);
    f->strong_rare = features_floats(a, f->n);
    f->quiet = features_floats(a, f->n);
    f->strong_seen = arena_alloc(a, (f->n + 1) * sizeof *f->strong_seen);
    for (d = 1000, i = 0; i < f->n; i++) {
        log = t->lines[i].log;
        strong[i] = (log & L_STRONG) != 0;
        sev[i] = (log & (L_SEV | L_EXC | L_TRACE)) != 0;
        f->quiet[i] = far(f, quiet);
        quiet = sev[i] > 0 ? 0 : quiet + 1;
        d = strong[i] > 0 ? 0 : d + 1;
        f->since_strong[i] = far(f, d);
        seen += strong[i] > 0;
        f->strong_seen[i] = seen;
        if (strong[i] > 0)
            rare[i] = 1 - logf((float)(f->copies[i] & ~FIRST_COPY)) / n;
    }
    f->strong_count = seen;
    for (d = 1000, i = f->n; i--;) {
        d = strong[i] > 0 ? 0 : d + 1;
        f->to_strong[i] = far(f, d);
    }
    decayed(f->density, strong, f->n, 0.8f, 0);
    decayed(f->sev_density, sev, f->n, 0.8f, 0);
    decayed(f->strong_rare, rare, f->n, 0.7f, 0);
}
