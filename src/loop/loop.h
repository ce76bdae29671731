/* loop.h: libuv behind one small header: descriptors, timers, workers, signals.
 *
 * Everything here is called from the loop thread and calls back there, unless
 * said otherwise. An operation under way is a pointer in its owner; the owner
 * sets it to NULL first thing in the callback. Nothing calls back after it was
 * cancelled or freed. */
#pragma once
#include <stdint.h>
#include "base/err.h"

struct loop;
typedef void loop_fn(void *arg);

struct loop *loop_new(struct err *e);

/* Undo loop_new, and every timer, watch and signal that is left. What was given
 * to loop_soon and loop_work is still called first, `done` too, since that is
 * where things get freed. NULL is fine. Not from a callback. */
void loop_free(struct loop *l);

/* Run until loop_stop. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Call fn once, after the callbacks of this turn: the place to free what the
 * current stack still stands on. */
void loop_soon(struct loop *l, loop_fn *fn, void *arg);

/* Timers fire once. timer_start gives the timer; it is over when fn is called. */
struct timer;
struct timer *timer_start(struct loop *l, uint64_t ms, loop_fn *fn, void *arg);
void timer_cancel(struct timer *t); /* NULL is fine */

/* Descriptors. A watch calls fn with those events asked for that are ready
 * (level triggered); it does not own the descriptor, but makes it non-blocking.
 * An error is reported as READ|WRITE, so that read() or write() meets it. GONE
 * is for who does not read now: the peer closed, or shut down its sending side;
 * it stays true, so stop asking once it was seen. watch_free before close.
 * What cannot be polled, a regular file, gives NULL and *e. */
enum { WATCH_READ = 1, WATCH_WRITE = 2, WATCH_GONE = 4 };
struct watch;
typedef void watch_fn(void *arg, int events);
struct watch *watch_new(struct loop *l, int fd, watch_fn *fn, void *arg, struct err *e);
void watch_set(struct watch *w, int events); /* 0 pauses; cheap when nothing changes */
void watch_free(struct watch *w);            /* NULL is fine */

/* Workers: `run` on a thread of a small bounded pool (started at first use),
 * then `done` on the loop thread. Queued work runs in order. There is no
 * cancelling: `run` looks at a flag of its own. */
void loop_work(struct loop *l, loop_fn *run, loop_fn *done, void *arg);

/* Signals arrive as callbacks on the loop thread. */
void loop_on_signal(struct loop *l, int signo, loop_fn *fn, void *arg);
