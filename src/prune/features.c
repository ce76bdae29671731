/* features.c: one line's numbers, put together.
 *
 * sums.c and shape.c work out what looks at many lines at once; here it is
 * scaled to the text's best and joined with what the line says by itself. */
#include "prune/features.h"

#include <math.h>

#include "prune/parts.h"
#include "scan/log.h"

enum { FIT_TERMS = 8 };

const char *const LINE_FEATURE_NAMES[F_COUNT] = {
#define X(name) #name,
    LINE_FEATURES(X)
#undef X
};

struct features *features_make(struct arena *a, const struct match *m, const struct late *late)
{
    struct features *f = arena_zalloc(a, sizeof *f);
    float **lines[] = { &f->s, &f->s2, &f->s6, &f->near3, &f->near10, &f->cov3, &f->cov8 };
    size_t i;

    f->m = m;
    f->n = m->t->count;
    for (i = 0; i < FEATURES_LOGS; i++)
        f->log[i] = log2f(1 + (float)i);
    for (i = 0; i < sizeof lines / sizeof *lines; i++)
        *lines[i] = arena_alloc(a, (f->n + 1) * sizeof(float)); /* all are written below */
    f->dist = arena_alloc(a, (f->n + 1) * sizeof *f->dist);
    f->dist_best = arena_alloc(a, (f->n + 1) * sizeof *f->dist_best);
    f->chain = features_floats(a, f->n);
    if (is_late(late))
        return NULL;
    features_sums(f, a);
    if (is_late(late))
        return NULL;
    features_shape(f, a);
    if (m->part == PART_LOGS)
        features_trouble(f, a);
    return is_late(late) ? NULL : f;
}

/* log2(1 + x); x mostly is small. */
static float lgn(const struct features *f, size_t x)
{
    return x < FEATURES_LOGS ? f->log[x] : log2f(1 + (float)x);
}

static float share(float x, float best)
{
    return best > 0 ? x / best : 0;
}

/* The bits of a kind as features: they are in the same order. */
_Static_assert(1 << (F_STRING - F_BLANK) == K_STRING && 1 << (F_DEF - F_BLANK) == K_DEF, "order");
_Static_assert(1 << (F_TITLE - F_STRONG) == L_TITLE && 1 << (F_PATH - F_STRONG) == L_PATH, "order");

static void kinds(const struct line *l, float *x)
{
    uint32_t bits = l->kind & ((2u << (F_STRING - F_BLANK)) - 1);

    for (; bits; bits &= bits - 1)
        x[F_BLANK + __builtin_ctz(bits)] = 1;
    x[F_PROMPT] = (l->kind & K_PROMPT) != 0;
    x[F_STARTS] = (l->kind & K_STARTS) != 0;
    x[F_QUOTE] = (l->saw & SAW_QUOTE) != 0;
}

static void shape(const struct features *f, size_t i, float *x)
{
    const struct text *t = f->m->t;
    const struct line *l = &t->lines[i];
    const struct line *prev = i ? l - 1 : NULL, *next = i + 1 < f->n ? l + 1 : NULL;
    const struct block *b = &f->m->b->all[f->m->b->of[i]];
    float n = (float)f->n;
    size_t words = t->lines[i + 1].words - l->words;
    uint32_t copies = f->copies[i] & ~FIRST_COPY, shapes = f->shapes[i] & ~FIRST_COPY;
    int up = prev ? (int)l->indent - prev->indent : 0;
    int down = next ? (int)next->indent - l->indent : 0;

    x[F_INDENT] = lgn(f, l->indent);
    x[F_INDENT_UP] = prev && prev->first ? (float)(up > 8 ? 8 : up < -8 ? -8 : up) : 0;
    x[F_INDENT_DOWN] = next && next->first ? (float)(down > 8 ? 8 : down < -8 ? -8 : down) : 0;
    x[F_WORDS] = lgn(f, words);
    x[F_TOKENS] = lgn(f, l->tokens);
    x[F_LONG] = l->tokens > 50;
    x[F_AT] = (float)i / n;
    x[F_TOP] = lgn(f, i) / 10;
    x[F_BOTTOM] = lgn(f, f->n - i) / 10;
    x[F_PREV_BLANK] = !prev || !prev->first;
    x[F_NEXT_BLANK] = !next || !next->first;
    x[F_NEXT_CLOSE] = next && next->kind & (K_CLOSE | K_PUNCT) && next->first;
    x[F_PREV_COMMENT] = prev && prev->kind & K_COMMENT;
    x[F_NEXT_COMMENT] = next && next->kind & K_COMMENT;
    x[F_PREV_OPENS] = prev && prev->kind & K_OPENS;
    x[F_COPIES] = lgn(f, copies - 1);
    x[F_SHAPES] = lgn(f, shapes - 1);
    x[F_RUN] = lgn(f, f->run[i] - 1u);
    x[F_RUN_EDGE] =
        f->run[i] > 1 && (!prev || prev->shape != l->shape || !next || next->shape != l->shape);
    x[F_ONCE] = lgn(f, f->once[i]);
    x[F_UNKNOWN] = lgn(f, f->unknown[i]);
    x[F_RARITY] = f->rarity[i];
    x[F_DIGITS] = lgn(f, l->digits);
    x[F_BLOCK_LINES] = lgn(f, b->to - b->from);
    x[F_BLOCK_AT] = (float)(i - b->from) / (float)(b->to - b->from);
    x[F_BLOCK_LAST] = i + 1 == b->to;
    x[F_DEPTH] = l->depth > 8 ? 8 : l->depth;
    x[F_UPPER] = words > 0 && t->words[t->places[l->words]].upper;
}

/* Is word id a name that the goal asks for: 1 as a whole, less for a part? */
static float is_asked(const struct match *m, uint32_t id)
{
    const struct word *w = &m->t->words[id];
    uint64_t mask = m->word[id];

    if (mask & m->exact)
        return 1;
    for (; mask; mask &= mask - 1)
        if (!m->term[__builtin_ctzll(mask)]->generic)
            return w->parts == 1 ? 1 : 0.3f;
    return 0;
}

/* Is a name that the goal asks for right in front of the line's first "("? */
static bool is_called(const struct match *m, size_t i)
{
    struct str s = line_str(m->t, i), name;
    const char *p = memchr(s.p, '(', s.n < 400 ? s.n : 400);
    uint64_t mask = m->mask[i] & (m->exact | m->sought);

    if (!p)
        return false;
    name = (struct str){ p, 0 };
    while (name.p > s.p && is_word_byte((unsigned char)name.p[-1]))
        name.p--, name.n++;
    for (; mask; mask &= mask - 1)
        if (str_eq(name, m->term[__builtin_ctzll(mask)]->word))
            return true;
    return false;
}

/* Is what a line defines what the goal asks for? The name stands behind "def",
 * or is the first that was asked for where there is no such word. */
static float named(const struct match *m, size_t i)
{
    const struct text *t = m->t;
    size_t k, end = t->lines[i + 1].words, most = t->lines[i].words + 24;
    const struct word *w;

    for (k = t->lines[i].words; k + 1 < end && k < most; k++) {
        w = &t->words[t->places[k]];
        if (w->kw == KW_DEF || (w->kw == KW_TYPE && w->len > 3))
            return is_asked(m, t->places[k + 1]);
    }
    if (m->mask[i] & (m->exact | m->sought) && is_called(m, i))
        return 1;
    for (k = t->lines[i].words; k < end && k < most; k++)
        if (m->word[t->places[k]] & m->exact)
            return 0.3f;
    return 0;
}

static float rarest_literal(const struct match *m, size_t i)
{
    unsigned bits = m->literal[i];
    float most = 0, idf;

    for (; bits; bits &= bits - 1) {
        idf = m->literal_idf[__builtin_ctz(bits)];
        most = idf > most ? idf : most;
    }
    return most;
}

static void matches(const struct features *f, size_t i, float *x)
{
    const struct match *m = f->m;
    const struct blocks *b = m->b;
    const struct line *l = &m->t->lines[i];
    uint32_t k = b->of[i], p = b->para[i], h = b->header[i], up;
    uint64_t mask = m->mask[i];

    x[F_HITS] = lgn(f, (size_t)__builtin_popcountll(mask));
    x[F_S] = f->s[i] > 0 ? log2f(1 + f->s[i]) : 0;
    x[F_S_MAX] = share(f->s[i], f->top_s);
    x[F_S_RANK] = rank_of(&f->s_rank, f->s6[i]);
    x[F_S2] = share(f->s2[i], f->top_s2);
    x[F_S6] = share(f->s6[i], f->top_s6);
    x[F_COV3] = share(f->cov3[i], m->total);
    x[F_COV8] = share(f->cov8[i], m->total);
    x[F_LINE] = mask_sum(mask, m->w[ON_LINE]);
    x[F_LINE_BEST] = x[F_LINE] - f->top_line;
    x[F_NEAR3] = f->near3[i];
    x[F_NEAR3_BEST] = f->near3[i] - f->top_near3;
    x[F_NEAR10] = f->near10[i];
    x[F_NEAR10_BEST] = f->near10[i] - f->top_near10;
    x[F_NEAR10_RANK] = rank_of(&f->near_rank, f->near10[i]);
    x[F_BLOCK] = f->block[k];
    x[F_BLOCK_BEST] = f->block[k] - f->top_block;
    x[F_BLOCK_COV] = share(f->block_cov[k], m->total);
    x[F_BLOCK_MAX] = share(f->block_max[k], f->top_block_max);
    x[F_BLOCK_SUM] = share(f->block_sum[k], f->top_block_sum);
    x[F_BLOCK_RANK] = rank_of(&f->block_rank, f->block_sum[k]);
    x[F_PARA] = share(f->para[p], f->top_para);
    x[F_PARA_MAX] = share(f->para_max[p], f->top_s);
    if (h != NO_LINE) {
        x[F_HEAD] = mask_sum(m->mask[h], m->w[IN_BLOCK]);
        x[F_HEAD_S] = share(f->s[h], f->top_s);
        up = b->parent[h];
        x[F_UP_HEAD] = up != NO_LINE ? share(f->s[up], f->top_s) : 0;
    }
    x[F_CHAIN] = share(f->chain[i], f->top_chain);
    x[F_EXACT] = share(mask_sum(mask & m->exact, m->hand), f->top_exact);
    x[F_QUOTED] = (mask & m->quoted) != 0;
    x[F_LITERAL] = m->literal ? rarest_literal(m, i) : 0;
    x[F_JOINED] = f->joined[i];
    x[F_MISS] = f->dist[i] > 25;
    x[F_DIST] = lgn(f, f->dist[i]);
    x[F_DIST_BEST] = lgn(f, f->dist_best[i]);
    if (l->kind & (K_DEF | K_TYPE) || l->log & L_DEF)
        x[F_NAMED] = named(m, i);
    x[F_DEF_HIT] = l->kind & (K_DEF | K_TYPE) ? x[F_S_MAX] : 0;
    x[F_COMMENT_S] = l->kind & (K_COMMENT | K_DOCSTR) ? x[F_S6] : 0;
    x[F_CODE_S] = l->kind & (K_COMMENT | K_DOCSTR | K_BLANK | K_PUNCT | K_IMPORT) ? 0 : x[F_S6];
}

static void trouble(const struct features *f, size_t i, float *x)
{
    const struct match *m = f->m;
    const struct line *l = &m->t->lines[i];
    uint32_t h = m->b->header[i], bits;
    bool fail = m->goal.intents & INTENT_FAIL;
    float block = f->block_sum[m->b->of[i]] / (f->top_block_sum > 0 ? f->top_block_sum : 1);
    float seen = (float)f->strong_seen[i];
    const struct line *next = i + 1 < f->n ? l + 1 : NULL;

    for (bits = l->log & ((2u << (F_TITLE - F_STRONG)) - 1); bits; bits &= bits - 1)
        x[F_STRONG + __builtin_ctz(bits)] = 1;
    x[F_SINCE_STRONG] = f->since_strong[i];
    x[F_TO_STRONG] = f->to_strong[i];
    x[F_STRONG_SEEN] = lgn(f, f->strong_seen[i]);
    x[F_STRONG_FIRST] = x[F_STRONG] > 0 && seen < 3;
    x[F_STRONG_LAST] = x[F_STRONG] > 0 && f->strong_count - f->strong_seen[i] < 2;
    x[F_DENSITY] = f->density[i];
    x[F_SEV_DENSITY] = f->sev_density[i];
    x[F_STRONG_RARE] = f->strong_rare[i];
    x[F_QUIET] = x[F_SEV] > 0 ? f->quiet[i] : 0;
    x[F_FROM_END] = lgn(f, f->n - i);
    x[F_FIRST_COPY] = (f->copies[i] & FIRST_COPY) != 0;
    x[F_FAIL_STRONG] = fail ? x[F_STRONG] : 0;
    x[F_FAIL_SEV] = fail ? x[F_SEV] : 0;
    x[F_FAIL_S] = fail ? x[F_S_MAX] : 0;
    x[F_FAIL_DENSITY] = fail ? f->density[i] : 0;
    x[F_FAIL_RARE] = fail ? f->strong_rare[i] : 0;
    x[F_WARN_WARN] = m->goal.intents & INTENT_WARN ? x[F_WARN] : 0;
    x[F_DEF_LDEF] = m->goal.intents & INTENT_DEF ? x[F_LDEF] * x[F_S_MAX] : 0;
    x[F_DEF_NAMED] = m->goal.intents & INTENT_DEF ? x[F_NAMED] : 0;
    x[F_INNER] = l->depth;
    x[F_DEF_S] = m->goal.intents & INTENT_DEF ? x[F_S_MAX] : 0;
    x[F_ENTRY_S] = x[F_ENTRY] > 0 || x[F_HUNK] > 0 ? block : 0;
    x[F_TITLE_S] = x[F_TITLE] > 0 ? block : 0;
    x[F_PLUS_S] = x[F_PLUS] > 0 || x[F_MINUS] > 0 ? block : 0;
    x[F_FRAME_LAST] = x[F_FRAME] > 0 && next && !(next->log & L_FRAME);
    x[F_EXC_END] = x[F_EXC] > 0 && i && (l - 1)->indent > l->indent;
    x[F_STRONG_S] = x[F_STRONG] * x[F_S6];
    x[F_HEAD_FIT] = h == i ? block : 0;
    x[F_STRONG_BLOCK] = f->block_strong[m->b->of[i]];
}

float features_fit(const struct features *f)
{
    const struct goal *g = &f->m->goal;
    float want[FIT_TERMS] = { 0 }, sum = 0, best = 0, w;
    size_t i, k;

    for (i = 0; i < g->count; i++) {
        w = g->terms[i].weight * logf(1 + (float)f->n / ((float)match_df(f->m, i) + 0.5f));
        for (k = FIT_TERMS; k && want[k - 1] < w; k--)
            if (k < FIT_TERMS)
                want[k] = want[k - 1];
        if (k < FIT_TERMS)
            want[k] = w;
    }
    for (k = 0; k < FIT_TERMS; k++)
        sum += want[k];
    for (i = 0; i < f->n; i++)
        if (f->cov8[i] > best)
            best = f->cov8[i];
    w = share(best, sum);
    return w < 1 ? w : 1;
}

bool features_some(const struct features *f)
{
    const struct goal *g = &f->m->goal;
    size_t i, telling = 0, met = 0;

    for (i = 0; i < g->count; i++) {
        if (match_df(f->m, i) && (g->terms[i].exact || g->terms[i].quoted))
            return true;
        met += match_df(f->m, i) > 0;
        telling += !g->terms[i].generic && g->terms[i].weight >= 0.5f;
    }
    return telling < 3 && (met || !telling);
}

bool features_trouble_seen(const struct features *f)
{
    return f->m->part == PART_LOGS && f->m->goal.intents & (INTENT_FAIL | INTENT_WARN) &&
           f->strong_count;
}

size_t features_lines(const struct features *f)
{
    return f->n;
}

void features_of(const struct features *f, size_t i, float *x)
{
    memset(x, 0, F_ROOM * sizeof *x);
    kinds(&f->m->t->lines[i], x);
    shape(f, i, x);
    matches(f, i, x);
    if (f->m->part == PART_LOGS)
        trouble(f, i, x);
}
