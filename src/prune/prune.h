/* prune.h: which lines of a text answer a question.
 *
 * Text and goal in, kept lines out: split, classify, scan the structure, score
 * every line, protect, select under the limits. No I/O, no clock, no state:
 * the same text, goal and options give the same lines. What is kept is told as
 * gaps between untouched lines, so order and bytes cannot change.
 * Does not render: numbers, markers and ids are the caller's. */
#pragma once
#include <stdint.h>
#include "base/arena.h"
#include "base/buf.h"

enum prune_source { PRUNE_AUTO, PRUNE_CODE, PRUNE_LOGS, PRUNE_DOCS };
enum prune_scorer { PRUNE_LEARNED, PRUNE_HEURISTIC };

/* Why a gap is one. X(name, English, French) */
#define PRUNE_WHYS(X)                                                                              \
    X(FAR, "far from the question", "hors focus")                                                  \
    X(BLANK, "blank lines", "lignes vides")                                                        \
    X(COMMENT, "comments", "commentaires")                                                         \
    X(IMPORT, "imports", "imports")                                                                \
    X(LICENCE, "licence", "licence")                                                               \
    X(REPEAT, "repeated lines", "lignes répétées")                                                 \
    X(ROUTINE, "routine output", "sortie de routine")                                              \
    X(PASSED, "what went well", "ce qui a réussi")                                                 \
    X(FRAMES, "stack frames", "pile d'appels")                                                     \
    X(SIGNS, "braces and rules", "accolades et traits")

enum prune_why {
#define X(name, english, french) PRUNE_WHY_##name,
    PRUNE_WHYS(X)
#undef X
        PRUNE_WHY_COUNT
};

/* The words for a reason. */
const char *prune_why(enum prune_why why, bool french);

struct prune_opts {
    enum prune_source source;
    enum prune_scorer scorer;
    double max_ratio;        /* of lines that may go, 0..1; a ceiling */
    size_t min_keep;         /* lines; more than there are cannot be kept: all stays */
    size_t budget;           /* tokens wanted, 0: none; what scores high stays, up to twice it */
    size_t marker_cost;      /* tokens a gap's marker costs, 0: markers are not rendered */
    size_t number_cost;      /* tokens before each kept line; count towards twice the budget */
    bool (*late)(void *arg); /* asked now and then; true: give up. NULL: never */
    void *late_arg;
    size_t (*tokens)(struct str text); /* exact counter; NULL: an estimate */
};

struct prune_gap {
    size_t from, to; /* lines from 1, both are gone */
    enum prune_why reason;
    const char *why; /* the English words for it */
};

struct prune {
    size_t lines; /* of the text */
    size_t kept;
    const struct prune_gap *gaps; /* in order */
    size_t gap_count;
    const float *score;  /* per line, 0..1; NULL in a fallback */
    const uint32_t *at;  /* the byte each line starts at, lines + 1 of them; NULL if too large */
    const char *warning; /* NULL, "timeout", "constraints_unmet", "input_too_large": all stays */
    bool nothing;        /* nothing here answers the question */
    float fit;           /* how much of the question the best place holds, 0..1 */
    enum prune_source source;        /* as used */
    const struct prune_notes *notes; /* for prune_explain */
};

/* Which lines of text stay for the goal. Everything in the arena; text and goal
 * are borrowed for as long as prune_explain is called. Never fails: on any doubt
 * the whole text stays, with a warning.
 * With max_ratio alone exactly as many lines go as it allows, the lowest
 * scores first; with a budget as many as it asks for within max_ratio. */
void prune_text(struct prune *out, struct arena *a, struct str text, struct str goal,
                const struct prune_opts *o);

/* Append why a line (from 1) has its score: "'timeout', 'retry' here; in
 * connect()". Nothing where there is nothing to say. */
void prune_explain(struct buf *out, const struct prune *p, size_t line);
