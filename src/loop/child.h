/* child.h: commands, and the warden that answers for them.
 *
 * The first spawn starts the warden, our own binary again, which holds a
 * socket from us. For each child it has a keeper: a subreaper that starts
 * the command in a session of its own, waits for it, then kills and reaps
 * whatever is left below it (setsid and double forks included) before it
 * reports. When we die, by kill -9 too, every keeper sees its line to us
 * close and does the same. So a child's end means: nothing of it is left.
 *
 * Output is read while the command runs, each stream up to its ceiling; the
 * rest is read and counted but not kept, so the command never blocks on us.
 * stdin is /dev/null, unless ours is to be inherited. */
#pragma once
#include "base/buf.h"
#include "loop/loop.h"

struct child;

enum child_outcome {
    CHILD_EXITED,    /* status holds the exit code, 128+n for signal n */
    CHILD_TIMED_OUT, /* deadline passed, killed */
    CHILD_CANCELLED, /* child_kill, killed */
    CHILD_NO_START,  /* err says why: no such program, no such folder, ... */
    CHILD_LOST       /* the keeper or the warden died; the command was killed */
};

struct child_opts {
    const char *const *argv; /* argv[0] is looked up in our PATH */
    const char *const *env;  /* NAME=value, NULL-ended; the whole environment */
    int cwd;                 /* a descriptor of the folder to run in; -1: ours */
    uint64_t timeout_ms;     /* 0: none */
    size_t max_out, max_err; /* ceilings of what is kept */
    bool merge_err;          /* stderr goes where stdout goes */
    bool inherit_in;         /* stdin is ours; never where that is a protocol's */

    /* Called for each piece of stdout as it comes, instead of keeping it; give
     * false to have the child killed (it then ends as CHILD_CANCELLED). */
    bool (*on_out)(void *arg, struct str piece);

    /* Called once, when all is over. The child is freed right after. */
    void (*on_end)(void *arg, struct child *c);
    void *arg;
};

struct child {
    enum child_outcome outcome;
    int status;                    /* exit code, exact; -1 where there is none; NO_START: as
                                      a shell says it, 127 not found, 126 otherwise */
    int signal;                    /* the signal that ended it, else 0 */
    struct buf out, err_out;       /* what was kept */
    uint64_t out_total, err_total; /* bytes that were written, kept or not */
    uint64_t duration_ms;
    struct err err;
};

/* Start a command. Borrows opts and what it points to only for this call (arg
 * stays yours). Always gives a child: a failure to start also ends through
 * on_end, on a later turn of the loop. */
struct child *child_start(struct loop *l, const struct child_opts *opts);

/* Kill it and everything below it; on_end comes when all is gone. */
void child_kill(struct child *c);

/* Kill everything and let the warden go; for the end of the program. Waits (at
 * most a second) until they are gone; no on_end is called. */
void child_stop_all(struct loop *l);

/* The warden's main, for main.c: when argv says that this process is one, runs
 * it and gives true with *status to exit with. */
bool warden_main(int argc, char **argv, int *status);
