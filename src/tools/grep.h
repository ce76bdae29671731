/* grep.h: one search, shared by its two engines. Private to grep*.c.
 *
 * grep.c makes it and turns it into a result; grep_rg.c (ripgrep) or
 * grep_walk.c (our own) fills in matches, in path order, each matching line
 * once. Paths are compared name by name, so "a/x" comes before "a b". */
#pragma once
#include <stdatomic.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "call/call.h"

struct match {
    struct str path, text; /* valid UTF-8; path relative to the root */
    long line;             /* from 1 */
    long column;           /* from 1, in bytes: where the first hit in the line starts */
};

/* One of the paths asked for, open. */
struct grep_path {
    const char *name; /* relative to the root, normalised */
    int fd;
    bool folder;
};

struct grep {
    struct arena *a;
    const atomic_bool *cancelled;
    struct call *call; /* grep.c's and grep_rg.c's; the walker works without */
    void *engine;      /* grep_rg.c's state */

    struct str pattern;
    bool fixed, any_case;
    size_t max_matches, max_bytes;
    long timeout_ms;
    uint64_t deadline_ms; /* by clock_ms */

    struct grep_path *paths; /* sorted, each once */
    size_t path_count;
    bool overlap; /* some path lies inside another: runs may find the same line */

    struct match *matches;
    size_t count, cap, bytes;
    size_t run_start; /* where the matches of the path being searched begin */
    bool full;        /* enough found, or the ceiling reached: stop this run */
    bool more;        /* something was left out */
    size_t replaced;  /* bytes of invalid UTF-8 */

    bool failed_part; /* a file or folder could not be searched; err says why */
    struct err err;
    int exit_code;
};

/* Before the matches of paths[i] come. */
void grep_run(struct grep *g);

/* One matching line (any bytes, without its newline). Gives false when no more
 * are wanted. */
bool grep_add(struct grep *g, struct str path, long line, long column, struct str text);

/* Note that something could not be searched; the first reason is kept. */
void grep_note(struct grep *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Order of paths, name by name. */
int grep_path_cmp(struct str a, struct str b);

/* Search everything; blocks: a worker's. Failure stands in g->err. */
void grep_walk(struct grep *g);

/* Search with ripgrep, on the loop; `done` is called on a later turn. Failure
 * stands in g->err. Uses call->on_cancel while it runs. */
void grep_rg(struct grep *g, void (*done)(struct grep *g));

/* One "match" line of rg's output, of a run in the folder of that name. Gives
 * false when the search should stop. */
bool grep_rg_line(struct grep *g, struct str line, const char *folder);

/* rg's flags, before -F, -i or -s, the pattern and the path; NULL-ended. */
extern const char *const grep_rg_flags[];
