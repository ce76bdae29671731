/* file.c: files written whole or not at all. */
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(struct err *e, const char *what, const char *path)
{
    int why = errno;

    return err_set(e, why == EACCES || why == EPERM ? ERR_DENIED : ERR_IO, "cannot %s: %s: %s",
                   what, strerror(why), path);
}

static bool write_all(int fd, struct str text)
{
    while (text.n > 0) {
        ssize_t n = write(fd, text.p, text.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text.p += n;
        text.n -= (size_t)n;
    }
    return true;
}

/* The new text under a name of its own beside path: dir/.name.XXXXXX */
static bool write_beside(const char *path, mode_t mode, struct str text, char tmp[PATH_MAX],
                         struct err *e)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int fd, n = snprintf(tmp, PATH_MAX, "%.*s.%s.XXXXXX", (int)(name - path), path, name);
    bool ok;

    errno = ENAMETOOLONG;
    fd = n < PATH_MAX ? mkostemp(tmp, O_CLOEXEC) : -1; /* made 0600 */
    if (fd < 0)
        return failed(e, "write", path);
    ok = fchmod(fd, mode) == 0 && write_all(fd, text) && fsync(fd) == 0;
    if (ok)
        ok = close(fd) == 0;
    else
        close(fd);
    if (ok)
        return true;
    failed(e, "write", path);
    unlink(tmp);
    return false;
}

/* The name is on disk when its folder is. A file system that cannot do that
 * for a folder loses nothing by our asking. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];
    int fd;

    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

bool file_replace(const char *path, mode_t mode, struct str text, struct err *e)
{
    char tmp[PATH_MAX];

    if (!write_beside(path, mode, text, tmp, e))
        return false;
    if (rename(tmp, path) != 0) {
        failed(e, "write", path);
        unlink(tmp);
        return false;
    }
    sync_folder(path);
    return true;
}

/* link, not rename: it refuses a name that is taken. */
bool file_make(const char *path, mode_t mode, struct str text, bool *made, struct err *e)
{
    char tmp[PATH_MAX];
    bool ok;

    if (!write_beside(path, mode, text, tmp, e))
        return false;
    *made = link(tmp, path) == 0;
    ok = *made || errno == EEXIST;
    if (!ok)
        failed(e, "make", path);
    unlink(tmp);
    if (*made)
        sync_folder(path);
    return ok;
}

bool file_make_dir(const char *path, mode_t mode, struct err *e)
{
    char part[PATH_MAX];
    struct stat st;

    if (strlen(path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return failed(e, "make", path);
    }
    for (size_t n = 1; path[n - 1]; n++) {
        if (path[n] && path[n] != '/')
            continue;
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        if (mkdir(part, mode) != 0 && errno != EEXIST)
            return failed(e, "make", path);
    }
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    errno = ENOTDIR;
    return failed(e, "make", path);
}
