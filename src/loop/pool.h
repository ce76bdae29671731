/* pool.h: a few threads for work that blocks.
 *
 * Threads start when there is work for them, never more than a handful. Work
 * starts in the order it came. What is done waits in a list until the owner
 * collects it, so `done` runs on the owner's thread; `wake` tells the owner,
 * from a worker's thread, that there is something to collect.
 * Knows nothing of the loop. */
#pragma once
#include "loop/loop.h"

struct pool;

struct pool *pool_new(loop_fn *wake, void *arg);

/* Let everything that was queued run, call its `done`, end the threads. NULL
 * is fine. */
void pool_free(struct pool *p);

void pool_add(struct pool *p, loop_fn *run, loop_fn *done, void *arg);

/* Call `done` of all that has run. Owner's thread only. */
void pool_collect(struct pool *p);

/* Wait until everything queued has run, collecting; owner's thread only. */
void pool_drain(struct pool *p);
