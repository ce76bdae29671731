/* keeper.c: the process that answers for one command.
 *
 * It is a process of its own because only a subreaper can tell whose orphan
 * came back, and because it can fchdir and set up 0, 1 and 2 for itself: each
 * step that fails is then known by name, which posix_spawn alone cannot say.
 *
 * It sleeps in poll on two descriptors: signals and the control socket. It
 * decides nothing: deadlines and cancelling are pith's. */
#include "loop/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "loop/orphans.h"
#include "loop/warden.h"

enum { SWEEP_MS = 2000 }; /* patience with processes that do not die */

struct keeper {
    int ctl, sigs;
    pid_t warden, pid;
    int status;
};

void keeper_report(int ctl, int kind, int status, int error)
{
    struct warden_record r = { kind, status, error };

    while (send(ctl, &r, sizeof r, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void keeper_clear(int sigs)
{
    struct signalfd_siginfo info[8];

    while (read(sigs, info, sizeof info) > 0)
        ;
}

/* argv and the environment, out of the request; NULL if it is damaged. The
 * environment begins after argv's NULL. */
static char **request_read(int fd, uint32_t *argc)
{
    struct warden_request head;
    struct stat st;
    char *p, *end, **v;
    size_t n = 0;

    if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof head)
        return NULL;
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return NULL;
    end = p + st.st_size;
    memcpy(&head, p, sizeof head);
    p += sizeof head;
    if (head.argc == 0 || end[-1] != '\0' || (size_t)head.argc + head.envc > (size_t)(end - p))
        return NULL;

    v = xcalloc((size_t)head.argc + head.envc + 2, sizeof *v);
    for (size_t i = 0; i < (size_t)head.argc + head.envc && p < end; i++) {
        if (i == head.argc)
            n++;
        v[n++] = p;
        p += strlen(p) + 1;
    }
    *argc = head.argc;
    return p == end ? v : NULL;
}

/* Signals as a fresh process has them, and a session of its own. */
static int spawn(struct keeper *k, char **argv, char **env)
{
    posix_spawnattr_t attr;
    sigset_t set;
    int rc;

    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attr, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    rc = posix_spawnp(&k->pid, argv[0], NULL, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    return rc;
}

/* 0 is /dev/null already, since the warden's is. */
static bool stdio_set(const int *give)
{
    return dup2(give[GIVE_OUT], 1) == 1 && dup2(give[GIVE_ERR], 2) == 2;
}

/* A byte, or nobody there any more. */
static bool told_to_stop(const struct keeper *k)
{
    char b;

    return recv(k->ctl, &b, 1, MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

/* Has the command ended? It stays a zombie, so that its number is still its
 * group's when that is killed. Orphans that ended are reaped on the way. */
static bool command_ended(struct keeper *k)
{
    siginfo_t info;

    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return false;
        if (info.si_pid == k->pid)
            return true;
        waitpid(info.si_pid, NULL, 0);
    }
}

/* Gives the kind of end. */
static int wait_for_end(struct keeper *k)
{
    struct pollfd p[2] = { { .fd = k->sigs, .events = POLLIN },
                           { .fd = k->ctl, .events = POLLIN } };

    while (!command_ended(k) && !told_to_stop(k)) {
        /* SIGTERM is what the kernel sends us when the warden dies; one from
         * the command itself means nothing. */
        if (getppid() != k->warden)
            return WARDEN_ALONE;
        poll(p, 2, -1);
        keeper_clear(k->sigs);
    }
    return WARDEN_ENDED;
}

/* Kill and reap until nothing is left. Some things cannot be killed (a setuid
 * program is not ours, a read from a dead disk is nobody's), so this ends. */
static bool sweep(struct keeper *k)
{
    struct pollfd p = { .fd = k->sigs, .events = POLLIN };
    uint64_t until = clock_ms() + SWEEP_MS;
    int status;
    pid_t pid;

    kill(-k->pid, SIGKILL);
    for (;;) {
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
            if (pid == k->pid)
                k->status = status;
        }
        if (pid < 0 && errno == ECHILD)
            return true;
        if (clock_ms() >= until)
            return false;
        orphans_kill(NULL, NULL);
        poll(&p, 1, 10);
        keeper_clear(k->sigs);
    }
}

static void start_failed(struct keeper *k, int kind, int error)
{
    keeper_report(k->ctl, kind, 0, error);
    _exit(0);
}

static void start(struct keeper *k, const int *give)
{
    uint32_t argc;
    char **argv;
    int rc;

    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        start_failed(k, WARDEN_NO_FORK, errno);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_NAME, "pith-keeper");
    argv = request_read(give[GIVE_REQUEST], &argc);
    if (!argv)
        start_failed(k, WARDEN_NO_FORK, EBADMSG);
    if (fchdir(give[GIVE_CWD]) != 0)
        start_failed(k, WARDEN_NO_CWD, errno);
    if (!stdio_set(give))
        start_failed(k, WARDEN_NO_FORK, errno);
    if (told_to_stop(k))
        start_failed(k, WARDEN_NOT_RUN, 0);
    rc = spawn(k, argv, argv + argc + 1);
    if (rc != 0)
        start_failed(k, WARDEN_NO_EXEC, rc);
    free(argv);
    for (int i = 0; i < GIVE_COUNT; i++) {
        if (i != GIVE_CTL)
            close(give[i]);
    }
    close(1);
    close(2);
}

noreturn void keeper_run(const int *give, int sigs, pid_t warden)
{
    struct keeper k = { .ctl = give[GIVE_CTL], .sigs = sigs, .warden = warden, .status = SIGKILL };
    bool clean;
    int kind;

    start(&k, give);
    kind = wait_for_end(&k);
    clean = sweep(&k);
    keeper_report(k.ctl, kind, k.status, 0);
    _exit(clean ? 0 : 1);
}
