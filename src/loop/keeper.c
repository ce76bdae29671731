/* keeper.c: the process that answers for one command.
 *
 * It is a process of its own because only a subreaper can tell whose orphan
 * came back, and because it can fchdir and set up 0, 1 and 2 for itself: each
 * step that fails is then known by name, which posix_spawn alone cannot say.
 * It takes a next command only when waitpid has said that no child is left, so
 * each command has a subreaper to itself; one that failed to start a command
 * or could not kill all of it ends, and the warden looks around.
 *
 * It sleeps in poll on two descriptors: signals and the control socket. It
 * decides nothing: deadlines and cancelling are pith's. */
#include "loop/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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
#include "loop/give.h"
#include "loop/orphans.h"
#include "loop/warden.h"

enum { SWEEP_MS = 2000 }; /* patience with processes that do not die */

struct keeper {
    int ctl, sigs;
    pid_t warden, pid;
    int status;
};

static void report(int ctl, struct warden_record r)
{
    while (send(ctl, &r, sizeof r, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void keeper_report(int ctl, int kind, int status, int error)
{
    report(ctl, (struct warden_record){ kind, status, error, 0 });
}

void keeper_clear(int sigs)
{
    struct signalfd_siginfo info[8];

    while (read(sigs, info, sizeof info) > 0)
        ;
}

/* argv and the environment, as they lie in the request; the environment begins
 * after argv's NULL. */
struct request {
    char *map, **argv;
    size_t size;
    uint32_t argc;
};

static void request_done(struct request *r)
{
    free(r->argv);
    if (r->map)
        munmap(r->map, r->size);
}

/* Gives false if it is damaged. */
static bool request_read(struct request *r, int fd)
{
    struct warden_request head;
    struct stat st;
    char *p, *end;
    size_t n = 0;

    if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof head)
        return false;
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (p == MAP_FAILED)
        return false;
    r->map = p;
    r->size = (size_t)st.st_size;
    end = p + st.st_size;
    memcpy(&head, p, sizeof head);
    p += sizeof head;
    if (head.argc == 0 || end[-1] != '\0' || (size_t)head.argc + head.envc > (size_t)(end - p))
        return false;

    r->argc = head.argc;
    r->argv = xcalloc((size_t)head.argc + head.envc + 2, sizeof *r->argv);
    for (size_t i = 0; i < (size_t)head.argc + head.envc && p < end; i++) {
        if (i == head.argc)
            n++;
        r->argv[n++] = p;
        p += strlen(p) + 1;
    }
    return p == end;
}

/* In a session of its own, with no signal blocked; none is handled or ignored
 * here, since the warden was started so. vfork and not posix_spawn, which asks
 * the kernel about every signal; with all of them blocked it is as safe.
 * Gives 0 or errno. */
static int spawn(struct keeper *k, char **argv, char **env)
{
    volatile int failed = 0;
    sigset_t none;

    sigemptyset(&none);
    k->pid = vfork();
    if (k->pid == 0) {
        setsid();
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvpe(argv[0], argv, env);
        failed = errno;
        _exit(127);
    }
    return k->pid < 0 ? errno : failed;
}

static bool stdio_set(const int *give)
{
    return dup2(give[GIVE_IN], 0) == 0 && dup2(give[GIVE_OUT], 1) == 1 &&
           dup2(give[GIVE_ERR], 2) == 2;
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

static noreturn void start_failed(struct keeper *k, int kind, int error)
{
    keeper_report(k->ctl, kind, 0, error);
    _exit(0);
}

/* The command holds what it needs by now; we hold on to nothing, least of all
 * its pipes and its folder. */
static void let_go(const int *give)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int i = 0; i < GIVE_CTL; i++)
        close(give[i]);
    if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || chdir("/") != 0)
        _exit(1);
    close(null);
}

static void start(struct keeper *k, const int *give)
{
    struct request r = { 0 };
    int rc;

    k->status = SIGKILL;
    if (!request_read(&r, give[GIVE_REQUEST]))
        start_failed(k, WARDEN_NO_FORK, EBADMSG);
    if (fchdir(give[GIVE_CWD]) != 0)
        start_failed(k, WARDEN_NO_CWD, errno);
    if (!stdio_set(give))
        start_failed(k, WARDEN_NO_FORK, errno);
    if (told_to_stop(k))
        start_failed(k, WARDEN_NOT_RUN, 0);
    rc = spawn(k, r.argv, r.argv + r.argc + 1);
    if (rc != 0)
        start_failed(k, k->pid < 0 ? WARDEN_NO_FORK : WARDEN_NO_EXEC, rc);
    let_go(give);
    request_done(&r);
}

/* Gives false when there will be none. */
static bool wait_for_next(struct keeper *k, int *give)
{
    struct pollfd p[2] = { { .fd = k->sigs, .events = POLLIN },
                           { .fd = k->ctl, .events = POLLIN } };

    for (;;) {
        if (getppid() != k->warden)
            return false;
        switch (give_take(k->ctl, give, GIVE_CTL)) {
        case GIVE_TAKEN:
            return true;
        case GIVE_GONE:
            return false;
        case GIVE_NOTHING:
            break;
        }
        poll(p, 2, -1);
        keeper_clear(k->sigs);
    }
}

noreturn void keeper_run(int *give, int sigs, pid_t warden)
{
    struct keeper k = { .ctl = give[GIVE_CTL], .sigs = sigs, .warden = warden };
    bool clean;
    int kind;

    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        start_failed(&k, WARDEN_NO_FORK, errno);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_NAME, "pith-keeper");
    do {
        start(&k, give);
        kind = wait_for_end(&k);
        clean = sweep(&k);
        report(k.ctl, (struct warden_record){ kind, k.status, 0, clean });
    } while (clean && wait_for_next(&k, give));
    _exit(clean ? 0 : 1);
}
