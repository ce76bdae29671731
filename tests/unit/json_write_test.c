/* json_write_test.c: commas, escapes, and the ceiling. */
#include "json/read.h"
#include "json/write.h"
#include "test.h"

static struct buf b;
static struct json_out o;

static void start(size_t max)
{
    buf_done(&b);
    buf_init(&b, max);
    o = json_out(&b);
}

static void structure(void)
{
    start(1 << 20);
    json_obj(&o);
    json_kv_strz(&o, "a", "x");
    json_kv_int(&o, "b", -9223372036854775807 - 1);
    json_put_key(&o, "c");
    json_arr(&o);
    json_arr(&o);
    json_arr_end(&o);
    json_obj(&o);
    json_obj_end(&o);
    json_put_null(&o);
    json_put_bool(&o, true);
    json_put_raw(&o, STR("[1, 2]"));
    json_put_str(&o, (struct str){ 0 });
    json_arr_end(&o);
    json_kv_bool(&o, "d", false);
    json_kv_raw(&o, "e", STR("1e5"));
    json_kv_str(&o, "f\"", STR("y"));
    json_obj_end(&o);
    CHECK_STR(b.data, "{\"a\":\"x\",\"b\":-9223372036854775808,\"c\":[[],{},null,true,[1, 2],\"\"],"
                      "\"d\":false,\"e\":1e5,\"f\\\"\":\"y\"}");
}

static void lone_values(void)
{
    start(100);
    json_put_strz(&o, "");
    CHECK_STR(b.data, "\"\"");
    start(100);
    json_put_int(&o, 0);
    CHECK_STR(b.data, "0");
}

static void every_byte(void)
{
    static const char *const two[0x20] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
    };
    char want[8], c;
    int i;

    for (i = 0; i < 0x80; i++) {
        c = (char)i;
        if (i == '"' || i == '\\')
            snprintf(want, sizeof want, "\\%c", i);
        else if (i >= 0x20)
            snprintf(want, sizeof want, "%c", i);
        else if (two[i])
            snprintf(want, sizeof want, "%s", two[i]);
        else
            snprintf(want, sizeof want, "\\u%04x", i);
        start(100);
        json_escape(&b, (struct str){ &c, 1 });
        CHECK_STR(b.data, want);
    }
    start(100);
    json_put_strz(&o, "\x7f\xe2\x80\xa8\xf0\x9f\x98\x80");
    CHECK_STR(b.data, "\"\x7f\xe2\x80\xa8\xf0\x9f\x98\x80\"");
}

/* One special byte at each place of a text that spans several steps and
 * pieces: the fast path must find it at every offset. */
static void every_place(void)
{
    static const char *const special[] = { "\"", "\\", "\n", "\x01", "\x1f" };
    static const char *const want[] = { "\\\"", "\\\\", "\\n", "\\u0001", "\\u001f" };
    char in[1100], out[1200];
    size_t i, k, n = sizeof in;

    for (k = 0; k < 5; k++) {
        for (i = 0; i < n; i++) {
            size_t w = strlen(want[k]);

            memset(in, 'a' + (char)(i % 26), n);
            in[i] = special[k][0];
            memset(out, 'a' + (char)(i % 26), sizeof out);
            memcpy(out + i, want[k], w);
            start(1 << 16);
            json_escape(&b, (struct str){ in, n });
            if (b.len != n + w - 1 || memcmp(b.data, out, b.len) != 0) {
                CHECK(!"an escape is wrong");
                return;
            }
        }
    }
}

static void round_trip(void)
{
    struct arena a = { 0 };
    struct json_doc d;
    unsigned x = 99;
    char in[3000];
    size_t n, i;

    for (n = 0; n < sizeof in; n += 37) {
        for (i = 0; i < n; i++) {
            x = x * 1664525 + 1013904223;
            in[i] = (char)(x >> 24 & 0x7f);
        }
        start(1 << 16);
        json_put_str(&o, (struct str){ in, n });
        CHECK(json_parse(&d, &a, buf_str(&b), NULL));
        CHECK(str_eq(json_str(json_root(&d), &a), (struct str){ in, n }));
    }
    arena_done(&a);
}

static void ceiling(void)
{
    char in[2000];

    memset(in, 1, sizeof in);
    start(6002);
    json_put_str(&o, (struct str){ in, 1000 });
    CHECK(!b.full && b.len == 6002);
    start(6001);
    json_put_str(&o, (struct str){ in, 1000 });
    CHECK(b.full && b.len <= 6001);
    start(100);
    json_put_str(&o, (struct str){ in, sizeof in });
    json_put_int(&o, 1);
    CHECK(b.full && b.len <= 100);
    buf_done(&b);
}

int main(void)
{
    TEST("the writer places commas and colons", structure);
    TEST("a value may stand alone", lone_values);
    TEST("only quote, backslash and control characters are escaped", every_byte);
    TEST("an escape is found at every offset of a long text", every_place);
    TEST("what is written is read back the same", round_trip);
    TEST("the ceiling is exact and is told by buf.full", ceiling);
    return test_end();
}
