/* focus.h: an answer made smaller by the engine inside.
 *
 * Each text of the answer is pruned by itself, rows are dropped whole. What
 * stays is verbatim, with its number before it and a tab; "~33" stands where 33
 * lines were left out, with a word of why where it is not just that they are
 * far from the question. The whole answer, as it would have been, is
 * kept under one id, and the numbers are those of its lines (for a part of a
 * file: the file's, and the id says by how many they are off: "prn_…~119").
 * Where numbers, marks and the status would eat up what was saved, the text
 * stays as it was. It does so, too, where lines that must stay, or the best one,
 * are so long that twice the budget would not hold them: then it is an answer
 * as any other, and its ceiling cuts it. */
#pragma once
#include "call/finish.h"
#include "call/pruner.h"

struct focus {
    struct prune_work work;
    struct focus_part *parts; /* texts and rows of the answer, in order */
    size_t count;
    size_t lines, kept; /* of all parts; rows count as lines */
    bool marks;         /* "~33" stands in some text */
    bool nothing;       /* no part has what was asked for */
    bool too_long;      /* some text stays whole since its lines are too long */
};

/* How one text is pruned to a question: its budget, if it is long enough. output:
 * of a command or a search; marks: gaps get "~33". */
struct prune_opts focus_opts(const struct site *s, struct str text, bool output, bool marks);

/* What the status line says of an answer that was pruned here. */
void focus_say(struct buf *b, const struct pruning *p);

/* Prune the parts of the call's result to its question, and keep the whole; with
 * no question only keep it. `done` comes once. */
void focus_start(struct call *c, void (*done)(struct call *c));

/* After that: put the pruned texts into the result. False: nothing was left
 * out, the raw texts stay. */
bool focus_apply(struct call *c);

/* After that, where the whole is kept: number the texts by their lines in it. */
void focus_number(struct call *c);
