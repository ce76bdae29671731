/* log.h: what each line of a log or of a tool's output is.
 *
 * Tests, compilers, package managers, version control, daemons, CI: their
 * formats differ, the signs of trouble hardly do. */
#pragma once
#include "scan/words.h"

enum line_log {
    L_STRONG = 1 << 0, /* this is the failure itself */
    L_SEV = 1 << 1,    /* a word of failure */
    L_WARN = 1 << 2,
    L_OK = 1 << 3,
    L_FRAME = 1 << 4, /* of a stack */
    L_EXC = 1 << 5,   /* the name of an exception */
    L_PLUS = 1 << 6,  /* of a diff */
    L_MINUS = 1 << 7,
    L_WANT = 1 << 8,     /* expected, actual, got */
    L_EXIT = 1 << 9,     /* an exit status that is not 0 */
    L_SUMMARY = 1 << 10, /* "3 failed" */
    L_PATH = 1 << 11,    /* path:line */
    L_CARET = 1 << 12,   /* the line that points, or "12 | code" */
    L_GROUP = 1 << 13,   /* marker of a CI group */
    L_DULL = 1 << 14,    /* Downloading, Compiling … */
    L_ENTRY = 1 << 15,   /* head of an entry: commit, diff --git, ==== */
    L_HUNK = 1 << 16,
    L_TIME = 1 << 17,  /* starts with a time */
    L_TRACE = 1 << 18, /* Traceback */
    L_ZERO = 1 << 19,  /* "0 errors" */
    L_DEF = 1 << 20,   /* a definition behind "path:12:" */
    L_RULE = 1 << 21,  /* one sign repeated */
    L_FIELD = 1 << 22, /* "Author: …" below a head */
    L_TITLE = 1 << 23, /* the first line of an entry's text */
};

/* Set `log` of every line; false: too late. */
bool text_logs(struct text *t, const struct late *late);

/* How much of a line is a time, a job's name, colours; what comes behind it is
 * what the line says. */
size_t log_prefix(struct str line, bool *time);
