/* serve.c: the HTTP server, from ready line to last answer. */
#include "cli/cli.h"
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "cli/banner.h"
#include "cli/home.h"
#include "mcp/door_http.h"

enum { STOP_MS = 5000, LOOK_MS = 20 };

struct server {
    struct house *h;
    struct mcp mcp;
    struct door_http door;
    struct http_server *http;
    struct auth *auth; /* NULL: no token is asked for */
    int terminal;      /* a descriptor of ours that was one at the start, -1: none */
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

/* Off loopback everything that is said can be heard and anybody may knock: no
 * token or no TLS, no start. */
static bool may_serve(const char *host, bool token, bool tls, struct err *e)
{
    if (is_loopback(host) || (token && tls))
        return true;
    return err_set(e, ERR_CONFIG,
                   "invalid_host: '%.60s' is not a loopback address (127.0.0.1 or ::1); others "
                   "need %s",
                   host, token ? "TLS: --tls-cert and --tls-key" : "a token: not --no-auth");
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

/* --- SIGHUP --- */

/* A terminal that closes sends the same signal as `kill -HUP`, and whoever
 * closed it wants us gone. */
static bool terminal_closed(const struct server *s)
{
    return s->terminal >= 0 && !isatty(s->terminal);
}

static void say_reloaded(const char *event, const char *failed, bool ok, const struct err *e)
{
    struct buf b;
    struct json_out o = json_out(&b);

    if (ok) {
        log_event(LOG_INFO, event, NULL, STR("{}"));
        return;
    }
    buf_init(&b, 4096);
    json_obj(&o);
    json_kv_strz(&o, "message", e->msg);
    json_obj_end(&o);
    log_event(LOG_ERROR, failed, NULL, buf_str(&b));
    buf_done(&b);
}

static void on_revoked(void *arg, const char *principal)
{
    struct server *s = arg;

    door_http_revoke(&s->door, principal);
}

/* A file that is wrong changes nothing: the old tokens and certificates stay
 * good, and connections under way keep theirs in any case. */
static void reload(struct server *s)
{
    struct err e;

    if (s->auth)
        say_reloaded("auth.reloaded", "auth.reload_failed", auth_reload(s->auth, &e), &e);
    if (s->h->set.text[OPT_TLS_CERT])
        say_reloaded("tls.reloaded", "tls.reload_failed", http_tls_reload(s->http, &e), &e);
}

static void on_hup(void *arg)
{
    struct server *s = arg;

    if (terminal_closed(s))
        on_signal(s);
    else
        reload(s);
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

/* A door without a lock says so, whatever the reason. */
static void say_open(void)
{
    log_event(LOG_WARN, "mcp_pruner.no_token", NULL,
              STR("{\"message\":\"no token is asked for: any program of this machine may call\"}"));
}

static void say_started(struct server *s, bool json)
{
    int port = http_port(s->http);

    if (!json) {
        banner_say(s->h, port, s->auth != NULL);
        return;
    }
    say_ready(s, port);
    if (!s->auth)
        say_open();
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
                                  .auth = s->auth,
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

/* jeeves-mcp-pruner has no token, as its seed says. */
static bool open_tokens(struct server *s, struct err *e)
{
    char dir[PATH_MAX];

    if (s->h->as_jeeves || s->h->set.num[OPT_NO_AUTH])
        return true;
    if (!home_dir(dir, e))
        return false;
    s->auth = auth_open(dir, s->h->registry, e);
    return s->auth != NULL;
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

    if (tcp && !may_serve(host, !h->as_jeeves && !h->set.num[OPT_NO_AUTH], o.tls_cert != NULL, e))
        return false;
    if (!house_open(h, e) || !open_tokens(s, e))
        return false;
    if (o.port < 0)
        o.port = h->profile->port;
    raise_file_limit(h->set.num[OPT_MAX_CONNECTIONS]);
    open_door(s);
    if (s->auth)
        auth_on_revoked(s->auth, on_revoked, s);
    s->http = http_listen(h->loop, &o, e);
    return s->http != NULL;
}

static int fail(struct server *s, bool json, const struct err *e)
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
    door_http_close(&s->door);
    auth_free(s->auth);
    house_close(s->h);
    return cli_fail(e->code == ERR_CONFIG ? 2 : 1, "%s", e->msg);
}

int cmd_serve(struct house *h, int argc, char **argv)
{
    struct server s = { .h = h, .terminal = isatty(0) ? 0 : isatty(1) ? 1 : isatty(2) ? 2 : -1 };
    bool json = choose_log(h);
    struct err e;

    if (argc > 0)
        return cli_fail(2, "serve takes flags only, not '%s'", argv[0]);
    if (!start(&s, &e))
        return fail(&s, json, &e);
    loop_on_signal(h->loop, SIGTERM, on_signal, &s);
    loop_on_signal(h->loop, SIGINT, on_signal, &s);
    loop_on_signal(h->loop, SIGHUP, on_hup, &s);
    cli_flush_log(h->loop);
    say_started(&s, json);
    loop_run(h->loop);
    timer_cancel(s.look);
    end_calls(&s);
    cli_flush_log(NULL);
    auth_free(s.auth);
    house_close(h);
    log_flush();
    return 0;
}
