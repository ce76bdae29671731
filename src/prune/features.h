/* features.h: a line as numbers.
 *
 * What a scorer may look at: the kind and shape of the line, where it stands,
 * how well it, its neighbours, its block and its header match the goal, and for
 * tool output how near trouble is. Sums do not compare between texts, so most
 * come as share of the text's best, as distance to it, or as rank.
 * Training and program call the same functions. */
#pragma once
#include "prune/match.h"

/* X(name). The order is that of the weights. */
/* clang-format off */
#define LINE_FEATURES(X) \
    /* what kind of line */ \
    X(BLANK) X(PUNCT) X(COMMENT) X(IMPORT) X(PREPROC) X(LICENCE) X(DOCSTR) X(HEADING) X(LIST) \
    X(TABLE) X(FENCED) X(FENCE) X(DECOR) X(DEF) X(TYPE) X(CLOSE) X(CTRL) X(RETURN) X(THROW) \
    X(ASSIGN) X(CALL) X(TODO) X(OPTION) X(KEY) X(OPENS) X(VAR) X(STRING) X(PROMPT) X(STARTS) \
    X(QUOTE) X(UPPER) \
    /* its shape and place, how unusual it is */ \
    X(INDENT) X(INDENT_UP) X(INDENT_DOWN) X(WORDS) X(TOKENS) X(LONG) X(AT) X(TOP) X(BOTTOM) \
    X(PREV_BLANK) X(NEXT_BLANK) X(NEXT_CLOSE) X(PREV_COMMENT) X(NEXT_COMMENT) X(PREV_OPENS) \
    X(COPIES) X(SHAPES) X(RUN) X(RUN_EDGE) X(ONCE) X(UNKNOWN) X(RARITY) X(DIGITS) X(BLOCK_LINES) \
    X(BLOCK_AT) X(BLOCK_LAST) X(DEPTH) \
    /* how well it, its neighbours, its block and its header match the goal: raw, as share of \
       the best (no ending), as distance to it (_BEST), as rank */ \
    X(HITS) X(S) X(S_MAX) X(S_RANK) X(S2) X(S6) X(COV3) X(COV8) X(LINE) X(LINE_BEST) X(NEAR3) \
    X(NEAR3_BEST) X(NEAR10) X(NEAR10_BEST) X(NEAR10_RANK) X(BLOCK) X(BLOCK_BEST) X(BLOCK_COV) \
    X(BLOCK_MAX) X(BLOCK_SUM) X(BLOCK_RANK) X(PARA) X(PARA_MAX) X(HEAD) X(HEAD_S) X(CHAIN) \
    X(UP_HEAD) X(EXACT) X(QUOTED) X(LITERAL) X(JOINED) X(MISS) X(DIST) X(DIST_BEST) X(DEF_HIT) X(COMMENT_S) \
    X(CODE_S) \
    /* logs: what it says of trouble (bits of scan/log.h) */ \
    X(STRONG) X(SEV) X(WARN) X(OK) X(FRAME) X(EXC) X(PLUS) X(MINUS) X(WANT) X(EXIT) X(SUMMARY) \
    X(PATH) X(CARET) X(GROUP) X(DULL) X(ENTRY) X(HUNK) X(TIME) X(TRACE) X(ZERO) X(LDEF) X(RULE) \
    X(FIELD) X(TITLE) \
    /* logs: how near trouble is, and trouble or a definition where the goal asks for it */ \
    X(SINCE_STRONG) X(TO_STRONG) X(STRONG_SEEN) X(STRONG_FIRST) X(STRONG_LAST) X(DENSITY) \
    X(SEV_DENSITY) X(STRONG_RARE) X(QUIET) X(FROM_END) X(FIRST_COPY) X(FAIL_STRONG) X(FAIL_SEV) \
    X(FAIL_S) X(FAIL_DENSITY) X(FAIL_RARE) X(WARN_WARN) X(DEF_LDEF) X(DEF_S) X(ENTRY_S) \
    X(TITLE_S) X(PLUS_S) X(FRAME_LAST) X(EXC_END) X(STRONG_S) X(HEAD_FIT) X(STRONG_BLOCK) \
    X(NAMED) X(DEF_NAMED) X(INNER)
/* clang-format on */

enum line_feature {
#define X(name) F_##name,
    LINE_FEATURES(X)
#undef X
        F_COUNT,
    F_ROOM = (F_COUNT + 15) / 16 * 16 /* what fits whole vectors, of floats and of bytes */
};

extern const char *const LINE_FEATURE_NAMES[F_COUNT];

struct features; /* what was worked out for all lines */

/* Work out what the features of single lines need; NULL: too late. */
struct features *features_make(struct arena *a, const struct match *m, const struct late *late);

/* How many lines there are. */
size_t features_lines(const struct features *f);

/* How much of what the goal's main terms weigh the best place of the text has,
 * 0 to 1; whether there is something anyhow, since a whole name is there or the
 * goal says too little to miss it; whether it asks for trouble and there is. */
float features_fit(const struct features *f);
bool features_some(const struct features *f);
bool features_trouble_seen(const struct features *f);

/* The features of line i, F_COUNT of them and zeros up to F_ROOM. */
void features_of(const struct features *f, size_t i, float *x);
