/* focus.h: an answer made smaller by the engine inside.
 *
 * Each text of the answer is pruned by itself, rows are dropped whole. What
 * stays is verbatim, with its number before it and a tab; "~33" stands where 33
 * lines were left out, with a word of why where it is not just that they are
 * far from the question. The whole answer, as it would have been, is
 * kept under one id, and the numbers are those of its lines (for a part of a
 * file: the file's, and the id says by how many they are off: "prn_…~119").
 * Where numbers and marks would eat up what was saved, the text stays as it
 * was. */
#pragma once
#include "call/finish.h"
#include "call/pruner.h"

struct focus {
    struct prune_work work;
    struct focus_part *parts; /* texts and rows of the answer, in order */
    size_t count;
    size_t lines, kept; /* of all parts */
    bool nothing;       /* no part has what was asked for */
};

/* Prune the parts of the call's result to its question, and keep the whole; with
 * no question only keep it. `done` comes once. */
void focus_start(struct call *c, void (*done)(struct call *c));

/* After that: put the pruned texts into the result. False: nothing was left
 * out, the raw texts stay. */
bool focus_apply(struct call *c);

/* After that, where the whole is kept: number the texts by their lines in it. */
void focus_number(struct call *c);
