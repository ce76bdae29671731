/* warden.c: the process that keeps the keepers.
 *
 * pith's own binary, started anew: it shares no memory with pith and stays a
 * few hundred pages large, so forking a keeper is cheap however big pith gets.
 * It holds one socket from pith and nothing else: pith's stdin and stdout must
 * not stay open in here when pith is gone.
 *
 * It is a subreaper as well. Should a keeper be killed (a command may well run
 * `kill -9 $PPID`), the keeper's command becomes the warden's child, and any
 * child of the warden that is no keeper is killed. The warden keeps a copy of
 * each control socket until that is done, so pith sees the socket close only
 * when nothing is left.
 *
 * All signals are blocked: it ends when pith's socket does, not by Ctrl-C. */
#include "loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "loop/give.h"
#include "loop/keeper.h"
#include "loop/orphans.h"
#include "loop/warden.h"

enum {
    STRAY_MS = 2000, /* patience with strays that do not die */
    LAST_MS = 4000   /* patience with keepers once pith is gone: more than theirs */
};

struct kept {
    pid_t pid; /* of the keeper; 0 once it is reaped */
    int ctl;
};

struct warden {
    int sock, sigs; /* sock is -1 once pith is gone */
    struct kept *kept;
    size_t count, cap;
    uint64_t sweep_until; /* not 0: strays may be about */
    uint64_t exit_by;     /* not 0: pith is gone */
};

static bool is_keeper(void *arg, pid_t pid)
{
    const struct warden *w = arg;

    for (size_t i = 0; i < w->count; i++) {
        if (w->kept[i].pid == pid)
            return true;
    }
    return false;
}

/* A keeper that ended well has left nothing; for others look around. */
static void reap_keeper(struct warden *w, size_t i, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        close(w->kept[i].ctl);
        w->kept[i] = w->kept[--w->count];
        return;
    }
    w->kept[i].pid = 0;
    w->sweep_until = clock_ms() + STRAY_MS;
}

static void reap(struct warden *w)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (WIFSTOPPED(status)) {
            kill(pid, SIGCONT); /* nobody stops a keeper */
            continue;
        }
        for (size_t i = 0; i < w->count; i++) {
            if (w->kept[i].pid == pid) {
                reap_keeper(w, i, status);
                break;
            }
        }
    }
}

/* Kill what keepers left behind; when there is nothing more, let pith know. */
static void sweep(struct warden *w)
{
    if (!w->sweep_until)
        return;
    if (orphans_kill(is_keeper, w) > 0 && clock_ms() < w->sweep_until)
        return;
    w->sweep_until = 0;
    for (size_t i = 0; i < w->count;) {
        if (w->kept[i].pid == 0) {
            close(w->kept[i].ctl);
            w->kept[i] = w->kept[--w->count];
        } else {
            i++;
        }
    }
}

static void keep(struct warden *w, int *give)
{
    pid_t warden = getpid(), pid = fork();

    if (pid == 0) {
        close(w->sock);
        for (size_t i = 0; i < w->count; i++)
            close(w->kept[i].ctl);
        keeper_run(give, w->sigs, warden);
    }
    if (pid < 0) {
        keeper_report(give[GIVE_CTL], WARDEN_NO_FORK, 0, errno);
        close(give[GIVE_CTL]);
    } else {
        if (w->count == w->cap) {
            w->cap = w->cap ? w->cap * 2 : 16;
            w->kept = xrealloc(w->kept, w->cap * sizeof *w->kept);
        }
        w->kept[w->count++] = (struct kept){ pid, give[GIVE_CTL] };
    }
    for (int i = 0; i < GIVE_COUNT; i++) {
        if (i != GIVE_CTL)
            close(give[i]);
    }
}

/* One packet. Gives false when pith is gone. Of one that was damaged on its way
 * pith sees the control socket close. */
static bool receive(struct warden *w)
{
    int give[GIVE_COUNT];
    enum give_result got = give_take(w->sock, give, GIVE_COUNT);

    if (got == GIVE_TAKEN)
        keep(w, give);
    return got != GIVE_GONE;
}

static int watch_over(struct warden *w)
{
    struct pollfd p[2];

    for (;;) {
        p[0] = (struct pollfd){ .fd = w->sigs, .events = POLLIN };
        p[1] = (struct pollfd){ .fd = w->sock, .events = POLLIN };
        poll(p, 2, w->sweep_until || w->exit_by ? 10 : -1);
        if (p[0].revents)
            keeper_clear(w->sigs);
        reap(w);
        sweep(w);
        if (p[1].revents && !receive(w)) {
            close(w->sock);
            w->sock = -1;
            w->exit_by = clock_ms() + LAST_MS;
        }
        if (w->exit_by && w->count == 0)
            return 0;
        if (w->exit_by && clock_ms() > w->exit_by)
            return 1;
    }
}

static bool is_socket(int fd)
{
    int type = 0;
    socklen_t n = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_SEQPACKET;
}

bool warden_main(int argc, char **argv, int *status)
{
    struct warden w = { .sock = WARDEN_FD };
    sigset_t set;

    if (argc != 1 || strcmp(argv[0], WARDEN_NAME) != 0)
        return false;
    *status = 2;
    if (!is_socket(w.sock) || fcntl(w.sock, F_SETFD, FD_CLOEXEC) != 0)
        return true;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    w.sigs = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (w.sigs < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || chdir("/") != 0)
        return true;
    prctl(PR_SET_NAME, WARDEN_NAME);
    *status = watch_over(&w);
    free(w.kept);
    return true;
}
