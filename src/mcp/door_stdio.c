/* door_stdio.c: lines in, lines out.
 *
 * End of input is how clients say goodbye, and also how `printf … | pith
 * stdio` ends. So calls under way may still answer for a moment (GRACE_MS),
 * unless nobody reads our answers any more: then they are cancelled at once. */
#include "mcp/door_stdio.h"
#include <poll.h>
#include <stdlib.h>
#include "base/mem.h"
#include "call/principal.h"
#include "wire/stdio.h"

enum { GRACE_MS = 5000, FLUSH_MS = 1000 };

struct door_stdio {
    struct outlet out; /* first */
    struct mcp *mcp;
    const struct profile *profile;
    struct stdio *io;
    struct client client;
    int fd; /* that the peer reads */
    size_t max_line;
    bool ended; /* no more input */
    struct timer *grace;
    loop_fn *end;
    void *arg;
};

static void finish(struct door_stdio *d)
{
    loop_fn *end = d->end;

    timer_cancel(d->grace);
    d->grace = NULL;
    d->end = NULL;
    if (end)
        end(d->arg);
}

static bool say(struct outlet *out, struct str message)
{
    struct door_stdio *d = (struct door_stdio *)out;

    stdio_send(d->io, message);
    return true;
}

/* A subscription has no answer to wait for. */
static bool waits(const struct door_stdio *d)
{
    return client_waits(&d->client);
}

static void drop(struct outlet *out)
{
    struct door_stdio *d = (struct door_stdio *)out;

    if (d->ended && !waits(d))
        finish(d);
}

static void on_reply(struct outlet *out, const struct mcp_reply *r)
{
    if (r->message.n)
        say(out, r->message);
    drop(out);
}

static void let_go(struct outlet *out)
{
    (void)out; /* there is one stream, and it stays */
}

static struct client *welcome(struct outlet *out)
{
    struct door_stdio *d = (struct door_stdio *)out;

    client_join(d->mcp, &d->client, out);
    return &d->client;
}

static const struct outlet_ops ops = { say, on_reply, drop, let_go, welcome };

static struct mcp_in message(struct door_stdio *d, struct str text)
{
    return (struct mcp_in){ .profile = d->profile,
                            .principal = principal_local(),
                            .client = &d->client,
                            .out = &d->out,
                            .text = text };
}

static void on_line(void *arg, struct str line)
{
    struct door_stdio *d = arg;
    struct mcp_in in = message(d, line);

    mcp_handle(d->mcp, &in);
}

static void on_long(void *arg)
{
    struct door_stdio *d = arg;
    struct mcp_in in = message(d, STR(""));
    struct err e;

    err_set(&e, ERR_PARSE, "a line is over %zu bytes; --max-body raises the ceiling", d->max_line);
    mcp_refuse(&in, &e);
}

static void on_grace_over(void *arg)
{
    struct door_stdio *d = arg;

    d->grace = NULL;
    client_forget_all(&d->client);
    finish(d);
}

static bool still_read(int fd)
{
    struct pollfd p = { .fd = fd };

    return poll(&p, 1, 0) == 0 || !(p.revents & (POLLERR | POLLHUP | POLLNVAL));
}

static void on_end(void *arg)
{
    struct door_stdio *d = arg;

    d->ended = true;
    if (!still_read(d->fd))
        client_forget_all(&d->client);
    if (waits(d))
        d->grace = timer_start(d->mcp->site->loop, GRACE_MS, on_grace_over, d);
    else
        finish(d);
}

struct door_stdio *door_stdio_open(struct mcp *m, const struct profile *p, int in, int out,
                                   size_t max_line, loop_fn *end, void *arg, struct err *e)
{
    struct door_stdio *d = xcalloc(1, sizeof *d);
    struct stdio_opts o = { .in = in,
                            .out = out,
                            .max_line = max_line,
                            .on_line = on_line,
                            .on_long = on_long,
                            .on_end = on_end,
                            .arg = d };

    d->mcp = m;
    d->profile = p;
    d->fd = out;
    d->out.ops = &ops;
    d->max_line = max_line;
    d->end = end;
    d->arg = arg;
    d->io = stdio_open(m->site->loop, &o, e);
    if (d->io)
        return d;
    free(d);
    return NULL;
}

void door_stdio_free(struct door_stdio *d)
{
    if (!d)
        return;
    d->end = NULL;
    timer_cancel(d->grace);
    mcp_close_listeners(d->mcp);
    client_done(&d->client);
    stdio_close(d->io, FLUSH_MS);
    free(d);
}
