/* result.h: what a tool found, before anybody makes it smaller.
 *
 * An ordered list of entries. Facts are small values for programs. Parts are
 * the answer itself: TEXT can be cut and pruned by line; ROWS (grep matches)
 * are dropped whole. Some facts are only known at the end (truncated, bytes,
 * duration): a tool says where they stand, call/finish.c fills them in. */
#pragma once
#include "base/arena.h"
#include "json/write.h"

enum entry_kind {
    ENTRY_FACT,      /* json holds the value */
    ENTRY_TEXT,      /* text */
    ENTRY_ROWS,      /* rows */
    ENTRY_TRUNCATED, /* true if anything was cut off by max_output_bytes or a ceiling */
    ENTRY_BYTES,     /* bytes of all parts, after truncation and before pruning */
    ENTRY_DURATION   /* milliseconds the tool ran */
};

/* Many alike items, each one line of text. */
struct rows {
    const void *items;
    size_t size, count;                              /* bytes per item, items */
    void (*text)(struct buf *out, const void *item); /* one line, no newline */
    void (*json)(struct json_out *o, const void *item);
};

struct entry {
    enum entry_kind kind;
    const char *name;
    struct str json;
    struct str text;
    struct rows rows;
    const char *title;            /* TEXT: plain answers put "[title]" before it, NULL: nothing */
    size_t escaped_at, escaped_n; /* TEXT: where render.c wrote it already, escaped */
    size_t first_line;            /* TEXT: number of its first line in the original, from 1 */
    size_t skipped;               /* TEXT: characters of that line that were not asked for */
    bool pruned;                  /* TEXT, ROWS: to its budget, by the engine inside */
    struct entry *next;
};

struct result {
    struct arena *a; /* the call's */
    struct entry *first, *last;
    bool cut;           /* the tool itself had to leave something out (a ceiling) */
    bool binary;        /* the text is of a binary file */
    size_t replaced;    /* bytes of invalid UTF-8 that became U+FFFD */
    const char *status; /* plain: the tool's part of the status line */
    bool keep;          /* plain: what a ceiling leaves out is kept, and had by its id */
    const char *more;   /* plain: how to get what was left out, e.g. use lines: "%s" */
    struct str lines;   /* the range that was asked for, where no argument says it */
};

void result_str(struct result *r, const char *name, struct str value); /* repaired to UTF-8 */
void result_int(struct result *r, const char *name, long long value);
void result_bool(struct result *r, const char *name, bool value);
void result_json(struct result *r, const char *name, struct str json); /* borrowed */

/* A text of the answer; borrowed until the call ends. Any bytes. */
struct entry *result_text(struct result *r, const char *name, struct str text);
void result_rows(struct result *r, const char *name, struct rows rows); /* borrowed */

/* Place for a fact that finish.c fills in. */
void result_place(struct result *r, const char *name, enum entry_kind kind);

/* The status line of plain answers: "exit 0", "12 matches". */
void result_status(struct result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
