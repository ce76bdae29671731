/* line.c: pith's end of the line to the warden.
 *
 * The warden is our own binary by /proc/self/exe, so it is there even if the
 * file was replaced meanwhile. posix_spawn, not fork: its cost does not grow
 * with our memory. The warden gets the socket as descriptor 3, /dev/null as 0
 * to 2, and of the environment only PATH, by which it looks up commands. */
#include "loop/line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "loop/give.h"
#include "loop/warden.h"

static int spawn_warden(pid_t *pid, int sock)
{
    const char *path = getenv("PATH");
    char *var = NULL, *argv[] = { WARDEN_NAME, NULL }, *env[] = { NULL, NULL };
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t set;
    int rc;

    if (path) {
        var = xmalloc(strlen(path) + 6);
        sprintf(var, "PATH=%s", path);
        env[0] = var;
    }
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, sock, WARDEN_FD);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&fa, WARDEN_FD + 1);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attr, &set);
    posix_spawnattr_setsigmask(&attr, &set);
    rc = posix_spawn(pid, "/proc/self/exe", &fa, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    free(var);
    return rc;
}

static bool line_open(struct line *n, struct err *e)
{
    int sv[2], rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
        return err_set(e, ERR_SPAWN, "cannot reach a warden: %s", strerror(errno));
    rc = spawn_warden(&n->pid, sv[1]);
    close(sv[1]);
    if (rc != 0) {
        close(sv[0]);
        return err_set(e, ERR_SPAWN, "cannot start a warden: %s", strerror(rc));
    }
    n->sock = sv[0];
    return true;
}

/* The other end is gone, so the warden is dead or dying: it opens no files
 * that could hold it up. Killing makes sure that waiting is short. */
static void line_bury(struct line *n)
{
    close(n->sock);
    n->sock = -1;
    kill(n->pid, SIGKILL);
    while (waitpid(n->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

enum line_result line_send(struct line *n, const int *give, struct err *e)
{
    for (int tries = 0; tries < 2; tries++) {
        if (n->sock < 0 && !line_open(n, e))
            return LINE_FAILED;
        if (give_send(n->sock, give, GIVE_COUNT))
            return LINE_SENT;
        switch (errno) {
        case EAGAIN:
        case EINTR:
        case ENOBUFS:
        case ETOOMANYREFS: /* descriptors on their way count against our limit */
            return LINE_BUSY;
        case EPIPE:
        case ECONNRESET:
        case ENOTCONN:
            line_bury(n);
            continue;
        default:
            err_set(e, ERR_SPAWN, "cannot reach the warden: %s", strerror(errno));
            return LINE_FAILED;
        }
    }
    err_set(e, ERR_SPAWN, "the warden does not stay alive");
    return LINE_FAILED;
}

static bool line_hung_up(const struct line *n, int ms)
{
    struct pollfd p = { .fd = n->sock };

    return poll(&p, 1, ms) > 0;
}

void line_check(struct line *n)
{
    if (n->sock >= 0 && line_hung_up(n, 0))
        line_bury(n);
}

void line_close(struct line *n, int ms)
{
    if (n->sock < 0)
        return;
    shutdown(n->sock, SHUT_WR);
    if (line_hung_up(n, ms)) {
        while (waitpid(n->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    /* A warden that takes longer still ends by itself. */
    close(n->sock);
    n->sock = -1;
}
