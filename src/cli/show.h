/* show.h: a pruned text on paper: for people, with reasons, as JSON.
 *
 * Kept lines are the bytes they were, after their number and a tab; a gap is
 * one line that says what is missing and why. */
#pragma once
#include "prune/prune.h"

struct show {
    struct str text;
    const struct prune *p;
    bool numbers, colour;
    size_t before;       /* tokens of the text */
    const char *id;      /* NULL: nothing was kept */
    const char *warning; /* NULL: none */
};

/* Kept lines and gaps. */
void show_text(struct buf *out, const struct show *s);

/* Every line: '-' before those that go, its number, its score, the line; below
 * it why, where there is something to say. */
void show_explained(struct buf *out, const struct show *s);

/* One object, with `shown` as its text; `explain`: every line's score too. */
void show_json(struct buf *out, const struct show *s, struct str shown, bool explain);
