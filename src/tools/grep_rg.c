/* grep_rg.c: the search by ripgrep.
 *
 * rg is never given a path that was checked earlier. A folder is entered as
 * the child's working folder, by descriptor, and searched as "."; so rg also
 * finds the .gitignore files above it (it reads those of all parents, past the
 * root too, and applies their anchored rules rightly only when started like
 * this). A file is named /proc/<us>/fd/N: the very file that is open here.
 * One run per folder, one for neighbouring files, in path order.
 *
 * Symlinks met on the way are not followed (no -L). Not promised: below the
 * folder rg opens by name, so somebody who swaps a folder for a symlink at the
 * very moment between its look and its open can lead it astray; the walker of
 * our own cannot be led.
 * Exit 2 with a summary means that some file could not be searched; without
 * one, nothing was searched: a bad pattern, say. */
#include "tools/grep.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/utf8.h"
#include "json/read.h"
#include "loop/child.h"

enum {
    MAX_LINE = 32 << 20, /* rg tells every hit of a line: far more than the line */
    MAX_ERR = 64 << 10
};

const char *const grep_rg_flags[] = {
    "--json",
    "--sort=path",
    "--engine=auto",
    "--no-config",
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-dot",
    "--no-ignore-messages", /* would quote ignore files, which may lie elsewhere */
    NULL,
};

struct rg {
    struct grep *g;
    void (*done)(struct grep *g);
    struct child *child;
    size_t first, next; /* paths of this run, [first, next) */
    struct buf line;    /* what came of the line being read */
    bool skip;          /* the line is too long: drop the rest of it */
    bool summary;       /* rg got to its end */
};

/* --- reading its answer --- */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

static struct str base64(struct arena *a, struct str s)
{
    unsigned char *out = arena_alloc(a, s.n / 4 * 3 + 4);
    unsigned bits = 0;
    size_t n = 0;
    int have = 0, d;

    for (size_t i = 0; i < s.n && (d = base64_digit(s.p[i])) >= 0; i++) {
        bits = bits << 6 | (unsigned)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[n++] = (unsigned char)(bits >> have);
        }
    }
    return (struct str){ (char *)out, n };
}

/* {"text": …}, or {"bytes": base64} where that is not UTF-8. */
static struct str rg_text(struct json v, struct arena *a)
{
    struct json text = json_get(v, "text");

    if (json_type(text) == JSON_STR)
        return json_str(text, a);
    return base64(a, json_str(json_get(v, "bytes"), a));
}

/* From the name rg uses to the one under the root. */
static struct str rg_path(struct grep *g, struct arena *a, struct str path, const char *folder)
{
    static const char proc[] = "/proc/";
    int pid, fd;

    if (str_starts(path, proc) && sscanf(arena_str(a, path).p, "/proc/%d/fd/%d", &pid, &fd) == 2)
        for (size_t i = 0; i < g->path_count; i++)
            if (g->paths[i].fd == fd)
                return str_of(g->paths[i].name);
    if (str_starts(path, "./"))
        path = (struct str){ path.p + 2, path.n - 2 };
    if (strcmp(folder, ".") == 0)
        return path;
    return str_of(
        arena_printf(a, "%s/%.*s", strcmp(folder, "/") == 0 ? "" : folder, (int)path.n, path.p));
}

static bool add_match(struct grep *g, struct arena *a, struct json data, const char *folder)
{
    struct str text = rg_text(json_get(data, "lines"), a);
    struct str path = rg_path(g, a, rg_text(json_get(data, "path"), a), folder);
    long long line = 0, start = 0;

    if (text.n > 0 && text.p[text.n - 1] == '\n')
        text.n--;
    json_int(json_get(data, "line_number"), &line);
    json_int(json_get(json_first(json_get(data, "submatches")), "start"), &start);
    return grep_add(g, path, (long)line, (long)start + 1, text);
}

bool grep_rg_line(struct grep *g, struct str line, const char *folder)
{
    struct arena a = { 0 };
    struct json_doc d;
    bool go_on = true;

    if (json_parse(&d, &a, line, NULL))
        go_on = add_match(g, &a, json_get(json_root(&d), "data"), folder);
    arena_done(&a);
    return go_on;
}

static bool end_line(struct rg *r)
{
    struct str line = buf_str(&r->line);
    bool go_on = true;

    if (r->skip)
        r->g->more = true;
    else if (str_starts(line, "{\"type\":\"match\""))
        go_on = grep_rg_line(r->g, line, r->g->paths[r->first].name);
    else if (memmem(line.p, line.n, "\"type\":\"summary\"", 16))
        r->summary = true;
    buf_clear(&r->line);
    r->skip = false;
    return go_on;
}

static bool on_out(void *arg, struct str piece)
{
    struct rg *r = arg;
    const char *p = piece.p, *end = piece.p + piece.n, *nl;

    for (; p < end; p = nl + 1) {
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!r->skip && !buf_add(&r->line, p, (size_t)((nl ? nl : end) - p)))
            r->skip = true;
        if (!nl)
            break;
        if (!end_line(r))
            return false;
    }
    return true;
}

/* --- its errors --- */

/* rg explains a bad pattern over many lines; what it comes to stands after
 * "error: ". Anything else says it in its first line. */
static void say_error(struct grep *g, struct str text, const struct child *ch)
{
    const char *hit = memmem(text.p, text.n, "\nerror: ", 8);
    struct str s = hit ? (struct str){ hit + 8, text.n - (size_t)(hit + 8 - text.p) } : text;
    const char *nl = memchr(s.p, '\n', s.n);

    s.n = nl ? (size_t)(nl - s.p) : s.n;
    if (s.n > 180)
        s.n = utf8_cut(s, 180);
    s.n = utf8_valid(s);
    g->exit_code = ch->status;
    if (ch->signal)
        err_set(&g->err, ERR_RG, "rg was ended by signal %d", ch->signal);
    else
        err_set(&g->err, ERR_RG, "%s%.*s", hit ? "bad pattern: " : "",
                s.n ? (int)s.n : (int)strlen("rg failed"), s.n ? s.p : "rg failed");
}

static void judge(struct rg *r, const struct child *ch)
{
    struct grep *g = r->g;

    switch (ch->outcome) {
    case CHILD_EXITED:
        if (ch->status <= 1)
            break;
        say_error(g, buf_str(&ch->err_out), ch);
        if (ch->status == 2 && r->summary) {
            g->failed_part = true;
            g->err.code = ERR_NONE; /* an error only if nothing is found */
        }
        break;
    case CHILD_TIMED_OUT:
        err_set(&g->err, ERR_TIMEOUT, "timed out after %ld ms; narrow the paths or the pattern",
                g->timeout_ms);
        break;
    case CHILD_CANCELLED: /* by us when enough was found, else by the caller */
        if (!g->full)
            err_set(&g->err, ERR_CANCELLED, "cancelled");
        break;
    case CHILD_NO_START:
    case CHILD_LOST:
        err_set(&g->err, ERR_SPAWN, "cannot run rg: %s", ch->err.msg);
        break;
    }
}

/* --- the runs --- */

static void start(struct rg *r);

static void end(struct rg *r)
{
    r->g->call->on_cancel = NULL;
    buf_done(&r->line);
    r->done(r->g);
}

static void on_end(void *arg, struct child *ch)
{
    struct rg *r = arg;
    struct grep *g = r->g;

    r->child = NULL;
    if (r->line.len > 0 && ch->outcome == CHILD_EXITED)
        end_line(r);
    judge(r, ch);
    if (g->err.code || r->next == g->path_count || (g->full && !g->overlap) ||
        call_cancelled(g->call))
        end(r);
    else
        start(r);
}

static void on_cancel(struct call *c)
{
    struct grep *g = c->op;
    struct rg *r = g->engine;

    if (r->child)
        child_kill(r->child);
}

static const char **make_argv(struct rg *r)
{
    struct grep *g = r->g;
    size_t n = 0, flags = sizeof grep_rg_flags / sizeof *grep_rg_flags;
    const char **argv = arena_alloc(g->a, (flags + g->path_count + 8) * sizeof *argv);

    argv[n++] = g->call->site->rg;
    for (size_t i = 0; grep_rg_flags[i]; i++)
        argv[n++] = grep_rg_flags[i];
    if (g->fixed)
        argv[n++] = "-F";
    argv[n++] = g->any_case ? "-i" : "-s";
    argv[n++] = "-e";
    argv[n++] = g->pattern.p;
    argv[n++] = "--";
    if (g->paths[r->first].folder)
        argv[n++] = ".";
    else
        for (size_t i = r->first; i < r->next; i++)
            argv[n++] = arena_printf(g->a, "/proc/%d/fd/%d", (int)getpid(), g->paths[i].fd);
    argv[n] = NULL;
    return argv;
}

static void start(struct rg *r)
{
    struct grep *g = r->g;
    uint64_t now = clock_ms();
    struct child_opts o = {
        .cwd = g->call->root->fd,
        .env = g->call->site->env,
        .timeout_ms = g->deadline_ms > now ? g->deadline_ms - now : 1,
        .max_err = MAX_ERR,
        .on_out = on_out,
        .on_end = on_end,
        .arg = r,
    };

    r->first = r->next++;
    if (g->paths[r->first].folder)
        o.cwd = g->paths[r->first].fd;
    else if (!g->overlap)
        while (r->next < g->path_count && !g->paths[r->next].folder)
            r->next++;
    r->summary = false;
    buf_clear(&r->line);
    grep_run(g);
    o.argv = make_argv(r);
    r->child = child_start(g->call->site->loop, &o);
}

void grep_rg(struct grep *g, void (*done)(struct grep *g))
{
    struct rg *r = arena_zalloc(g->a, sizeof *r);

    r->g = g;
    r->done = done;
    buf_init(&r->line, MAX_LINE);
    g->engine = r;
    g->call->on_cancel = on_cancel;
    start(r);
}
