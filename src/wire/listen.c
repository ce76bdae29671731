/* listen.c: sockets to wait at, and who came.
 *
 * A unix socket gets its rights before it has a name: the kernel makes the
 * file with the mode of the unbound socket, so there is no moment in which
 * others could connect, and the process-wide umask stays alone. Whether a
 * socket file is stale only a connection can tell; a lock on the folder keeps
 * two starting servers from taking each other's for stale. */
#include "wire/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/mem.h"

enum { BACKLOG = 511 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

static int close_failed(int fd)
{
    if (fd >= 0)
        close(fd);
    return -1;
}

/* TCP. */

static bool is_loopback(const union address *a)
{
    const struct in6_addr *v6 = &a->v6.sin6_addr;

    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    if (a->any.sa_family != AF_INET6)
        return false;
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

static bool address_of(const char *host, int port, bool any, union address *a, struct err *e)
{
    const char *number = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;

    memset(a, 0, sizeof *a);
    if (inet_pton(AF_INET, number, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons((uint16_t)port);
    } else if (inet_pton(AF_INET6, number, &a->v6.sin6_addr) == 1) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)port);
    } else if (any) {
        return err_set(e, ERR_CONFIG, "'%s' is not an IP address", host);
    }
    if (any || is_loopback(a))
        return true;
    return err_set(e, ERR_CONFIG,
                   "'%s' is not a loopback address (127.0.0.1 or ::1), and no other may be served",
                   host);
}

int listen_tcp(const char *host, int port, bool any, struct err *e)
{
    union address a;
    int fd, on = 1;

    if (!address_of(host, port, any, &a, e))
        return -1;
    fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        err_set(e, ERR_IO, "no socket for %s: %s", host, strerror(errno));
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, &a.any, a.any.sa_family == AF_INET ? sizeof a.v4 : sizeof a.v6) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    if (errno == EADDRINUSE)
        err_set(e, ERR_IO, "port %d on %s is taken; choose another with --port", port, host);
    else
        err_set(e, ERR_IO, "cannot listen on %s port %d: %s", host, port, strerror(errno));
    return close_failed(fd);
}

int listen_port(int fd)
{
    union address a;
    socklen_t n = sizeof a;

    if (getsockname(fd, &a.any, &n) != 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
}

/* Unix sockets. */

static bool lives(const struct sockaddr_un *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool dead = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) != 0 &&
                (errno == ECONNREFUSED || errno == ENOENT);

    if (fd >= 0)
        close(fd);
    return !dead;
}

/* The name is taken: make it free if only a dead server's socket is there. */
static bool clear_stale(const struct sockaddr_un *a, struct err *e)
{
    struct stat st;

    if (lstat(a->sun_path, &st) != 0)
        return errno == ENOENT || err_set(e, ERR_IO, "cannot look at the --socket '%s': %s",
                                          a->sun_path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return err_set(e, ERR_IO, "'%s' is there and is not a socket; choose another with --socket",
                       a->sun_path);
    if (lives(a))
        return err_set(e, ERR_IO, "a server listens at '%s' already; choose another with --socket",
                       a->sun_path);
    if (unlink(a->sun_path) != 0 && errno != ENOENT)
        return err_set(e, ERR_IO, "cannot replace the stale --socket '%s': %s", a->sun_path,
                       strerror(errno));
    return true;
}

static bool bind_unix(int fd, const struct sockaddr_un *a, struct err *e)
{
    const struct sockaddr *any = (const struct sockaddr *)a;

    if (fchmod(fd, 0600) != 0)
        return err_set(e, ERR_IO, "no private --socket '%s': %s", a->sun_path, strerror(errno));
    if (bind(fd, any, sizeof *a) == 0)
        return true;
    if (errno == EADDRINUSE) {
        if (!clear_stale(a, e))
            return false;
        if (bind(fd, any, sizeof *a) == 0)
            return true;
    }
    return err_set(e, ERR_IO, "cannot make the --socket '%s': %s", a->sun_path, strerror(errno));
}

/* Until closed, no other server looks at sockets of this folder. -1: not to be
 * had, and then there is no lock. */
static int lock_folder(const char *path)
{
    char *copy = xstrdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    free(copy);
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

int listen_unix(const char *path, struct listen_file *f, struct err *e)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    struct stat st;
    int fd = -1, lock;

    if (!*path || strlen(path) >= sizeof a.sun_path) {
        err_set(e, ERR_CONFIG, "--socket must be a path of 1 to %zu letters",
                sizeof a.sun_path - 1);
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path));
    lock = lock_folder(path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        err_set(e, ERR_IO, "no socket for '%s': %s", path, strerror(errno));
    } else if (!bind_unix(fd, &a, e)) {
        fd = close_failed(fd);
    } else if (lstat(path, &st) != 0 || listen(fd, BACKLOG) != 0) {
        err_set(e, ERR_IO, "cannot listen at the --socket '%s': %s", path, strerror(errno));
        unlink(path);
        fd = close_failed(fd);
    } else {
        *f = (struct listen_file){ xstrdup(path), st.st_dev, st.st_ino };
    }
    if (lock >= 0)
        close(lock);
    return fd;
}

void listen_file_done(struct listen_file *f)
{
    struct stat st;

    if (f->path && lstat(f->path, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino)
        unlink(f->path);
    free(f->path);
    f->path = NULL;
}

/* Who came. */

int listen_accept(int fd, struct http_peer *who)
{
    union address a = { 0 };
    struct ucred cred = { .uid = (uid_t)-1 };
    socklen_t n = sizeof a, cred_len = sizeof cred;
    int got = accept4(fd, &a.any, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);

    *who = (struct http_peer){ 0 };
    if (got < 0)
        return -1;
    who->unix_socket = a.any.sa_family == AF_UNIX;
    who->loopback = who->unix_socket || is_loopback(&a);
    if (who->unix_socket) {
        if (getsockopt(got, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) != 0)
            cred.uid = (uid_t)-1; /* nobody's */
        who->uid = cred.uid;
    }
    return got;
}
