/* cli.c: which command, with which settings. */
#include "cli/cli.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/log.h"

struct command {
    const char *name, *args;
    unsigned bit;
    int (*run)(struct house *h, int argc, char **argv);
    const char *text;
};

static const struct command commands[] = {
    { "serve", "", FOR_SERVE, cmd_serve, "serve MCP over HTTP" },
    { "stdio", "", FOR_STDIO, cmd_stdio, "speak MCP over stdin and stdout" },
    { "call", "TOOL [key=value ...]", FOR_CALL, cmd_call, "call one tool and print its answer" },
    { "tools", "[TOOL]", FOR_TOOLS, cmd_tools, "list the tools, or explain one" },
    { "prune", "--goal Q [FILE]", FOR_PRUNE, cmd_prune,
      "the lines of a file, of stdin or of '-- CMD ...' that answer a question" },
    { "recover", "ID [FROM-TO]", FOR_RECOVER, cmd_recover, "what was left out, as it was" },
    { "token", "", FOR_TOKEN, cmd_token, "show the token of the HTTP server, or change it" },
    { "store", "[purge]", FOR_STORE, cmd_store, "show what is kept, or remove it" },
    { 0 },
};

int cli_fail(int status, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    dprintf(2, "pith: %s\n", text);
    return status;
}

/* Ours may be shared with somebody who made it non-blocking. */
static bool print_later(void)
{
    struct pollfd p = { .fd = 1, .events = POLLOUT };

    return errno == EINTR || (errno == EAGAIN && poll(&p, 1, -1) >= 0);
}

bool cli_print(struct str s)
{
    while (s.n > 0) {
        ssize_t n = write(1, s.p, s.n);

        if (n < 0 && !print_later()) {
            cli_fail(1, "cannot write to stdout: %s", strerror(errno));
            return false;
        }
        if (n > 0) {
            s.p += n;
            s.n -= (size_t)n;
        }
    }
    return true;
}

/* What is opened next must not become our stdout, into which the log writes. */
static void fill_standard(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd >= 0)
        close(fd);
}

/* --- the log's leftovers ---
 *
 * A timer and not a watch: a watched descriptor becomes non-blocking, and ours
 * is shared with whoever started us. */

enum { FLUSH_MS = 50 };

static struct loop *log_loop;
static struct timer *log_timer;

static void on_log_timer(void *arg)
{
    (void)arg;
    log_timer = NULL;
    log_flush();
}

static void on_log_waits(void)
{
    if (!log_timer)
        log_timer = timer_start(log_loop, FLUSH_MS, on_log_timer, NULL);
}

void cli_flush_log(struct loop *l)
{
    log_loop = l;
    log_on_pending(l ? on_log_waits : NULL);
    if (l)
        return;
    timer_cancel(log_timer);
    log_timer = NULL;
}

/* --- help --- */

static int help_all(void)
{
    struct buf b;
    bool ok;

    buf_init(&b, 1 << 16);
    buf_adds(&b, "pith " PITH_VERSION
                 ": tools for an AI agent, and only the part of their output it asked for\n\n"
                 "usage: pith COMMAND [flags]\n\n");
    for (const struct command *c = commands; c->name; c++)
        buf_addf(&b, "  %-8s %-22s %s\n", c->name, c->args, c->text);
    buf_adds(&b, "\n'pith COMMAND --help' shows its flags; 'pith --version' the version.\n");
    ok = cli_print(buf_str(&b));
    buf_done(&b);
    return ok ? 0 : 1;
}

/* With the arguments of the tool, where `pith call TOOL --help` names one. */
static int help_one(const struct command *c, const struct house *h, const char *first)
{
    const struct tool *t = NULL;
    struct buf b;
    bool ok;

    buf_init(&b, 1 << 16);
    if (h->as_jeeves)
        buf_addf(&b, "usage: jeeves-mcp-pruner [flags]: %s\n\n", c->text);
    else
        buf_addf(&b, "usage: pith %s %s%s[flags]: %s\n\n", c->name, c->args, *c->args ? " " : "",
                 c->text);
    if (c->bit == FOR_CALL)
        t = cli_tool(h->registry->tools, first);
    if (t) {
        registry_help(t, ANSWER_PLAIN, &b);
        buf_addc(&b, '\n');
    }
    options_help(c->bit, &b);
    ok = cli_print(buf_str(&b));
    buf_done(&b);
    return ok ? 0 : 1;
}

static bool wants(int argc, char **argv, const char *flag)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], flag) == 0)
            return true;
    return false;
}

static const struct command *find(const char *name)
{
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int run(const struct command *c, struct house *h, int argc, char **argv)
{
    struct err e;

    if (wants(argc, argv, "--help") || wants(argc, argv, "-h"))
        return help_one(c, h, argv[0]);
    if (!options_read(&h->set, c->bit, &argc, argv, &e))
        return cli_fail(2, "%s", e.msg);
    return c->run(h, argc, argv);
}

int cli_main(int argc, char **argv, const struct registry *registry)
{
    struct house h = { .registry = registry, .site.root.fd = -1 };
    const char *self = argc > 0 ? argv[0] : "pith", *slash = strrchr(self, '/');
    const struct command *c;

    fill_standard();
    h.self = self;
    h.as_jeeves = strcmp(slash ? slash + 1 : self, "jeeves-mcp-pruner") == 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return cli_print(STR("pith " PITH_VERSION "\n")) ? 0 : 1;
    if (h.as_jeeves)
        return run(&commands[0], &h, argc - 1, argv + 1);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help_all();
    c = find(argv[1]);
    if (!c)
        return cli_fail(2, "unknown command '%s'; 'pith --help' shows those there are", argv[1]);
    return run(c, &h, argc - 2, argv + 2);
}
