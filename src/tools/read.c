/* read.c: the text of a file, whole or by line numbers.
 *
 * Reads until the end or the ceiling, never by the size the file claims: files
 * grow, shrink, and those in /proc say 0. A range of lines is found by reading
 * through the file in pieces, keeping only what was asked for.
 * A small file that is in the kernel's cache is read at once, by reads that
 * fail rather than wait; all else goes to a worker, whose two wake-ups cost
 * more than such a file.
 * Cutting to max_output_bytes and repairing UTF-8 is call/finish.c's. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/utf8.h"
#include "call/args.h"
#include "tools/recover.h"
#include "tools/table.h"
#include "tools/text.h"

enum {
    MAX_OUTPUT = 10 << 20,
    MAX_SCAN = 64 << 20, /* how far a range of lines is looked for */
    PIECE = 256 << 10,
    SMALL = 64 << 10, /* how large a file may be to be read at once */
    SNIFF = 8 << 10   /* a NUL in the first bytes makes a file binary */
};

struct range {
    size_t from, to; /* to 0: up to the end */
};

/* What came of it; the loop thread makes the result. */
struct reading {
    struct range range;
    struct str text;
    int how;   /* flags of preadv2: RWF_NOWAIT on the loop thread */
    bool more; /* the file goes on after text */
    bool binary;
    unsigned long long size; /* of the file, as it says or as was seen */
    size_t lines;            /* seen, with a range */
};

static ssize_t read_some(const struct reading *r, int fd, char *p, size_t n)
{
    struct iovec v = { p, n < PIECE ? n : PIECE };
    ssize_t got;

    do
        got = preadv2(fd, &v, 1, -1, r->how); /* -1: where the last one ended */
    while (got < 0 && errno == EINTR);
    return got;
}

static bool cannot_read(struct call *c)
{
    struct str path = arg_str(c, "path");

    return err_set(&c->err, ERR_IO, "cannot read '%.*s': %s", (int)utf8_cut(path, 120), path.p,
                   strerror(errno));
}

/* All of it, at most max bytes, in the call's arena. */
static bool read_whole(struct call *c, int fd, size_t max, struct reading *r)
{
    size_t cap = r->size < max ? (size_t)r->size + 1 : max, len = 0;
    ssize_t got = 0;
    char *p, *larger;

    if (cap < 4096 && max >= 4096) /* those in /proc say 0 */
        cap = 4096;
    p = arena_alloc(&c->a, cap);

    while (len < max && !call_cancelled(c)) {
        if (len == cap) {
            cap = 2 * cap + PIECE < max ? 2 * cap + PIECE : max;
            larger = arena_alloc(&c->a, cap);
            memcpy(larger, p, len);
            p = larger;
        }
        got = read_some(r, fd, p + len, cap - len);
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    if (got < 0)
        return cannot_read(c);
    r->more = len == max;
    r->binary = memchr(p, 0, len < SNIFF ? len : SNIFF) != NULL;
    r->text = (struct str){ p, len };
    if (r->more)
        r->text = text_whole(r->text);
    if (!r->more || r->size < len)
        r->size = len;
    return true;
}

/* Keep what of the piece lies in the range; *line is where the piece starts. */
static void take_lines(struct reading *r, struct buf *kept, struct str piece, size_t *line)
{
    const char *p = piece.p, *end = piece.p + piece.n, *nl;
    size_t n;

    for (; p < end; p += n) {
        nl = memchr(p, '\n', (size_t)(end - p));
        n = (size_t)((nl ? nl + 1 : end) - p);
        if (*line >= r->range.from && (r->range.to == 0 || *line <= r->range.to)) {
            r->more |= n > kept->max - kept->len;
            buf_add(kept, p, n < kept->max - kept->len ? n : kept->max - kept->len);
        }
        *line += nl != NULL;
    }
}

static bool read_lines(struct call *c, int fd, size_t max, struct reading *r)
{
    char *piece = arena_alloc(&c->a, PIECE), last = '\n';
    unsigned long long seen = 0;
    size_t line = 1;
    struct buf kept;
    ssize_t got = 0;

    buf_init(&kept, max);
    while (seen < MAX_SCAN && !call_cancelled(c)) {
        got = read_some(r, fd, piece, PIECE);
        if (got <= 0)
            break;
        if (seen == 0)
            r->binary = memchr(piece, 0, (size_t)(got < SNIFF ? got : SNIFF)) != NULL;
        seen += (unsigned long long)got;
        last = piece[got - 1];
        take_lines(r, &kept, (struct str){ piece, (size_t)got }, &line);
    }
    r->lines = line - (last == '\n');
    if (seen > r->size || got == 0)
        r->size = seen;
    r->text = arena_str(&c->a, buf_str(&kept));
    if (r->more)
        r->text = text_whole(r->text);
    buf_done(&kept);
    return got < 0 ? cannot_read(c) : true;
}

static bool read_file(struct call *c, int fd, struct reading *r)
{
    size_t max =
        arg_int(c, "max_output_bytes") > 0 ? (size_t)arg_int(c, "max_output_bytes") : MAX_OUTPUT;

    return r->range.from ? read_lines(c, fd, max + TEXT_SLACK, r)
                         : read_whole(c, fd, max + TEXT_SLACK, r);
}

/* On a worker. */
static void work(struct call *c)
{
    struct reading *r = c->op;
    struct stat st;
    int fd = root_open_path(c->root, arg_str(c, "path"), ROOT_FILE, &c->err);

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        r->size = (unsigned long long)st.st_size;
    read_file(c, fd, r);
    close(fd);
}

/* Without waiting; false if that cannot be, and then nothing has happened. */
static bool work_now(struct call *c)
{
    struct reading *r = c->op, fresh = *r;
    int fd = root_open_cached(c->root, arg_str(c, "path"), ROOT_FILE);
    bool ok = false;
    struct stat st;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= SMALL) {
        r->how = RWF_NOWAIT;
        r->size = (unsigned long long)st.st_size;
        ok = read_file(c, fd, r);
    }
    close(fd);
    if (!ok) {
        *r = fresh;
        c->err = (struct err){ 0 };
    }
    return ok;
}

static size_t count_lines(struct str s)
{
    size_t lines = 0;
    const char *p = s.p, *end = s.p + s.n;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        lines++;
        p++;
    }
    return lines + (s.n > 0 && s.p[s.n - 1] != '\n');
}

static void say_range(struct call *c, const struct reading *r)
{
    size_t to = r->range.to && r->range.to < r->lines ? r->range.to : r->lines;
    const char *part = r->size > MAX_SCAN ? "the first 64 MB of " : "";

    if (r->range.from > r->lines)
        result_status(&c->result, "no line %zu: %sthe file has %s", r->range.from, part,
                      text_count(&c->a, r->lines, "line", "lines"));
    else if (r->range.from == to)
        result_status(&c->result, "line %zu of %s%zu", to, *part ? "at least " : "", r->lines);
    else
        result_status(&c->result, "lines %zu-%zu of %s%zu", r->range.from, to,
                      *part ? "at least " : "", r->lines);
}

static void say(struct call *c, const struct reading *r)
{
    const char *bytes = text_count(&c->a, r->size, "byte", "bytes");

    if (c->result.binary)
        result_status(&c->result, "binary file, %s: not shown; bash with strings or xxd can look",
                      bytes);
    else if (r->range.from)
        say_range(c, r);
    else if (r->size == 0)
        result_status(&c->result, "empty file");
    else if (r->more)
        result_status(&c->result, "the first %zu of %s", r->text.n, bytes);
    else
        result_status(&c->result, "%s, %s",
                      text_count(&c->a, count_lines(r->text), "line", "lines"), bytes);
    c->result.more = "read it with lines \"FROM-TO\"";
}

static void after(struct call *c)
{
    struct reading *r = c->op;
    struct result *res = &c->result;
    struct entry *content;

    c->op = NULL;
    if (c->err.code) {
        call_fail(c);
        return;
    }
    res->binary = r->binary;
    res->cut = r->more;
    result_str(res, "path", str_of(root_relative(c->root, &c->a, arg_str(c, "path"))));
    result_str(res, "encoding", STR("utf-8"));
    if (!r->binary || c->answer == ANSWER_JEEVES) {
        content = result_text(res, "content", r->text);
        if (r->range.from)
            content->first_line = r->range.from;
    }
    result_place(res, "truncated", ENTRY_TRUNCATED);
    result_place(res, "bytes", ENTRY_BYTES);
    result_place(res, "duration_ms", ENTRY_DURATION);
    if (c->answer == ANSWER_PLAIN)
        say(c, r);
    call_done(c);
}

/* ax://prune/<id>#120-154: what an earlier answer left out. */
static void recovered(struct call *c)
{
    struct str path = arg_str(c, "path"), lines = arg_str(c, "lines");
    const char *hash = memchr(path.p, '#', path.n);
    size_t from = 0, to = 0;

    if (!lines.p && hash)
        lines = (struct str){ hash + 1, path.n - (size_t)(hash + 1 - path.p) };
    if (lines.p && !lines_parse(lines, &from, &to))
        err_set(&c->err, ERR_MISSING, "'#%.*s' are no lines; ax://prune/<id>#120-154 would be",
                (int)utf8_cut(lines, 80), lines.p);
    c->result.lines = lines;
    if (c->err.code == ERR_UNKNOWN_ID)
        c->err.code = ERR_MISSING; /* the contract's word for what is not there */
    if (c->err.code)
        call_fail(c);
    else
        recover_answer(c, c->op, from, to);
}

static void read_kept(struct call *c, struct str path)
{
    static const char prefix[] = "ax://prune/";
    struct str id = { path.p + sizeof prefix - 1, path.n - (sizeof prefix - 1) };
    const char *hash;

    if (!str_starts(path, prefix)) {
        err_set(&c->err, ERR_MISSING, "there is only ax://prune/<id>, not '%.*s'",
                (int)utf8_cut(path, 80), path.p);
        call_fail(c);
        return;
    }
    hash = memchr(id.p, '#', id.n);
    if (hash)
        id.n = (size_t)(hash - id.p);
    recover_start(c, id, recovered);
}

static void run(struct call *c)
{
    struct reading *r = arena_zalloc(&c->a, sizeof *r);
    struct str lines = arg_str(c, "lines");

    if (str_starts(arg_str(c, "path"), "ax://")) {
        read_kept(c, arg_str(c, "path"));
        return;
    }
    c->op = r;
    if (lines.p)
        lines_parse(lines, &r->range.from, &r->range.to);
    if (work_now(c))
        after(c);
    else
        call_work(c, work, after);
}

static const struct field fields[] = {
    { "path", F_STR, .required = true, .min = 1, .rules = FIELD_PATH, .text = "file to read" },
    { "lines", F_STR, .min = 1, .max = 48, .rules = FIELD_LINES, .answers = 1 << ANSWER_PLAIN,
      .text = "only these lines, e.g. \"120-180\" or \"120-\"" },
    { "encoding", F_STR, .def_str = "utf-8", .only = "utf-8", .answers = 1 << ANSWER_JEEVES,
      .text = "encoding of the text" },
    { "max_output_bytes", F_INT, .min = 1024, .max = MAX_OUTPUT, .answers = 1 << ANSWER_JEEVES,
      .text = "cut the output at this many bytes" },
    { "context_focus_question", F_STR, .min = 1, .max = 1000, .rules = FIELD_NONBLANK,
      .text = "what you want to know; keeps only lines that matter" },
    { 0 },
};

static const struct tool_noun nouns[] = { { "file", "read" }, { 0 } };

const struct tool tool_read = {
    .name = "read",
    .category = CAT_FILE,
    .effects = READS,
    .text = "Read a text file.",
    .fields = fields,
    .nouns = nouns,
    .may_be_long = true,
    .always_load = true,
    .run = run,
};
