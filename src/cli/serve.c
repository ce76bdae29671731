/* serve.c: the HTTP server, from ready line to last answer. */
#include "cli/cli.h"
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "mcp/door_http.h"

enum { STOP_MS = 5000, LOOK_MS = 20 };

struct server {
    struct house *h;
    struct mcp mcp;
    struct door_http door;
    struct http_server *http;
    struct timer *look;
    uint64_t deadline; /* of a stop under way, 0: none */
};

static bool is_loopback(const char *host)
{
    struct in_addr v4;

    if (inet_pton(AF_INET, host, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    return strcmp(host, "::1") == 0;
}

/* Which address may be served? Off loopback a token and TLS are needed, and
 * the token is not there yet. */
static bool may_serve(const char *host, struct err *e)
{
    return is_loopback(host) ||
           err_set(e, ERR_CONFIG,
                   "invalid_host: '%s' is not a loopback address (127.0.0.1 or ::1); others "
                   "need a token and TLS, and there is no token yet",
                   host);
}

/* 1,024 connections do not fit a soft limit of 1,024 files. */
static void raise_file_limit(long connections)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= (rlim_t)connections + 256)
        return;
    r.rlim_cur = (rlim_t)connections + 256;
    if (r.rlim_cur > r.rlim_max)
        r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* --- stopping: no new work, calls under way get 5 s --- */

static void look(void *arg)
{
    struct server *s = arg;

    s->look = NULL;
    if ((http_busy(s->http) == 0 && s->h->site.busy == 0) || clock_ms() >= s->deadline)
        loop_stop(s->h->loop);
    else
        s->look = timer_start(s->h->loop, LOOK_MS, look, s);
}

static void on_signal(void *arg)
{
    struct server *s = arg;

    if (s->deadline) { /* a second time: at once */
        s->deadline = clock_ms();
        return;
    }
    s->deadline = clock_ms() + STOP_MS;
    http_drain(s->http);
    door_http_drain(&s->door);
    s->look = timer_start(s->h->loop, 0, look, s);
}

/* --- new certificates: connections under way keep theirs --- */

static void on_hangup(void *arg)
{
    struct server *s = arg;
    struct err err;
    struct buf b;
    struct json_out o = json_out(&b);

    if (http_tls_reload(s->http, &err)) {
        log_event(LOG_INFO, "tls.reloaded", NULL, (struct str){ 0 });
        return;
    }
    buf_init(&b, 1 << 16);
    json_obj(&o);
    json_kv_strz(&o, "message", err.msg);
    json_obj_end(&o);
    log_event(LOG_ERROR, "tls.reload_failed", NULL, buf_str(&b));
    buf_done(&b);
}

/* What is still under way is cancelled, and its end awaited: a call owns
 * memory and children. */
static void end_calls(struct server *s)
{
    http_free(s->http);
    s->http = NULL;
    door_http_close(&s->door);
    house_settle(s->h);
    mcp_done(&s->mcp);
}

/* --- starting --- */

static void say_ready(struct server *s, int port)
{
    const struct settings *set = &s->h->set;
    struct buf b;
    struct json_out o = json_out(&b);

    buf_init(&b, 1 << 16);
    json_obj(&o);
    json_kv_strz(&o, "host", set->text[OPT_HOST]);
    json_kv_int(&o, "port", port);
    if (set->text[OPT_SOCKET])
        json_kv_strz(&o, "socket", set->text[OPT_SOCKET]);
    if (set->text[OPT_TLS_CERT])
        json_kv_bool(&o, "tls", true);
    json_kv_strz(&o, "root", s->h->site.root.path);
    json_obj_end(&o);
    log_event(LOG_INFO, "mcp_pruner.ready", NULL, buf_str(&b));
    buf_done(&b);
}

/* Each on a line of its own: the log writes lines whole or not at all. */
static void say_lines(const char *text)
{
    char line[512];

    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        log_line(line);
    }
}

/* Where it is, as a client is told; without TCP, for curl at the socket. */
static void make_url(char url[128], const struct settings *set, int port)
{
    const char *host = set->text[OPT_HOST];
    bool v6 = strchr(host, ':') != NULL;

    if (port)
        snprintf(url, 128, "http%s://%s%s%s:%d", set->text[OPT_TLS_CERT] ? "s" : "", v6 ? "[" : "",
                 host, v6 ? "]" : "", port);
    else
        snprintf(url, 128, "http://localhost");
}

static void say_clients(struct buf *b, const char *url)
{
    buf_adds(b, "\nAny program of this machine may call it: it has no token yet.\n\nAdd it to\n");
    buf_addf(b, "  Claude Code   claude mcp add -t http pith %s/mcp\n", url);
    buf_addf(b, "  Codex         codex mcp add pith --url %s/mcp\n", url);
    buf_addf(b, "  Gemini CLI    gemini mcp add -t http pith %s/mcp\n", url);
}

static void say_banner(struct server *s, int port)
{
    const struct settings *set = &s->h->set;
    const char *socket = set->text[OPT_SOCKET];
    char url[128];
    struct buf b;

    make_url(url, set, port);
    buf_init(&b, 1 << 16);
    buf_addf(&b, "pith " PITH_VERSION " serves %s at ", s->h->site.root.path);
    if (port)
        buf_addf(&b, "%s/mcp%s", url, socket ? " and " : "");
    if (socket)
        buf_addf(&b, "the socket %s", socket);
    buf_addf(&b, " (profile %s)\n", s->h->profile->name);
    if (port)
        say_clients(&b, url);
    buf_addf(
        &b,
        "\nTry it\n  curl -s%s%s %s/mcp -H 'Content-Type: application/json' -d "
        "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"bash\","
        "\"arguments\":{\"cmd\":\"uname -a\"}}}'\n",
        port ? "" : " --unix-socket ", port ? "" : socket, url);
    buf_adds(&b, "\nCtrl-C stops it.");
    say_lines(b.data);
    buf_done(&b);
}

static bool choose_log(struct house *h)
{
    const char *form = h->set.text[OPT_LOG_FORMAT], *level = h->set.text[OPT_LOG_LEVEL];
    bool json = form ? strcmp(form, "json") == 0 : h->as_jeeves || !isatty(1);

    log_open(1, json, level ? log_level_of(level) : LOG_INFO);
    return json;
}

static void open_door(struct server *s)
{
    const struct house *h = s->h;
    const long *num = h->set.num;

    s->mcp = (struct mcp){ .site = &s->h->site,
                           .registry = h->registry,
                           .ask_ms = (unsigned)num[OPT_ASK_TIMEOUT] * 1000 };
    s->door = (struct door_http){ .mcp = &s->mcp,
                                  .profile = h->profile,
                                  .only_active = h->as_jeeves || num[OPT_NO_AUTH],
                                  .only_jeeves = h->as_jeeves,
                                  .heartbeat_ms = (unsigned)num[OPT_HEARTBEAT] * 1000,
                                  .started_ms = clock_ms() };
    s->door.sessions =
        sessions_new(&(struct session_opts){ .mcp = &s->mcp,
                                             .most = (unsigned)num[OPT_MAX_SESSIONS],
                                             .idle_ms = (unsigned)num[OPT_SESSION_IDLE] * 1000,
                                             .window_ms = (unsigned)num[OPT_RESUME_WINDOW] * 1000,
                                             .heartbeat_ms = s->door.heartbeat_ms });
    clock_iso(s->door.started_at);
}

static bool start(struct server *s, struct err *e)
{
    struct house *h = s->h;
    const char *host = h->set.text[OPT_HOST];
    bool tcp = strcmp(host, "none") != 0;
    struct http_opts o = { .host = tcp ? host : NULL,
                           .any_address = tcp && !is_loopback(host),
                           .names = h->set.text[OPT_ALLOW_HOST],
                           .socket = h->set.text[OPT_SOCKET],
                           .tls_cert = h->set.text[OPT_TLS_CERT],
                           .tls_key = h->set.text[OPT_TLS_KEY],
                           .port = h->set.given[OPT_PORT] ? (int)h->set.num[OPT_PORT] : -1,
                           .max_header = 16 << 10,
                           .max_body = (size_t)h->set.num[OPT_MAX_BODY],
                           .max_conns = (unsigned)h->set.num[OPT_MAX_CONNECTIONS],
                           .request_ms = 30000,
                           .idle_ms = 75000,
                           .handler = door_http,
                           .arg = &s->door };

    if (tcp && !may_serve(host, e))
        return false;
    if (!house_open(h, e))
        return false;
    if (o.port < 0)
        o.port = h->profile->port;
    raise_file_limit(h->set.num[OPT_MAX_CONNECTIONS]);
    open_door(s);
    s->http = http_listen(h->loop, &o, e);
    return s->http != NULL;
}

static int fail(struct house *h, bool json, const struct err *e)
{
    struct buf b;
    struct json_out o = json_out(&b);

    if (json) {
        buf_init(&b, 1 << 16);
        json_obj(&o);
        json_kv_strz(&o, "message", e->msg);
        json_obj_end(&o);
        log_event(LOG_ERROR, "mcp_pruner.start_failed", NULL, buf_str(&b));
        buf_done(&b);
    }
    house_close(h);
    return cli_fail(e->code == ERR_CONFIG ? 2 : 1, "%s", e->msg);
}

int cmd_serve(struct house *h, int argc, char **argv)
{
    struct server s = { .h = h };
    bool json = choose_log(h);
    struct err e;

    if (argc > 0)
        return cli_fail(2, "serve takes flags only, not '%s'", argv[0]);
    if (!start(&s, &e))
        return fail(h, json, &e);
    loop_on_signal(h->loop, SIGTERM, on_signal, &s);
    loop_on_signal(h->loop, SIGINT, on_signal, &s);
    if (h->set.text[OPT_TLS_CERT])
        loop_on_signal(h->loop, SIGHUP, on_hangup, &s);
    cli_flush_log(h->loop);
    if (json)
        say_ready(&s, http_port(s.http));
    else
        say_banner(&s, http_port(s.http));
    loop_run(h->loop);
    timer_cancel(s.look);
    end_calls(&s);
    cli_flush_log(NULL);
    house_close(h);
    log_flush();
    return 0;
}
