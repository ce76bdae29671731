/* grep_walk.c: the search where there is no ripgrep.
 *
 * The same contract on the same tree: hidden files, binary files and what
 * .gitignore names are skipped, symlinks are not followed, paths come in the
 * order of `rg --sort path`. The rules of .gitignore files combine as in rg:
 * the innermost file that speaks decides, files above the folder searched
 * count up to the first that holds a .git, past the root too (only those rules
 * are read there). A negated rule brings a hidden name back.
 *
 * Patterns are PCRE2's, line by line, with limits: one that backtracks too
 * much is an error, not a hang. What most people write means the same to both
 * engines; Rust's set operations in classes ([a&&b]) are not known here.
 * Different from rg, knowingly: UTF-16 files are binary, a .gitignore that is
 * a symlink is not read (as git itself does), folders deeper than 256 are not
 * entered.
 *
 * Everything is opened from its folder's descriptor with O_NOFOLLOW. */
#include "tools/grep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tools/ignore.h"

enum {
    MAX_DEPTH = 256,
    MAX_IGNORE = 1 << 20, /* bytes of a .gitignore */
    MAX_LINE = 16 << 20,
    CHUNK = 64 << 10,    /* read at a time; a NUL in the first makes a file binary, as in rg */
    LINES_PER_LOOK = 256 /* between looks at clock and cancellation */
};

/* Rules that hold in a folder: its own .gitignore, then those of `up`. */
struct level {
    const struct level *up;
    struct ignore *rules;
    bool repository; /* has a .git: nothing above it counts */
    size_t depth;    /* names between this folder and the real / */
};

struct walk {
    struct grep *g;
    pcre2_code *code;
    pcre2_match_data *hit;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack;
    struct buf path;  /* of the folder being read, as shown */
    struct buf above; /* the same from the real /, for the rules of folders above */
    char *data;       /* the piece of a file being searched */
    size_t cap;
    unsigned lines;
};

/* --- the pattern --- */

static bool compile(struct walk *w)
{
    struct grep *g = w->g;
    uint32_t flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | (g->any_case ? PCRE2_CASELESS : 0);
    PCRE2_UCHAR why[160];
    PCRE2_SIZE at;
    int number;

    flags |= g->fixed ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
    w->code = pcre2_compile((PCRE2_SPTR)g->pattern.p, g->pattern.n, flags, &number, &at, NULL);
    if (!w->code) {
        pcre2_get_error_message(number, why, sizeof why);
        g->exit_code = 2;
        return err_set(&g->err, ERR_RG, "bad pattern: %s (at offset %zu)", (char *)why, at);
    }
    w->limits = pcre2_match_context_create(NULL);
    w->hit = pcre2_match_data_create(1, NULL);
    if (!w->limits || !w->hit)
        abort();
    pcre2_set_match_limit(w->limits, 1000000);
    pcre2_set_depth_limit(w->limits, 100000);
    pcre2_set_heap_limit(w->limits, 32 << 10); /* KiB */
    if (pcre2_jit_compile(w->code, PCRE2_JIT_COMPLETE) == 0) {
        w->stack = pcre2_jit_stack_create(32 << 10, 1 << 20, NULL);
        pcre2_jit_stack_assign(w->limits, NULL, w->stack);
    } /* else: no JIT here, the interpreter does it */
    return true;
}

/* --- one file --- */

/* Time left, nobody cancelled? */
static bool may_go_on(struct walk *w)
{
    struct grep *g = w->g;

    if (g->err.code || atomic_load_explicit(g->cancelled, memory_order_relaxed))
        return false;
    if (clock_ms() < g->deadline_ms)
        return true;
    return err_set(&g->err, ERR_TIMEOUT, "timed out after %ld ms; narrow the paths or the pattern",
                   g->timeout_ms);
}

/* Gives false when the search is over. */
static bool search_line(struct walk *w, struct str path, struct str line, long number)
{
    struct grep *g = w->g;
    int found = pcre2_match(w->code, (PCRE2_SPTR)line.p, line.n, 0, 0, w->hit, w->limits);

    if (++w->lines % LINES_PER_LOOK == 0 && !may_go_on(w))
        return false;
    if (found >= 0)
        return grep_add(g, path, number, (long)pcre2_get_ovector_pointer(w->hit)[0] + 1, line);
    if (found == PCRE2_ERROR_NOMATCH)
        return true;
    g->exit_code = 2;
    return err_set(&g->err, ERR_RG,
                   "the pattern is too expensive for line %ld of '%.*s'; make it simpler", number,
                   (int)utf8_cut(path, 80), path.p);
}

/* Fill the buffer up to `want` bytes, or to the end of the file (*end). */
static bool fill(struct walk *w, int fd, size_t *len, size_t want, bool *end)
{
    ssize_t got;

    if (w->cap < want) {
        w->cap = want;
        w->data = xrealloc(w->data, w->cap);
    }
    while (*len < want) {
        got = read(fd, w->data + *len, want - *len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0) {
            *end = true;
            break;
        }
        *len += (size_t)got;
    }
    return true;
}

/* Search the whole lines of data, at the end of a file the last one too. Gives
 * the bytes used, or -1 when the search is over. */
static long search_lines(struct walk *w, struct str path, struct str data, bool end, long *number)
{
    const char *p = data.p, *stop = data.p + data.n, *nl;

    for (; p < stop; p = nl + 1) {
        nl = memchr(p, '\n', (size_t)(stop - p));
        if (!nl && !end)
            break;
        if (!nl)
            nl = stop;
        if (!search_line(w, path, (struct str){ p, (size_t)(nl - p) }, ++*number))
            return -1;
        if (nl == stop)
            return (long)data.n;
    }
    return (long)(p - data.p);
}

/* Search an open file. One asked for by name is searched even if binary. Gives
 * false when the search is over. */
static bool search_file(struct walk *w, int fd, struct str path, bool by_name)
{
    size_t len = 0, skip, want = CHUNK;
    long number = 0, used;
    bool end = false, first = true;

    while (!end) {
        if (!fill(w, fd, &len, want, &end)) {
            grep_note(w->g, "%.*s: %s", (int)path.n, path.p, strerror(errno));
            return true;
        }
        if (!by_name && memchr(w->data, 0, len))
            return true;
        skip = first && len >= 3 && memcmp(w->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        used = search_lines(w, path, (struct str){ w->data + skip, len - skip }, end, &number);
        if (used < 0)
            return false;
        first = first && used == 0;
        used += used > 0 ? (long)skip : 0;
        len -= (size_t)used;
        memmove(w->data, w->data + used, len);
        want = len > CHUNK ? 2 * len : len + CHUNK;
        if (want > MAX_LINE) {
            grep_note(w->g, "%.*s: line %ld is over 16 MB", (int)path.n, path.p, number + 1);
            return true;
        }
    }
    return may_go_on(w);
}

/* --- .gitignore --- */

static struct ignore *read_rules(int folder)
{
    int fd =
        openat(folder, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct ignore *rules = NULL;
    size_t len = 0;
    struct stat st;
    ssize_t got;
    char *text;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        text = xmalloc(MAX_IGNORE);
        while (len < MAX_IGNORE && (got = read(fd, text + len, MAX_IGNORE - len)) > 0)
            len += (size_t)got;
        rules = ignore_new((struct str){ text, len });
        free(text);
    }
    close(fd);
    return rules;
}

static struct level level_of(int folder, const struct level *up, size_t depth)
{
    return (struct level){
        .up = up,
        .rules = read_rules(folder),
        .repository = faccessat(folder, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0,
        .depth = depth,
    };
}

/* The path below the folder of that depth; path starts at the real / and has
 * no slash in front. */
static struct str below(struct str path, size_t depth)
{
    const char *slash;

    for (; depth > 0; depth--) {
        slash = memchr(path.p, '/', path.n);
        path.n -= (size_t)(slash + 1 - path.p);
        path.p = slash + 1;
    }
    return path;
}

/* Name in the folder of `at`; w->above holds the folder's path. */
static enum ignore_verdict verdict(struct walk *w, const struct level *at, const char *name,
                                   bool folder)
{
    size_t len = w->above.len;
    enum ignore_verdict v = IGNORE_SILENT;
    struct str path;

    if (len > 0)
        buf_addc(&w->above, '/');
    buf_adds(&w->above, name);
    path = buf_str(&w->above);
    for (; at && v == IGNORE_SILENT; at = at->repository ? NULL : at->up)
        v = ignore_match(at->rules, below(path, at->depth), folder);
    w->above.len = len;
    return v;
}

/* --- folders --- */

struct name {
    char *text;
    bool folder;
};

struct names {
    struct name *list;
    size_t count, cap;
};

static int by_text(const void *x, const void *y)
{
    const struct name *a = x, *b = y;

    return strcmp(a->text, b->text);
}

/* Is it a folder or a regular file? */
static bool is_searchable(int dir, const struct dirent *d, bool *folder)
{
    struct stat st;
    unsigned type = d->d_type;

    if (type == DT_UNKNOWN && fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_UNKNOWN;
    *folder = type == DT_DIR;
    return type == DT_DIR || type == DT_REG;
}

/* What is to be searched in the folder, sorted. */
static struct names list_names(struct walk *w, DIR *dir, const struct level *at)
{
    struct names n = { 0 };
    struct dirent *d;
    enum ignore_verdict v;
    bool folder;

    while ((d = readdir(dir))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
            !is_searchable(dirfd(dir), d, &folder))
            continue;
        v = verdict(w, at, d->d_name, folder);
        if (v == IGNORE_SKIP || (d->d_name[0] == '.' && v != IGNORE_KEEP))
            continue;
        if (n.count == n.cap) {
            n.cap = n.cap ? 2 * n.cap : 64;
            n.list = xrealloc(n.list, n.cap * sizeof *n.list);
        }
        n.list[n.count++] = (struct name){ xstrdup(d->d_name), folder };
    }
    if (n.count > 1)
        qsort(n.list, n.count, sizeof *n.list, by_text);
    return n;
}

static bool walk_folder(struct walk *w, int fd, const struct level *up, size_t depth);

/* Search one entry of a folder. Gives false when the search is over. */
static bool visit(struct walk *w, int dir, const struct name *n, const struct level *at)
{
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = openat(dir, n->text, flags | (n->folder ? O_DIRECTORY : 0));
    struct stat st;
    bool go_on = true;

    if (fd < 0) {
        if (errno != ENOENT && errno != ELOOP) /* gone, or swapped for a link */
            grep_note(w->g, "%s: %s", buf_str(&w->path).p, strerror(errno));
        return true;
    }
    if (n->folder)
        return walk_folder(w, fd, at, at->depth + 1);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        go_on = search_file(w, fd, buf_str(&w->path), false);
    close(fd);
    return go_on;
}

static size_t push(struct buf *b, const char *name)
{
    size_t len = b->len;

    if (len > 0 && b->data[len - 1] != '/')
        buf_addc(b, '/');
    buf_adds(b, name);
    return len;
}

static void pop(struct buf *b, size_t len)
{
    b->len = len;
    if (b->data)
        b->data[len] = '\0';
}

/* Takes fd. Gives false when the search is over. */
static bool walk_folder(struct walk *w, int fd, const struct level *up, size_t depth)
{
    struct level at = level_of(fd, up, depth);
    DIR *dir = fdopendir(fd);
    struct names n = { 0 };
    size_t path_len, above_len;
    bool go_on = true;

    if (!dir) {
        close(fd);
    } else if (depth > MAX_DEPTH) {
        grep_note(w->g, "%s: folders deeper than %d are not searched", buf_str(&w->path).p,
                  MAX_DEPTH);
    } else {
        n = list_names(w, dir, &at);
    }
    for (size_t i = 0; i < n.count && go_on; i++) {
        path_len = push(&w->path, n.list[i].text);
        above_len = push(&w->above, n.list[i].text);
        go_on = visit(w, dirfd(dir), &n.list[i], &at) && may_go_on(w);
        pop(&w->path, path_len);
        pop(&w->above, above_len);
    }
    for (size_t i = 0; i < n.count; i++)
        free(n.list[i].text);
    free(n.list);
    if (dir)
        closedir(dir);
    ignore_free(at.rules);
    return go_on;
}

/* --- the whole --- */

/* The levels above an open folder, outermost first; *count of them. Gives heap
 * memory. The names come from the descriptor, the rules by going up from it. */
static struct level *levels_above(struct walk *w, int fd, size_t *count)
{
    char self[40], path[PATH_MAX];
    struct level *levels;
    ssize_t n;
    int dir;

    *count = 0;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    n = readlink(self, path, sizeof path - 1);
    pop(&w->above, 0);
    if (n <= 1) /* it is the real / */
        return NULL;
    path[n] = '\0';
    buf_adds(&w->above, path + 1);
    for (const char *p = path; *p; p++)
        *count += *p == '/';
    levels = xcalloc(*count, sizeof *levels);
    dir = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = *count; i > 0; i--) {
        int up;

        levels[i - 1] = dir >= 0 ? level_of(dir, NULL, i - 1) : (struct level){ .depth = i - 1 };
        levels[i - 1].up = i > 1 ? &levels[i - 2] : NULL;
        up = dir >= 0 ? openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        if (dir >= 0)
            close(dir);
        dir = up;
    }
    if (dir >= 0)
        close(dir);
    return levels;
}

static bool search_path(struct walk *w, const struct grep_path *p)
{
    struct level *above;
    size_t count;
    bool go_on;
    int fd;

    pop(&w->path, 0);
    if (!p->folder)
        return search_file(w, p->fd, str_of(p->name), true);
    if (strcmp(p->name, ".") != 0)
        buf_adds(&w->path, p->name);
    fd = openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        grep_note(w->g, "%s: %s", p->name, strerror(errno));
        return true;
    }
    above = levels_above(w, fd, &count);
    go_on = walk_folder(w, fd, count ? &above[count - 1] : NULL, count);
    for (size_t i = 0; i < count; i++)
        ignore_free(above[i].rules);
    free(above);
    return go_on;
}

void grep_walk(struct grep *g)
{
    struct walk w = { .g = g };

    buf_init(&w.path, 1 << 20);
    buf_init(&w.above, 1 << 20);
    if (compile(&w)) {
        for (size_t i = 0; i < g->path_count; i++) {
            grep_run(g);
            if (!search_path(&w, &g->paths[i]) && (!g->overlap || !may_go_on(&w)))
                break;
        }
    }
    pcre2_jit_stack_free(w.stack);
    pcre2_match_context_free(w.limits);
    pcre2_match_data_free(w.hit);
    pcre2_code_free(w.code);
    free(w.data);
    buf_done(&w.path);
    buf_done(&w.above);
}
