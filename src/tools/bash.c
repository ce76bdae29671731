/* bash.c: run a shell command and give back what it wrote.
 *
 * A login shell in jeeves, as its contract says; elsewhere a plain one, which
 * starts faster and reads no profile that could surprise. The folder is handed
 * over as a descriptor. A command that ends with a code is an answer in plain
 * profiles and an error in jeeves; a timeout is an error in both, and what was
 * written until then goes along.
 * Killing what the command left behind is loop/child.c's. */
#include <unistd.h>
#include "call/call.h"
#include "loop/child.h"
#include "tools/table.h"
#include "tools/text.h"

enum { MAX_OUTPUT = 10 << 20 };

struct shell {
    int cwd; /* -1: the root's own */
    struct child *child;
};

static size_t name_len(const char *pair)
{
    return strcspn(pair, "=");
}

static bool names(const char *const *pairs, size_t count, const char *pair)
{
    size_t n = name_len(pair);

    for (size_t i = 0; i < count; i++)
        if (name_len(pairs[i]) == n && memcmp(pairs[i], pair, n) == 0)
            return true;
    return false;
}

/* What is inherited, without the names that the call sets, then those. */
static const char *const *merge_env(struct call *c)
{
    const char *const *own = c->site->env;
    size_t inherited = 0, count = 0, n = 0;
    const char *const *set = arg_map(c, "env", &count);
    const char **env;

    while (own && own[inherited])
        inherited++;
    env = arena_alloc(&c->a, (inherited + count + 1) * sizeof *env);
    for (size_t i = 0; i < inherited; i++)
        if (!names(set, count, own[i]))
            env[n++] = own[i];
    for (size_t i = 0; i < count; i++)
        env[n++] = set[i];
    env[n] = NULL;
    return env;
}

static void close_cwd(struct shell *s)
{
    if (s->cwd >= 0)
        close(s->cwd);
    s->cwd = -1;
}

static struct str output(struct call *c, const struct buf *b, uint64_t total)
{
    struct str s = buf_str(b);

    if (total > s.n) {
        s = text_whole(s);
        c->result.cut = true;
    }
    return arena_str(&c->a, s);
}

static void put_result(struct call *c, const struct child *ch)
{
    struct result *r = &c->result;
    const char *cwd =
        root_relative(c->root, &c->a, arg_has(c, "cwd") ? arg_str(c, "cwd") : STR("."));

    result_str(r, "cmd", arg_str(c, "cmd"));
    result_str(r, "cwd", str_of(cwd));
    result_text(r, "stdout", output(c, &ch->out, ch->out_total));
    result_text(r, "stderr", output(c, &ch->err_out, ch->err_total))->title = "stderr";
    if (ch->outcome == CHILD_EXITED)
        result_int(r, "exit_code", ch->status);
    else
        result_json(r, "exit_code", STR("null"));
    result_bool(r, "timed_out", ch->outcome == CHILD_TIMED_OUT);
    result_place(r, "truncated", ENTRY_TRUNCATED);
    result_place(r, "duration_ms", ENTRY_DURATION);
    r->keep = true;
    r->more = "send the output to a file and read that by lines";
}

/* An exit code other than 0: in jeeves a failure, elsewhere part of the answer. */
static void end_exited(struct call *c, const struct child *ch)
{
    const char *by = ch->signal ? arena_printf(&c->a, " (signal %d)", ch->signal) : "";

    result_status(&c->result, "exit %d%s", ch->status, by);
    if (ch->status == 0 || c->answer != ANSWER_JEEVES) {
        call_done(c);
        return;
    }
    c->exit_code = ch->status;
    err_set(&c->err, ERR_NONZERO, "command exited with code %d%s", ch->status, by);
    call_fail(c);
}

static void on_end(void *arg, struct child *ch)
{
    struct call *c = arg;
    struct shell *s = c->op;

    s->child = NULL;
    c->on_cancel = NULL;
    close_cwd(s);
    put_result(c, ch);
    switch (ch->outcome) {
    case CHILD_EXITED:
        end_exited(c, ch);
        return;
    case CHILD_TIMED_OUT:
        err_set(&c->err, ERR_TIMEOUT,
                "timed out after %ld ms; the command and all it started were killed",
                arg_int(c, "timeout_ms"));
        break;
    case CHILD_CANCELLED:
        err_set(&c->err, ERR_CANCELLED, "cancelled");
        break;
    case CHILD_NO_START:
    case CHILD_LOST:
        err_set(&c->err, ERR_SPAWN, "cannot run the command: %s", ch->err.msg);
        break;
    }
    call_fail(c);
}

static void on_cancel(struct call *c)
{
    struct shell *s = c->op;

    child_kill(s->child);
}

static void start(struct call *c)
{
    struct shell *s = c->op;
    long max = arg_int(c, "max_output_bytes");
    size_t ceiling = (max > 0 ? (size_t)max : MAX_OUTPUT) + TEXT_SLACK;
    const char *const argv[] = { "bash", c->answer == ANSWER_JEEVES ? "-lc" : "-c",
                                 arg_str(c, "cmd").p, NULL };
    const struct child_opts o = {
        .argv = argv,
        .env = merge_env(c),
        .cwd = s->cwd >= 0 ? s->cwd : c->root->fd,
        .timeout_ms = (uint64_t)arg_int(c, "timeout_ms"),
        .max_out = ceiling,
        .max_err = ceiling,
        .on_end = on_end,
        .arg = c,
    };

    s->child = child_start(c->site->loop, &o);
    c->on_cancel = on_cancel;
}

/* On a worker. */
static void open_cwd(struct call *c)
{
    struct shell *s = c->op;

    s->cwd = root_open_path(c->root, arg_str(c, "cwd"), ROOT_DIR, &c->err);
}

static void opened(struct call *c)
{
    struct shell *s = c->op;

    if (s->cwd < 0) {
        c->err.code = ERR_CWD; /* whatever is wrong with it, the contract has one word */
        call_fail(c);
    } else if (call_cancelled(c)) {
        close_cwd(s);
        call_done(c);
    } else {
        start(c);
    }
}

static void run(struct call *c)
{
    struct shell *s = arena_zalloc(&c->a, sizeof *s);

    s->cwd = -1;
    c->op = s;
    if (arg_has(c, "cwd"))
        s->cwd = root_open_cached(c->root, arg_str(c, "cwd"), ROOT_DIR);
    if (arg_has(c, "cwd") && s->cwd < 0)
        call_work(c, open_cwd, opened);
    else
        start(c);
}

static const struct field fields[] = {
    { "cmd", F_STR, .required = true, .min = 1, .max = 50000, .rules = FIELD_ARG,
      .text = "shell command" },
    { "cwd", F_STR, .min = 1, .rules = FIELD_PATH, .text = "folder to run in; default: the root" },
    { "env", F_MAP, .max = 200, .rules = FIELD_ENV, .text = "further environment variables" },
    { "timeout_ms", F_INT, .min = 100, .max = 300000, .def = 30000,
      .text = "kill the command after this time" },
    { "max_output_bytes", F_INT, .min = 1024, .max = MAX_OUTPUT, .answers = 1 << ANSWER_JEEVES,
      .text = "cut the output at this many bytes" },
    { "context_focus_question", F_STR, .min = 1, .max = 1000, .rules = FIELD_NONBLANK,
      .text = "what you want to know; keeps only lines that matter" },
    { 0 },
};

static const struct tool_noun nouns[] = { { "shell", "run" }, { 0 } };

const struct tool tool_bash = {
    .name = "bash",
    .category = CAT_SHELL,
    .effects = WRITES | DESTROYS | OUTSIDE,
    .text = "Run a command with bash. stdin is empty; whatever it leaves running is killed when "
            "it ends.",
    .fields = fields,
    .nouns = nouns,
    .may_be_long = true,
    .always_load = true,
    .run = run,
};
