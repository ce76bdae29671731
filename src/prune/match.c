/* match.c: goal terms against the words of a text.
 *
 * A word is compared once, however often it occurs. Terms are looked up by
 * hash in a small table; the 64 with the largest weight by hand stay. */
#include "prune/match.h"

#include <math.h>
#include <stdlib.h>

#include "prune/background.h"
#include "prune/weights.h"

enum { SLOTS = 1024 };

struct finder {
    const struct goal *g;
    uint16_t slot[SLOTS]; /* term + 1 */
    uint32_t df[GOAL_TERMS];
    uint32_t count[GOAL_TERMS];
    int bit[GOAL_TERMS]; /* in the mask, or -1 */
};

static size_t slot_of(uint32_t hash, bool exact)
{
    return (hash ^ hash >> 13 ^ (exact ? 0x155 : 0)) & (SLOTS - 1);
}

static void finder_fill(struct finder *f, const struct goal *g)
{
    size_t i, k;

    *f = (struct finder){ .g = g };
    for (i = 0; i < g->count; i++) {
        for (k = slot_of(g->terms[i].hash, g->terms[i].exact); f->slot[k]; k = (k + 1) % SLOTS)
            ;
        f->slot[k] = (uint16_t)(i + 1);
        f->bit[i] = -1;
    }
}

/* The term with this hash, or -1. */
static int finder_get(const struct finder *f, uint32_t hash, bool exact)
{
    const struct goal_term *t;
    size_t k;

    for (k = slot_of(hash, exact); f->slot[k]; k = (k + 1) % SLOTS) {
        t = &f->g->terms[f->slot[k] - 1];
        if (t->hash == hash && t->exact == exact)
            return f->slot[k] - 1;
    }
    return -1;
}

/* The terms that word w is; gives how many. */
static size_t word_terms(const struct finder *f, const struct text *t, const struct word *w,
                         int out[WORD_PARTS + 1])
{
    size_t n = 0, i;
    int k;

    for (i = 0; i < w->parts; i++)
        if ((k = finder_get(f, t->stems[w->stems + i], false)) >= 0)
            out[n++] = k;
    if ((k = finder_get(f, w->hash, true)) >= 0)
        out[n++] = k;
    return n;
}

static void count_terms(struct finder *f, const struct text *t)
{
    int term[WORD_PARTS + 1];
    size_t i, k, n;

    for (i = 1; i < t->word_count; i++) {
        n = word_terms(f, t, &t->words[i], term);
        for (k = 0; k < n; k++) {
            f->df[term[k]] += t->words[i].lines;
            f->count[term[k]] += t->words[i].count;
        }
    }
    for (i = 0; i < f->g->count; i++)
        if (f->df[i] > t->count)
            f->df[i] = (uint32_t)t->count;
}

static float rarity(size_t n, size_t df)
{
    return logf(1 + ((float)n - (float)df + 0.5f) / ((float)df + 0.5f));
}

/* Choose the terms that get a bit: present, the largest weight first. */
static void choose(struct match *m, struct finder *f)
{
    const struct goal *g = f->g;
    float best[MATCH_TERMS] = { 0 }, w;
    size_t i, k, n = m->t->count;
    uint16_t which[MATCH_TERMS] = { 0 };

    m->count = 0;
    for (i = 0; i < g->count; i++) {
        if (!f->df[i])
            continue;
        w = g->terms[i].weight * rarity(n, f->df[i]);
        if (m->count == MATCH_TERMS && w <= best[MATCH_TERMS - 1])
            continue;
        k = m->count < MATCH_TERMS ? m->count++ : MATCH_TERMS - 1;
        for (; k && best[k - 1] < w; k--) {
            best[k] = best[k - 1];
            which[k] = which[k - 1];
        }
        best[k] = w;
        which[k] = (uint16_t)i;
    }
    for (k = 0; k < m->count; k++) {
        i = which[k];
        f->bit[i] = (int)k;
        m->term[k] = &m->goal.terms[i];
        m->df[k] = f->df[i];
        m->idf[k] = logf((float)n / (float)f->df[i]);
        m->hand[k] = best[k];
        m->total += best[k];
        if (g->terms[i].exact)
            m->exact |= 1ull << k;
        if (g->terms[i].quoted)
            m->quoted |= 1ull << k;
        if (g->terms[i].sought)
            m->sought |= 1ull << k;
    }
}

static bool is_join(const struct goal *g, uint32_t hash)
{
    size_t i;

    for (i = 0; i < g->join_count; i++)
        if (g->joins[i] == hash)
            return true;
    return false;
}

static void mark_lines(struct match *m, struct arena *a, const struct finder *f)
{
    const struct text *t = m->t;
    uint64_t *word = m->word = arena_zalloc(a, t->word_count * sizeof *word), mask;
    int term[WORD_PARTS + 1];
    size_t i, k, n;

    m->joined = arena_zalloc(a, t->word_count);
    for (i = 1; i < t->word_count; i++) {
        n = word_terms(f, t, &t->words[i], term);
        for (k = 0; k < n; k++)
            if (f->bit[term[k]] >= 0)
                word[i] |= 1ull << f->bit[term[k]];
        m->joined[i] = is_join(&m->goal, t->words[i].hash);
    }
    for (i = 0; i < t->count; i++) {
        mask = 0;
        for (k = t->lines[i].words; k < t->lines[i + 1].words; k++)
            mask |= word[t->places[k]];
        m->mask[i] = mask;
        m->block[m->b->of[i]] |= mask;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Do a and b belong to one word or number? "v" and "1" do not. */
static bool joins(char a, char b)
{
    return (is_digit(a) && is_digit(b)) || (is_letter(a) && is_letter(b));
}

/* Where the goal's literals stand. A hash may be cut short. */
static void find_literals(struct match *m, struct arena *a)
{
    const struct text *t = m->t;
    const char *end = t->bytes.p + t->bytes.n, *p;
    struct str s;
    size_t k, line, df;

    for (k = 0; k < m->goal.literal_count; k++) {
        s = m->goal.literals[k];
        line = df = 0;
        for (p = t->bytes.p; (p = memmem(p, (size_t)(end - p), s.p, s.n)) != NULL; p += s.n) {
            if ((p > t->bytes.p && joins(p[-1], s.p[0])) ||
                (p + s.n < end && joins(s.p[s.n - 1], p[s.n]) && memchr(s.p, '.', s.n)))
                continue;
            if (!m->literal)
                m->literal = arena_zalloc(a, t->count + 1);
            while (line + 1 < t->count && t->lines[line + 1].at <= (size_t)(p - t->bytes.p))
                line++;
            df += !(m->literal[line] >> k & 1);
            m->literal[line] |= (uint8_t)(1u << k);
        }
        m->literal_idf[k] = df ? 1 - logf((float)df) / logf((float)t->count + 1) : 0;
    }
}

/* Of the lines that hold each term: the shares that are comments, headers. */
static void shares(struct match *m)
{
    uint64_t mask;
    size_t i;
    int k;

    for (i = 0; i < m->t->count; i++)
        for (mask = m->mask[i]; mask; mask &= mask - 1) {
            k = __builtin_ctzll(mask);
            m->comment[k] += (m->t->lines[i].kind & (K_COMMENT | K_DOCSTR | K_FENCED)) != 0;
            m->header[k] += m->b->header[i] == i;
        }
    for (i = 0; i < m->count; i++) {
        m->comment[i] /= (float)m->df[i];
        m->header[i] /= (float)m->df[i];
    }
}

static void bases(struct match *m)
{
    float n = (float)m->t->count;
    uint64_t mask;
    size_t i;
    int k;

    for (i = 0; i < m->count; i++) {
        m->base[ON_LINE][i] = (float)m->df[i] / n;
        m->base[NEAR][i] = 1 - powf(1 - m->base[ON_LINE][i], 7);
    }
    for (i = 0; i < m->b->count; i++)
        for (mask = m->block[i]; mask; mask &= mask - 1) {
            k = __builtin_ctzll(mask);
            m->base[IN_BLOCK][k] += (float)(m->b->all[i].to - m->b->all[i].from) / n;
        }
}

static float log2f_at_least(float x)
{
    return log2f(1 + x);
}

void match_inputs(const struct match *m, size_t k, float *x)
{
    const struct goal_term *t = m->term[k];
    float df = background_text(t->hash), goals = background_goal(t->hash);

    x[T_ONE] = 1;
    x[T_IDF] = m->idf[k];
    x[T_SHARE] = sqrtf((float)m->df[k] / (float)m->t->count);
    x[T_COMMENTS] = m->comment[k];
    x[T_DEFS] = m->header[k];
    x[T_HAND] = t->weight;
    x[T_HAND_IDF] = m->hand[k] / m->hand[0];
    x[T_COUNT] = log2f_at_least((float)m->df[k]);
    x[T_AT] = log2f_at_least(t->at);
    x[T_TERMS] = log2f_at_least((float)m->count);
    x[T_TITLE] = t->title;
    x[T_EXACT] = t->exact;
    x[T_IDENT] = t->ident;
    x[T_QUOTED] = t->quoted;
    x[T_FENCED] = t->fenced;
    x[T_GENERIC] = t->generic;
    x[T_NUMBER] = t->number;
    x[T_GOAL_COUNT] = log2f_at_least(t->count);
    x[T_LENGTH] = log2f_at_least(t->len);
    x[T_TEXT_DF] = df;
    x[T_GOAL_DF] = goals;
    x[T_RARE] = df == 0;
    x[T_SOLE] = m->df[k] == 1;
    x[T_FAIL] = (m->goal.intents & INTENT_FAIL) != 0;
}

/* p by the learned model, against what any line has. */
static void learned(struct match *m)
{
    float x[T_COUNT_], sum, p;
    size_t k, r, i;

    shares(m);
    bases(m);
    for (k = 0; k < m->count; k++) {
        match_inputs(m, k, x);
        for (r = 0; r < REACHES; r++) {
            for (sum = 0, i = 0; i < T_COUNT_; i++)
                sum += x[i] * TERM_WEIGHTS[m->part][r][i];
            p = 1 / (1 + expf(-sum));
            m->w[r][k] = logf((p + 0.01f) / (m->base[r][k] + 0.01f));
        }
    }
}

void match_text(struct match *m, struct arena *a, const struct text *t, const struct blocks *b,
                enum text_part part, const struct goal *goal)
{
    struct finder *f = arena_alloc(a, sizeof *f);

    memset(m, 0, sizeof *m);
    m->t = t;
    m->b = b;
    m->part = part;
    m->goal = *goal;
    m->mask = arena_zalloc(a, (t->count + 1) * sizeof *m->mask);
    m->block = arena_zalloc(a, (b->count + 1) * sizeof *m->block);
    finder_fill(f, &m->goal);
    count_terms(f, t);
    memcpy(m->goal_df, f->df, sizeof m->goal_df);
    choose(m, f);
    mark_lines(m, a, f);
    find_literals(m, a);
    if (m->count)
        learned(m);
}

uint32_t match_df(const struct match *m, size_t i)
{
    return m->goal_df[i];
}
