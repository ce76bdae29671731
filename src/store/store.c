/* store.c: requests on the loop, work on one thread, answers on the loop.
 *
 * Requests wait in a queue; the thread takes puts together, as many as are
 * there (a group is one transaction), and everything else one by one, so a get
 * sees every put before it. What is over comes back through an eventfd. What
 * fails before it reaches the thread comes back through a timer, so `done` is
 * never called from inside the request.
 *
 * `done`, `arg` and the count of waiting bytes belong to the loop thread; the
 * database belongs to the other; queue, over and stop stand under the lock. */
#include "store/store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "store/store_sqlite.h"

enum {
    GROUP_BYTES = 8 << 20, /* of one transaction: about 50 ms */
    GROUP_TEXTS = 256,
    RETRY_MS = 1000,
    END_MS = 2000,
    STACK_BYTES = 512 << 10,
};

enum what { PUT, GET, STATS, PURGE };

struct store_op {
    struct store_op *next;
    struct store *store;
    enum what what;
    enum store_kind kind;
    char *principal, *id, *copy; /* copy: of the text to put */
    struct str text;
    size_t cost; /* its part of store.waiting */
    uint64_t ttl_ms;
    store_put_fn *on_put; /* both NULL: cancelled */
    store_get_fn *on_get;
    void *arg;
    atomic_bool cancelled; /* for the thread: do not bother */
    struct buf out;
    struct err err; /* NONE: fine */
    /* of those that block */
    bool only_expired, over;
    struct store_stats stats;
    size_t removed;
};

struct list {
    struct store_op *head, **end;
};

struct gate { /* after a failure: the same answer, until it is time to try again */
    uint64_t until;
    struct err why;
};

struct store {
    struct loop *loop;
    char *dir;
    uint64_t quota;
    uint64_t (*now_ms)(void);
    size_t waiting; /* bytes of what was put and is not answered yet */
    struct timer *failing;
    struct watch *watch;
    int wake; /* eventfd, or -1 */
    bool started;
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t more, ran;
    struct list queue, over;
    bool stop, ended;

    atomic_bool hurry; /* stop now, whatever is left */
    struct db *db;     /* the thread's from here on; NULL: not open */
    struct gate opening, putting;
    struct err unkept; /* why the last texts could not be kept; NONE: they were */
};

/* Lists. */

static void list_init(struct list *l)
{
    l->head = NULL;
    l->end = &l->head;
}

static void list_add(struct list *l, struct store_op *op)
{
    op->next = NULL;
    *l->end = op;
    l->end = &op->next;
}

static struct store_op *list_take(struct list *l)
{
    struct store_op *op = l->head;

    if (!op)
        return NULL;
    l->head = op->next;
    if (!l->head)
        l->end = &l->head;
    return op;
}

/* Ids. */

static void id_of(char out[40], enum store_kind kind, const unsigned char hash[32])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned bits = 0, have = 0;
    size_t n = 4, at = 0;

    memcpy(out, kind == STORE_PRUNE ? "prn_" : "art_", 4);
    while (n < 30) {
        if (have < 5) {
            bits = bits << 8 | hash[at++];
            have += 8;
        }
        have -= 5;
        out[n++] = letters[bits >> have & 31];
    }
    out[n] = '\0';
}

static void hash_of(unsigned char out[32], struct str text)
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, text.p, text.n);
    sha256_end(&h, out);
}

void store_id(char out[40], enum store_kind kind, struct str text)
{
    unsigned char hash[32];

    hash_of(hash, text);
    id_of(out, kind, hash);
}

/* The thread: opening. */

static bool gate_shut(const struct gate *g, struct err *e)
{
    if (g->why.code == ERR_NONE || clock_ms() >= g->until)
        return false;
    *e = g->why;
    return true;
}

static void gate_shut_for(struct gate *g, const struct err *why)
{
    g->why = *why;
    g->until = clock_ms() + RETRY_MS;
}

static void close_db(struct store *s)
{
    db_close(s->db);
    s->db = NULL;
}

static bool open_db(struct store *s, struct err *e)
{
    if (s->db && (db_is_broken(s->db) || !db_is_there(s->db)))
        close_db(s);
    if (s->db)
        return true;
    if (gate_shut(&s->opening, e))
        return false;
    s->db = db_open(s->dir, s->quota, &s->hurry, e);
    if (!s->db)
        gate_shut_for(&s->opening, e);
    return s->db != NULL;
}

/* Reading must not make a store where there is none. */
static bool is_absent(const struct store *s)
{
    char path[PATH_MAX];

    return db_path(path, s->dir, NULL) && access(path, F_OK) != 0 && errno == ENOENT;
}

/* The thread: the work. */

static uint64_t end_of(uint64_t now, uint64_t ttl_ms)
{
    return ttl_ms < INT64_MAX - now ? now + ttl_ms : INT64_MAX;
}

static bool prepare(struct store *s, struct store_op *op, struct db_text *t)
{
    char id[40];

    *t = (struct db_text){ .principal = op->principal,
                           .text = op->text,
                           .expires = end_of(s->now_ms(), op->ttl_ms) };
    hash_of(t->hash, op->text);
    id_of(id, op->kind, t->hash);
    t->id = op->id = xstrdup(id);
    if (db_pack(s->db, t, &op->err))
        return true;
    db_text_done(t);
    return false;
}

static void put_group(struct store *s, struct store_op *group)
{
    struct db_text texts[GROUP_TEXTS];
    struct store_op *ops[GROUP_TEXTS];
    struct err e = { 0 };
    size_t n = 0;
    bool ok = !gate_shut(&s->putting, &e) && open_db(s, &e);

    for (struct store_op *op = group; op; op = op->next) {
        if (!ok)
            op->err = e;
        else if (prepare(s, op, &texts[n]))
            ops[n++] = op;
    }
    if (!ok)
        s->unkept = e;
    if (n == 0)
        return;
    ok = db_put(s->db, texts, n, s->now_ms(), &e);
    s->unkept.code = ERR_NONE;
    if (!ok) {
        gate_shut_for(&s->putting, &e);
        s->unkept = e;
    }
    for (size_t i = 0; i < n; i++) {
        if (!ok)
            ops[i]->err = e;
        db_text_done(&texts[i]);
    }
}

static void get_one(struct store *s, struct store_op *op)
{
    if (atomic_load(&op->cancelled))
        return;
    if (is_absent(s))
        db_missing(op->id, &op->err);
    else if (open_db(s, &op->err))
        db_get(s->db, op->principal, op->id, s->now_ms(), &op->out, &op->err);
    /* An id may be given out although its text is not kept: then say why. */
    if (op->err.code == ERR_MISSING && s->unkept.code)
        op->err = s->unkept;
}

static void serve(struct store *s, struct store_op *group)
{
    switch (group->what) {
    case PUT:
        put_group(s, group);
        break;
    case GET:
        get_one(s, group);
        break;
    case STATS:
        if (!is_absent(s) && open_db(s, &group->err))
            db_stats(s->db, &group->stats, &group->err);
        break;
    case PURGE:
        if (!is_absent(s) && open_db(s, &group->err))
            db_purge(s->db, group->principal, group->only_expired, s->now_ms(), &group->removed,
                     &group->err);
        break;
    }
}

/* The thread: taking and giving back. */

/* May the next request join a group of n texts, so many bytes? */
static bool joins(const struct store_op *op, const struct store_op *next, size_t n, size_t bytes)
{
    return op->what == PUT && next && next->what == PUT && n < GROUP_TEXTS &&
           bytes + next->text.n <= GROUP_BYTES;
}

/* The next request, or as many puts as make one transaction; NULL: none. Under
 * the lock. */
static struct store_op *take_group(struct store *s)
{
    struct list group;
    size_t n = 0, bytes = 0;
    struct store_op *op;

    list_init(&group);
    while ((op = list_take(&s->queue))) {
        list_add(&group, op);
        bytes += op->text.n;
        if (!joins(op, s->queue.head, ++n, bytes))
            break;
    }
    return group.head;
}

static void give_back(struct store *s, struct store_op *group)
{
    bool blocked = group->what == STATS || group->what == PURGE;
    uint64_t one = 1;

    pthread_mutex_lock(&s->lock);
    if (blocked) {
        group->over = true;
        pthread_cond_broadcast(&s->ran);
    } else {
        for (struct store_op *op = group, *next; op; op = next) {
            next = op->next;
            list_add(&s->over, op);
        }
    }
    pthread_mutex_unlock(&s->lock);
    if (!blocked && write(s->wake, &one, sizeof one) < 0)
        abort(); /* an eventfd takes 2^64 of these */
}

static void *work(void *arg)
{
    struct store *s = arg;
    struct store_op *group;
    bool idle;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!(group = take_group(s)) && !s->stop)
            pthread_cond_wait(&s->more, &s->lock);
        if (!group || atomic_load(&s->hurry))
            break;
        idle = !s->queue.head;
        pthread_mutex_unlock(&s->lock);
        serve(s, group);
        give_back(s, group);
        if (idle && s->db)
            db_touch(s->db);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    close_db(s);
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_broadcast(&s->ran);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* The loop's side. */

static void op_free(struct store_op *op)
{
    if (!op)
        return;
    free(op->principal);
    free(op->id);
    free(op->copy);
    buf_done(&op->out);
    free(op);
}

static void answer(struct store_op *op)
{
    const struct err *e = op->err.code == ERR_NONE ? NULL : &op->err;
    store_put_fn *on_put = op->on_put;
    store_get_fn *on_get = op->on_get;
    struct str text = { 0 };

    op->store->waiting -= op->cost;
    op->on_put = NULL;
    op->on_get = NULL;
    if (!e)
        text = buf_str(&op->out);
    if (on_put)
        on_put(op->arg, e);
    else if (on_get)
        on_get(op->arg, text, e);
    op_free(op);
}

static void collect(struct store *s)
{
    struct store_op *over;

    pthread_mutex_lock(&s->lock);
    over = s->over.head;
    list_init(&s->over);
    pthread_mutex_unlock(&s->lock);
    for (struct store_op *op = over, *next; op; op = next) {
        next = op->next;
        answer(op);
    }
}

static void on_wake(void *arg, int events)
{
    struct store *s = arg;
    uint64_t count;

    (void)events;
    if (read(s->wake, &count, sizeof count) == sizeof count)
        collect(s);
}

static void on_failing(void *arg)
{
    struct store *s = arg;

    s->failing = NULL;
    collect(s);
}

static void fail_soon(struct store *s, struct store_op *op)
{
    pthread_mutex_lock(&s->lock);
    list_add(&s->over, op);
    pthread_mutex_unlock(&s->lock);
    if (!s->failing)
        s->failing = timer_start(s->loop, 0, on_failing, s);
}

static bool start_thread(struct store *s, struct err *e)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int rc;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&s->thread, &attr, work, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc == 0 || err_set(e, ERR_IO, "the store has no thread: %s", strerror(rc));
}

static bool start(struct store *s, struct err *e)
{
    if (s->started)
        return true;
    if (s->wake < 0)
        s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0)
        return err_set(e, ERR_IO, "the store cannot be used: %s", strerror(errno));
    if (s->loop && !s->watch) {
        s->watch = watch_new(s->loop, s->wake, on_wake, s, e);
        if (!s->watch)
            return false;
        watch_set(s->watch, WATCH_READ);
    }
    s->started = start_thread(s, e);
    return s->started;
}

static void submit(struct store *s, struct store_op *op)
{
    pthread_mutex_lock(&s->lock);
    list_add(&s->queue, op);
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}

static struct store_op *op_new(struct store *s, enum what what, const char *principal, void *arg)
{
    struct store_op *op = xcalloc(1, sizeof *op);

    op->store = s;
    op->what = what;
    op->principal = principal ? xstrdup(principal) : NULL;
    op->arg = arg;
    buf_init(&op->out, STORE_MOST_BYTES);
    return op;
}

/* Room for n more bytes? */
static bool has_room(const struct store *s, size_t n, struct err *e)
{
    if (n > STORE_MOST_BYTES)
        return err_set(e, ERR_TOO_LARGE, "a text of %zu bytes is not kept: at most %d", n,
                       STORE_MOST_BYTES);
    if (s->waiting + n > STORE_QUEUE_BYTES)
        return err_set(e, ERR_TOO_LARGE, "the store is busy: %zu bytes wait for the disk",
                       s->waiting);
    return true;
}

struct store_op *store_put(struct store *s, enum store_kind kind, const char *principal,
                           struct str text, uint64_t ttl_ms, store_put_fn *done, void *arg)
{
    struct store_op *op = op_new(s, PUT, principal, arg);

    op->kind = kind;
    op->ttl_ms = ttl_ms;
    op->on_put = done;
    if (!has_room(s, text.n, &op->err) || !start(s, &op->err)) {
        fail_soon(s, op);
        return op;
    }
    op->copy = xmalloc(text.n);
    if (text.n > 0)
        memcpy(op->copy, text.p, text.n);
    op->text = (struct str){ op->copy, text.n };
    op->cost = text.n + sizeof *op;
    s->waiting += op->cost;
    submit(s, op);
    return op;
}

struct store_op *store_get(struct store *s, const char *principal, const char *id,
                           store_get_fn *done, void *arg)
{
    struct store_op *op = op_new(s, GET, principal, arg);

    op->id = xstrdup(id);
    op->on_get = done;
    if (start(s, &op->err))
        submit(s, op);
    else
        fail_soon(s, op);
    return op;
}

void store_cancel(struct store_op *op)
{
    if (!op)
        return;
    op->on_put = NULL;
    op->on_get = NULL;
    atomic_store(&op->cancelled, true);
}

/* Those that block: the same queue, but the caller waits. */

static bool wait_for(struct store *s, struct store_op *op, struct err *e)
{
    if (!start(s, e))
        return false;
    submit(s, op);
    pthread_mutex_lock(&s->lock);
    while (!op->over)
        pthread_cond_wait(&s->ran, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (op->err.code != ERR_NONE && e)
        *e = op->err;
    return op->err.code == ERR_NONE;
}

bool store_stats(struct store *s, struct store_stats *out, struct err *e)
{
    struct store_op *op = op_new(s, STATS, NULL, NULL);
    bool ok = wait_for(s, op, e);

    *out = op->stats;
    op_free(op);
    return ok;
}

bool store_purge(struct store *s, const char *principal, bool only_expired, size_t *removed,
                 struct err *e)
{
    struct store_op *op = op_new(s, PURGE, principal, NULL);
    bool ok;

    op->only_expired = only_expired;
    ok = wait_for(s, op, e);
    *removed = op->removed;
    op_free(op);
    return ok;
}

/* From beginning to end. */

static uint64_t wall_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct store *store_new(const struct store_opts *o)
{
    struct store *s = xcalloc(1, sizeof *s);
    pthread_condattr_t attr;

    s->loop = o->loop;
    s->dir = xstrdup(o->dir);
    s->quota = o->quota_bytes ? o->quota_bytes : STORE_QUOTA_BYTES;
    s->now_ms = o->now_ms ? o->now_ms : wall_ms;
    s->wake = -1;
    list_init(&s->queue);
    list_init(&s->over);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->more, NULL);
    pthread_cond_init(&s->ran, &attr);
    pthread_condattr_destroy(&attr);
    return s;
}

void store_path(const struct store *s, char *out)
{
    if (!db_path(out, s->dir, NULL))
        *out = '\0';
}

/* Has the thread ended in time? */
static bool end_thread(struct store *s)
{
    struct timespec until;
    bool ended;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += END_MS / 1000;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->more);
    while (!s->ended && rc == 0)
        rc = pthread_cond_timedwait(&s->ran, &s->lock, &until);
    ended = s->ended;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

static void free_all(struct list *l)
{
    struct store_op *op;

    while ((op = list_take(l)))
        op_free(op);
}

void store_free(struct store *s)
{
    if (!s)
        return;
    timer_cancel(s->failing);
    watch_free(s->watch);
    if (s->started && !end_thread(s)) {
        /* The disk hangs. The thread keeps what it stands on. */
        atomic_store(&s->hurry, true);
        pthread_detach(s->thread);
        return;
    }
    if (s->started)
        pthread_join(s->thread, NULL);
    if (s->wake >= 0)
        close(s->wake);
    free_all(&s->queue);
    free_all(&s->over);
    pthread_cond_destroy(&s->more);
    pthread_cond_destroy(&s->ran);
    pthread_mutex_destroy(&s->lock);
    free(s->dir);
    free(s);
}
