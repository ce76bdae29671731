/* Answers that go on for a while; http_play.h says how the server is run. Each
 * stream is opened at /open?N and then led by other requests: /send?N,BYTES,
 * /end?N, /cut?N. */
#include "http_play.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include "base/mem.h"

enum { SLOTS = 600 };

/* The server. */

static struct http_req *slot[SLOTS];
static int gone_count, sigpipes, inside; /* inside: a call of ours is under way */
static bool cut_others;                  /* when one is gone */

static void on_gone(struct http_req *r)
{
    size_t n = (size_t)(struct http_req **)r->user - (size_t)slot;

    if (inside)
        abort(); /* gone never comes while we call */
    slot[n / sizeof *slot] = NULL;
    gone_count++;
    for (int i = 0; cut_others && i < SLOTS; i++) {
        if (slot[i])
            http_stream_cut(slot[i]);
        slot[i] = NULL;
    }
}

static void on_sigpipe(int signo)
{
    (void)signo;
    sigpipes++;
}

static void open_slot(struct http_req *r, bool deaf)
{
    struct http_req **s = &slot[atoi(r->query.p)];

    *s = r;
    r->user = s;
    r->gone = deaf ? NULL : on_gone;
    http_stream(r, "text/event-stream", "X-Slot: 1\r\n");
    if (r->path.p || r->body.p || r->headers || r->header_count || !r->peer.loopback)
        abort();
}

static const char *send_slot(struct http_req *r, size_t n)
{
    char *bytes = xmalloc(n);
    bool ok;

    memset(bytes, 'x', n);
    inside = 1;
    ok = http_stream_send(r, (struct str){ bytes, n });
    inside = 0;
    free(bytes);
    return ok ? "taken" : "refused";
}

static void over(struct http_req **s, void (*how)(struct http_req *r))
{
    if (*s) {
        inside = 1;
        how(*s);
        inside = 0;
    }
    *s = NULL;
}

/* Everything within the handler. */
static void serve_now(struct http_req *r)
{
    bool cut = str_is(r->path, "/cutnow");

    http_stream(r, "text/plain", NULL);
    http_stream_send(r, STR("one"));
    http_stream_send(r, STR(""));
    http_stream_send(r, STR("two"));
    if (cut)
        http_stream_cut(r);
    else
        http_stream_end(r);
}

static void lead(struct http_req *r)
{
    char text[200];
    char *comma, arg[64] = "";
    struct http_req **s;

    if (r->query.n < sizeof arg)
        memcpy(arg, r->query.p ? r->query.p : "", r->query.n);
    comma = strchr(arg, ',');
    s = &slot[atoi(arg)];
    snprintf(text, sizeof text, "gone %d busy %u", gone_count, http_busy(server));
    if (str_is(r->path, "/send"))
        snprintf(text, sizeof text, "%s", *s ? send_slot(*s, (size_t)atol(comma + 1)) : "none");
    else if (str_is(r->path, "/pending"))
        snprintf(text, sizeof text, "%zu", *s ? http_stream_pending(*s) : 0);
    else if (str_is(r->path, "/end"))
        over(s, http_stream_end);
    else if (str_is(r->path, "/cut"))
        over(s, http_stream_cut);
    else if (str_is(r->path, "/cutothers"))
        cut_others = true;
    else if (str_is(r->path, "/drain"))
        http_drain(server);
    else if (str_is(r->path, "/memory"))
        snprintf(text, sizeof text, "%zu", mallinfo2().uordblks);
    else if (str_is(r->path, "/sigpipes"))
        snprintf(text, sizeof text, "%d", sigpipes);
    http_reply(r, 200, "text/plain", NULL, str_of(text));
}

static void handler(void *arg, struct http_req *r)
{
    (void)arg;
    if (str_is(r->path, "/open") || str_is(r->path, "/deaf"))
        open_slot(r, str_is(r->path, "/deaf"));
    else if (str_is(r->path, "/now") || str_is(r->path, "/cutnow"))
        serve_now(r);
    else
        lead(r);
}

/* Those that were never told end after the server did. */
static void end_deaf(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (slot[i] && !slot[i]->gone) {
            send_slot(slot[i], 5);
            over(&slot[i], i % 2 ? http_stream_cut : http_stream_end);
        }
}

static struct http_opts defaults(void)
{
    return (struct http_opts){
        .host = "127.0.0.1",
        .max_header = 4096,
        .max_body = 1 << 20,
        .max_conns = SLOTS + 20,
        .request_ms = 300,
        .idle_ms = 300,
        .send_ms = 400,
        .max_stream = 100000,
        .handler = handler,
    };
}

/* The client. */

static char *lead_with(const char *path)
{
    static char body[64];
    char request[200];
    struct answer a;
    int fd = dial();

    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    a = ask(fd, request);
    CHECK(a.status == 200);
    snprintf(body, sizeof body, "%.63s", a.body);
    close(fd);
    return body;
}

static int open_stream(const char *request)
{
    struct answer a;
    int fd = dial();

    say_all(fd, request);
    hear(fd, &a, true);
    CHECK(a.status == 200 && !a.has_length && strstr(a.head, "\r\nX-Slot: 1\r\n"));
    CHECK(strstr(a.head, "\r\nContent-Type: text/event-stream\r\n"));
    return fd;
}

/* Read exactly this. */
static void expect(int fd, const char *want)
{
    char got[256] = "";
    size_t n = 0;

    while (n < strlen(want) && n < sizeof got - 1) {
        ssize_t more = recv(fd, got + n, strlen(want) - n, 0);

        if (more <= 0)
            break;
        n += (size_t)more;
    }
    CHECK_STR(got, want);
}

/* Read chunks of 'x' until the last: gives how many bytes there were. */
static size_t read_chunks(int fd)
{
    char line[32], *data = xmalloc(1 << 24);
    size_t all = 0, n, size;

    do {
        for (n = 0; n < sizeof line - 1 && recv(fd, line + n, 1, 0) == 1; n++)
            if (line[n] == '\n')
                break;
        line[n] = 0;
        size = strtoul(line, NULL, 16);
        CHECK(recv(fd, data, size + 2, MSG_WAITALL) == (ssize_t)size + 2);
        CHECK(size == 0 || (data[0] == 'x' && data[size - 1] == 'x'));
        all += size;
    } while (size);
    free(data);
    return all;
}

/* Tests. */

static void whole_stream(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = open_stream(GET("/open?1"));
    CHECK_STR(lead_with("/state"), "gone 0 busy 2");
    CHECK_STR(lead_with("/send?1,3"), "taken");
    expect(fd, "3\r\nxxx\r\n");
    CHECK_STR(lead_with("/send?1,17"), "taken");
    expect(fd, "11\r\nxxxxxxxxxxxxxxxxx\r\n");
    nap(500); /* no deadline for one that is silent */
    CHECK_STR(lead_with("/send?1,1"), "taken");
    expect(fd, "1\r\nx\r\n");
    lead_with("/end?1");
    expect(fd, "0\r\n\r\n");
    CHECK_STR(lead_with("/state"), "gone 0 busy 1");
    a = ask(fd, GET("/state")); /* and on it goes */
    CHECK(a.status == 200);
    hear(fd, &a, false); /* idle_ms counts again */
    CHECK(a.status == 0);
    close(fd);
    stop();
}

static void within_handler(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, GET("/now") GET("/now") GET("/state"));
    for (int i = 0; i < 2; i++) {
        hear(fd, &a, true);
        CHECK(a.status == 200 && strstr(a.head, "\r\nTransfer-Encoding: chunked\r\n"));
        expect(fd, "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
    }
    hear(fd, &a, false);
    CHECK(a.status == 200);
    CHECK_STR(a.body, "gone 0 busy 1");
    close(fd);
    stop();
}

static void old_version(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, "GET /now HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
    hear(fd, &a, true);
    CHECK(a.status == 200 && !strstr(a.head, "Transfer-Encoding"));
    CHECK(strstr(a.head, "\r\nConnection: close\r\n"));
    expect(fd, "onetwo");
    CHECK(closes(fd));
    close(fd);
    fd = dial();
    say_all(fd, "GET /now HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    hear(fd, &a, true);
    CHECK(strstr(a.head, "\r\nConnection: close\r\n"));
    expect(fd, "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
    CHECK(closes(fd));
    close(fd);
    stop();
}

static void pipelined(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = open_stream(
        "POST /open?1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi" GET("/state"));
    say_all(fd, GET("/state") "GET /sta");
    nap(400); /* what waits behind a stream has no deadline yet */
    lead_with("/end?1");
    expect(fd, "0\r\n\r\n");
    hear(fd, &a, false);
    CHECK(a.status == 200);
    hear(fd, &a, false);
    CHECK(a.status == 200);
    hear(fd, &a, false);
    CHECK(a.status == 408);
    close(fd);
    stop();
}

static void leaving(void)
{
    int fd;

    start(defaults());
    fd = open_stream(GET("/open?1"));
    close(fd);
    wait_for_state("gone 1 busy 1");
    fd = open_stream(GET("/open?2"));
    shutdown(fd, SHUT_WR); /* half-closed is gone too */
    wait_for_state("gone 2 busy 1");
    close(fd);
    fd = open_stream(GET("/open?3") GET("/state")); /* with a request behind it */
    say_all(fd, GET("/state"));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
    close(fd); /* reset */
    wait_for_state("gone 3 busy 1");
    stop();
}

/* The reset lies in the socket when the next send comes: a write meets it. The
 * server has a stop put on it, so that it sees both at once. */
static void leaving_unseen(void)
{
    int fd, led;
    struct answer a;

    signal(SIGPIPE, on_sigpipe);
    start(defaults());
    led = dial();
    for (int i = 0; i < 20; i++) {
        fd = open_stream(GET("/open?1"));
        kill(server_pid, SIGSTOP);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
        say_all(led,
                i % 2 ? GET("/send?1,100") GET("/send?1,100") : GET("/send?1,9") GET("/end?1"));
        close(fd);
        kill(server_pid, SIGCONT);
        hear(led, &a, false);
        hear(led, &a, false);
        CHECK(a.status == 200);
        for (int t = 0; t < 100 && strstr(a.body, "busy 1") == NULL; t++)
            a = ask(led, GET("/state"));
        CHECK(strstr(a.body, "busy 1"));
    }
    a = ask(led, GET("/sigpipes"));
    CHECK_STR(a.body, "0");
    close(led);
    stop();
    signal(SIGPIPE, SIG_IGN);
}

static void slow_reader(void)
{
    size_t sent = 0, waits = 0;
    int fd;

    start(defaults());
    fd = open_stream(GET("/open?1"));
    while (strcmp(lead_with("/send?1,50000"), "taken") == 0 && sent < 100000000)
        sent += 50000;
    CHECK(sent > 50000 && sent < 100000000);
    waits = strtoul(lead_with("/pending?1"), NULL, 10);
    CHECK(waits > 50000 && waits <= 100020);
    CHECK_STR(lead_with("/send?1,90000"), "refused");
    lead_with("/end?1"); /* what was taken still arrives */
    CHECK(read_chunks(fd) == sent);
    CHECK(ask(fd, GET("/state")).status == 200);
    close(fd);
    stop();
}

/* Half the time it reads, half the time it lags: order and bytes hold. */
static void lagging_reader(void)
{
    static char waste[1 << 20];
    size_t sent = 0, got = 0;
    ssize_t n;
    int fd;

    start(defaults());
    fd = open_stream("GET /open?1 HTTP/1.0\r\nHost: localhost\r\n\r\n");
    while (sent < 20000000) {
        if (strcmp(lead_with("/send?1,37000"), "taken") == 0)
            sent += 37000;
        else if ((n = recv(fd, waste, 300000, 0)) > 0)
            got += (size_t)n;
    }
    lead_with("/end?1");
    while ((n = recv(fd, waste, sizeof waste, 0)) > 0)
        got += (size_t)n;
    CHECK(got == sent);
    CHECK_STR(lead_with("/state"), "gone 0 busy 1");
    close(fd);
    stop();
}

/* One send of any size is taken when none waits. */
static void large_event(void)
{
    int fd;

    start(defaults());
    fd = open_stream(GET("/open?1"));
    CHECK_STR(lead_with("/send?1,9000000"), "taken");
    CHECK_STR(lead_with("/send?1,1"), "refused");
    lead_with("/end?1");
    CHECK(read_chunks(fd) == 9000000);
    close(fd);
    stop();
}

static void stuck_reader(void)
{
    int fd;

    start(defaults());
    fd = open_stream(GET("/open?1"));
    CHECK_STR(lead_with("/send?1,9000000"), "taken");
    CHECK_STR(lead_with("/state"), "gone 0 busy 2");
    wait_for_state("gone 1 busy 1"); /* after send_ms */
    close(fd);
    stop();
}

static void cutting(void)
{
    struct answer a;
    int fd, more[10];

    start(defaults());
    fd = open_stream(GET("/open?1"));
    lead_with("/send?1,3");
    lead_with("/cut?1");
    expect(fd, "3\r\nxxx\r\n");
    CHECK(closes(fd));
    close(fd);
    fd = dial(); /* within the handler, with a request behind it */
    say_all(fd, GET("/cutnow") GET("/now"));
    hear(fd, &a, true);
    CHECK(a.status == 200);
    expect(fd, "3\r\none\r\n3\r\ntwo\r\n");
    CHECK(recv(fd, a.body, 1, 0) <= 0);
    close(fd);
    CHECK_STR(lead_with("/state"), "gone 0 busy 1");

    lead_with("/cutothers"); /* within gone */
    for (int i = 0; i < 10; i++) {
        char request[80];

        snprintf(request, sizeof request, "GET /open?%d HTTP/1.1\r\nHost: localhost\r\n\r\n", i);
        more[i] = open_stream(request);
    }
    close(more[5]);
    wait_for_state("gone 1 busy 1");
    for (int i = 0; i < 10; i++)
        if (i != 5) {
            CHECK(closes(more[i]));
            close(more[i]);
        }
    stop();
}

static void draining(void)
{
    struct answer a;
    int fd, led;

    start(defaults());
    fd = open_stream(GET("/open?1"));
    led = open_stream(GET("/open?2"));
    a = ask(dial(), GET("/drain"));
    CHECK(a.status == 200);
    nap(400);
    close(led); /* the handler of the first ends it as the second goes */
    nap(50);
    CHECK(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
    nap(50);
    stop();
    CHECK(recv(fd, a.body, 1, 0) <= 0);
    close(fd);
}

static void on_drained(void *arg)
{
    if (slot[1])
        http_stream_send(slot[1], STR("bye"));
    over(&slot[1], http_stream_end);
    (void)arg;
}

static void drain_handler(void *arg, struct http_req *r)
{
    if (str_is(r->path, "/drain"))
        timer_start(loop, 100, on_drained, NULL);
    handler(arg, r);
}

static void drained_and_ended(void)
{
    struct http_opts o = defaults();
    struct answer a;
    int fd, led;

    o.handler = drain_handler;
    start(o);
    fd = open_stream(GET("/open?1"));
    led = dial();
    a = ask(led, GET("/drain"));
    CHECK(a.status == 200 && closes(led));
    expect(fd, "3\r\nbye\r\n0\r\n\r\n");
    CHECK(closes(fd)); /* no further request */
    close(fd);
    close(led);
    stop();
}

static void freed(void)
{
    int fd[6];

    start(defaults());
    fd[0] = open_stream(GET("/open?1"));
    fd[1] = open_stream(GET("/open?2") GET("/state"));
    lead_with("/send?2,9000000");
    fd[2] = open_stream(GET("/deaf?3"));
    fd[3] = open_stream(GET("/deaf?4"));
    lead_with("/send?4,9000000");
    fd[4] = open_stream(GET("/deaf?5"));
    close(fd[4]);
    wait_for_state("gone 0 busy 5");
    CHECK_STR(lead_with("/send?5,100"), "taken"); /* nobody is there to mind */
    CHECK_STR(lead_with("/pending?5"), "0");
    fd[4] = open_stream(GET("/deaf?6"));
    close(fd[4]);
    wait_for_state("gone 0 busy 5");
    lead_with("/end?6");
    stop();
    for (int i = 0; i < 4; i++)
        close(fd[i]);
}

/* An idle stream costs its connection alone. */
static void five_hundred(void)
{
    enum { N = 500, MOST = 4096 };
    size_t before, after;
    char request[80];
    int fd[N];

    start(defaults());
    close(open_stream(GET("/open?1")));
    wait_for_state("gone 1 busy 1");
    before = strtoul(lead_with("/memory"), NULL, 10);
    for (int i = 0; i < N; i++) {
        snprintf(request, sizeof request, "GET /open?%d HTTP/1.1\r\nHost: localhost\r\n\r\n", i);
        fd[i] = open_stream(request);
    }
    after = strtoul(lead_with("/memory"), NULL, 10);
    if (after - before > N * MOST || getenv("SAY"))
        printf("# %zu bytes each\n", (after - before) / N);
    CHECK(after - before <= (size_t)N * MOST);
    for (int i = 0; i < N; i++)
        close(fd[i]);
    stop();
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    at_end = end_deaf;
    TEST("a stream opens, goes on and ends, and its connection serves on", whole_stream);
    TEST("a stream may begin and end within the handler", within_handler);
    TEST("HTTP/1.0 and Connection: close end a stream by closing", old_version);
    TEST("requests behind a stream wait for its end", pipelined);
    TEST("a peer that leaves a stream is noticed at once", leaving);
    TEST("a write that meets a reset tells later, and raises no signal", leaving_unseen);
    TEST("a slow reader's stream refuses more than its ceiling", slow_reader);
    TEST("a lagging reader gets every byte", lagging_reader);
    TEST("one event of any size is taken when none waits", large_event);
    TEST("a reader that takes nothing is dropped", stuck_reader);
    TEST("a stream can be cut from any callback", cutting);
    TEST("draining leaves streams open", draining);
    TEST("a stream ended while draining closes its connection", drained_and_ended);
    TEST("a server with open streams can be freed", freed);
    TEST("500 idle streams take at most 4 KB each", five_hundred);
    return test_end();
}
