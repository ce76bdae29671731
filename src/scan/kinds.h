/* kinds.h: what each line of code or prose is, seen by itself.
 *
 * By first word, first and last sign, and a little state (block comments,
 * fences, doc strings). One set of rules for all languages; a language is
 * never named, only whether "#" starts a comment or a directive. */
#pragma once
#include "scan/words.h"

enum text_part { PART_CODE, PART_LOGS, PART_DOCS, PART_COUNT };

enum line_kind {
    K_BLANK = 1 << 0,
    K_PUNCT = 1 << 1, /* signs only */
    K_COMMENT = 1 << 2,
    K_IMPORT = 1 << 3,
    K_PREPROC = 1 << 4,
    K_LICENCE = 1 << 5, /* in a header that speaks of rights */
    K_DOCSTR = 1 << 6,  /* inside a text of several lines */
    K_HEADING = 1 << 7,
    K_LIST = 1 << 8,
    K_TABLE = 1 << 9,
    K_FENCED = 1 << 10, /* code inside prose */
    K_FENCE = 1 << 11,
    K_DECOR = 1 << 12, /* @decorator, #[attribute] */
    K_DEF = 1 << 13,   /* a function starts */
    K_TYPE = 1 << 14,  /* a class, struct, module starts */
    K_CLOSE = 1 << 15, /* starts with what closes */
    K_CTRL = 1 << 16,
    K_RETURN = 1 << 17,
    K_THROW = 1 << 18,
    K_ASSIGN = 1 << 19,
    K_CALL = 1 << 20,
    K_TODO = 1 << 21,
    K_OPTION = 1 << 22, /* "  -x, --long" opens an entry */
    K_KEY = 1 << 23,    /* key: value */
    K_OPENS = 1 << 24,  /* ends with what opens a block */
    K_VAR = 1 << 25,
    K_STRING = 1 << 26, /* begins with a quote */
    K_UNDER = 1 << 27,  /* underlines the heading above */
    K_PROMPT = 1 << 28, /* "$ command" */
    K_KEEP = 1 << 29,   /* between the directives that forbid pruning */
    K_STARTS = 1 << 30, /* opens a paragraph */
};

/* Set the kind of every line; false: too late. */
bool text_kinds(struct text *t, enum text_part part, const struct late *late);

/* Which part is it most like? Wants the words read (guess.c). */
enum text_part text_guess(const struct text *t);

/* One sign, repeated: "-----". */
bool is_ruled(struct str head);

/* Mark the lines from ⟦NO_PRUNE_BEGIN⟧ to ⟦NO_PRUNE_END⟧, both included, with
 * K_KEEP. Blocks may stand in each other; one that is not closed reaches to the
 * end. */
void text_protected(struct text *t);
