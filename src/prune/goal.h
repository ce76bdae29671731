/* goal.h: a question as terms.
 *
 * A goal is a sentence ("why did the build stop"), a commit message or a whole
 * issue with its template. Read as title and body: words get the weight of
 * where they stand, boilerplate gets none. */
#pragma once
#include "base/arena.h"
#include "scan/words.h"

enum { GOAL_TERMS = 256, GOAL_JOINS = 128, GOAL_LITERALS = 8 };

enum goal_intent {
    INTENT_FAIL = 1, /* why did it fail, which test is broken */
    INTENT_DEF = 2,  /* where is it defined */
    INTENT_WARN = 4,
    INTENT_COMMIT = 8, /* which commit, who changed */
};

struct goal_term {
    uint32_t hash; /* stem, or of the joined letters when exact */
    float weight;  /* by hand: place, kind */
    uint16_t at;   /* how many terms come before it */
    uint16_t count;
    uint8_t len;
    bool exact; /* a whole identifier */
    bool title;
    bool ident; /* part of an identifier or of something quoted */
    bool quoted;
    bool fenced;
    bool generic;
    bool number;
    bool sought;     /* what a question for a definition names: "where is X defined" */
    struct str word; /* as written, in the goal */
};

struct goal {
    struct goal_term terms[GOAL_TERMS];
    size_t count;
    uint32_t joins[GOAL_JOINS]; /* two words in a row, as one */
    size_t join_count;
    struct str literals[GOAL_LITERALS]; /* "v1.10.3", "src/main.c", "3f9a01c": as written */
    size_t literal_count;
    uint32_t keep[GOAL_TERMS]; /* words with digits that must be found */
    size_t keep_count;
    unsigned intents;
};

void goal_read(struct goal *g, struct str text);
