/* orphans.c: kill what hangs below this process.
 *
 * The kernel lists our children in /proc/self/task/TID/children. A kernel
 * built without that file has them found by a walk over /proc. Either list may
 * miss a child that is just being made; callers come back until waitpid says
 * that there are none.
 *
 * A child is killed together with its group: the kernel does that in one go,
 * which ends fork bombs that would outrun one kill at a time. The group cannot
 * be ours: commands start in a session of their own, and no process can join a
 * group of another session. */
#include "loop/orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hunt {
    bool (*spare)(void *arg, pid_t pid);
    void *arg;
    int sent;
};

static void hunt_one(struct hunt *h, pid_t pid)
{
    pid_t group;

    if (pid <= 1 || (h->spare && h->spare(h->arg, pid)))
        return;
    group = getpgid(pid);
    if (group > 1 && group != getpgrp())
        kill(-group, SIGKILL);
    kill(pid, SIGKILL);
    h->sent++;
}

/* The whole list may be longer than one read; pids are told apart by blanks. */
static bool hunt_listed(struct hunt *h)
{
    char b[4096], path[64];
    pid_t pid = 0;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((n = read(fd, b, sizeof b)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (b[i] >= '0' && b[i] <= '9') {
                pid = pid * 10 + (b[i] - '0');
            } else {
                hunt_one(h, pid);
                pid = 0;
            }
        }
    }
    close(fd);
    return true;
}

/* The parent stands two fields behind the name, which may hold anything. */
static pid_t parent_of(pid_t pid)
{
    char b[512], path[64], *p;
    int parent = 0;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, b, sizeof b - 1);
    close(fd);
    if (n <= 0)
        return 0;
    b[n] = '\0';
    p = strrchr(b, ')');
    return p && sscanf(p + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static void hunt_everywhere(struct hunt *h)
{
    DIR *d = opendir("/proc");
    struct dirent *ent;
    pid_t pid;

    if (!d)
        return;
    while ((ent = readdir(d))) {
        pid = (pid_t)strtol(ent->d_name, NULL, 10);
        if (pid > 1 && parent_of(pid) == getpid())
            hunt_one(h, pid);
    }
    closedir(d);
}

int orphans_kill(bool (*spare)(void *arg, pid_t pid), void *arg)
{
    struct hunt h = { spare, arg, 0 };

    if (!hunt_listed(&h))
        hunt_everywhere(&h);
    return h.sent;
}
