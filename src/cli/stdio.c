/* stdio.c: MCP over stdin and stdout, for a client that starts us. */
#include "cli/cli.h"
#include <signal.h>
#include "base/log.h"
#include "mcp/door_stdio.h"

static void on_end(void *arg)
{
    struct house *h = arg;

    loop_stop(h->loop);
}

int cmd_stdio(struct house *h, int argc, char **argv)
{
    struct mcp mcp = { .site = &h->site,
                       .registry = h->registry,
                       .ask_ms = (unsigned)h->set.num[OPT_ASK_TIMEOUT] * 1000 };
    const char *form = h->set.text[OPT_LOG_FORMAT], *level = h->set.text[OPT_LOG_LEVEL];
    struct door_stdio *door;
    struct err e;

    if (argc > 0)
        return cli_fail(2, "stdio takes flags only, not '%s'", argv[0]);
    log_open(2, form && strcmp(form, "json") == 0, level ? log_level_of(level) : LOG_WARN);
    if (!house_open(h, &e)) {
        house_close(h);
        return cli_fail(2, "%s", e.msg);
    }
    door = door_stdio_open(&mcp, h->profile, 0, 1, (size_t)h->set.num[OPT_MAX_BODY], on_end, h, &e);
    if (!door) {
        house_close(h);
        return cli_fail(1, "%s", e.msg);
    }
    loop_on_signal(h->loop, SIGTERM, on_end, h);
    loop_on_signal(h->loop, SIGINT, on_end, h);
    cli_flush_log(h->loop);
    loop_run(h->loop);
    door_stdio_free(door);
    mcp_done(&mcp);
    house_settle(h);
    cli_flush_log(NULL);
    house_close(h);
    return 0;
}
