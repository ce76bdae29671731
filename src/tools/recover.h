/* recover.h: lines of what was kept, by its id.
 *
 * An id is "prn_…", or "prn_…~119" where its lines were shown with numbers that
 * are 119 too high (a part of a file): those numbers are meant then. */
#pragma once
#include "call/call.h"

struct recovery {
    struct str text;  /* the whole, in the call's arena */
    size_t offset;    /* what the numbers are off by */
    const char *name; /* the id without it */
    size_t *at;       /* the byte each line starts at, lines + 1 of them */
    size_t lines;

    struct call *c;
    struct store_op *op;
    void (*done)(struct call *c);
};

/* Get it, as c->op; then `done`. Failure stands in c->err: UNKNOWN_ID,
 * NO_RECOVERY. */
void recover_start(struct call *c, struct str id, void (*done)(struct call *c));

/* Lines from..to (numbers as shown; to 0: to the end) of the text; *first and
 * *last are those that there are. */
struct str recover_lines(const struct recovery *r, size_t from, size_t to, size_t *first,
                         size_t *last);

/* End the call with those lines as a plain (or jeeves) answer. */
void recover_answer(struct call *c, const struct recovery *r, size_t from, size_t to);
