/* root.c: paths below the root, opened by descriptor.
 *
 * A path is first made absolute and normalised by its text alone, so that what
 * is opened is always what is shown. Then the kernel walks it from the root's
 * descriptor (openat2, RESOLVE_BENEATH). Where it refuses (EXDEV: an absolute
 * symlink, or one that leaves and comes back) or cannot (an old kernel, a
 * seccomp filter), the walk below decides: one name at a time with O_NOFOLLOW,
 * links read and walked in turn, ".." taken from the root down again. It never
 * opens anything but from a descriptor that is inside.
 * Opening looks first: O_PATH touches neither FIFO nor device.
 *
 * A worker costs two wake-ups, more than a small file does. So what is cached
 * may be opened at once: RESOLVE_CACHED fails where the walk would have to ask
 * the disk, RESOLVE_NO_XDEV keeps it on the root's file system, and only local
 * ones count, since a network or FUSE one asks somebody at each open. */
#include "call/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/utf8.h"

enum { MAX_LINKS = 40, SHOWN = 120 };

/* --- by the text alone --- */

/* root + path (path alone where absolute) without ".", ".." and doubled
 * slashes. Gives heap memory. */
static char *normalise(const char *root, struct str path)
{
    size_t base = path.n > 0 && path.p[0] == '/' ? 0 : strlen(root), n = 0, end;
    char *in = xmalloc(base + path.n + 2), *out = xmalloc(base + path.n + 2);
    size_t len = base + 1 + path.n;

    memcpy(in, root, base);
    in[base] = '/';
    memcpy(in + base + 1, path.p, path.n);
    for (size_t i = 0; i < len; i = end + 1) {
        size_t k;

        for (end = i; end < len && in[end] != '/'; end++)
            ;
        k = end - i;
        if (k == 0 || (k == 1 && in[i] == '.'))
            continue;
        if (k == 2 && in[i] == '.' && in[i + 1] == '.') {
            while (n > 0 && out[--n] != '/')
                ;
            continue;
        }
        out[n++] = '/';
        memcpy(out + n, in + i, k);
        n += k;
    }
    if (n == 0)
        out[n++] = '/';
    out[n] = '\0';
    free(in);
    return out;
}

/* The part of a normalised path below the root, "." for the root itself; NULL
 * when it lies elsewhere. */
static const char *below(const struct root *r, const char *abs)
{
    size_t n = strlen(r->path);

    if (n == 1) /* the root is / */
        return abs[1] ? abs + 1 : ".";
    if (strncmp(abs, r->path, n) != 0)
        return NULL;
    if (abs[n] == '\0')
        return ".";
    return abs[n] == '/' ? abs + n + 1 : NULL;
}

const char *root_refuses(const struct root *r, struct str path)
{
    char *abs;
    bool inside;

    if (!r->confined)
        return NULL;
    abs = normalise(r->path, path);
    inside = below(r, abs) != NULL;
    free(abs);
    return inside ? NULL : "leads outside the root folder; give a path inside it";
}

char *root_relative(const struct root *r, struct arena *a, struct str path)
{
    char *abs = normalise(r->path, path);
    const char *rel = below(r, abs);
    char *shown = arena_strdup(a, rel ? rel : abs);

    free(abs);
    return shown;
}

/* --- errors --- */

static bool outside(struct err *e, struct str path)
{
    return err_set(e, ERR_PATH, "'%.*s' leads outside the root folder; give a path inside it",
                   (int)path.n, path.p);
}

static bool refused(struct err *e, struct str path, int number)
{
    int n = (int)path.n;

    switch (number) {
    case ENOENT:
        return err_set(e, ERR_MISSING, "'%.*s' does not exist", n, path.p);
    case ENOTDIR:
        return err_set(e, ERR_MISSING, "'%.*s' does not exist: a part of it is not a folder", n,
                       path.p);
    case EACCES:
    case EPERM:
        return err_set(e, ERR_DENIED, "no permission to open '%.*s'", n, path.p);
    case ELOOP:
        return err_set(e, ERR_PATH, "'%.*s' goes through too many symlinks", n, path.p);
    case ENAMETOOLONG:
        return err_set(e, ERR_PATH, "'%.*s...' is too long for a path", n, path.p);
    default:
        return err_set(e, ERR_IO, "cannot open '%.*s': %s", n, path.p, strerror(number));
    }
}

/* --- finding: a descriptor that only marks the place --- */

/* A walk of our own: `at` is where it stands, a name without symlinks, and fd
 * marks that place while it is inside the root; todo is what is left to walk. */
struct walk {
    const struct root *root;
    char at[PATH_MAX], todo[PATH_MAX];
    int fd;
    int links;
};

static bool set_errno(int number)
{
    errno = number;
    return false;
}

/* Mark w->at again, from the root down: asking the descriptor for ".." would
 * follow a folder that somebody moved out meanwhile. */
static bool mark_again(struct walk *w)
{
    const char *rel = below(w->root, w->at);
    char name[NAME_MAX + 1];
    int child;
    size_t n;

    if (w->fd >= 0)
        close(w->fd);
    w->fd = rel ? fcntl(w->root->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (!rel || strcmp(rel, ".") == 0)
        return !rel || w->fd >= 0;
    for (; *rel && w->fd >= 0; rel += n + (rel[n] == '/')) {
        n = strcspn(rel, "/");
        memcpy(name, rel, n); /* it was opened by this name before */
        name[n] = '\0';
        child = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
        close(w->fd);
        w->fd = child;
    }
    return w->fd >= 0;
}

static bool walk_up(struct walk *w)
{
    char *slash = strrchr(w->at, '/');

    slash[slash == w->at] = '\0';
    return mark_again(w);
}

/* Put the link's target before what is left to walk. Takes link. */
static bool walk_link(struct walk *w, int link)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(link, "", target, sizeof target);
    size_t left = strlen(w->todo);

    close(link);
    if (n < 0)
        return set_errno(EIO);
    if (++w->links > MAX_LINKS)
        return set_errno(ELOOP);
    if ((size_t)n + 1 + left >= sizeof w->todo)
        return set_errno(ENAMETOOLONG);
    memmove(w->todo + n + 1, w->todo, left + 1);
    memcpy(w->todo, target, (size_t)n);
    w->todo[n] = '/';
    if (target[0] != '/')
        return true;
    strcpy(w->at, "/");
    return mark_again(w);
}

/* Outside the root nothing is opened: names there are only put together, to
 * see whether they come back in. */
static bool walk_down(struct walk *w, const char *name)
{
    size_t len = strlen(w->at), n = strlen(name);
    bool inside = w->fd >= 0;
    struct stat st;
    int child;

    if (len + n + 2 > sizeof w->at)
        return set_errno(ENAMETOOLONG);
    if (inside) {
        child = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (child < 0)
            return false;
        if (fstat(child, &st) == 0 && S_ISLNK(st.st_mode))
            return walk_link(w, child);
        close(w->fd);
        w->fd = child;
    }
    if (len > 1)
        w->at[len++] = '/';
    memcpy(w->at + len, name, n + 1);
    return inside || mark_again(w);
}

/* Take the first name off what is left; false when there is none. */
static bool next_name(struct walk *w, char name[NAME_MAX + 1], bool *too_long)
{
    size_t skip = strspn(w->todo, "/"), n = strcspn(w->todo + skip, "/");

    *too_long = n > NAME_MAX;
    if (n == 0 || *too_long)
        return false;
    memcpy(name, w->todo + skip, n);
    name[n] = '\0';
    memmove(w->todo, w->todo + skip + n, strlen(w->todo + skip + n) + 1);
    return true;
}

static int walk(const struct root *r, const char *abs)
{
    struct walk w = { .root = r, .at = "/", .fd = -1 };
    char name[NAME_MAX + 1];
    bool ok, too_long = strlen(abs) >= sizeof w.todo;
    int saved;

    if (!too_long)
        strcpy(w.todo, abs);
    ok = mark_again(&w);
    while (ok && !too_long && next_name(&w, name, &too_long)) {
        if (strcmp(name, "..") == 0)
            ok = walk_up(&w);
        else if (strcmp(name, ".") != 0)
            ok = walk_down(&w, name);
    }
    if (ok && !too_long && w.fd >= 0)
        return w.fd;
    saved = !ok ? errno : too_long ? ENAMETOOLONG : EXDEV;
    if (w.fd >= 0)
        close(w.fd);
    errno = saved;
    return -1;
}

/* The kernel's walk: beneath the root, and `more` of openat2's RESOLVE_ flags. */
static int mark_beneath(const struct root *r, const char *rel, uint64_t more)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | more,
    };

    return (int)syscall(SYS_openat2, r->fd, rel, &how, sizeof how);
}

static int find_beneath(const struct root *r, const char *abs)
{
    const char *rel = below(r, abs);
    int fd = -1;

    if (!rel) {
        errno = EXDEV;
        return -1;
    }
    /* EAGAIN: a rename elsewhere raced with the kernel's walk. */
    for (int tries = 0; tries < 8; tries++) {
        fd = mark_beneath(r, rel, 0);
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    /* EPERM is what older container filters answer to a call they do not know. */
    if (fd < 0 && (errno == EXDEV || errno == ENOSYS || errno == EPERM || errno == EAGAIN))
        fd = walk(r, abs);
    return fd;
}

/* --- opening --- */

static const char *kind_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "a file";
    case S_IFDIR:
        return "a folder";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
        return "a character device";
    case S_IFBLK:
        return "a block device";
    default:
        return "neither file nor folder";
    }
}

static bool kind_fits(struct err *e, struct str path, mode_t mode, enum root_want want)
{
    static const char *const wanted[] = {
        [ROOT_FILE] = "a regular file",
        [ROOT_DIR] = "a folder",
        [ROOT_ANY] = "a regular file or a folder",
    };

    if ((S_ISREG(mode) && want != ROOT_DIR) || (S_ISDIR(mode) && want != ROOT_FILE))
        return true;
    return err_set(e, ERR_PATH, "'%.*s' is %s; this needs %s", (int)path.n, path.p, kind_name(mode),
                   wanted[want]);
}

/* Open for reading what the O_PATH descriptor marks: the same thing, whatever
 * its name stands for by now. Takes mark. */
static int reopen(const struct root *r, int mark, mode_t mode)
{
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, fd, saved;
    char name[16];

    if (S_ISDIR(mode)) {
        fd = openat(mark, ".", flags | O_DIRECTORY);
    } else {
        snprintf(name, sizeof name, "%d", mark);
        fd = openat(r->marks, name, flags);
    }
    saved = errno;
    close(mark);
    errno = saved;
    return fd;
}

int root_open_path(const struct root *r, struct str path, enum root_want want, struct err *e)
{
    struct str shown = { path.p, utf8_cut(path, SHOWN) };
    char *abs = normalise(r->path, path);
    struct stat st;
    int fd, mark;

    mark = r->confined ? find_beneath(r, abs) : open(abs, O_PATH | O_CLOEXEC);
    free(abs);
    if (mark < 0) {
        if (r->confined && errno == EXDEV)
            outside(e, shown);
        else
            refused(e, shown, errno);
        return -1;
    }
    if (fstat(mark, &st) < 0) {
        refused(e, shown, errno);
        close(mark);
        return -1;
    }
    if (!kind_fits(e, shown, st.st_mode, want)) {
        close(mark);
        return -1;
    }
    fd = reopen(r, mark, st.st_mode);
    if (fd < 0)
        refused(e, shown, errno);
    return fd;
}

int root_open_cached(const struct root *r, struct str path, enum root_want want)
{
    const char *rel;
    struct stat st;
    int mark = -1;
    char *abs;

    if (!r->confined || !r->local)
        return -1;
    abs = normalise(r->path, path);
    rel = below(r, abs);
    if (rel)
        mark = mark_beneath(r, rel, RESOLVE_CACHED | RESOLVE_NO_XDEV);
    free(abs);
    if (mark < 0)
        return -1;
    if (fstat(mark, &st) < 0 || !kind_fits(NULL, path, st.st_mode, want)) {
        close(mark);
        return -1;
    }
    return reopen(r, mark, st.st_mode);
}

/* --- the root itself --- */

/* Overlays are taken for what they mostly lie on, a container's disk. */
static bool is_local(int fd)
{
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return false;
    switch (fs.f_type) {
    case EXT4_SUPER_MAGIC: /* ext2 and ext3 too */
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

bool root_open(struct root *r, const char *dir, bool confined, struct err *e)
{
    struct str shown = { dir, utf8_cut(str_of(dir), SHOWN) };
    char name[16], path[PATH_MAX];
    ssize_t n;

    *r = (struct root){ .fd = -1, .marks = -1, .confined = confined };
    r->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (r->fd < 0) {
        if (errno == ENOTDIR)
            return err_set(e, ERR_PATH, "the root '%.*s' is not a folder", (int)shown.n, shown.p);
        return refused(e, shown, errno);
    }
    /* The name is asked of the descriptor, so that both are the same folder. */
    r->marks = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(name, sizeof name, "%d", r->fd);
    n = readlinkat(r->marks, name, path, sizeof path - 1);
    if (n < 0) {
        close(r->fd);
        if (r->marks >= 0)
            close(r->marks);
        return err_set(e, ERR_IO, "cannot name the root '%.*s': is /proc mounted?", (int)shown.n,
                       shown.p);
    }
    r->path = xstrndup(path, (size_t)n);
    r->local = is_local(r->fd);
    return true;
}

void root_done(struct root *r)
{
    if (!r || !r->path)
        return;
    free(r->path);
    close(r->fd);
    close(r->marks);
    *r = (struct root){ .fd = -1, .marks = -1 };
}
