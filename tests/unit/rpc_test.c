/* rpc_test.c: messages and eras. */
#include "test.h"
#include "rpc/era.h"

static struct arena a;
static struct rpc_msg m;
static struct err e;

static int code(const char *text)
{
    e.code = ERR_NONE;
    return rpc_parse(&m, &a, str_of(text), &e) ? 0 : err_number(e.code);
}

static void kinds(void)
{
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}") == 0);
    CHECK(m.kind == RPC_REQUEST && str_is(m.id, "1") && str_is(m.method, "x"));
    CHECK(code("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}") == 0 && m.kind == RPC_NOTIFICATION);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}") == 0 && m.kind == RPC_RESPONSE);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"x\"}") ==
          0);
    CHECK(str_is(m.id, "123456789012345678901234567890"));
}

static void codes(void)
{
    char deep[1200];

    CHECK(code("") == -32700);
    CHECK(code("{\"jsonrpc\":") == -32700);
    CHECK(code("{} x") == -32700);
    CHECK(code("[]") == -32600);
    CHECK(code("3") == -32600);
    CHECK(code("{}") == -32600);
    CHECK(code("{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"x\"}") == -32600 && str_is(m.id, "4"));
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}") == -32600 &&
          str_is(m.id, "null"));
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}") == -32600);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":5}") == -32600 && str_is(m.id, "5"));
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":7}") == -32600);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":5,\"id\":6,\"method\":\"x\"}") == -32600);
    memset(deep, '[', 600);
    memset(deep + 600, ']', 600);
    CHECK(!rpc_parse(&m, &a, (struct str){ deep, 1200 }, &e) && err_number(e.code) == -32700);
}

#define V    "io.modelcontextprotocol/protocolVersion"
#define CAPS ",\"io.modelcontextprotocol/clientCapabilities\":{}"

static int era(const char *meta, struct era_headers h, struct era *out)
{
    char text[600];

    snprintf(
        text, sizeof text,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read\","
        "\"_meta\":{%s}}}",
        meta);
    CHECK(code(text) == 0);
    e.code = ERR_NONE;
    return era_decode(out, &m, &a, &h, &e) ? 0 : err_number(e.code);
}

static void eras(void)
{
    struct era_headers none = { 0 }, http = {
        .http = true, .version = STR("2026-07-28"), .method = STR("tools/call"), .name = STR("read")
    };
    struct era x;

    CHECK(era("", none, &x) == 0 && !x.stateless);
    CHECK(era("\"" V "\":\"2026-07-28\"" CAPS, none, &x) == 0 && x.stateless);
    CHECK(era("\"" V "\":\"2026-07-28\"" CAPS, http, &x) == 0 && x.stateless);
    CHECK(era("\"" V "\":\"2026-07-28\"", none, &x) == -32602);
    CHECK(era("\"" V "\":\"1900-01-01\"" CAPS, none, &x) == -32022);
    CHECK(era("\"" V "\":7" CAPS, none, &x) == -32602);
    CHECK(era("", http, &x) == -32602 && x.stateless);
    http.name = STR("bash");
    CHECK(era("\"" V "\":\"2026-07-28\"" CAPS, http, &x) == -32020);
    http.name = STR("read");
    http.method = (struct str){ 0 };
    CHECK(era("\"" V "\":\"2026-07-28\"" CAPS, http, &x) == -32020);
    http.method = STR("tools/call");
    http.version = STR("2025-11-25");
    CHECK(era("\"" V "\":\"2026-07-28\"" CAPS, http, &x) == -32020);
    CHECK(era("", http, &x) == 0 && !x.stateless);
    http.version = STR("1999-01-01");
    CHECK(era("", http, &x) == -32022);
}

static void agreement(void)
{
    CHECK_STR(era_agree(STR("2024-11-05")), "2024-11-05");
    CHECK_STR(era_agree(STR("2025-06-18")), "2025-06-18");
    CHECK_STR(era_agree(STR("2031-01-01")), "2025-11-25");
}

int main(void)
{
    TEST("requests, notifications and responses are told apart", kinds);
    TEST("each wrong message gets its code, and its id where it has one", codes);
    TEST("the era is told from the request alone", eras);
    TEST("initialize is answered with the version asked for, or the newest", agreement);
    arena_done(&a);
    return test_end();
}
