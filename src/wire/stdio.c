/* stdio.c: newline-delimited messages over two descriptors.
 *
 * Input is read only when it is ready, so its flags stay as they are. What
 * cannot be watched (a regular file, /dev/null) is always ready: it is read a
 * slice a turn, so that everything else gets its turn too.
 *
 * Output is made non-blocking where it is a pipe or a socket. That flag
 * belongs to the open file, which we may share with whoever started us, so
 * stdio_close puts it back. A terminal or a file is written plainly.
 *
 * Callbacks may call stdio_send and stdio_close; while one is on the stack
 * `depth` is not 0 and freeing waits for its return. */
#include "wire/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"

enum {
    STEP = 64 << 10,        /* read at a time */
    PIPE_SIZE = 1 << 20,    /* asked for, of the pipe to the peer */
    IN_KEEP = 256 << 10,    /* a larger buffer is let go once it is empty */
    PAUSE_ABOVE = 4 << 20,  /* waiting output: stop reading */
    RESUME_BELOW = 1 << 20, /* go on */
};

struct stdio {
    struct loop *loop;
    struct stdio_opts o;
    struct watch *in_watch;  /* NULL: cannot be watched, read by slices */
    struct watch *out_watch; /* NULL: cannot be watched, a write takes all */
    struct timer *slice;     /* the next read of such an input */
    struct timer *late_end;  /* on_end is to be called, but not from stdio_send */
    int out;                 /* o.out, or a duplicate where o.in is the same */
    int out_flags;           /* to put back, -1: unchanged */

    char *in;
    size_t in_at, in_len, in_cap; /* the line being read starts at in_at */
    size_t scanned;               /* no newline in that many of its bytes */
    bool skipping;                /* it is too long */
    bool eof, paused;

    char *wait; /* output that was not taken */
    size_t wait_at, wait_len, wait_cap;

    bool ended; /* on_end was called, or will be */
    bool closed;
    int depth;
};

static void on_slice(void *arg);

/* Ends. */

static void enter(struct stdio *s)
{
    s->depth++;
}

static void leave(struct stdio *s)
{
    if (--s->depth || !s->closed)
        return;
    free(s->in);
    free(s->wait);
    free(s);
}

static void want_input(struct stdio *s)
{
    bool want = !s->eof && !s->paused && !s->ended;

    if (s->in_watch)
        watch_set(s->in_watch, want ? WATCH_READ : 0);
    else if (want && !s->slice)
        s->slice = timer_start(s->loop, 0, on_slice, s);
}

static void on_late_end(void *arg)
{
    struct stdio *s = arg;

    s->late_end = NULL;
    enter(s);
    s->o.on_end(s->o.arg);
    leave(s);
}

/* On a later turn: stdio_send may be where we are. */
static void end_soon(struct stdio *s)
{
    if (s->ended)
        return;
    s->ended = true;
    want_input(s);
    s->late_end = timer_start(s->loop, 0, on_late_end, s);
}

/* Output. */

size_t stdio_pending(const struct stdio *s)
{
    return s->wait_len - s->wait_at;
}

/* Gives what was taken, 0 if nothing can be now, -1 if nobody reads. */
static ssize_t write_some(struct stdio *s, const struct iovec *v, int n)
{
    ssize_t got;

    do
        got = writev(s->out, v, n);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return 0;
    return got;
}

static void forget_output(struct stdio *s)
{
    free(s->wait);
    s->wait = NULL;
    s->wait_at = s->wait_len = s->wait_cap = 0;
}

/* Hand over what waits, as far as it goes; false if nobody reads. */
static bool flush(struct stdio *s)
{
    while (stdio_pending(s)) {
        struct iovec v = { s->wait + s->wait_at, stdio_pending(s) };
        ssize_t n = write_some(s, &v, 1);

        if (n < 0) {
            forget_output(s);
            return false;
        }
        if (n == 0)
            return true;
        s->wait_at += (size_t)n;
    }
    forget_output(s);
    return true;
}

static void keep(struct stdio *s, struct str piece)
{
    if (s->wait_len + piece.n > s->wait_cap && s->wait_at) {
        memmove(s->wait, s->wait + s->wait_at, stdio_pending(s));
        s->wait_len -= s->wait_at;
        s->wait_at = 0;
    }
    if (s->wait_len + piece.n > s->wait_cap) {
        s->wait_cap = (s->wait_len + piece.n) * 2;
        s->wait = xrealloc(s->wait, s->wait_cap);
    }
    if (piece.n)
        memcpy(s->wait + s->wait_len, piece.p, piece.n);
    s->wait_len += piece.n;
}

void stdio_send(struct stdio *s, struct str message)
{
    struct iovec v[2] = { { (char *)message.p, message.n }, { "\n", 1 } };
    size_t taken = 0;

    if (s->closed)
        return;
    if (!stdio_pending(s)) {
        ssize_t n = write_some(s, v, 2);

        if (n < 0) {
            end_soon(s);
            return;
        }
        taken = (size_t)n;
    }
    if (taken > message.n)
        return;
    keep(s, (struct str){ message.p + taken, message.n - taken });
    keep(s, STR("\n"));
    if (s->out_watch)
        watch_set(s->out_watch, WATCH_WRITE);
    else if (!flush(s)) /* a full disk, say */
        end_soon(s);
    if (stdio_pending(s) > PAUSE_ABOVE && !s->paused) {
        s->paused = true;
        want_input(s);
    }
}

/* Input. */

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != ' ' && line.p[i] != '\t')
            return false;
    return true;
}

static void hand_out(struct stdio *s, struct str line)
{
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (s->skipping || line.n > s->o.max_line) {
        s->skipping = false;
        s->o.on_long(s->o.arg);
    } else if (!is_blank(line)) {
        s->o.on_line(s->o.arg, line);
    }
}

/* Hand out the next whole line; false if there is none. */
static bool next_line(struct stdio *s)
{
    const char *p = s->in ? s->in + s->in_at : "";
    size_t n = s->in_len - s->in_at;
    const char *newline = n > s->scanned ? memchr(p + s->scanned, '\n', n - s->scanned) : NULL;

    if (newline) {
        size_t len = (size_t)(newline - p);

        s->in_at += len + 1;
        s->scanned = 0;
        hand_out(s, (struct str){ p, len });
        return true;
    }
    if (s->skipping || n > s->o.max_line + 1) { /* one more: it may be a CR */
        s->skipping = true;
        s->in_at = s->in_len;
        n = 0;
    }
    s->scanned = n;
    return false;
}

static bool may_go_on(const struct stdio *s)
{
    return !s->paused && !s->ended && !s->closed;
}

/* Hand out what is here, then the end if that is here too. */
static void pump_lines(struct stdio *s)
{
    while (may_go_on(s) && next_line(s))
        ;
    if (s->eof && may_go_on(s)) {
        struct str last = { s->in ? s->in + s->in_at : "", s->in_len - s->in_at };

        s->in_at = s->in_len;
        if (last.n || s->skipping)
            hand_out(s, last);
        if (may_go_on(s))
            end_soon(s);
    }
    if (s->in_at == s->in_len) {
        s->in_at = s->in_len = s->scanned = 0;
        if (s->in_cap > IN_KEEP) {
            free(s->in);
            s->in = NULL;
            s->in_cap = 0;
        }
    }
}

/* Who is called may close us; leave() frees then. */
static void pump(struct stdio *s)
{
    enter(s);
    pump_lines(s);
    if (!s->closed)
        want_input(s);
    leave(s);
}

static void make_room(struct stdio *s)
{
    if (s->in_at) {
        memmove(s->in, s->in + s->in_at, s->in_len - s->in_at);
        s->in_len -= s->in_at;
        s->in_at = 0;
    }
    if (s->in_cap - s->in_len < STEP) {
        s->in_cap = s->in_cap * 2 < STEP ? STEP : s->in_cap * 2;
        s->in = xrealloc(s->in, s->in_cap);
    }
}

/* Read once and hand out. Any error is the end of the input. */
static void take_input(struct stdio *s)
{
    ssize_t n;

    make_room(s);
    n = read(s->o.in, s->in + s->in_len, STEP);
    if (n > 0)
        s->in_len += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        s->eof = true;
    pump(s);
}

static void on_readable(void *arg, int events)
{
    (void)events;
    take_input(arg);
}

static void on_slice(void *arg)
{
    struct stdio *s = arg;

    s->slice = NULL;
    take_input(s);
}

static void on_writable(void *arg, int events)
{
    struct stdio *s = arg;

    (void)events;
    if (!flush(s)) {
        watch_set(s->out_watch, 0);
        end_soon(s);
        return;
    }
    if (!stdio_pending(s))
        watch_set(s->out_watch, 0);
    if (!s->paused || stdio_pending(s) >= RESUME_BELOW)
        return;
    s->paused = false;
    pump(s);
}

/* Open and close. */

static bool open_output(struct stdio *s, struct err *e)
{
    struct stat st;
    int flags = fcntl(s->o.out, F_GETFL);

    if (flags < 0 || fstat(s->o.out, &st) != 0)
        return err_set(e, ERR_IO, "cannot write to descriptor %d: %s", s->o.out, strerror(errno));
    s->out = s->o.out;
    if (s->o.out == s->o.in) { /* the loop watches a descriptor only once */
        s->out = fcntl(s->o.out, F_DUPFD_CLOEXEC, 3);
        if (s->out < 0)
            return err_set(e, ERR_IO, "cannot duplicate descriptor %d: %s", s->o.out,
                           strerror(errno));
    }
    s->out_watch = watch_new(s->loop, s->out, on_writable, s, NULL);
    if (S_ISFIFO(st.st_mode)) /* a long answer in few turns; refused is fine */
        fcntl(s->out, F_SETPIPE_SZ, PIPE_SIZE);
    if ((S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) && !(flags & O_NONBLOCK)) {
        if (fcntl(s->out, F_SETFL, flags | O_NONBLOCK) != 0)
            return err_set(e, ERR_IO, "cannot write to descriptor %d: %s", s->o.out,
                           strerror(errno));
        s->out_flags = flags;
    }
    return true;
}

struct stdio *stdio_open(struct loop *l, const struct stdio_opts *o, struct err *e)
{
    struct stdio *s = xcalloc(1, sizeof *s);

    s->loop = l;
    s->o = *o;
    s->out = s->out_flags = -1;
    if (fcntl(o->in, F_GETFL) < 0) {
        err_set(e, ERR_IO, "cannot read from descriptor %d: %s", o->in, strerror(errno));
        goto fail;
    }
    if (!open_output(s, e))
        goto fail;
    s->in_watch = watch_new(l, o->in, on_readable, s, NULL);
    want_input(s);
    return s;

fail:
    stdio_close(s, 0);
    return NULL;
}

static void flush_until(struct stdio *s, uint64_t deadline)
{
    struct pollfd p = { s->out, POLLOUT, 0 };

    while (stdio_pending(s) && flush(s) && stdio_pending(s)) {
        uint64_t now = clock_ms();

        if (now >= deadline)
            return;
        poll(&p, 1, (int)(deadline - now));
    }
}

void stdio_close(struct stdio *s, unsigned ms)
{
    if (!s || s->closed)
        return;
    enter(s);
    flush_until(s, clock_ms() + ms);
    s->closed = true;
    watch_free(s->in_watch);
    watch_free(s->out_watch);
    timer_cancel(s->slice);
    timer_cancel(s->late_end);
    if (s->out_flags >= 0)
        fcntl(s->out, F_SETFL, s->out_flags);
    if (s->out != s->o.out && s->out >= 0)
        close(s->out);
    leave(s);
}
