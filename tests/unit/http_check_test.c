/* Host and Origin, by themselves; whole heads are in http_parse_test.c. */
#include "test.h"
#include "wire/http_check.h"

/* With its name, so that a failure says which one it was. */
static void expect(bool taken, const char *name, bool want)
{
    if (taken != want)
        printf("# '%s' was %s\n", name, taken ? "taken" : "refused");
    CHECK(taken == want);
}

static void hosts(void)
{
    static const char *const good[] = { "localhost",       "LocalHost", "localhost:1",
                                        "localhost:65535", "127.0.0.1", "127.0.0.1:7717",
                                        "127.255.0.9",     "[::1]",     "[::1]:80" };
    static const char *const bad[] = { "",
                                       "localhost.",
                                       "localhost:",
                                       "localhost:x",
                                       "localhost:123456",
                                       "localhost:80:80",
                                       "localhost evil",
                                       "xlocalhost",
                                       "localhost.evil.example",
                                       "evil.example",
                                       "127.0.0.1.evil.example",
                                       "127.0.0",
                                       "127.0.0.1.1",
                                       "127.0.0.256",
                                       "127.0.0.",
                                       "127..0.1",
                                       "127.0.0.0001",
                                       "128.0.0.1",
                                       "0.0.0.0",
                                       "10.127.0.1",
                                       "::1",
                                       "[::1",
                                       "[::2]",
                                       "[::1]x",
                                       "user@localhost",
                                       "localhost/",
                                       ":80" };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect(http_host_is_loopback(str_of(good[i])), good[i], true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(http_host_is_loopback(str_of(bad[i])), bad[i], false);
}

static void origins(void)
{
    static const char *const good[] = { "http://localhost", "https://localhost:8443",
                                        "HTTP://127.0.0.1:3000", "http://[::1]:5173" };
    static const char *const bad[] = {
        "",
        "null",
        "localhost",
        "http://",
        "http:/",
        "http://localhost/",
        "file://",
        "chrome-extension://localhost",
        "http://evil.example",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "http://evil.example#localhost",
        "https://",
        "httpx://localhost",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect(http_origin_is_loopback(str_of(good[i])), good[i], true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(http_origin_is_loopback(str_of(bad[i])), bad[i], false);
}

static void targets(void)
{
    static const struct {
        const char *line, *path, *query;
    } cases[] = {
        { "GET / HTTP/1.1", "/", "" },
        { "GET /a/b?c=d?e HTTP/1.1", "/a/b", "c=d?e" },
        { "GET /a? HTTP/1.0", "/a", "" },
        { "GET //a HTTP/1.1", "//a", "" },
        { "GET http://localhost HTTP/1.1", "/", "" },
        { "GET http://localhost?q HTTP/1.1", "/", "q" },
        { "GET HTTPS://localhost/x?q HTTP/1.1", "/x", "q" },
        { "GET /http://localhost/x HTTP/1.1", "/http://localhost/x", "" },
        { "OPTIONS * HTTP/1.1", "*", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_head h = { 0 };
        struct http_bad bad;

        CHECK(http_check_request_line(&h, str_of(cases[i].line), &bad));
        CHECK(str_is(h.path, cases[i].path));
        CHECK(str_is(h.query, cases[i].query));
    }
}

int main(void)
{
    TEST("a Host is a loopback name, with or without a port", hosts);
    TEST("an Origin is http or https on a loopback name", origins);
    TEST("a target is split into path and query", targets);
    return test_end();
}
