/* session_fuzz.c: clients that come, ask, answer, leave and come back in any order.
 *
 * The input is a play for a few clients of one HTTP door, over real sockets and
 * with windows of milliseconds. Each step is a letter and what it needs:
 *
 *     p CLIENT MESSAGE ID WHERE   POST; WHERE is the session and what is accepted
 *     g CLIENT WHERE ID           GET, with the last event seen of stream ID, or without
 *     d CLIENT WHERE              DELETE
 *     s CLIENT                    GET /sse          m CLIENT MESSAGE ID   POST /messages
 *     r CLIENT                    read what is here (who never does is a slow reader)
 *     h CLIENT                    half-close        x CLIENT              close, with a reset
 *     t TIME                      a while passes    c WHAT                something changed
 *
 * Any other byte is one of these letters too. At the end everybody leaves; then
 * no call, no post, no session and no subscription may be left. What is freed
 * too early or never, AddressSanitizer tells. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "mcp/door_http.h"

enum { CLIENTS = 6, SESSIONS = 4, MAX_STEPS = 200, SHORT_MS = 3, LONG_WAIT_MS = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct loop *loop;
static struct http_server *server;
static struct site site;
static struct mcp mcp;
static struct door_http door;

static struct {
    int fds[CLIENTS];
    char sessions[SESSIONS][40];
    unsigned session_count;
    char events[4][24]; /* the last one seen of streams 1, 2, … */
    char old[40];       /* the 2024 transport's session */
    const uint8_t *at, *end;
} play;

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "session_fuzz: %s\n", what);
    abort();
}

/* --- tools that do what tools may do --- */

static void finish(struct call *c)
{
    call_json(c, STR("\"content\":[]"));
}

static void on_time(void *arg)
{
    struct call *c = arg;

    c->op = NULL;
    c->on_cancel = NULL;
    finish(c);
}

static void stop_waiting(struct call *c)
{
    timer_cancel(c->op);
    finish(c);
}

static void wait(struct call *c, uint64_t ms)
{
    c->op = timer_start(loop, ms, on_time, c);
    c->on_cancel = stop_waiting;
}

static void run_say(struct call *c)
{
    call_progress(c, 1, 0, NULL);
    call_say(c, SAY_INFO, NULL, STR("\"said\""));
    finish(c);
}

/* More at once than a slow reader may have waiting. */
static void run_flood(struct call *c)
{
    static char text[50000];

    memset(text, ' ', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    for (int i = 0; i < 10; i++)
        call_say(c, SAY_ERROR, NULL, (struct str){ text, sizeof text });
    wait(c, 1);
}

static void run_later(struct call *c)
{
    wait(c, 1);
}

static void run_hold(struct call *c)
{
    wait(c, 100000);
}

static void run_let_go(struct call *c)
{
    call_let_go(c);
    wait(c, 2);
}

static void run_change(struct call *c)
{
    call_changed(c, "notifications/tools/list_changed", STR("{}"));
    call_changed(c, "notifications/resources/updated", STR("{\"uri\":\"u:1\"}"));
    finish(c);
}

/* The first answers decide nothing: it asks a second time, then ends. */
static void ask(struct call *c, void (*then)(struct call *c))
{
    struct ask *asks = arena_zalloc(&c->a, 2 * sizeof *asks);

    asks[0] = (struct ask){ .key = "a", .method = "elicitation/create", .params = STR("{}") };
    asks[1] = (struct ask){ .key = "b", .method = "roots/list" };
    call_ask(c, asks, 2, then);
}

static void ask_again(struct call *c)
{
    if (call_cancelled(c))
        finish(c);
    else
        ask(c, finish);
}

static void run_ask(struct call *c)
{
    ask(c, ask_again);
}

static const struct field none[] = { { 0 } };
static const struct tool rows[] = {
    { .name = "say", .fields = none, .run = run_say },
    { .name = "flood", .fields = none, .run = run_flood },
    { .name = "later", .fields = none, .run = run_later },
    { .name = "hold", .fields = none, .run = run_hold },
    { .name = "let_go", .fields = none, .run = run_let_go },
    { .name = "change", .fields = none, .run = run_change },
    { .name = "ask", .fields = none, .asks = true, .run = run_ask },
};
static const struct tool *const tools[] = { &rows[0], &rows[1], &rows[2], &rows[3],
                                            &rows[4], &rows[5], &rows[6], NULL };
static const char *const names[] = { "say",    "flood",  "later", "hold",
                                     "let_go", "change", "ask",   NULL };
static const char *const no_names[] = { NULL };
static const struct resource *const no_resources[] = { NULL };
static const struct profile profiles[] = {
    { .name = "fuzz", .sessions = true, .server = "f", .tools = names, .resources = no_names },
    { .name = NULL },
};
static const struct registry registry = { tools, tools + 7, no_resources, profiles };

/* --- what clients say; # is the id --- */

#define V    "\"jsonrpc\":\"2.0\","
#define CAPS "{\"elicitation\":{},\"roots\":{}}"
#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/logLevel\":\"debug\",\"progressToken\":1,"                          \
    "\"io.modelcontextprotocol/clientCapabilities\":" CAPS "}"
#define TOOL(name) "{" V "\"id\":#,\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\""
#define TOKEN      ",\"_meta\":{\"progressToken\":\"#\"}}}"
#define HELLO(v)                                                                                   \
    "{" V "\"id\":#,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" v                \
    "\",\"capabilities\":" CAPS "}}"
#define CANCEL "{" V "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":#}}"
#define PING   "{" V "\"id\":\"p\",\"method\":\"ping\"}"
#define ACCEPT "{" V "\"id\":#,\"result\":{\"action\":\"accept\",\"roots\":[]}}"

static const struct {
    const char *text;
    const char *method, *name; /* of the stateless era: its headers */
} messages[] = {
    { .text = HELLO("2025-11-25") },
    { .text = HELLO("2025-03-26") },
    { .text = PING },
    { .text = TOOL("say") TOKEN },
    { .text = TOOL("flood") "}}" },
    { .text = TOOL("later") "}}" },
    { .text = TOOL("hold") TOKEN },
    { .text = TOOL("let_go") "}}" },
    { .text = TOOL("change") "}}" },
    { .text = TOOL("ask") "}}" },
    { .text = CANCEL },
    { .text = ACCEPT },
    { .text = "{" V "\"id\":#,\"error\":{\"code\":1,\"message\":\"no\"}}" },
    { .text = "[" TOOL("say") TOKEN "," TOOL("later") "}}," PING "]" },
    { .text = "[" TOOL("ask") "}}," TOOL("hold") "}}," CANCEL "," ACCEPT "]" },
    { .text = "{" V "\"id\":#,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"debug\"}}" },
    { .text = "{" V "\"id\":#,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"u:#\"}}" },
    { .text = "{" V "\"id\":#,\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":\"u:#\"}}" },
    { .text = "{nonsense" },
    { .text = "{" V "\"id\":#,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":"
              "{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"u:1\"]}," META "}}",
      .method = "subscriptions/listen" },
    { .text = TOOL("ask") "," META "}}", .method = "tools/call", .name = "ask" },
    { .text = TOOL("hold") "," META "}}", .method = "tools/call", .name = "hold" },
    { .text = TOOL("flood") "," META "}}", .method = "tools/call", .name = "flood" },
    { .text = TOOL("change") "," META "}}", .method = "tools/call", .name = "change" },
};

/* --- the clients --- */

static void on_turn(void *arg)
{
    (void)arg;
    loop_stop(loop);
}

static void turn(uint64_t ms)
{
    timer_start(loop, ms, on_turn, NULL);
    loop_run(loop);
}

static unsigned take(unsigned below)
{
    return play.at < play.end ? *play.at++ % below : 0;
}

static void leave(int *fd)
{
    struct linger now = { 1, 0 };

    if (*fd < 0)
        return;
    setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(*fd);
    *fd = -1;
}

static int *client(void)
{
    int *fd = &play.fds[take(CLIENTS)];
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(server)) };

    if (*fd >= 0)
        return fd;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 && connect(*fd, (struct sockaddr *)&a, sizeof a) != 0)
        leave(fd);
    return fd;
}

static void say(int fd, const struct buf *b)
{
    ssize_t n = fd < 0 ? 0 : send(fd, b->data, b->len, MSG_NOSIGNAL | MSG_DONTWAIT);

    (void)n; /* a server that does not take it has its reasons */
}

static void add_where(struct buf *b, unsigned where)
{
    static const char *const accepts[] = { "application/json, text/event-stream",
                                           "text/event-stream", "application/json" };
    unsigned which = where % (SESSIONS + 2);

    buf_addf(b, "Host: localhost\r\nAccept: %s\r\n", accepts[where / (SESSIONS + 2) % 3]);
    if (which < SESSIONS && play.sessions[which][0])
        buf_addf(b, "Mcp-Session-Id: %s\r\n", play.sessions[which]);
    else if (which == SESSIONS)
        buf_adds(b, "Mcp-Session-Id: nobodys\r\n");
}

static void add_body(struct buf *b, unsigned message, unsigned id)
{
    struct buf body;

    buf_init(&body, 1 << 16);
    for (const char *p = messages[message].text; *p; p++)
        if (*p == '#')
            buf_addf(&body, "%u", id);
        else
            buf_addc(&body, *p);
    if (messages[message].method)
        buf_addf(b, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n",
                 messages[message].method);
    if (messages[message].name)
        buf_addf(b, "Mcp-Name: %s\r\n", messages[message].name);
    buf_addf(b, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", body.len);
    buf_add(b, body.data, body.len);
    buf_done(&body);
}

static void do_post(int fd, struct buf *b, bool old)
{
    unsigned message = take(sizeof messages / sizeof *messages), id = take(5);

    if (old) {
        buf_addf(b, "POST /messages?sessionId=%s HTTP/1.1\r\nHost: localhost\r\n", play.old);
    } else {
        buf_adds(b, "POST /mcp HTTP/1.1\r\n");
        add_where(b, take(32));
    }
    add_body(b, message, id);
    say(fd, b);
}

static void do_get(int fd, struct buf *b)
{
    unsigned which;

    buf_adds(b, "GET /mcp HTTP/1.1\r\n");
    add_where(b, take(32));
    which = take(6);
    if (which < 4 && play.events[which][0])
        buf_addf(b, "Last-Event-ID: %s\r\n", play.events[which]);
    buf_adds(b, "\r\n");
    say(fd, b);
}

static void do_plain(int fd, struct buf *b, const char *line, bool where)
{
    buf_adds(b, line);
    if (where)
        add_where(b, take(32));
    else
        buf_adds(b, "Host: localhost\r\nAccept: text/event-stream\r\n");
    buf_adds(b, "\r\n");
    say(fd, b);
}

/* Remember the names of sessions and events. */
static void learn(const char *text)
{
    const char *at = strstr(text, "Mcp-Session-Id: ");
    unsigned stream;
    char event[24];

    if (at)
        sscanf(at + 16, "%39[A-Za-z0-9_-]", play.sessions[play.session_count++ % SESSIONS]);
    at = strstr(text, "sessionId=");
    if (at)
        sscanf(at + 10, "%39[A-Za-z0-9_-]", play.old);
    for (at = text; (at = strstr(at, "\nid: ")); at += 5)
        if (sscanf(at + 5, "%23[0-9-]", event) == 1 && sscanf(event, "%u-", &stream) == 1)
            memcpy(play.events[stream % 4], event, sizeof event);
}

static void do_read(int *fd)
{
    static char text[64 << 10];
    ssize_t n = *fd < 0 ? -1 : recv(*fd, text, sizeof text - 1, MSG_DONTWAIT);

    if (n > 0) {
        text[n] = 0;
        learn(text);
    } else if (n == 0) {
        leave(fd);
    }
}

static void step(void)
{
    static const char letters[] = "pgdsmrhxtc";
    uint8_t first = *play.at++;
    char letter = first && strchr(letters, first) ? (char)first : letters[first % 10];
    int *fd = letter == 't' || letter == 'c' ? NULL : client();
    struct buf b;

    buf_init(&b, 1 << 16);
    switch (letter) {
    case 'p':
    case 'm':
        do_post(*fd, &b, letter == 'm');
        break;
    case 'g':
        do_get(*fd, &b);
        break;
    case 'd':
        do_plain(*fd, &b, "DELETE /mcp HTTP/1.1\r\n", true);
        break;
    case 's':
        do_plain(*fd, &b, "GET /sse HTTP/1.1\r\n", false);
        break;
    case 'r':
        do_read(fd);
        break;
    case 'h':
        shutdown(*fd, SHUT_WR);
        break;
    case 'x':
        leave(fd);
        break;
    case 't':
        turn(take(SHORT_MS + 2));
        break;
    case 'c':
        mcp_changed(&mcp, (enum mcp_change)take(4), "u:1");
        break;
    }
    buf_done(&b);
    if (!(first & 0x80)) /* or the next step comes in the same turn */
        turn(0);
}

/* --- the house --- */

static void open_house(void)
{
    struct http_opts o = { .host = "127.0.0.1",
                           .max_header = 4096,
                           .max_body = 1 << 16,
                           .max_conns = 100,
                           .request_ms = 1000,
                           .idle_ms = 1000,
                           .max_stream = 100000,
                           .handler = door_http,
                           .arg = &door };
    struct err e;

    loop = loop_new(&e);
    must(loop, "there is a loop");
    server = http_listen(loop, &o, &e);
    must(server, e.msg);
}

static void open_door(void)
{
    struct session_opts so = {
        .mcp = &mcp, .most = 3, .idle_ms = SHORT_MS, .window_ms = SHORT_MS, .heartbeat_ms = 2
    };

    site = (struct site){ .loop = loop };
    mcp = (struct mcp){ .site = &site, .registry = &registry, .ask_ms = SHORT_MS };
    door = (struct door_http){
        .mcp = &mcp, .profile = profiles, .heartbeat_ms = 2, .sessions = sessions_new(&so)
    };
    memset(&play, 0, sizeof play);
    for (int i = 0; i < CLIENTS; i++)
        play.fds[i] = -1;
}

/* In the order of a server that stops; half of the time it drains first. */
static void close_door(bool drain)
{
    int waited = 0;

    if (drain)
        door_http_drain(&door);
    for (int i = 0; i < CLIENTS; i++)
        leave(&play.fds[i]);
    for (int i = 0; i < 4; i++) /* who came last has not been looked at yet */
        turn(0);
    for (; http_busy(server) > 0 && waited < LONG_WAIT_MS; waited++)
        turn(1);
    must(http_busy(server) == 0, "a request is left");
    for (; !drain && door.posts && waited < LONG_WAIT_MS; waited++) /* windows pass */
        turn(1);
    must(drain || !door.posts, "a post is left");
    door_http_close(&door);
    for (; site.busy > 0 && waited < LONG_WAIT_MS; waited++)
        turn(1);
    must(site.busy == 0, "a call is left");
    must(!door.posts && !mcp.clients && !mcp.listeners, "something is left");
    mcp_done(&mcp);
    turn(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!loop)
        open_house();
    open_door();
    play.at = data;
    play.end = data + size;
    for (int i = 0; i < MAX_STEPS && play.at < play.end; i++)
        step();
    close_door(size % 2);
    return 0;
}
