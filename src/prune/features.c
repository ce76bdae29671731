/* features.c: one line's numbers, put together.
 *
 * sums.c and shape.c work out what looks at many lines at once; here it is
 * scaled to the text's best and joined with what the line says by itself. */
#include "prune/features.h"

#include <math.h>

#include "prune/parts.h"
#include "scan/log.h"

const char *const LINE_FEATURE_NAMES[F_COUNT] = {
#define X(name) #name,
    LINE_FEATURES(X)
#undef X
};

struct features *features_make(struct arena *a, const struct match *m, const struct late *late)
{
    struct features *f = arena_zalloc(a, sizeof *f);
    float **lines[] = { &f->s,     &f->s2,        &f->s6,     &f->s15,      &f->before,
                        &f->after, &f->line,      &f->near3,  &f->near10,   &f->cov3,
                        &f->cov8,  &f->cov25,     &f->exact,  &f->exact6,   &f->chain,
                        &f->dist,  &f->dist_best, &f->s_rank, &f->near_rank };
    size_t i;

    f->m = m;
    f->n = m->t->count;
    for (i = 0; i < sizeof lines / sizeof *lines; i++)
        *lines[i] = features_floats(a, f->n);
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

/* log2(1 + x) of small whole numbers is asked for all the time. */
static float lg(float x)
{
    return log2f(1 + x);
}

static float share(float x, float best)
{
    return best > 0 ? x / best : 0;
}

static void kinds(const struct line *l, float *x)
{
    static const struct {
        uint32_t kind;
        uint8_t to;
    } MAP[] = {
        { K_BLANK, F_BLANK },   { K_PUNCT, F_PUNCT },     { K_COMMENT, F_COMMENT },
        { K_IMPORT, F_IMPORT }, { K_PREPROC, F_PREPROC }, { K_LICENCE, F_LICENCE },
        { K_DOCSTR, F_DOCSTR }, { K_HEADING, F_HEADING }, { K_LIST, F_LIST },
        { K_TABLE, F_TABLE },   { K_FENCED, F_FENCED },   { K_FENCE, F_FENCE },
        { K_DECOR, F_DECOR },   { K_DEF, F_DEF },         { K_TYPE, F_TYPE },
        { K_CLOSE, F_CLOSE },   { K_CTRL, F_CTRL },       { K_RETURN, F_RETURN },
        { K_THROW, F_THROW },   { K_ASSIGN, F_ASSIGN },   { K_CALL, F_CALL },
        { K_TODO, F_TODO },     { K_OPTION, F_OPTION },   { K_KEY, F_KEY },
        { K_OPENS, F_OPENS },   { K_VAR, F_VAR },         { K_STRING, F_STRING },
        { K_PROMPT, F_PROMPT }, { K_STARTS, F_STARTS },
    };
    size_t k;

    for (k = 0; k < sizeof MAP / sizeof *MAP; k++)
        x[MAP[k].to] = (l->kind & MAP[k].kind) != 0;
    x[F_QUOTE] = (l->saw & SAW_QUOTE) != 0;
}

static void shape(const struct features *f, size_t i, float *x)
{
    const struct text *t = f->m->t;
    const struct line *l = &t->lines[i];
    const struct line *prev = i ? l - 1 : NULL, *next = i + 1 < f->n ? l + 1 : NULL;
    const struct block *b = &f->m->b->all[f->m->b->of[i]];
    float n = (float)f->n, words = (float)(t->lines[i + 1].words - l->words);
    uint32_t copies = f->copies[i] & ~FIRST_COPY, shapes = f->shapes[i] & ~FIRST_COPY;
    int up = prev ? (int)l->indent - prev->indent : 0;
    int down = next ? (int)next->indent - l->indent : 0;

    x[F_INDENT] = lg(l->indent);
    x[F_INDENT_UP] = prev && prev->first ? (float)(up > 8 ? 8 : up < -8 ? -8 : up) : 0;
    x[F_INDENT_DOWN] = next && next->first ? (float)(down > 8 ? 8 : down < -8 ? -8 : down) : 0;
    x[F_WORDS] = lg(words);
    x[F_TOKENS] = lg(l->tokens);
    x[F_LONG] = l->tokens > 50;
    x[F_AT] = (float)i / n;
    x[F_TOP] = lg((float)i) / 10;
    x[F_BOTTOM] = lg(n - (float)i) / 10;
    x[F_PREV_BLANK] = !prev || !prev->first;
    x[F_NEXT_BLANK] = !next || !next->first;
    x[F_NEXT_CLOSE] = next && next->kind & (K_CLOSE | K_PUNCT) && next->first;
    x[F_PREV_COMMENT] = prev && prev->kind & K_COMMENT;
    x[F_NEXT_COMMENT] = next && next->kind & K_COMMENT;
    x[F_PREV_OPENS] = prev && prev->kind & K_OPENS;
    x[F_COPIES] = lg((float)copies - 1);
    x[F_SHAPES] = lg((float)shapes - 1);
    x[F_RUN] = lg((float)f->run[i] - 1);
    x[F_RUN_EDGE] =
        f->run[i] > 1 && (!prev || prev->shape != l->shape || !next || next->shape != l->shape);
    x[F_ONCE] = lg(f->once[i]);
    x[F_UNKNOWN] = lg(f->unknown[i]);
    x[F_RARITY] = f->rarity[i];
    x[F_RAREST] = f->rarest[i];
    x[F_DIGITS] = lg(l->digits);
    x[F_BLOCK_LINES] = lg((float)(b->to - b->from));
    x[F_BLOCK_AT] = (float)(i - b->from) / (float)(b->to - b->from);
    x[F_BLOCK_LAST] = i + 1 == b->to;
    x[F_DEPTH] = l->depth > 8 ? 8 : l->depth;
    x[F_UPPER] = words > 0 && t->words[t->places[l->words]].upper;
}

static void matches(const struct features *f, size_t i, float *x)
{
    const struct match *m = f->m;
    const struct blocks *b = m->b;
    const struct line *l = &m->t->lines[i];
    uint32_t k = b->of[i], p = b->para[i], h = b->header[i], up;
    uint64_t mask = m->mask[i];

    x[F_HITS] = lg((float)__builtin_popcountll(mask));
    x[F_S] = lg(f->s[i]);
    x[F_S_MAX] = share(f->s[i], f->top_s);
    x[F_S_RANK] = f->s_rank[i];
    x[F_S2] = share(f->s2[i], f->top_s2);
    x[F_S6] = share(f->s6[i], f->top_s6);
    x[F_S15] = share(f->s15[i], f->top_s15);
    x[F_BEFORE] = share(f->before[i], f->top_before);
    x[F_AFTER] = share(f->after[i], f->top_before);
    x[F_COV3] = share(f->cov3[i], m->total);
    x[F_COV8] = share(f->cov8[i], m->total);
    x[F_COV25] = share(f->cov25[i], m->total);
    x[F_LINE] = f->line[i];
    x[F_LINE_BEST] = f->line[i] - f->top_line;
    x[F_NEAR3] = f->near3[i];
    x[F_NEAR3_BEST] = f->near3[i] - f->top_near3;
    x[F_NEAR10] = f->near10[i];
    x[F_NEAR10_BEST] = f->near10[i] - f->top_near10;
    x[F_NEAR10_RANK] = f->near_rank[i];
    x[F_BLOCK] = f->block[k];
    x[F_BLOCK_BEST] = f->block[k] - f->top_block;
    x[F_BLOCK_COV] = share(f->block_cov[k], m->total);
    x[F_BLOCK_MAX] = share(f->block_max[k], f->top_block_max);
    x[F_BLOCK_SUM] = share(f->block_sum[k], f->top_block_sum);
    x[F_BLOCK_RANK] = f->block_rank[k];
    x[F_PARA] = share(f->para[p], f->top_para);
    x[F_PARA_MAX] = share(f->para_max[p], f->top_s);
    if (h != NO_LINE) {
        x[F_HEAD] = mask_sum(m->mask[h], m->w[IN_BLOCK]);
        x[F_HEAD_S] = share(f->s[h], f->top_s);
        up = b->parent[h];
        x[F_UP_HEAD] = up != NO_LINE ? share(f->s[up], f->top_s) : 0;
    }
    x[F_CHAIN] = share(f->chain[i], f->top_chain);
    x[F_EXACT] = share(f->exact[i], f->top_exact);
    x[F_EXACT6] = share(f->exact6[i], f->top_exact);
    x[F_QUOTED] = (mask & m->quoted) != 0;
    x[F_JOINED] = f->joined[i];
    x[F_JOINED6] = f->joined6[i] > 2 ? 2 : f->joined6[i];
    x[F_MISS] = f->cov25[i] == 0;
    x[F_DIST] = lg(f->dist[i]);
    x[F_DIST_BEST] = lg(f->dist_best[i]);
    x[F_DEF_HIT] = l->kind & (K_DEF | K_TYPE) ? x[F_S_MAX] : 0;
    x[F_COMMENT_S] = l->kind & (K_COMMENT | K_DOCSTR) ? x[F_S6] : 0;
    x[F_CODE_S] = l->kind & (K_COMMENT | K_DOCSTR | K_BLANK | K_PUNCT | K_IMPORT) ? 0 : x[F_S6];
}

static void log_flags(uint32_t log, float *x)
{
    static const struct {
        uint32_t log;
        uint8_t to;
    } MAP[] = {
        { L_STRONG, F_STRONG }, { L_SEV, F_SEV },         { L_WARN, F_WARN },
        { L_OK, F_OK },         { L_FRAME, F_FRAME },     { L_EXC, F_EXC },
        { L_PLUS, F_PLUS },     { L_MINUS, F_MINUS },     { L_WANT, F_WANT },
        { L_EXIT, F_EXIT },     { L_SUMMARY, F_SUMMARY }, { L_PATH, F_PATH },
        { L_CARET, F_CARET },   { L_GROUP, F_GROUP },     { L_DULL, F_DULL },
        { L_ENTRY, F_ENTRY },   { L_HUNK, F_HUNK },       { L_TIME, F_TIME },
        { L_TRACE, F_TRACE },   { L_ZERO, F_ZERO },       { L_DEF, F_LDEF },
        { L_RULE, F_RULE },     { L_FIELD, F_FIELD },     { L_TITLE, F_TITLE },
    };
    size_t k;

    for (k = 0; k < sizeof MAP / sizeof *MAP; k++)
        x[MAP[k].to] = (log & MAP[k].log) != 0;
}

static void trouble(const struct features *f, size_t i, float *x)
{
    const struct match *m = f->m;
    const struct line *l = &m->t->lines[i];
    uint32_t h = m->b->header[i];
    bool fail = m->goal.intents & INTENT_FAIL;
    float block = f->block_sum[m->b->of[i]] / (f->top_block_sum > 0 ? f->top_block_sum : 1);
    float seen = (float)f->strong_seen[i], n = (float)f->n;
    const struct line *next = i + 1 < f->n ? l + 1 : NULL;

    log_flags(l->log, x);
    x[F_SINCE_STRONG] = f->since_strong[i];
    x[F_TO_STRONG] = f->to_strong[i];
    x[F_STRONG_SEEN] = lg(seen);
    x[F_STRONG_FIRST] = x[F_STRONG] > 0 && seen < 3;
    x[F_STRONG_LAST] = x[F_STRONG] > 0 && f->strong_count - f->strong_seen[i] < 2;
    x[F_DENSITY] = f->density[i];
    x[F_SEV_DENSITY] = f->sev_density[i];
    x[F_STRONG_RARE] = f->strong_rare[i];
    x[F_QUIET] = x[F_SEV] > 0 ? f->quiet[i] : 0;
    x[F_FROM_END] = lg(n - (float)i);
    x[F_FIRST_COPY] = (f->copies[i] & FIRST_COPY) != 0;
    x[F_FAIL_STRONG] = fail ? x[F_STRONG] : 0;
    x[F_FAIL_SEV] = fail ? x[F_SEV] : 0;
    x[F_FAIL_S] = fail ? x[F_S_MAX] : 0;
    x[F_FAIL_DENSITY] = fail ? f->density[i] : 0;
    x[F_FAIL_RARE] = fail ? f->strong_rare[i] : 0;
    x[F_WARN_WARN] = m->goal.intents & INTENT_WARN ? x[F_WARN] : 0;
    x[F_DEF_LDEF] = m->goal.intents & INTENT_DEF ? x[F_LDEF] * x[F_S_MAX] : 0;
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

size_t features_lines(const struct features *f)
{
    return f->n;
}

void features_of(const struct features *f, size_t i, float *x)
{
    memset(x, 0, F_COUNT * sizeof *x);
    kinds(&f->m->t->lines[i], x);
    shape(f, i, x);
    matches(f, i, x);
    if (f->m->part == PART_LOGS)
        trouble(f, i, x);
}
