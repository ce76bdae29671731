/* input.c: files and stdin by plain reads, commands through the warden. */
#include "cli/input.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/note.h"
#include "loop/child.h"

extern char **environ;

enum { PIECE = 1 << 16 };

static const char too_long[] = "has more than 64 MB";

/* Everything so far, to stdout; what follows goes there at once. */
static bool pass_through(struct input *in, const char *what, const char *name)
{
    cli_fail(0, "%s%s %s: it is printed as it is, not pruned", what, name, too_long);
    in->through = true;
    return cli_print(buf_str(&in->text));
}

/* --- files and stdin --- */

/* Bytes read, 0 at the end, -1 with errno. Somebody may have made stdin
 * non-blocking; and the note wants to be shown while nothing comes. */
static ssize_t read_some(int fd, char *to, size_t n, struct note *note, size_t so_far)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    ssize_t got;

    for (;;) {
        int ready = poll(&p, 1, note_wait(note));

        note_tick(note, so_far);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        got = read(fd, to, n);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            return got;
    }
}

/* The rest of a pipe that is too long. */
static bool copy_rest(int fd, struct note *note)
{
    char piece[PIECE];
    ssize_t got;

    while ((got = read_some(fd, piece, sizeof piece, note, 0)) > 0)
        if (!cli_print((struct str){ piece, (size_t)got }))
            return false;
    if (got < 0)
        cli_fail(1, "cannot read on: %s", strerror(errno));
    return got == 0;
}

/* Gives 1 when all is read, 0 when there is more than the ceiling, -1 (errno). */
static int read_all(struct input *in, int fd, struct note *note)
{
    struct buf *b = &in->text;

    for (;;) {
        size_t n = b->max - b->len < PIECE ? b->max - b->len : PIECE;
        char *to = buf_room(b, n);
        ssize_t got;

        if (n == 0 || !to)
            return 0;
        got = read_some(fd, to, n, note, b->len);
        if (got <= 0)
            return got == 0 ? 1 : -1;
        b->len += (size_t)got;
    }
}

static bool failed(struct input *in, const char *path, const char *why)
{
    in->status = cli_fail(1, "cannot read '%s': %s", path, why);
    return false;
}

static bool read_fd(struct input *in, int fd, const char *path, bool again)
{
    struct note note;
    int rc;

    note_start(&note, "reading");
    rc = read_all(in, fd, &note);
    note_end(&note);
    if (rc < 0)
        return failed(in, path, strerror(errno));
    if (rc > 0)
        return true;
    in->status = 1;
    if (!again)
        return pass_through(in, "", path) && copy_rest(fd, &note);
    cli_fail(1, "'%s' %s, which is as much as prune takes", path, too_long);
    return false;
}

/* One byte beyond the ceiling tells a text that is too long from one that
 * just fits. */
static void input_init(struct input *in)
{
    *in = (struct input){ 0 };
    buf_init(&in->text, INPUT_MAX + 1);
}

bool input_file(struct input *in, const char *path)
{
    bool is_stdin = !path || strcmp(path, "-") == 0, ok;
    struct stat st;
    int fd;

    input_init(in);
    if (is_stdin)
        return read_fd(in, 0, "stdin", false);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return failed(in, path, strerror(errno));
    ok = read_fd(in, fd, path, fstat(fd, &st) == 0 && S_ISREG(st.st_mode));
    close(fd);
    return ok;
}

/* --- commands --- */

struct running {
    struct input *in;
    struct loop *loop;
    struct child *child; /* NULL: over */
    const char *name;
    struct note note;
    struct timer *timer;
    int signo; /* what we were told to end by, 0: nothing */
    bool ok;
};

static void on_note(void *arg)
{
    struct running *r = arg;
    int wait;

    note_tick(&r->note, r->in->text.len);
    wait = note_wait(&r->note);
    r->timer = wait < 0 ? NULL : timer_start(r->loop, (uint64_t)wait, on_note, r);
}

static bool on_out(void *arg, struct str piece)
{
    struct running *r = arg;
    struct input *in = r->in;

    if (!in->through) {
        if (in->text.len + piece.n <= INPUT_MAX)
            return buf_add(&in->text, piece.p, piece.n);
        note_end(&r->note);
        r->ok = pass_through(in, "the output of ", r->name);
    }
    r->ok = r->ok && cli_print(piece);
    return r->ok;
}

static void on_end(void *arg, struct child *c)
{
    struct running *r = arg;
    struct input *in = r->in;

    r->child = NULL;
    timer_cancel(r->timer);
    r->timer = NULL;
    note_end(&r->note);
    in->status = c->status;
    if (r->signo)
        in->status = 128 + r->signo;
    else if (c->outcome == CHILD_NO_START)
        in->status = cli_fail(c->status < 0 ? 126 : c->status, "%s", c->err.msg);
    else if (c->outcome != CHILD_EXITED)
        in->status = r->ok ? cli_fail(1, "%s", c->err.msg) : 1;
    if (c->outcome == CHILD_NO_START)
        r->ok = false;
    loop_stop(r->loop);
}

static void end_by(struct running *r, int signo)
{
    if (!r->signo)
        r->signo = signo;
    if (r->child)
        child_kill(r->child);
}

static void on_int(void *arg)
{
    end_by(arg, SIGINT);
}

static void on_term(void *arg)
{
    end_by(arg, SIGTERM);
}

static void on_hup(void *arg)
{
    end_by(arg, SIGHUP);
}

/* What nohup or a script's & told us to ignore stays ignored. */
static void catch_signal(struct running *r, int signo, loop_fn *fn)
{
    struct sigaction old;

    if (sigaction(signo, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        loop_on_signal(r->loop, signo, fn, r);
}

bool input_command(struct input *in, char **argv)
{
    struct running r = { .in = in, .name = argv[0], .ok = true };
    char what[40];
    struct err e;

    input_init(in);
    r.loop = loop_new(&e);
    if (!r.loop) {
        in->status = cli_fail(1, "%s", e.msg);
        return false;
    }
    snprintf(what, sizeof what, "%.20s runs", argv[0]);
    note_start(&r.note, what);
    on_note(&r);
    catch_signal(&r, SIGINT, on_int);
    catch_signal(&r, SIGTERM, on_term);
    catch_signal(&r, SIGHUP, on_hup);
    r.child = child_start(r.loop, &(struct child_opts){ .argv = (const char *const *)argv,
                                                        .env = (const char *const *)environ,
                                                        .cwd = -1,
                                                        .merge_err = true,
                                                        .inherit_in = !isatty(0),
                                                        .on_out = on_out,
                                                        .on_end = on_end,
                                                        .arg = &r });
    loop_run(r.loop);
    child_stop_all(r.loop);
    loop_free(r.loop);
    if (!r.ok && in->status == 0)
        in->status = 1;
    return r.ok;
}

void input_done(struct input *in)
{
    buf_done(&in->text);
}
