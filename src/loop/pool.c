/* pool.c: a few threads for work that blocks.
 *
 * One mutex and two lists. Workers have every signal blocked, so that signals
 * land on the loop thread, and small stacks: nothing that runs here recurses
 * by what the outside sent. */
#include "loop/pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include "base/mem.h"

enum { MIN_THREADS = 2, MAX_THREADS = 4, STACK_BYTES = 256 << 10 };

struct work {
    struct work *next;
    loop_fn *run, *done;
    void *arg;
};

struct list {
    struct work *head, **tail;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t more;     /* for workers: something is queued, or it is over */
    pthread_cond_t ran;      /* for pool_drain: something has run */
    struct list queue, over; /* to run; has run */
    int idle, busy;          /* workers waiting; workers running something */
    bool stop;
    loop_fn *wake;
    void *arg;

    /* The owner's own. */
    pthread_t threads[MAX_THREADS];
    int count, limit;
};

static void list_init(struct list *l)
{
    l->head = NULL;
    l->tail = &l->head;
}

static void list_add(struct list *l, struct work *w)
{
    w->next = NULL;
    *l->tail = w;
    l->tail = &w->next;
}

static struct work *list_take(struct list *l)
{
    struct work *w = l->head;

    if (w && !(l->head = w->next))
        l->tail = &l->head;
    return w;
}

static int thread_limit(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : MIN_THREADS;

    return n < MIN_THREADS ? MIN_THREADS : n > MAX_THREADS ? MAX_THREADS : n;
}

struct pool *pool_new(loop_fn *wake, void *arg)
{
    struct pool *p = xcalloc(1, sizeof *p);

    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->more, NULL);
    pthread_cond_init(&p->ran, NULL);
    list_init(&p->queue);
    list_init(&p->over);
    p->limit = thread_limit();
    p->wake = wake;
    p->arg = arg;
    return p;
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    struct work *w;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!(w = list_take(&p->queue)) && !p->stop) {
            p->idle++;
            pthread_cond_wait(&p->more, &p->lock);
            p->idle--;
        }
        if (!w)
            break;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        w->run(w->arg);
        pthread_mutex_lock(&p->lock);
        p->busy--;
        list_add(&p->over, w);
        pthread_cond_signal(&p->ran);
        /* Under the lock: once pool_drain sees it done, wake is over too. */
        p->wake(p->arg);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool thread_start(struct pool *p)
{
    pthread_attr_t attr;
    sigset_t all, old;
    bool ok;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ok = pthread_create(&p->threads[p->count], &attr, worker, p) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    p->count += ok;
    return ok;
}

/* No thread could be had: late is better than never. */
static void run_here(struct pool *p)
{
    struct work *w = list_take(&p->queue);

    w->run(w->arg);
    list_add(&p->over, w);
    p->wake(p->arg);
}

void pool_add(struct pool *p, loop_fn *run, loop_fn *done, void *arg)
{
    struct work *w = xcalloc(1, sizeof *w);
    bool crowded;

    w->run = run;
    w->done = done;
    w->arg = arg;
    pthread_mutex_lock(&p->lock);
    list_add(&p->queue, w);
    /* A worker that was signalled but has not woken yet still counts as idle;
     * older work in the queue tells that it is already spoken for. */
    crowded = p->idle == 0 || p->queue.head != w;
    pthread_cond_signal(&p->more);
    pthread_mutex_unlock(&p->lock);

    if (crowded && p->count < p->limit && !thread_start(p) && p->count == 0)
        run_here(p);
}

void pool_collect(struct pool *p)
{
    struct work *w, *next;

    pthread_mutex_lock(&p->lock);
    w = p->over.head;
    list_init(&p->over);
    pthread_mutex_unlock(&p->lock);

    for (; w; w = next) {
        next = w->next;
        w->done(w->arg);
        free(w);
    }
}

void pool_drain(struct pool *p)
{
    bool more = true;

    while (more) {
        pthread_mutex_lock(&p->lock);
        while ((p->queue.head || p->busy) && !p->over.head)
            pthread_cond_wait(&p->ran, &p->lock);
        more = p->over.head != NULL;
        pthread_mutex_unlock(&p->lock);
        pool_collect(p);
    }
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pool_drain(p);
    pthread_mutex_lock(&p->lock);
    assert(!p->queue.head && !p->over.head);
    p->stop = true;
    pthread_cond_broadcast(&p->more);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->count; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->ran);
    pthread_cond_destroy(&p->more);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
