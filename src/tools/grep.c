/* grep.c: lines that match a pattern, in files under the root.
 *
 * The paths are opened by descriptor and stay open while the engine works, so
 * that what was checked is what is searched. The first max_matches in path
 * order are given, then the search stops; one more is looked for, to know
 * whether there was one. When a path lies inside another (asked for by name, it
 * is searched even if hidden or ignored), each is searched by itself and the
 * matches are merged.
 * `cwd` has no influence: paths are relative to the root. It is checked, since
 * a caller who gives a wrong one is mistaken about something. */
#include "tools/grep.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/utf8.h"
#include "tools/table.h"
#include "tools/text.h"

enum { MAX_OUTPUT = 10 << 20 };

/* --- collecting --- */

int grep_path_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;

    for (size_t i = 0; i < n; i++) {
        int x = a.p[i] == '/' ? -1 : (unsigned char)a.p[i];
        int y = b.p[i] == '/' ? -1 : (unsigned char)b.p[i];

        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a.n > b.n) - (a.n < b.n);
}

static struct str repaired(struct grep *g, struct str s)
{
    struct buf b;

    if (utf8_valid(s) == s.n)
        return arena_str(g->a, s);
    buf_init(&b, 3 * s.n);
    g->replaced += utf8_repair(&b, s);
    s = arena_str(g->a, buf_str(&b));
    buf_done(&b);
    return s;
}

void grep_run(struct grep *g)
{
    if (!g->overlap)
        return;
    g->run_start = g->count;
    g->full = g->bytes > g->max_bytes;
}

bool grep_add(struct grep *g, struct str path, long line, long column, struct str text)
{
    struct match *m = g->count > g->run_start ? &g->matches[g->count - 1] : NULL, *larger;
    struct match new = { .line = line, .column = column };

    if (g->bytes > g->max_bytes || g->count - g->run_start > g->max_matches) {
        g->full = g->more = true;
        return false;
    }
    new.path = m &&str_eq(m->path, path) ? m->path : repaired(g, path);
    new.text = repaired(g, text);
    if (g->count == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 64;
        larger = arena_alloc(g->a, g->cap * sizeof *larger);
        if (g->count > 0)
            memcpy(larger, g->matches, g->count * sizeof *larger);
        g->matches = larger;
    }
    g->matches[g->count++] = new;
    g->bytes += new.path.n + new.text.n;
    g->full = g->count - g->run_start > g->max_matches || g->bytes > g->max_bytes;
    return !g->full;
}

void grep_note(struct grep *g, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    if (g->failed_part)
        return;
    g->failed_part = true;
    g->exit_code = 2;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(&g->err, ERR_RG, "%.*s", (int)utf8_valid(str_of(text)), text);
    g->err.code = ERR_NONE; /* an error only if nothing is found */
}

static int by_place(const void *x, const void *y)
{
    const struct match *a = x, *b = y;
    int d = grep_path_cmp(a->path, b->path);

    return d ? d : (a->line > b->line) - (a->line < b->line);
}

/* Merge the runs, and keep what was asked for. */
static void settle(struct grep *g)
{
    size_t n = 0;

    if (g->overlap && g->count > 0) {
        qsort(g->matches, g->count, sizeof *g->matches, by_place);
        for (size_t i = 0; i < g->count; i++)
            if (n == 0 || by_place(&g->matches[n - 1], &g->matches[i]) != 0)
                g->matches[n++] = g->matches[i];
        g->count = n;
    }
    if (g->count > g->max_matches) {
        g->count = g->max_matches;
        g->more = true;
    }
    if (g->bytes > g->max_bytes)
        g->more = true;
    if (g->failed_part && g->count == 0 && g->err.code == ERR_NONE)
        g->err.code = ERR_RG;
}

/* --- the paths --- */

static int by_name(const void *x, const void *y)
{
    const struct grep_path *a = x, *b = y;

    return grep_path_cmp(str_of(a->name), str_of(b->name));
}

static bool inside(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    if (strcmp(folder, ".") == 0)
        return path[0] != '/';
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

/* Normalised names, sorted, each once. */
static void list_paths(struct call *c, struct grep *g)
{
    size_t count, n = 0;
    const struct str *given = arg_strs(c, "paths", &count);

    g->paths = arena_zalloc(&c->a, count * sizeof *g->paths);
    for (size_t i = 0; i < count; i++)
        g->paths[i] = (struct grep_path){ root_relative(c->root, &c->a, given[i]), -1, false };
    qsort(g->paths, count, sizeof *g->paths, by_name);
    for (size_t i = 0; i < count; i++)
        if (n == 0 || strcmp(g->paths[n - 1].name, g->paths[i].name) != 0)
            g->paths[n++] = g->paths[i];
    g->path_count = n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (i != k && inside(g->paths[i].name, g->paths[k].name))
                g->overlap = true;
}

static bool open_paths(struct call *c, struct grep *g)
{
    struct stat st;
    int fd;

    if (arg_has(c, "cwd")) {
        fd = root_open_path(c->root, arg_str(c, "cwd"), ROOT_DIR, &g->err);
        if (fd < 0)
            return false;
        close(fd);
    }
    for (size_t i = 0; i < g->path_count; i++) {
        struct grep_path *p = &g->paths[i];

        p->fd = root_open_path(c->root, str_of(p->name), ROOT_ANY, &g->err);
        if (p->fd < 0)
            return false;
        p->folder = fstat(p->fd, &st) == 0 && S_ISDIR(st.st_mode);
    }
    return true;
}

static void close_paths(struct grep *g)
{
    for (size_t i = 0; i < g->path_count; i++)
        if (g->paths[i].fd >= 0)
            close(g->paths[i].fd);
}

/* --- the result --- */

static void row_text(struct buf *out, const void *item)
{
    const struct match *m = item;

    buf_add(out, m->path.p, m->path.n);
    buf_addf(out, ":%ld:", m->line);
    buf_add(out, m->text.p, m->text.n);
}

static void row_json(struct json_out *o, const void *item)
{
    const struct match *m = item;

    json_obj(o);
    json_kv_str(o, "path", m->path);
    json_kv_int(o, "line", m->line);
    json_kv_int(o, "column", m->column);
    json_kv_str(o, "text", m->text);
    json_obj_end(o);
}

/* The paths as they were given. */
static struct str paths_json(struct call *c)
{
    size_t count;
    const struct str *paths = arg_strs(c, "paths", &count);
    struct buf b;
    struct json_out o = json_out(&b);
    struct str s;

    buf_init(&b, (size_t)64 << 20);
    json_arr(&o);
    for (size_t i = 0; i < count; i++)
        json_put_str(&o, paths[i]);
    json_arr_end(&o);
    s = arena_str(&c->a, buf_str(&b));
    buf_done(&b);
    return s;
}

static void put_result(struct call *c, struct grep *g)
{
    struct result *r = &c->result;
    const struct rows rows = { g->matches, sizeof *g->matches, g->count, row_text, row_json };

    r->cut = g->more;
    r->replaced = g->replaced;
    result_str(r, "pattern", g->pattern);
    result_json(r, "paths", paths_json(c));
    result_rows(r, "matches", rows);
    result_int(r, "match_count", (long long)g->count);
    result_place(r, "truncated", ENTRY_TRUNCATED);
    result_place(r, "duration_ms", ENTRY_DURATION);
    if (g->count == 0)
        result_status(r, g->more ? "a line matches, but is too long to show" : "no matches");
    else if (g->more)
        result_status(r, "%s shown, more exist; narrow the pattern or paths",
                      text_count(&c->a, g->count, "match", "matches"));
    else if (g->failed_part)
        result_status(r, "%s; not all could be searched: %s",
                      text_count(&c->a, g->count, "match", "matches"), g->err.msg);
    else
        result_status(r, "%s", text_count(&c->a, g->count, "match", "matches"));
    r->more = "narrow the pattern or paths";
}

static void finish(struct grep *g)
{
    struct call *c = g->call;

    c->op = NULL;
    close_paths(g);
    if (g->err.code == ERR_NONE)
        settle(g);
    if (g->err.code) {
        c->err = g->err;
        c->exit_code = g->exit_code;
        call_fail(c);
    } else {
        put_result(c, g);
        call_done(c);
    }
}

/* On a worker. */
static void work(struct call *c)
{
    struct grep *g = c->op;

    if (!open_paths(c, g))
        g->err.code = ERR_PATH; /* the contract has one word for all of these */
    else if (!c->site->rg)
        grep_walk(g);
}

static void after(struct call *c)
{
    struct grep *g = c->op;

    if (g->err.code == ERR_NONE && c->site->rg && !call_cancelled(c))
        grep_rg(g, finish);
    else
        finish(g);
}

static void run(struct call *c)
{
    struct grep *g = arena_zalloc(&c->a, sizeof *g);
    long max = arg_int(c, "max_output_bytes");

    *g = (struct grep){
        .a = &c->a,
        .cancelled = &c->cancelled,
        .call = c,
        .pattern = arg_str(c, "pattern"),
        .fixed = arg_bool(c, "fixed_string"),
        .any_case = !arg_bool(c, "case_sensitive"),
        .max_matches = (size_t)arg_int(c, "max_matches"),
        .max_bytes = max > 0 ? (size_t)max : MAX_OUTPUT,
        .timeout_ms = arg_int(c, "timeout_ms"),
        .deadline_ms = c->started_ms + (uint64_t)arg_int(c, "timeout_ms"),
        .exit_code = -1,
    };
    c->op = g;
    list_paths(c, g);
    call_work(c, work, after);
}

static const struct field fields[] = {
    { "pattern", F_STR, .required = true, .min = 1, .max = 10000, .rules = FIELD_ARG,
      .text = "regular expression" },
    { "paths", F_STRS, .required = true, .min = 1, .max = 100, .rules = FIELD_PATH,
      .text = "files and folders to search; [\".\"] is all" },
    { "cwd", F_STR, .min = 1, .rules = FIELD_PATH,
      .text = "folder to run in; paths stay relative to the root" },
    { "fixed_string", F_BOOL, .text = "pattern is literal text" },
    { "case_sensitive", F_BOOL, .def = true, .text = "tell upper from lower case" },
    { "timeout_ms", F_INT, .min = 100, .max = 300000, .def = 30000,
      .text = "stop the search after this time" },
    { "max_matches", F_INT, .min = 1, .max = 5000, .def = 500, .text = "stop after this many" },
    { "max_output_bytes", F_INT, .min = 1024, .max = MAX_OUTPUT, .answers = 1 << ANSWER_JEEVES,
      .text = "cut the output at this many bytes" },
    { "context_focus_question", F_STR, .min = 1, .max = 1000, .rules = FIELD_NONBLANK,
      .text = "what you want to know; keeps only lines that matter" },
    { 0 },
};

static const struct tool_noun nouns[] = { { "file", "search" }, { 0 } };

const struct tool tool_grep = {
    .name = "grep",
    .category = CAT_SEARCH,
    .effects = READS,
    .text = "Search files for lines that match a pattern. Skips binary, hidden and git-ignored "
            "files unless named.",
    .fields = fields,
    .nouns = nouns,
    .may_be_long = true,
    .always_load = true,
    .run = run,
};
