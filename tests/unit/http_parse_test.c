/* The parser without a socket: each request of http_cases.h, at once and in
 * pieces of every small size, must meet the same fate. */
#include "test.h"
#include "http_cases.h"
#include "wire/http_parse.h"

static struct http_pool pool;

/* Feed bytes in pieces of `step`; gives the last verdict. */
static enum http_step feed(struct http_parser *p, struct str bytes, size_t step)
{
    enum http_step s = HTTP_MORE;

    while (bytes.n && (s == HTTP_MORE || s == HTTP_CONTINUE)) {
        size_t room, n = step < bytes.n ? step : bytes.n;
        char *at = http_parser_room(p, &room);

        if (n > room)
            n = room;
        memcpy(at, bytes.p, n);
        http_parser_fed(p, n);
        bytes = (struct str){ bytes.p + n, bytes.n - n };
        s = http_parser_step(p);
    }
    return s;
}

static bool as_expected(const struct http_case *c, size_t step)
{
    struct http_parser p;
    enum http_step s;
    bool ok;

    http_parser_init(&p, &pool, CASE_MAX_HEADER, CASE_MAX_BODY);
    s = feed(&p, c->bytes, step);
    if (c->status == 200)
        ok = s == HTTP_DONE && p.next == p.end && str_starts(p.body, c->code);
    else
        ok = s == HTTP_BAD && p.bad.status == c->status && strcmp(p.bad.code, c->code) == 0;
    if (!ok)
        printf("# %s, in pieces of %zu: step %d, %d %s (%s)\n", c->name, step, s, p.bad.status,
               p.bad.code ? p.bad.code : "", p.bad.msg ? p.bad.msg : "");
    http_parser_done(&p);
    return ok;
}

static void whole(void)
{
    for (int i = 0; i < HTTP_CASES; i++)
        CHECK(as_expected(&http_cases[i], 1 << 20));
}

static void in_pieces(void)
{
    for (int i = 0; i < HTTP_CASES; i++)
        for (size_t step = 1; step < 40; step++)
            CHECK(as_expected(&http_cases[i], step));
}

/* Every prefix of a good request is unfinished, never done and never bad. */
static void prefixes(void)
{
    for (int i = 0; i < HTTP_CASES; i++) {
        const struct http_case *c = &http_cases[i];

        for (size_t n = 1; c->status == 200 && n < c->bytes.n; n++) {
            struct http_parser p;

            http_parser_init(&p, &pool, CASE_MAX_HEADER, CASE_MAX_BODY);
            CHECK(feed(&p, (struct str){ c->bytes.p, n }, n) == HTTP_MORE);
            http_parser_done(&p);
        }
    }
}

/* All good requests in a row, in one stream, in pieces of `step`. */
static void pipeline(size_t step)
{
    struct http_parser p;
    struct str rest = { 0 };
    int at = 0, done = 0, good = 0;

    http_parser_init(&p, &pool, CASE_MAX_HEADER, CASE_MAX_BODY);
    for (int i = 0; i < HTTP_CASES; i++)
        good += http_cases[i].status == 200;
    while (done < good) {
        enum http_step s = http_parser_step(&p);

        if (s == HTTP_DONE) {
            http_parser_next(&p);
            done++;
            continue;
        }
        CHECK(s == HTTP_MORE);
        if (s != HTTP_MORE || (rest.n == 0 && at == HTTP_CASES))
            break;
        if (rest.n == 0) {
            if (http_cases[at].status == 200)
                rest = http_cases[at].bytes;
            at++;
            continue;
        }
        size_t room, n = step < rest.n ? step : rest.n;
        char *to = http_parser_room(&p, &room);

        if (n > room)
            n = room;
        memcpy(to, rest.p, n);
        http_parser_fed(&p, n);
        rest = (struct str){ rest.p + n, rest.n - n };
    }
    CHECK(done == good);
    CHECK(http_parser_idle(&p));
    CHECK(!p.block);
    http_parser_done(&p);
}

static void pipelined(void)
{
    for (size_t step = 1; step < 3000; step = step * 2 + 1)
        pipeline(step);
}

static void two_at_once(void)
{
    struct http_parser p;
    struct str two = STR(HEAD "Content-Length: 3\r\n\r\nonePUT /two?q=1 HTTP/1.1\r\n" HOST
                              "Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\nGET");

    http_parser_init(&p, &pool, CASE_MAX_HEADER, CASE_MAX_BODY);
    CHECK(feed(&p, two, two.n) == HTTP_DONE);
    CHECK(str_is(p.head.method, "POST") && str_is(p.head.path, "/echo") && str_is(p.body, "one"));
    http_parser_next(&p);
    CHECK(http_parser_step(&p) == HTTP_DONE);
    CHECK(str_is(p.head.method, "PUT") && str_is(p.head.path, "/two"));
    CHECK(str_is(p.head.query, "q=1") && str_is(p.body, "two"));
    http_parser_next(&p);
    CHECK(http_parser_step(&p) == HTTP_MORE && p.end == 3);
    http_parser_done(&p);
}

/* Slices must follow their bytes when a large request moves to a larger block. */
static void growing(void)
{
    enum { BODY = 3 << 20 };
    static char big[BODY];
    struct http_parser p;
    char head[200];
    int n = snprintf(head, sizeof head,
                     "POST http://localhost/p?q HTTP/1.1\r\n" HOST
                     "X-Name: value\r\nContent-Length: %d\r\n\r\n",
                     BODY);

    for (int i = 0; i < BODY; i++)
        big[i] = (char)(i * 7);
    http_parser_init(&p, &pool, CASE_MAX_HEADER, BODY);
    CHECK(feed(&p, (struct str){ head, (size_t)n }, 9) == HTTP_MORE);
    CHECK(feed(&p, (struct str){ big, BODY }, 1000) == HTTP_DONE);
    CHECK(str_is(p.head.method, "POST") && str_is(p.head.path, "/p") && str_is(p.head.query, "q"));
    CHECK(p.head.count == 3 && str_is(p.head.headers[1].name, "X-Name"));
    CHECK(str_is(p.head.headers[1].value, "value"));
    CHECK(str_eq(p.body, (struct str){ big, BODY }));
    http_parser_next(&p);
    CHECK(!p.block); /* idle: nothing is held */
    http_parser_done(&p);
}

/* "/" of an absolute target without a path is ours, not the peer's bytes. */
static void growing_with_our_slash(void)
{
    static char big[100000];
    struct http_parser p;
    struct str head =
        STR("POST http://localhost HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n\r\n");

    http_parser_init(&p, &pool, CASE_MAX_HEADER, sizeof big);
    CHECK(feed(&p, head, head.n) == HTTP_MORE);
    CHECK(feed(&p, (struct str){ big, sizeof big }, 5000) == HTTP_DONE);
    CHECK(str_is(p.head.path, "/"));
    http_parser_done(&p);
}

/* Announcing 1 GB costs us nothing. */
static void announced_only(void)
{
    struct http_parser p;
    struct str head = STR(HEAD "Content-Length: 1000000000\r\n\r\nhello");
    size_t room;

    http_parser_init(&p, &pool, CASE_MAX_HEADER, (size_t)2 << 30);
    CHECK(feed(&p, head, head.n) == HTTP_MORE);
    http_parser_room(&p, &room);
    CHECK(room < 8192);
    http_parser_done(&p);
}

static void hundred(void)
{
    static const struct {
        struct str bytes;
        enum http_step want;
    } cases[] = {
        { STR(HEAD "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"), HTTP_CONTINUE },
        { STR(HEAD "Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n\r\n"), HTTP_CONTINUE },
        { STR(HEAD "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nh"), HTTP_MORE },
        { STR(HEAD "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5"), HTTP_MORE },
        { STR(HEAD "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n"), HTTP_DONE },
        { STR("POST / HTTP/1.0\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"),
          HTTP_MORE },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_parser p;

        http_parser_init(&p, &pool, CASE_MAX_HEADER, CASE_MAX_BODY);
        CHECK(feed(&p, cases[i].bytes, cases[i].bytes.n) == cases[i].want);
        CHECK(cases[i].want == HTTP_DONE || http_parser_step(&p) == HTTP_MORE); /* said once */
        http_parser_done(&p);
    }
}

static void keep_alive(void)
{
    static const struct {
        struct str bytes;
        bool keep;
    } cases[] = {
        { STR("GET / HTTP/1.1\r\n" HOST "\r\n"), true },
        { STR("GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"), false },
        { STR("GET / HTTP/1.1\r\n" HOST "Connection: Close\r\n\r\n"), false },
        { STR("GET / HTTP/1.1\r\n" HOST "Connection: x, close\r\n\r\n"), false },
        { STR("GET / HTTP/1.0\r\n" HOST "\r\n"), false },
        { STR("GET / HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n"), true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_parser p;

        http_parser_init(&p, &pool, CASE_MAX_HEADER, CASE_MAX_BODY);
        CHECK(feed(&p, cases[i].bytes, cases[i].bytes.n) == HTTP_DONE);
        CHECK(p.keep_alive == cases[i].keep);
        http_parser_done(&p);
    }
}

int main(void)
{
    TEST("each request gets its verdict when it comes at once", whole);
    TEST("each request gets the same verdict in pieces of 1 to 39 bytes", in_pieces);
    TEST("a part of a good request is neither done nor bad", prefixes);
    TEST("requests follow one another in one stream", pipelined);
    TEST("two requests in one read are two requests", two_at_once);
    TEST("slices follow their bytes into a larger block", growing);
    TEST("a slice of ours stays where it is", growing_with_our_slash);
    TEST("a length that is only announced takes no memory", announced_only);
    TEST("a 100 is asked for once, and only by who waits for it", hundred);
    TEST("keep-alive is as each version says", keep_alive);
    http_pool_done(&pool);
    return test_end();
}
