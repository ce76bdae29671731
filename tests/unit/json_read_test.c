/* json_read_test.c: RFC 8259 rule by rule, then another opinion: the public
 * suite nst/JSONTestSuite, where it lies beside the repository. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "json/read.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static bool taken(struct str text)
{
    struct arena a = { 0 };
    struct json_doc d;
    struct err e = { 0 };
    /* A copy of the exact size lets AddressSanitizer see a read past the end. */
    char *copy = xmalloc(text.n);
    bool ok;

    memcpy(copy, text.p, text.n);
    ok = json_parse(&d, &a, (struct str){ copy, text.n }, &e);
    CHECK(ok == (json_type(json_root(&d)) != JSON_NONE));
    if (!ok)
        CHECK(e.code == ERR_PARSE && e.msg[0] && d.error_at <= text.n);
    arena_done(&a);
    free(copy);
    return ok;
}

/* Literals may hold NULs, hence their size and not strlen. */
#define CASE(text) STR(text)

static const struct str good[] = {
    /* Any value may be the whole text; white space around and inside. */
    CASE("0"),
    CASE("\"\""),
    CASE("null"),
    CASE("true"),
    CASE("false"),
    CASE("[]"),
    CASE("{}"),
    CASE(" \t\r\n0 \t\r\n"),
    CASE(" [ ] "),
    CASE(" { } "),
    CASE("[ 1 , 2 ]"),
    CASE("{ \"a\" : 1 , \"b\" : 2 }"),
    CASE("[\n]"),
    /* Structure. */
    CASE("[1,[2,[3]],{\"a\":[{}]}]"),
    CASE("{\"a\":{\"b\":{\"c\":null}}}"),
    CASE("{\"\":0}"),
    CASE("{\"a\":1,\"a\":2}"),
    CASE("[null,true,false,\"x\",1,[],{}]"),
    /* Numbers. */
    CASE("-0"),
    CASE("-1"),
    CASE("10"),
    CASE("1234567890"),
    CASE("0.5"),
    CASE("-0.0"),
    CASE("1.25"),
    CASE("1e5"),
    CASE("1E5"),
    CASE("1e+5"),
    CASE("1e-5"),
    CASE("0e0"),
    CASE("1.5e10"),
    CASE("1e00005"),
    CASE("1e999999999999999999999999"),
    CASE("123456789012345678901234567890123456789012345678901234567890"),
    /* Strings: every escape, both cases of hex, all that needs none. */
    CASE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    CASE("\"\\u0000\\u00e9\\u20AC\\uabcd\\uABCD\""),
    CASE("\"\x7f\""),
    CASE("\" !#$%&'()*+,-./:;<=>?@[]^_`{|}~\""),
    CASE("\"\\ud83d\\ude00\""),
    CASE("\"\\ud800\""),
    CASE("\"\\udc00\\ud800\""),
    CASE("\"\\ud800x\""),
    CASE("\"\\ud800\\n\""),
    CASE("\"\\ud800\\u0041\""),
    /* UTF-8: the first and the last of each length, either side of the surrogates. */
    CASE("\"\xc2\x80\xdf\xbf\""),
    CASE("\"\xe0\xa0\x80\xef\xbf\xbf\""),
    CASE("\"\xed\x9f\xbf\xee\x80\x80\""),
    CASE("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""),
    CASE("\"\xe2\x80\xa8\xe2\x80\xa9\""),
    CASE("\"in the middle \xef\xbb\xbf\""),
    CASE("{\"\xc3\xa9\":\"\xc3\xa9\"}"),
};

static const struct str refused[] = {
    /* Nothing there, or something after it. */
    CASE(""),
    CASE(" "),
    CASE("\n"),
    CASE("1 2"),
    CASE("1,"),
    CASE("[]]"),
    CASE("{}}"),
    CASE("[][]"),
    CASE("{} x"),
    CASE("\"a\"\"b\""),
    CASE("null null"),
    CASE("0\0"),
    CASE("\0"),
    CASE("[]\0"),
    CASE("\xef\xbb\xbf{}"),
    CASE("\xef\xbb\xbf"),
    CASE("\xff\xfe[\0]\0"),
    /* White space that JSON does not know, and comments. */
    CASE("\v1"),
    CASE("\f1"),
    CASE("1\f"),
    CASE("\xc2\xa0"
         "1"),
    CASE("\xe2\x80\xa8"
         "1"),
    CASE("[1,\x0b"
         "2]"),
    CASE("/**/1"),
    CASE("1//"),
    CASE("#1"),
    CASE("[1/*x*/]"),
    /* Arrays. */
    CASE("["),
    CASE("[1"),
    CASE("[1,"),
    CASE("[1,]"),
    CASE("[,1]"),
    CASE("[,]"),
    CASE("[1,,2]"),
    CASE("[1 2]"),
    CASE("[1:2]"),
    CASE("[1}"),
    CASE("]"),
    CASE("[[]"),
    CASE("[\"a\":1]"),
    CASE("[1;2]"),
    /* Objects. */
    CASE("{"),
    CASE("{\"a\""),
    CASE("{\"a\":"),
    CASE("{\"a\":1"),
    CASE("{\"a\":1,"),
    CASE("{\"a\":1,}"),
    CASE("{,\"a\":1}"),
    CASE("{\"a\":1,,\"b\":2}"),
    CASE("{\"a\"}"),
    CASE("{\"a\",1}"),
    CASE("{\"a\":1:2}"),
    CASE("{\"a\"::1}"),
    CASE("{\"a\" 1}"),
    CASE("{\"a\":}"),
    CASE("{:1}"),
    CASE("{a:1}"),
    CASE("{'a':1}"),
    CASE("{1:1}"),
    CASE("{null:1}"),
    CASE("{[]:1}"),
    CASE("{\"a\":1]"),
    CASE("}"),
    CASE("{\"a\":1 \"b\":2}"),
    CASE("{\"a"),
    CASE("{\"\\x\":1}"),
    /* Words. */
    CASE("nul"),
    CASE("nulll"),
    CASE("NULL"),
    CASE("True"),
    CASE("tru"),
    CASE("truE"),
    CASE("fals"),
    CASE("falsey"),
    CASE("t"),
    CASE("n"),
    CASE("f"),
    CASE("undefined"),
    CASE("NaN"),
    CASE("nan"),
    CASE("Infinity"),
    CASE("-Infinity"),
    CASE("inf"),
    CASE("[nul]"),
    /* Numbers. */
    CASE("-"),
    CASE("+1"),
    CASE("--1"),
    CASE("01"),
    CASE("-01"),
    CASE("00"),
    CASE("1."),
    CASE("-1."),
    CASE(".5"),
    CASE("-.5"),
    CASE("1.e5"),
    CASE("1e"),
    CASE("1e+"),
    CASE("1e-"),
    CASE("1e5.5"),
    CASE("1ee5"),
    CASE("1e+-5"),
    CASE("1.2.3"),
    CASE("1 .5"),
    CASE("- 1"),
    CASE("0x10"),
    CASE("1_000"),
    CASE("1,5"),
    CASE("1f"),
    CASE("0-1"),
    CASE("\xef\xbc\x91"),
    CASE("[-]"),
    CASE("[1.]"),
    CASE("[1e]"),
    /* Strings. */
    CASE("\""),
    CASE("\"a"),
    CASE("a\""),
    CASE("'a'"),
    CASE("\"\\\""),
    CASE("\"\\"),
    CASE("\"\\x41\""),
    CASE("\"\\a\""),
    CASE("\"\\0\""),
    CASE("\"\\'\""),
    CASE("\"\\U0041\""),
    CASE("\"\\ \""),
    CASE("\"\\\n\""),
    CASE("\"\\\0\""),
    CASE("\"\\u\""),
    CASE("\"\\u12\""),
    CASE("\"\\u123\""),
    CASE("\"\\u123g\""),
    CASE("\"\\u 123\""),
    CASE("\"\\u+123\""),
    CASE("\"\\u-123\""),
    CASE("\"\\u12"),
    CASE("\"\\ud800\\u12\""),
    CASE("\"\\ud800\\\""),
    CASE("\"\\u{41}\""),
    CASE("\"\\\xc3\xa9\""),
    /* Control characters, all that are below U+0020. (See every_control.) */
    CASE("\"\n\""),
    CASE("\"\t\""),
    CASE("\"\0\""),
    CASE("\"a\x1f\""),
    CASE("{\"a\nb\":1}"),
    /* UTF-8. */
    CASE("\"\x80\""),
    CASE("\"\xbf\""),
    CASE("\"\xc0\x80\""),
    CASE("\"\xc1\xbf\""),
    CASE("\"\xc3\""),
    CASE("\"\xc3"),
    CASE("\"\xc3(\""),
    CASE("\"\xe0\x80\x80\""),
    CASE("\"\xe0\x9f\xbf\""),
    CASE("\"\xe2\x82\""),
    CASE("\"\xe2\x82"),
    CASE("\"\xed\xa0\x80\""),
    CASE("\"\xed\xbf\xbf\""),
    CASE("\"\xf0\x80\x80\x80\""),
    CASE("\"\xf0\x8f\xbf\xbf\""),
    CASE("\"\xf0\x9f\x98\""),
    CASE("\"\xf4\x90\x80\x80\""),
    CASE("\"\xf5\x80\x80\x80\""),
    CASE("\"\xf8\x88\x80\x80\x80\""),
    CASE("\"\xfe\""),
    CASE("\"\xff\""),
    CASE("{\"\xff\":1}"),
    CASE("[\xff]"),
};

static void takes(void)
{
    size_t i;

    for (i = 0; i < sizeof good / sizeof *good; i++)
        if (!taken(good[i])) {
            printf("# refused: %.*s\n", (int)good[i].n, good[i].p);
            CHECK(!"good JSON was refused");
        }
}

static void refuses(void)
{
    size_t i;

    for (i = 0; i < sizeof refused / sizeof *refused; i++)
        if (taken(refused[i])) {
            printf("# taken: %.*s\n", (int)refused[i].n, refused[i].p);
            CHECK(!"bad JSON was taken");
        }
}

/* What is unfinished is refused: every prefix of good text that ends in a
 * bracket or a quote. */
static void prefixes(void)
{
    struct str s = STR("{\"a\":[1,-2.5e+3,true,\"\\u00e9\\n\xc3\xa9\xe2\x82\xac\",{}],\"b\":null}");
    size_t n;

    CHECK(taken(s));
    for (n = 0; n < s.n; n++)
        CHECK(!taken((struct str){ s.p, n }));
}

/* Every control character, and every bad byte, at every offset of a string:
 * the sixteen-byte steps must not pass over one. */
static void every_place(void)
{
    char text[70];
    size_t i;
    int c;

    for (c = 0; c < 0x100; c++) {
        bool want = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';

        for (i = 1; i < sizeof text - 1; i++) {
            memset(text, 'a', sizeof text);
            text[0] = text[sizeof text - 1] = '"';
            text[i] = (char)c;
            if (taken((struct str){ text, sizeof text }) != want) {
                printf("# byte 0x%02x at %zu\n", c, i);
                CHECK(!"wrong inside a string");
                return;
            }
        }
    }
}

/* ---- Depth ---- */

static bool nested(int depth, bool object, bool *too_deep)
{
    struct arena a = { 0 };
    struct json_doc d;
    struct buf b;
    bool ok;
    int i;

    buf_init(&b, 1 << 20);
    for (i = 0; i < depth; i++)
        buf_adds(&b, object ? "{\"k\":" : "[");
    if (object)
        buf_addc(&b, '0');
    for (i = 0; i < depth; i++)
        buf_addc(&b, object ? '}' : ']');
    ok = json_parse(&d, &a, buf_str(&b), NULL);
    *too_deep = d.too_deep;
    buf_done(&b);
    arena_done(&a);
    return ok;
}

static void depth(void)
{
    bool deep;
    int object;

    for (object = 0; object < 2; object++) {
        CHECK(nested(1, object, &deep) && !deep);
        CHECK(nested(JSON_MAX_DEPTH, object, &deep) && !deep);
        CHECK(!nested(JSON_MAX_DEPTH + 1, object, &deep) && deep);
        CHECK(!nested(100000, object, &deep) && deep);
    }
    CHECK(JSON_MAX_DEPTH == 512);
}

/* Depth is how deep, not how many. */
static void wide_is_not_deep(void)
{
    struct buf b;
    int i;

    buf_init(&b, 1 << 20);
    buf_adds(&b, "[0");
    for (i = 0; i < 5000; i++)
        buf_adds(&b, ",[],{}");
    buf_addc(&b, ']');
    CHECK(taken(buf_str(&b)));
    buf_done(&b);
}

/* ---- Errors ---- */

static void message(struct str text, size_t at, const char *want)
{
    struct arena a = { 0 };
    struct json_doc d;
    struct err e = { 0 };

    CHECK(!json_parse(&d, &a, text, &e));
    CHECK(e.code == ERR_PARSE && d.error_at == at && !d.too_deep);
    CHECK_STR(e.msg, want);
    arena_done(&a);
}

static void messages(void)
{
    message(STR("{\"a\": x}"), 6, "not JSON: unexpected 'x' at byte 6");
    message(STR(""), 0, "not JSON: an empty text at byte 0");
    message((struct str){ 0 }, 0, "not JSON: an empty text at byte 0");
    message(STR("[1,"), 3, "not JSON: unexpected end at byte 3");
    message(STR("[1] 2"), 4, "not JSON: unexpected '2' at byte 4");
    message(STR("\xef\xbb\xbf{}"), 0, "not JSON: unexpected byte 0xef at byte 0");
    message(STR("[\0]"), 1, "not JSON: unexpected byte 0x00 at byte 1");
    message(STR("[nul]"), 1, "not JSON: an unknown word at byte 1");
    message(STR("[\"abc"), 1, "not JSON: a string without end at byte 1");
    message(STR("[\"ab\\q\"]"), 4, "not JSON: unknown escape at byte 4");
    message(STR("[\"a\\u12x\"]"), 3, "not JSON: \\u without four hex digits at byte 3");
    message(STR("\"a\nb\""), 2, "not JSON: a control character in a string at byte 2");
    message(STR("\"\xc3\xa9\xff\""), 3, "not JSON: invalid UTF-8 at byte 3");
    message(STR("-x"), 1, "not JSON: unexpected 'x' at byte 1");
}

/* ---- Looking at it ---- */

static struct arena ar;
static struct json_doc doc;

static struct json parse(const char *text)
{
    CHECK(json_parse(&doc, &ar, str_of(text), NULL));
    return json_root(&doc);
}

static void look_ups(void)
{
    struct json r =
        parse(" {\"a\": [1, [ 2 , 3 ], {\"x\":\"y\"}] , \"b\":{},\"c\":[],\"t\":true} ");
    struct json v, m;

    CHECK(json_type(r) == JSON_OBJ && json_count(r) == 4);
    v = json_first(json_get(r, "a"));
    CHECK(str_is(json_raw(v), "1"));
    CHECK(!json_key(v, &ar).p);
    v = json_next(v);
    CHECK(json_type(v) == JSON_ARR && json_count(v) == 2 && str_is(json_raw(v), "[ 2 , 3 ]"));
    v = json_next(v);
    CHECK(str_is(json_str(json_get(v, "x"), &ar), "y"));
    CHECK(json_type(json_next(v)) == JSON_NONE);
    m = json_first(r);
    CHECK(str_is(json_key(m, &ar), "a"));
    m = json_next(m);
    CHECK(str_is(json_key(m, &ar), "b") && json_count(m) == 0 && !json_type(json_first(m)));
    m = json_next(m);
    CHECK(str_is(json_key(m, &ar), "c") && json_count(m) == 0 && !json_type(json_first(m)));
    m = json_next(m);
    CHECK(str_is(json_key(m, &ar), "t") && json_is_true(m));
    CHECK(!json_type(json_next(m)));
    CHECK(!json_type(json_next(r)) && !json_key(r, &ar).p);
    CHECK(str_starts(json_raw(r), "{") && json_raw(r).n == doc.text.n - 2);
    CHECK(!json_is_true(json_get(parse("{\"t\":\"true\"}"), "t")));
    CHECK(!json_is_true(parse("false")));
    arena_done(&ar);
}

static void absent(void)
{
    struct json none = { 0 }, r = parse("{\"a\":\"text\"}");
    long long i;
    double x;

    CHECK(!json_type(json_get(json_get(json_get(r, "no"), "such"), "value")));
    CHECK(!json_type(json_get(json_get(r, "a"), "a")));
    CHECK(!json_type(none) && !json_count(none) && !json_type(json_first(none)));
    CHECK(!json_type(json_next(none)) && !json_key(none, &ar).p && !json_raw(none).p);
    CHECK(!json_str(none, &ar).p && !json_is_true(none));
    CHECK(!json_int(none, &i) && !json_double(none, &x));
    CHECK(!json_str(r, &ar).p && !json_int(r, &i) && !json_double(json_get(r, "a"), &x));
    CHECK(!json_count(json_get(r, "a")) && !json_type(json_first(json_get(r, "a"))));
    arena_done(&ar);
}

static void text_is(const char *json, struct str want)
{
    struct str s = json_str(parse(json), &ar);

    CHECK(s.p && str_eq(s, want));
    arena_done(&ar);
}

static void strings(void)
{
    struct json r = parse("\"plain \xc3\xa9\"");

    CHECK(json_str(r, &ar).p == doc.text.p + 1); /* a slice, not a copy */
    arena_done(&ar);
    text_is("\"\"", STR(""));
    text_is("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", STR("\"\\/\b\f\n\r\t"));
    text_is("\"a\\u0000b\"", STR("a\0b"));
    text_is("\"\\u0041\\u00e9\\u20ac\\u20AC\"", STR("A\xc3\xa9\xe2\x82\xac\xe2\x82\xac"));
    text_is("\"\\ud83d\\ude00!\"", STR("\xf0\x9f\x98\x80!"));
    text_is("\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", STR("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
    text_is("\"\\ud800\"", STR("\xef\xbf\xbd"));
    text_is("\"\\udc00\"", STR("\xef\xbf\xbd"));
    text_is("\"\\ud800\\ud83d\\ude00\"", STR("\xef\xbf\xbd\xf0\x9f\x98\x80"));
    text_is("\"\\ude00\\ud83d\"", STR("\xef\xbf\xbd\xef\xbf\xbd"));
    text_is("\"\\ud800\\u0041\"", STR("\xef\xbf\xbd"
                                      "A"));
    text_is("\"\\ud800\\n\\ud800x\"", STR("\xef\xbf\xbd\n\xef\xbf\xbdx"));
    text_is("\"\\ud800\\ue000\"", STR("\xef\xbf\xbd\xee\x80\x80"));
    text_is("\"\\ud7ff\\ue000\"", STR("\xed\x9f\xbf\xee\x80\x80"));
}

static bool int_is(const char *json, long long want)
{
    long long got = 12345;
    bool ok = json_int(parse(json), &got);

    arena_done(&ar);
    return ok && got == want;
}

static bool no_int(const char *json)
{
    long long got = 12345;
    bool ok = json_int(parse(json), &got);

    arena_done(&ar);
    return !ok && got == 12345;
}

static void integers(void)
{
    CHECK(int_is("0", 0) && int_is("-0", 0) && int_is("5", 5) && int_is("-17", -17));
    CHECK(int_is("5.0", 5) && int_is("1e3", 1000) && int_is("1E+3", 1000) &&
          int_is("-2.50e1", -25));
    CHECK(int_is("1000e-3", 1) && int_is("0.001e3", 1) && int_is("100.00", 100));
    CHECK(int_is("0e999999999999999999999", 0) && int_is("0.000", 0) && int_is("-0.0e-5", 0));
    CHECK(int_is("9223372036854775807", LLONG_MAX) && int_is("-9223372036854775808", LLONG_MIN));
    CHECK(int_is("9223372036854775807.000", LLONG_MAX));
    CHECK(int_is("9.223372036854775807e18", LLONG_MAX));
    CHECK(int_is("10203040506070809", 10203040506070809) && int_is("100000000000000000e-17", 1));
    CHECK(int_is("1000000000000000000000000000000000e-30", 1000));
    CHECK(no_int("5.5") && no_int("0.1") && no_int("1e-1") && no_int("15e-1") && no_int("-1e-20"));
    CHECK(no_int("9223372036854775808") && no_int("-9223372036854775809"));
    CHECK(no_int("1e19") && no_int("1e999999999999999999999") &&
          no_int("1e-999999999999999999999"));
    CHECK(no_int("18446744073709551616") && no_int("18446744073709551617"));
    CHECK(no_int("9223372036854775807.5") && no_int("100000000000000000000000000001"));
    CHECK(no_int("\"5\"") && no_int("true") && no_int("null") && no_int("[5]"));
}

static void doubles(void)
{
    char zeros[400];
    double x = 0;

    CHECK(json_double(parse("-2.5e3"), &x) && x == -2500);
    CHECK(json_double(parse("0.1"), &x) && x == 0.1);
    CHECK(json_double(parse("1e-999"), &x) && x == 0);
    CHECK(json_double(parse("[7]"), &x) == false);
    CHECK(!json_double(parse("1e999"), &x) && !json_double(parse("-1e999"), &x));
    memset(zeros, '0', sizeof zeros);
    memcpy(zeros, "1.", 2);
    zeros[sizeof zeros - 1] = '\0';
    CHECK(json_double(parse(zeros), &x) && x == 1);
    arena_done(&ar);
}

static void numbers_as_written(void)
{
    struct json r = parse("[ 123456789012345678901234567890 , 1.50E+02,-0 ]"), v;

    v = json_first(r);
    CHECK(str_is(json_raw(v), "123456789012345678901234567890"));
    v = json_next(v);
    CHECK(str_is(json_raw(v), "1.50E+02"));
    CHECK(str_is(json_raw(json_next(v)), "-0"));
    arena_done(&ar);
}

/* ---- Keys ---- */

static bool repeats(const char *json)
{
    parse(json);
    arena_done(&ar);
    return doc.duplicate_keys;
}

static void duplicates(void)
{
    struct json r;

    CHECK(!repeats("{\"a\":1,\"b\":2}") && !repeats("{}") && !repeats("[\"a\",\"a\"]"));
    CHECK(!repeats("{\"a\":{\"a\":{\"a\":1}}}") && !repeats("[{\"a\":1},{\"a\":1}]"));
    CHECK(!repeats("{\"a\":\"b\",\"b\":\"a\"}") && !repeats("{\"ab\":1,\"ba\":2,\"\":3,\"a\":4}"));
    CHECK(repeats("{\"a\":1,\"a\":1}") && repeats("{\"\":1,\"\":1}"));
    CHECK(repeats("[0,{\"x\":{\"a\":1,\"b\":[],\"a\":{}}}]"));
    CHECK(repeats("{\"a\":1,\"\\u0061\":1}") && repeats("{\"\\u0061\":1,\"a\":1}"));
    CHECK(repeats("{\"\\u00e9\":1,\"\xc3\xa9\":1}") && repeats("{\"\\/\":1,\"/\":1}"));
    CHECK(repeats("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":1}"));
    CHECK(!repeats("{\"a\\u0000\":1,\"a\":1}") && !repeats("{\"\\n\":1,\"n\":1,\"\\\\n\":1}"));
    r = parse("{\"k\":1,\"x\":0,\"\\u006b\":2,\"k\":3,\"y\":0}");
    CHECK(str_is(json_raw(json_get(r, "k")), "3") && json_count(r) == 5);
    CHECK(str_is(json_raw(json_get(r, "x")), "0"));
    arena_done(&ar);
    r = parse("{\"a\\u0062\":7,\"a\\\\b\":8,\"q\\\"\":9}");
    CHECK(str_is(json_raw(json_get(r, "ab")), "7") && str_is(json_raw(json_get(r, "a\\b")), "8"));
    CHECK(str_is(json_raw(json_get(r, "q\"")), "9") && !json_type(json_get(r, "a")));
    CHECK(!json_type(json_get(r, "a\\u0062")));
    arena_done(&ar);
}

/* An object of n members in which, unless it is negative, member `again`
 * repeats the key of the first, escaped or not. */
static bool repeats_at(int n, int again, bool escaped)
{
    struct json_doc d;
    struct buf b;
    int i;

    buf_init(&b, 64 << 20);
    buf_addc(&b, '{');
    for (i = 0; i < n; i++) {
        if (i == again)
            buf_adds(&b, escaped ? ",\"\\u006bey0\":0" : ",\"key0\":0");
        else
            buf_addf(&b, "%s\"key%d\":0", i ? "," : "", i);
    }
    buf_addc(&b, '}');
    CHECK(json_parse(&d, &ar, buf_str(&b), NULL));
    buf_done(&b);
    arena_done(&ar);
    return d.duplicate_keys;
}

static void duplicates_of_every_size(void)
{
    int n, again;

    for (n = 2; n < 70; n++) {
        CHECK(!repeats_at(n, -1, false));
        for (again = 1; again < n; again++)
            CHECK(repeats_at(n, again, false) && repeats_at(n, again, true));
    }
}

static void huge_object(void)
{
    uint64_t start = clock_ms();

    CHECK(!repeats_at(200000, -1, false));
    CHECK(repeats_at(200000, 199999, true));
    CHECK(clock_ms() - start < 20000); /* pairwise it would be minutes */
}

/* ---- The suite ---- */

static const char *suite_dir(void)
{
    const char *env = getenv("JSONSUITE");
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/test_parsing", env ? env : "../shared/jsonsuite");
    return path;
}

static struct str read_whole(struct buf *b, int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    char *p;
    ssize_t n;

    buf_clear(b);
    CHECK(fd >= 0);
    while ((p = buf_room(b, 65536)) && (n = read(fd, p, 65536)) > 0)
        b->len += (size_t)n;
    close(fd);
    return buf_str(b);
}

static void suite(void)
{
    DIR *dir = opendir(suite_dir());
    int y = 0, n = 0, i = 0;
    struct dirent *f;
    struct buf b;
    bool ok;

    buf_init(&b, 16 << 20);
    while ((f = readdir(dir))) {
        if (f->d_name[0] == '.')
            continue;
        ok = taken(read_whole(&b, dirfd(dir), f->d_name));
        if (f->d_name[0] == (ok ? 'n' : 'y')) {
            printf("# %s: %s\n", ok ? "taken" : "refused", f->d_name);
            CHECK(!"not as the suite's name says");
        }
        y += f->d_name[0] == 'y';
        n += f->d_name[0] == 'n';
        i += f->d_name[0] == 'i';
    }
    CHECK(y > 90 && n > 180 && i > 30);
    buf_done(&b);
    closedir(dir);
}

int main(void)
{
    const char *sentence = "the JSON suite of ../shared is taken and refused as named";

    TEST("every form that RFC 8259 allows is taken", takes);
    TEST("everything else is refused", refuses);
    TEST("unfinished text is refused wherever it ends", prefixes);
    TEST("no bad byte is passed over at any offset of a string", every_place);
    TEST("512 levels are taken, 513 are too deep", depth);
    TEST("many containers side by side are not deep", wide_is_not_deep);
    TEST("an error says what and at which byte", messages);
    TEST("values are found by key and in order, and forwarded as written", look_ups);
    TEST("what is absent is none, however far one asks", absent);
    TEST("strings are unescaped, pairs joined, lone surrogates replaced", strings);
    TEST("integers are exact, or refused", integers);
    TEST("doubles are exact, and refused where they do not fit", doubles);
    TEST("numbers stay as they were written", numbers_as_written);
    TEST("a repeated key is marked and its last value wins", duplicates);
    TEST("a repeated key is found in objects of every size", duplicates_of_every_size);
    TEST("an object of 200,000 members is no burden", huge_object);
    if (access(suite_dir(), R_OK) == 0)
        TEST(sentence, suite);
    else
        printf("skip - %s\n", sentence);
    return test_end();
}
