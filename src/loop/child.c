/* child.c: commands, as the loop sees them.
 *
 * Per command three descriptors: two pipes that are read as they fill, and a
 * control socket on which the keeper's one record arrives when all is over.
 * After the record the pipes hold at most what fits in them; that is read
 * without waiting, so a process that still holds a pipe somewhere cannot
 * delay the end.
 *
 * A keeper that has ended its command cleanly waits for another. One such is
 * spared, by its control socket; those beyond it are let go.
 *
 * There is one warden per process, so what is common to all children is a
 * static here and not something a caller would have to carry around. */
#include "loop/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/give.h"
#include "loop/line.h"
#include "loop/warden.h"

enum {
    MAX_CHILDREN = 256,
    MAX_REQUEST = 8 << 20, /* the kernel takes 6 MB at most */
    RETRY_MS = 2,          /* when the warden's socket is full */
    GRACE_MS = 5000,       /* after a kill; a keeper gives up after 2000 */
    STOP_MS = 1000,
    READS_PER_TURN = 8 /* then others have a turn */
};

struct kid;

struct stream {
    struct kid *kid;
    int fd;
    struct watch *watch;
    struct buf *keep;
    uint64_t *total;
};

struct kid {
    struct child pub;
    struct kid *next, **link;
    struct stream out, err;
    int ctl;
    struct watch *watch;     /* of ctl */
    struct timer *timer;     /* the deadline; once killed, the grace */
    int give[GIVE_COUNT];    /* what the warden gets; -1 once it has it */
    bool unsent, soon, over; /* waits for the warden; for loop_soon; for nothing */
    enum child_outcome ask;  /* EXITED until we have it killed: why we did */
    bool deaf;               /* on_out wants no more */
    uint64_t started, timeout_ms;
    char name[80]; /* of the program, for messages */
    bool (*on_out)(void *arg, struct str piece);
    void (*on_end)(void *arg, struct child *c);
    void *arg;
};

static struct {
    struct loop *loop;
    struct line line;
    int spare; /* control socket of a keeper that waits; -1: none */
    struct kid *kids;
    int count;
    struct timer *retry; /* some kids are unsent */
} all = { .line = LINE_NONE, .spare = -1 };

static void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void give_close(struct kid *k)
{
    for (int i = 0; i < GIVE_COUNT; i++)
        fd_close(&k->give[i]);
}

static void stream_close(struct stream *s)
{
    watch_free(s->watch);
    s->watch = NULL;
    fd_close(&s->fd);
}

/* Let go of all but the memory; nothing calls back afterwards. */
static void kid_release(struct kid *k)
{
    if (k->over)
        return;
    k->over = true;
    stream_close(&k->out);
    stream_close(&k->err);
    watch_free(k->watch);
    timer_cancel(k->timer);
    fd_close(&k->ctl);
    give_close(k);
    *k->link = k->next;
    if (k->next)
        k->next->link = k->link;
    all.count--;
}

static void kid_free(struct kid *k)
{
    kid_release(k);
    buf_done(&k->pub.out);
    buf_done(&k->pub.err_out);
    free(k);
}

/* The outcome stands in pub; say it, and be gone. */
static void kid_end(struct kid *k)
{
    kid_release(k);
    k->pub.duration_ms = clock_ms() - k->started;
    k->on_end(k->arg, &k->pub);
    kid_free(k);
}

static void on_soon(void *arg)
{
    struct kid *k = arg;

    if (k->over)
        kid_free(k); /* child_stop_all was here */
    else
        kid_end(k);
}

/* An end that the caller of child_start or child_kill must not meet on its own
 * stack. */
static void end_soon(struct kid *k, enum child_outcome outcome)
{
    k->pub.outcome = outcome;
    k->unsent = false;
    if (!k->soon)
        loop_soon(all.loop, on_soon, k);
    k->soon = true;
}

/* Output. */

static void stream_take(struct stream *s, struct str piece)
{
    struct kid *k = s->kid;
    size_t room = s->keep->max - s->keep->len;

    *s->total += piece.n;
    if (s != &k->out || !k->on_out) {
        buf_add(s->keep, piece.p, piece.n < room ? piece.n : room);
    } else if (!k->deaf && !k->on_out(k->arg, piece)) {
        k->deaf = true;
        child_kill(&k->pub);
    }
}

/* Read at most `limit` bytes of what is there now; the stream is closed at its
 * end. */
static void stream_read(struct stream *s, size_t limit)
{
    static char room[64 << 10]; /* one loop thread, one buffer */
    size_t sum = 0;
    ssize_t n;

    while (s->fd >= 0 && sum < limit) {
        n = read(s->fd, room, sizeof room);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            stream_close(s);
            return;
        }
        sum += (size_t)n;
        stream_take(s, (struct str){ room, (size_t)n });
    }
}

static void on_stream(void *arg, int events)
{
    (void)events;
    stream_read(arg, READS_PER_TURN * (64 << 10));
}

/* What the command wrote before it ended is in the pipe, and no more than the
 * pipe holds. */
static void stream_drain(struct stream *s)
{
    int size = s->fd >= 0 ? fcntl(s->fd, F_GETPIPE_SZ) : 0;

    if (size > 0)
        stream_read(s, (size_t)size);
}

/* The end. */

static void outcome_ended(struct kid *k, int status)
{
    struct child *c = &k->pub;

    c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    c->status = c->signal ? 128 + c->signal : WEXITSTATUS(status);
    c->outcome = k->ask;
}

static void outcome_no_start(struct kid *k, const struct warden_record *r)
{
    struct err *e = &k->pub.err;

    k->pub.outcome = CHILD_NO_START;
    k->pub.status = r->kind == WARDEN_NO_EXEC && r->error == ENOENT ? 127 : 126;
    if (r->kind == WARDEN_NO_CWD)
        err_set(e, ERR_CWD, "cannot enter the folder for '%s': %s", k->name, strerror(r->error));
    else if (r->error == E2BIG)
        err_set(e, ERR_SPAWN,
                "cannot start '%s': its arguments and environment are too long (one string may "
                "have 128 KiB, all together a quarter of the stack limit)",
                k->name);
    else
        err_set(e, ERR_SPAWN, "cannot start '%s': %s", k->name, strerror(r->error));
}

static void outcome_lost(struct kid *k, const char *why)
{
    k->pub.outcome = CHILD_LOST;
    err_set(&k->pub.err, ERR_SPAWN, "'%s' was lost: %s", k->name, why);
}

static void outcome_set(struct kid *k, const struct warden_record *r)
{
    switch (r->kind) {
    case WARDEN_ENDED:
        outcome_ended(k, r->status);
        break;
    case WARDEN_NO_FORK:
    case WARDEN_NO_CWD:
    case WARDEN_NO_EXEC:
        outcome_no_start(k, r);
        break;
    case WARDEN_NOT_RUN:
        k->pub.outcome = k->ask;
        break;
    default:
        outcome_lost(k, "its warden died, so it was killed");
        line_check(&all.line);
    }
    if (k->pub.outcome == CHILD_TIMED_OUT)
        err_set(&k->pub.err, ERR_TIMEOUT, "'%s' took longer than %llu ms and was killed", k->name,
                (unsigned long long)k->timeout_ms);
    if (k->pub.outcome == CHILD_CANCELLED)
        err_set(&k->pub.err, ERR_CANCELLED, "'%s' was cancelled", k->name);
}

/* Not watched: one that died meanwhile is noticed when it is needed. */
static void spare_keep(struct kid *k)
{
    if (all.spare >= 0)
        return;
    watch_free(k->watch);
    k->watch = NULL;
    all.spare = k->ctl;
    k->ctl = -1;
}

/* The record, or the end of a keeper that could not send one. */
static void on_ctl(void *arg, int events)
{
    struct kid *k = arg;
    struct warden_record r;
    ssize_t n = recv(k->ctl, &r, sizeof r, MSG_DONTWAIT);

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    stream_drain(&k->out);
    stream_drain(&k->err);
    if (n == sizeof r) {
        outcome_set(k, &r);
        if (r.waits)
            spare_keep(k);
    } else {
        outcome_lost(k, "its keeper died, so it was killed");
        line_check(&all.line);
    }
    kid_end(k);
}

static void on_grace(void *arg)
{
    struct kid *k = arg;

    k->timer = NULL;
    outcome_lost(k, "it was told to end, and nothing came back");
    kid_end(k);
}

static void kid_kill(struct kid *k, enum child_outcome why)
{
    struct warden_record none = { .kind = WARDEN_NOT_RUN };

    if (k->over || k->soon || k->ask != CHILD_EXITED)
        return;
    k->ask = why;
    if (k->unsent) {
        outcome_set(k, &none);
        end_soon(k, why);
        return;
    }
    timer_cancel(k->timer);
    k->timer = timer_start(all.loop, GRACE_MS, on_grace, k);
    send(k->ctl, "K", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_deadline(void *arg)
{
    struct kid *k = arg;

    k->timer = NULL;
    kid_kill(k, CHILD_TIMED_OUT);
}

void child_kill(struct child *c)
{
    kid_kill((struct kid *)c, CHILD_CANCELLED);
}

/* The start. */

static void on_retry(void *arg);

static bool ctl_watch(struct kid *k, int ctl)
{
    k->ctl = ctl;
    k->watch = watch_new(all.loop, ctl, on_ctl, k, &k->pub.err);
    if (k->watch)
        watch_set(k->watch, WATCH_READ);
    return k->watch != NULL;
}

static void ctl_close(struct kid *k)
{
    watch_free(k->watch);
    k->watch = NULL;
    fd_close(&k->ctl);
}

/* To the keeper that waits, if there is one. */
static bool spare_send(struct kid *k)
{
    int ctl = all.spare;

    if (ctl < 0)
        return false;
    all.spare = -1;
    if (ctl_watch(k, ctl) && give_send(ctl, k->give, GIVE_CTL))
        return true;
    ctl_close(k);
    k->pub.err = (struct err){ 0 };
    return false;
}

/* A control socket for a new keeper. */
static bool ctl_open(struct kid *k)
{
    struct err *e = &k->pub.err;
    int p[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p) != 0)
        return err_set(e, ERR_SPAWN, "cannot start '%s': %s", k->name, strerror(errno));
    k->give[GIVE_CTL] = p[1];
    return ctl_watch(k, p[0]);
}

/* Hand it to the warden, now or when that has room again. */
static void kid_send(struct kid *k)
{
    switch (line_send(&all.line, k->give, &k->pub.err)) {
    case LINE_SENT:
        k->unsent = false;
        give_close(k);
        break;
    case LINE_BUSY:
        k->unsent = true;
        if (!all.retry)
            all.retry = timer_start(all.loop, RETRY_MS, on_retry, NULL);
        break;
    case LINE_FAILED:
        end_soon(k, CHILD_NO_START);
        break;
    }
}

static void on_retry(void *arg)
{
    (void)arg;
    all.retry = NULL;
    for (struct kid *k = all.kids; k && !all.retry; k = k->next) {
        if (k->unsent)
            kid_send(k);
    }
}

static bool add_strings(struct buf *b, const char *const *v, uint32_t *count)
{
    for (*count = 0; v && *v; v++, ++*count)
        buf_add(b, *v, strlen(*v) + 1);
    return !b->full;
}

static bool write_all(int fd, struct str s)
{
    ssize_t n;

    while (s.n) {
        n = write(fd, s.p, s.n);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            s.p += n;
            s.n -= (size_t)n;
        }
    }
    return true;
}

/* Gives a memfd with the request, or -1 with *e set. */
static int request_new(const struct child_opts *o, struct err *e)
{
    struct warden_request head = { 0 };
    struct buf b;
    int fd = -1;

    buf_init(&b, MAX_REQUEST);
    buf_add(&b, &head, sizeof head);
    if (!add_strings(&b, o->argv, &head.argc) || !add_strings(&b, o->env, &head.envc)) {
        err_set(e, ERR_SPAWN, "the arguments and environment have more than %d MiB",
                MAX_REQUEST >> 20);
        goto done;
    }
    memcpy(b.data, &head, sizeof head);
    fd = memfd_create("request", MFD_CLOEXEC);
    if (fd < 0 || !write_all(fd, buf_str(&b))) {
        err_set(e, ERR_SPAWN, "cannot write down the command: %s", strerror(errno));
        fd_close(&fd);
    }

done:
    buf_done(&b);
    return fd;
}

static bool open_fds(struct kid *k, const struct child_opts *o)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC) != 0)
        return false;
    k->out.fd = p[0];
    k->give[GIVE_OUT] = p[1];
    if (o->merge_err) {
        k->give[GIVE_ERR] = fcntl(p[1], F_DUPFD_CLOEXEC, 3);
        if (k->give[GIVE_ERR] < 0)
            return false;
    } else {
        if (pipe2(p, O_CLOEXEC) != 0)
            return false;
        k->err.fd = p[0];
        k->give[GIVE_ERR] = p[1];
    }
    k->give[GIVE_IN] =
        o->inherit_in ? fcntl(0, F_DUPFD_CLOEXEC, 3) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (k->give[GIVE_IN] < 0)
        return false;
    k->give[GIVE_CWD] = o->cwd < 0 ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)
                                   : fcntl(o->cwd, F_DUPFD_CLOEXEC, 3);
    return k->give[GIVE_CWD] >= 0;
}

static bool stream_watch(struct stream *s, struct err *e)
{
    if (s->fd < 0)
        return true;
    s->watch = watch_new(all.loop, s->fd, on_stream, s, e);
    if (s->watch)
        watch_set(s->watch, WATCH_READ);
    return s->watch != NULL;
}

static bool kid_start(struct kid *k, const struct child_opts *o)
{
    struct err *e = &k->pub.err;

    if (!o->argv || !o->argv[0] || !o->argv[0][0])
        return err_set(e, ERR_SPAWN, "no command was given");
    if (all.count > MAX_CHILDREN)
        return err_set(e, ERR_SPAWN, "too many commands at once: %d are running", MAX_CHILDREN);
    k->give[GIVE_REQUEST] = request_new(o, e);
    if (k->give[GIVE_REQUEST] < 0)
        return false;
    if (!open_fds(k, o))
        return err_set(e, ERR_SPAWN, "cannot start '%s': %s", k->name, strerror(errno));
    if (!stream_watch(&k->out, e) || !stream_watch(&k->err, e))
        return false;
    if (spare_send(k))
        give_close(k);
    else if (ctl_open(k))
        kid_send(k);
    else
        return false;
    if (k->timeout_ms)
        k->timer = timer_start(all.loop, k->timeout_ms, on_deadline, k);
    return true;
}

static struct kid *kid_new(const struct child_opts *o)
{
    struct kid *k = xcalloc(1, sizeof *k);
    struct str name = str_of(o->argv ? o->argv[0] : NULL);

    if (name.n >= sizeof k->name)
        name.n = sizeof k->name - 1;
    if (name.n)
        memcpy(k->name, name.p, utf8_valid(name));
    buf_init(&k->pub.out, o->max_out);
    buf_init(&k->pub.err_out, o->max_err);
    k->pub.status = -1;
    k->out = (struct stream){ k, -1, NULL, &k->pub.out, &k->pub.out_total };
    k->err = (struct stream){ k, -1, NULL, &k->pub.err_out, &k->pub.err_total };
    k->ctl = -1;
    for (int i = 0; i < GIVE_COUNT; i++)
        k->give[i] = -1;
    k->started = clock_ms();
    k->timeout_ms = o->timeout_ms;
    k->on_out = o->on_out;
    k->on_end = o->on_end;
    k->arg = o->arg;

    k->next = all.kids;
    k->link = &all.kids;
    if (k->next)
        k->next->link = &k->next;
    all.kids = k;
    all.count++;
    return k;
}

struct child *child_start(struct loop *l, const struct child_opts *opts)
{
    struct kid *k = kid_new(opts);

    assert(!all.loop || all.loop == l);
    all.loop = l;
    if (!kid_start(k, opts))
        end_soon(k, CHILD_NO_START);
    return &k->pub;
}

void child_stop_all(struct loop *l)
{
    struct kid *k;

    assert(!all.loop || all.loop == l);
    (void)l;
    while ((k = all.kids)) {
        kid_release(k); /* closes its control socket: the keeper kills */
        if (!k->soon)
            kid_free(k);
    }
    timer_cancel(all.retry);
    all.retry = NULL;
    fd_close(&all.spare);
    line_close(&all.line, STOP_MS);
    all.loop = NULL;
}
