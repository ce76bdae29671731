/* The server over real sockets; http_play.h says how. */
#include "http_play.h"

#include <poll.h>
#include "base/mem.h"
#include "http_cases.h"

/* The server. */

static int gone_count;
static struct http_req *held;  /* by /hold, until /release */
static struct http_req *quiet; /* by /quiet, until its time comes */

static void on_gone(struct http_req *r)
{
    if (r == held)
        held = NULL;
    timer_cancel(r->user);
    gone_count++;
}

static void on_later(void *arg)
{
    struct http_req *r = arg;

    if (r == quiet)
        quiet = NULL;
    http_reply(r, 200, "text/plain", NULL, r->body);
}

/* It did not hear of the end, and may answer after it. */
static void answer_quiet(void)
{
    if (quiet)
        on_later(quiet);
}

static void reply_big(struct http_req *r)
{
    size_t n = strtoul(r->query.p, NULL, 10);
    char *big = xmalloc(n + 1);

    for (size_t i = 0; i < n; i++)
        big[i] = (char)('a' + i % 26);
    http_reply(r, 200, "text/plain", NULL, (struct str){ big, n });
    free(big);
}

static void handler(void *arg, struct http_req *r)
{
    char text[64];

    (void)arg;
    if (str_is(r->path, "/later") || str_is(r->path, "/quiet")) {
        struct timer *t = timer_start(loop, 150, on_later, r);

        if (str_is(r->path, "/later")) {
            r->user = t;
            r->gone = on_gone;
        } else {
            quiet = r;
        }
    } else if (str_is(r->path, "/hold")) {
        held = r;
        r->gone = on_gone;
    } else if (str_is(r->path, "/release")) {
        if (held)
            http_reply(held, 200, "text/plain", NULL, STR("held"));
        held = NULL;
        http_reply(r, 202, NULL, NULL, (struct str){ 0 });
    } else if (str_is(r->path, "/state")) {
        snprintf(text, sizeof text, "gone %d busy %u", gone_count, http_busy(server));
        http_reply(r, 200, "text/plain", NULL, str_of(text));
    } else if (str_is(r->path, "/big")) {
        reply_big(r);
    } else if (str_is(r->path, "/204")) {
        http_reply(r, 204, NULL, NULL, (struct str){ 0 });
    } else if (str_is(r->path, "/error")) {
        http_reply_error(r, 405, "method_not_allowed", "Allow: POST\r\n", "no \"%s\" here\xff",
                         "x");
    } else if (str_is(r->path, "/header")) {
        http_reply(r, 200, "text/plain", NULL, http_header(r, "x-Thing"));
    } else if (str_is(r->path, "/drain")) {
        http_drain(server);
        http_reply(r, 200, "text/plain", NULL, STR("last"));
    } else {
        http_reply(r, 200, "text/plain", NULL, r->body);
    }
}

static struct http_opts defaults(void)
{
    return (struct http_opts){
        .host = "127.0.0.1",
        .max_header = CASE_MAX_HEADER,
        .max_body = CASE_MAX_BODY,
        .max_conns = 20,
        .request_ms = 300,
        .idle_ms = 400,
        .handler = handler,
    };
}

/* Tests. */

static void check_case(const struct http_case *c, size_t step)
{
    struct answer a;
    int fd = dial(), before = test_bad;

    say(fd, c->bytes, step);
    hear(fd, &a, false);
    CHECK(a.status == c->status);
    if (c->status == 200) {
        CHECK(strncmp(a.body, c->code, strlen(c->code)) == 0);
        if (!strstr(a.head, "Connection: close"))
            CHECK(ask(fd, GET("/echo")).status == 200);
    } else {
        char code[64];

        snprintf(code, sizeof code, "{\"ok\":false,\"error\":{\"code\":\"%s\",", c->code);
        CHECK(strstr(a.body, code) == a.body);
        CHECK(strstr(a.head, "Connection: close\r\n"));
        CHECK(closes(fd));
    }
    if (test_bad != before)
        printf("# %s, in pieces of %zu: %s%s\n", c->name, step, a.head, a.body);
    close(fd);
}

static void cases_at_once(void)
{
    start(defaults());
    for (int i = 0; i < HTTP_CASES; i++)
        check_case(&http_cases[i], (size_t)-1);
    stop();
}

static void cases_by_byte(void)
{
    struct http_opts o = defaults();

    o.request_ms = o.idle_ms = 5000;
    start(o);
    for (int i = 0; i < HTTP_CASES; i++)
        check_case(&http_cases[i], 1);
    stop();
}

static void answers(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    a = ask(fd, "HEAD /big?1234 HTTP/1.1\r\n" HOST "\r\n");
    CHECK(a.status == 200 && a.length == 1234);
    a = ask(fd, GET("/204"));
    CHECK(a.status == 204 && !a.has_length);
    CHECK(!strstr(a.head, "Content-Type"));
    a = ask(fd, GET("/release"));
    CHECK(a.status == 202 && a.has_length && a.length == 0);
    a = ask(fd, GET("/error"));
    CHECK(a.status == 405 && strstr(a.head, "\r\nAllow: POST\r\n"));
    CHECK_STR(a.body, "{\"ok\":false,\"error\":{\"code\":\"method_not_allowed\","
                      "\"message\":\"no \\\"x\\\" here\xef\xbf\xbd\"}}");
    a = ask(fd, "GET /header HTTP/1.1\r\n" HOST "X-THING:  a b \r\n\r\n");
    CHECK_STR(a.body, "a b");
    a = ask(fd, GET("/later"));
    CHECK(a.status == 200);
    CHECK(strstr(a.head, "\r\nDate: ") && strstr(a.head, " GMT\r\n"));
    close(fd);
    stop();
}

static void versions(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    a = ask(fd, "GET / HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n");
    CHECK(a.status == 200 && strstr(a.head, "Connection: keep-alive\r\n"));
    a = ask(fd, "GET / HTTP/1.0\r\n" HOST "\r\n");
    CHECK(a.status == 200 && strstr(a.head, "Connection: close\r\n"));
    CHECK(closes(fd));
    close(fd);
    fd = dial();
    a = ask(fd, "GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    CHECK(a.status == 200 && strstr(a.head, "Connection: close\r\n"));
    CHECK(closes(fd));
    close(fd);
    stop();
}

/* Slow and quick ones mixed: answers come in the order of the requests. */
static void pipelining(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, "POST /later HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n1"
                "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\n2\r\n"
                "0\r\n\r\n"
                "POST /quiet HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n3"
                "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n4");
    nap(20);
    say_all(fd, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n5");
    for (int i = 0; i < 5; i++) {
        hear(fd, &a, false);
        CHECK(a.status == 200 && a.length == 1 && a.body[0] == '1' + i);
    }
    say_all(fd, "GET /later HTTP/1.1\r\n" HOST "\r\n" GET("/nul\\\x01"));
    hear(fd, &a, false);
    CHECK(a.status == 200);
    hear(fd, &a, false);
    CHECK(a.status == 400 && closes(fd));
    close(fd);
    stop();
}

static void many_pipelined(void)
{
    enum { MANY = 3000 };
    struct answer a;
    int fd, good = 0;
    struct str one = STR(GET("/echo"));
    char *all = xmalloc(MANY * one.n);

    for (size_t i = 0; i < MANY; i++)
        memcpy(all + i * one.n, one.p, one.n);
    start(defaults());
    fd = dial();
    if (fork() == 0) { /* or both sides would wait for the other to read */
        say(fd, (struct str){ all, MANY * one.n }, (size_t)-1);
        _exit(0);
    }
    for (int i = 0; i < MANY; i++) {
        hear(fd, &a, false);
        good += a.status == 200;
    }
    CHECK(good == MANY);
    wait(NULL);
    close(fd);
    stop();
    free(all);
}

static void expecting(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    a = ask(fd, HEAD "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    CHECK(a.status == 100);
    CHECK_STR(a.head, "HTTP/1.1 100 Continue\r\n\r\n");
    a = ask(fd, "hello");
    CHECK(a.status == 200);
    CHECK_STR(a.body, "hello");
    close(fd);
    stop();
}

static void slow_request(void)
{
    static const char *const parts[] = { "G", "GET / HTTP/1.1\r\nHos", GET("/echo") "G",
                                         HEAD "Content-Length: 5\r\n\r\nhell", CHUNKED "5\r\nh" };
    struct answer a;
    int fd;

    start(defaults());
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fd = dial();
        a = ask(fd, parts[i]);
        if (i == 2) {
            CHECK(a.status == 200);
            hear(fd, &a, false);
        }
        CHECK(a.status == 408);
        CHECK(strstr(a.body, "request_timeout"));
        CHECK(closes(fd));
        close(fd);
    }
    stop();
}

/* A byte now and then does not move the deadline. */
static void trickle(void)
{
    static const char slow[] = "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct answer a;
    struct pollfd p = { .events = POLLIN };
    size_t sent = 0;

    start(defaults());
    p.fd = dial();
    while (sent < strlen(slow) && poll(&p, 1, 50) == 0)
        say(p.fd, (struct str){ slow + sent++, 1 }, 1);
    CHECK(sent >= 4 && sent < 20);
    hear(p.fd, &a, false);
    CHECK(a.status == 408 && closes(p.fd));
    close(p.fd);
    stop();
}

static void idle(void)
{
    struct answer a;
    int fd, used;

    start(defaults());
    fd = dial();
    used = dial();
    CHECK(ask(used, GET("/echo")).status == 200);
    hear(fd, &a, false);
    CHECK(a.status == 0);
    hear(used, &a, false);
    CHECK(a.status == 0);
    close(fd);
    close(used);
    stop();
}

static void too_many(void)
{
    struct http_opts o = defaults();
    struct answer a;
    int fd[20], over;

    o.idle_ms = 5000;
    start(o);
    for (int i = 0; i < 20; i++) {
        fd[i] = dial();
        CHECK(ask(fd[i], GET("/echo")).status == 200);
    }
    for (int i = 0; i < 100; i++) { /* more than are kept waiting at a time */
        over = dial();
        a = ask(over, GET("/echo"));
        CHECK(a.status == 503 && strstr(a.head, "\r\nRetry-After: 1\r\n"));
        CHECK(strstr(a.body, "overloaded") && closes(over));
        close(over);
    }
    CHECK(ask(fd[19], GET("/echo")).status == 200);
    close(fd[0]);
    nap(50);
    over = dial();
    CHECK(ask(over, GET("/echo")).status == 200);
    close(over);
    for (int i = 1; i < 20; i++)
        close(fd[i]);
    stop();
}

static void leaving(void)
{
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, GET("/hold"));
    wait_for_state("gone 0 busy 2");
    close(fd);
    wait_for_state("gone 1 busy 1");

    fd = dial(); /* half-closed is gone too */
    say_all(fd, GET("/hold"));
    wait_for_state("gone 1 busy 2");
    shutdown(fd, SHUT_WR);
    wait_for_state("gone 2 busy 1");
    CHECK(closes(fd));
    close(fd);

    fd = dial(); /* with another request waiting behind it */
    say_all(fd, GET("/hold") GET("/echo"));
    nap(20);
    say_all(fd, GET("/echo"));
    nap(20);
    close(fd);
    wait_for_state("gone 3 busy 1");

    fd = dial(); /* reset */
    say_all(fd, GET("/later"));
    wait_for_state("gone 3 busy 2");
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
    close(fd);
    wait_for_state("gone 4 busy 1");
    stop();
}

/* Nobody told the handler: its answer goes nowhere, before or after the end. */
static void leaving_quietly(void)
{
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, GET("/quiet"));
    wait_for_state("gone 0 busy 2");
    close(fd);
    wait_for_state("gone 0 busy 1");
    nap(200);
    wait_for_state("gone 0 busy 1");
    stop();
}

static void half_closed_but_quick(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, GET("/echo") GET("/echo"));
    shutdown(fd, SHUT_WR);
    hear(fd, &a, false);
    CHECK(a.status == 200);
    hear(fd, &a, false);
    CHECK(a.status == 200 && closes(fd));
    close(fd);
    stop();
}

/* An answer larger than the socket takes at once, read late, with another
 * request behind it. */
static void large_answer(void)
{
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, GET("/big?20000000") GET("/echo"));
    nap(100);
    hear(fd, &a, false);
    CHECK(a.status == 200 && a.length == 20000000 && strncmp(a.body, "abcdef", 6) == 0);
    hear(fd, &a, false);
    CHECK(a.status == 200 && a.length == 0);
    say_all(fd, GET("/big?20000000"));
    nap(50);
    close(fd); /* unread: the server must not mind */
    wait_for_state("gone 0 busy 1");
    stop();
}

/* The peer goes on sending a refused body, and still gets to see why. */
static void refused_while_sending(void)
{
    static char waste[1 << 20];
    struct answer a;
    int fd;

    start(defaults());
    fd = dial();
    say_all(fd, HEAD "Content-Length: 30000000\r\n\r\n");
    for (int i = 0; i < 28; i++)
        say(fd, (struct str){ waste, sizeof waste }, (size_t)-1);
    hear(fd, &a, false);
    CHECK(a.status == 413 && closes(fd));
    close(fd);
    stop();
}

static void draining(void)
{
    struct answer a;
    int lazy, half, busy, last;

    start(defaults());
    lazy = dial();
    half = dial();
    busy = dial();
    last = dial();
    CHECK(ask(lazy, GET("/echo")).status == 200);
    say_all(half, "GET / HT");
    say_all(busy, "POST /later HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi" GET("/echo"));
    wait_for_state("gone 0 busy 2");
    a = ask(last, GET("/drain"));
    CHECK(a.status == 200 && strstr(a.head, "Connection: close") && closes(last));
    CHECK(closes(lazy));
    hear(half, &a, false);
    CHECK(a.status == 503 && closes(half));
    hear(busy, &a, false);
    CHECK(a.status == 200 && strstr(a.head, "Connection: close"));
    CHECK_STR(a.body, "hi");
    CHECK(closes(busy));
    close(lazy);
    close(half);
    close(busy);
    close(last);
    lazy = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(
              lazy,
              (struct sockaddr *)&(struct sockaddr_in){ .sin_family = AF_INET,
                                                        .sin_port = htons((uint16_t)server_port),
                                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
              sizeof(struct sockaddr_in)) != 0 &&
          errno == ECONNREFUSED);
    close(lazy);
    stop();
}

/* Stopped in the middle of everything: nothing leaks, nobody is called late. */
static void freed_busy(void)
{
    int fd[5];
    static const char *const what[] = { GET("/hold"), GET("/quiet"), "GET / HT",
                                        GET("/big?20000000"), GET("/later") };

    start(defaults());
    for (int i = 0; i < 5; i++) {
        fd[i] = dial();
        say_all(fd[i], what[i]);
    }
    nap(50);
    stop();
    for (int i = 0; i < 5; i++)
        close(fd[i]);
}

static void addresses(void)
{
    static const char *const bad[] = { "0.0.0.0", "192.168.1.1", "::", "example.org", "" };
    struct http_opts o = defaults();
    struct err e = { 0 };
    struct http_server *s, *t;
    char want[100];

    loop = loop_new(&e);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.host = bad[i];
        CHECK(!http_listen(loop, &o, &e));
        CHECK(strstr(e.msg, "is not a loopback address"));
    }
    o.host = "127.0.0.1";
    s = http_listen(loop, &o, &e);
    CHECK(s);
    o.port = http_port(s);
    t = http_listen(loop, &o, &e);
    snprintf(want, sizeof want, "port %d on 127.0.0.1 is taken; choose another with --port",
             o.port);
    CHECK(!t);
    CHECK_STR(e.msg, want);
    http_free(s);
    http_free(NULL);
    loop_free(loop);
}

/* Off loopback: any address in Host, and the names given. */
static void any_address(void)
{
    static const struct {
        const char *hosts;
        int status;
    } cases[] = {
        { "Host: 192.168.0.9:7717\r\n", 200 },
        { "Host: pith.example\r\nOrigin: https://pith.example\r\n", 200 },
        { "Host: 10.0.0.1\r\nOrigin: http://10.0.0.1\r\n", 200 },
        { "Host: evil.example\r\n", 403 },
        { "Host: localhost\r\nOrigin: http://10.0.0.1\r\n", 403 },
    };
    struct http_opts o = defaults();
    char request[200];
    int fd;

    o.host = "0.0.0.0";
    o.any_address = true;
    o.names = "pith.example";
    start(o);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fd = dial();
        snprintf(request, sizeof request, "GET /echo HTTP/1.1\r\n%s\r\n", cases[i].hosts);
        CHECK(ask(fd, request).status == cases[i].status);
        close(fd);
    }
    stop();
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    at_end = answer_quiet;
    TEST("each request gets its answer when it comes at once", cases_at_once);
    TEST("each request gets the same answer byte by byte", cases_by_byte);
    TEST("HEAD, 204, 202, errors and headers are as written", answers);
    TEST("connections are kept as each version says", versions);
    TEST("pipelined requests are answered in order", pipelining);
    TEST("3000 pipelined requests get 3000 answers", many_pipelined);
    TEST("a 100 comes before the body", expecting);
    TEST("a request that does not get done is a 408", slow_request);
    TEST("a trickle does not move the deadline", trickle);
    TEST("an idle connection is closed without a word", idle);
    TEST("connections over the ceiling get a 503", too_many);
    TEST("a peer that leaves cancels its request", leaving);
    TEST("a peer may leave a handler that does not care", leaving_quietly);
    TEST("a half-closed peer gets what is answered at once", half_closed_but_quick);
    TEST("a large answer waits for its reader", large_answer);
    TEST("who is refused while sending sees the answer", refused_while_sending);
    TEST("draining answers what is under way and nothing else", draining);
    TEST("a server can be freed at any moment", freed_busy);
    TEST("only loopback, and a taken port names --port", addresses);
    TEST("off loopback any address and the names given are taken", any_address);
    return test_end();
}
