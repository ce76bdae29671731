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
        expect(http_origin_ok(str_of(good[i]), STR("localhost"), NULL), good[i], true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(http_origin_ok(str_of(bad[i]), STR("localhost"), NULL), bad[i], false);
}

static void other_hosts(void)
{
    static const struct http_hosts named = { .names = "pith.example,, Build-7,10.1.2.3" };
    static const struct http_hosts any = { .any_address = true, .names = "pith.example" };
    static const struct {
        const char *host;
        bool by_name, by_any;
    } cases[] = {
        { "localhost:1", true, true },
        { "pith.example", true, true },
        { "PITH.example:7717", true, true },
        { "build-7", true, false },
        { "build-7.", false, false },
        { "build-", false, false },
        { "a.pith.example", false, false },
        { "pith.example.evil", false, false },
        { "", false, false },
        { ":80", false, false },
        { ",", false, false },
        { "10.1.2.3:80", true, true },
        { "192.168.0.9", false, true },
        { "[fe80::1]:443", false, true },
        { "[2001:db8::7]", false, true },
        { "fe80::1", false, false },
        { "[fe80::1", false, false },
        { "[fe80::1%eth0]", false, false },
        { "[10.0.0.1]", false, false },
        { "10.0.0.1.evil.example", false, false },
        { "10.0.0", false, false },
        { "0x7f000001", false, false },
        { "evil.example", false, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(http_host_ok(str_of(cases[i].host), &named), cases[i].host, cases[i].by_name);
        expect(http_host_ok(str_of(cases[i].host), &any), cases[i].host, cases[i].by_any);
    }
}

/* A page at an address is ours only if the request is for that address. */
static void other_origins(void)
{
    static const struct http_hosts any = { .any_address = true, .names = "pith.example" };
    static const struct {
        const char *origin, *host;
        bool good;
    } cases[] = {
        { "https://pith.example", "10.0.0.1", true },
        { "http://localhost:3000", "10.0.0.1", true },
        { "https://10.0.0.1:7717", "10.0.0.1:7717", true },
        { "https://[fe80::A]", "[fe80::a]", true },
        { "https://10.0.0.1:7718", "10.0.0.1:7717", false },
        { "http://6.6.6.6", "10.0.0.1", false },
        { "http://evil.example", "evil.example", false },
        { "http://evil.example", "10.0.0.1", false },
        { "null", "10.0.0.1", false },
        { "10.0.0.1", "10.0.0.1", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(http_origin_ok(str_of(cases[i].origin), str_of(cases[i].host), &any),
               cases[i].origin, cases[i].good);
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
    TEST("further hosts are those given, and addresses where any is served", other_hosts);
    TEST("a page at an address may call that address alone", other_origins);
    TEST("a target is split into path and query", targets);
    return test_end();
}
