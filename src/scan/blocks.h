/* blocks.h: what belongs together.
 *
 * Code: functions and classes with the comments in front of them, found by
 * indentation. Prose: sections under their headings. Tool output: entries
 * under their heads (a commit, a file of a diff, a failed test, a CI group).
 * Every line is in exactly one block and one paragraph. */
#pragma once
#include "scan/kinds.h"

#define NO_LINE UINT32_MAX

struct block {
    uint32_t from, to; /* to is behind the last line */
    uint32_t header;   /* the line that names it, or NO_LINE */
};

struct blocks {
    struct block *all;
    size_t count;
    struct block *paras;
    size_t para_count;
    /* per line */
    uint32_t *of;     /* its block */
    uint32_t *para;   /* its paragraph */
    uint32_t *parent; /* the line it stands under, or NO_LINE */
    uint32_t *header; /* the nearest definition or heading above or itself */
};

/* Wants kinds and, for logs, scan/log.h's pass. Sets `depth` of the lines. */
bool text_blocks(struct blocks *b, struct arena *a, struct text *t, enum text_part part,
                 const struct late *late);
