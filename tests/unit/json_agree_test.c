/* json_agree_test.c: json-c as the other opinion, on random documents.
 *
 * Good documents must mean the same to both. Of damaged ones only this is
 * asked: what our reader takes, json-c takes and reads the same (the other way
 * round does not hold: json-c takes NaN, "1." and more). */
#include "base/buf.h"
#include "json/read.h"
#include "test.h"

#include <stdint.h>

#define json_type json_c_type /* both have one */
#include <json-c/json.h>
#undef json_type

static struct arena ar;

static uint64_t seed = 1;

static unsigned roll(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void random_space(struct buf *b)
{
    while (roll(6) == 0)
        buf_addc(b, " \t\r\n"[roll(4)]);
}

static void random_string(struct buf *b)
{
    static const char *const piece[] = {
        "a",
        "key",
        "\xc3\xa9",
        "\xe2\x82\xac",
        "\xf0\x9f\x98\x80",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u00e9",
        "\\u20AC",
        "\\ud83d\\ude00",
        "\\u0041",
        "some longer plain text",
        "/",
        "0123456789",
        "\\t\\r\\b\\f",
        "\\u001f",
        "{[,:]}",
        " ",
    };
    unsigned n = roll(4) ? roll(4) : roll(30);

    buf_addc(b, '"');
    while (n--)
        buf_adds(b, piece[roll(sizeof piece / sizeof *piece)]);
    buf_addc(b, '"');
}

static void random_number(struct buf *b)
{
    unsigned n = roll(18);

    if (roll(3) == 0)
        buf_addc(b, '-');
    if (roll(4) == 0) {
        buf_addc(b, '0');
    } else {
        buf_addc(b, (char)('1' + roll(9)));
        while (n--)
            buf_addc(b, (char)('0' + roll(10)));
    }
    if (roll(3) == 0)
        buf_addf(b, ".%u", roll(100000));
    if (roll(4) == 0) {
        buf_addc(b, "eE"[roll(2)]);
        if (roll(3))
            buf_addc(b, "+-"[roll(2)]);
        buf_addf(b, "%u", roll(40));
    }
}

static void random_value(struct buf *b, int deep)
{
    static const char *const words[] = { "null", "true", "false" };
    unsigned kind = roll(deep > 6 ? 3 : 6), n = roll(5), i;
    bool object = kind == 5;

    random_space(b);
    if (kind == 0)
        buf_adds(b, words[roll(3)]);
    else if (kind == 1)
        random_number(b);
    else if (kind == 2)
        random_string(b);
    else {
        buf_addc(b, object ? '{' : '[');
        random_space(b);
        if (roll(40) == 0)
            n = roll(60);
        for (i = 0; i < n; i++) {
            if (i)
                buf_addc(b, ',');
            if (object) {
                random_space(b);
                random_string(b);
                random_space(b);
                buf_addc(b, ':');
            }
            random_value(b, deep + 1);
        }
        buf_addc(b, object ? '}' : ']');
    }
    random_space(b);
}

static bool same(struct json v, struct json_object *o);

static bool same_number(struct json v, struct json_object *o)
{
    double x, y = json_object_get_double(o);
    long long i;

    if (json_object_is_type(o, json_type_int)) {
        /* json-c clamps what does not fit; our text keeps it. */
        if (!json_int(v, &i))
            return true;
        return i == json_object_get_int64(o) || (i < 0 && (uint64_t)i == json_object_get_uint64(o));
    }
    return json_object_is_type(o, json_type_double) && (!json_double(v, &x) || x == y);
}

static bool same_object(struct json v, struct json_object *o)
{
    size_t n = 0;
    struct json m;

    json_object_object_foreach(o, key, value)
    {
        n++;
        if (!same(json_get(v, key), value))
            return false;
    }
    if (!v.doc->duplicate_keys)
        return n == json_count(v);
    for (m = json_first(v); json_type(m); m = json_next(m)) {
        struct str k = arena_str(&ar, json_key(m, &ar));

        if (strlen(k.p) == k.n && !json_object_object_get_ex(o, k.p, NULL))
            return false;
    }
    return n <= json_count(v);
}

static bool same_array(struct json v, struct json_object *o)
{
    size_t i, n = json_object_array_length(o);
    struct json m = json_first(v);

    for (i = 0; i < n; i++, m = json_next(m))
        if (!same(m, json_object_array_get_idx(o, i)))
            return false;
    return !json_type(m);
}

static bool same(struct json v, struct json_object *o)
{
    struct str s;

    switch (json_type(v)) {
    case JSON_NULL:
        return o == NULL;
    case JSON_BOOL:
        return json_object_is_type(o, json_type_boolean) &&
               json_is_true(v) == json_object_get_boolean(o);
    case JSON_NUM:
        return same_number(v, o);
    case JSON_STR:
        s = json_str(v, &ar);
        return json_object_is_type(o, json_type_string) &&
               s.n == (size_t)json_object_get_string_len(o) &&
               memcmp(s.p, json_object_get_string(o), s.n) == 0;
    case JSON_ARR:
        return json_object_is_type(o, json_type_array) && same_array(v, o);
    case JSON_OBJ:
        return json_object_is_type(o, json_type_object) && same_object(v, o);
    default:
        return false;
    }
}

/* What json-c makes of the text; false when it refuses it. */
static bool json_c_takes(struct str text, struct json_object **o)
{
    struct json_tokener *t = json_tokener_new_ex(JSON_MAX_DEPTH + 2);
    bool ok;

    /* the strict mode of json-c 0.18 takes any byte above 0x7f for a control character */
    json_tokener_set_flags(t, (JSON_C_VERSION_NUM >> 8 == 18 ? 0 : JSON_TOKENER_STRICT) |
                                  JSON_TOKENER_VALIDATE_UTF8);
    *o = json_tokener_parse_ex(t, text.p, (int)text.n + 1); /* with its NUL: the text ends here */
    ok = json_tokener_get_error(t) == json_tokener_success;
    json_tokener_free(t);
    return ok;
}

/* json-c 0.16 looks at 16 bits only and takes pairs such as \ud836\ude00, which
 * are U+1DA00, for half a surrogate. */
static bool json_c_errs(const char *text)
{
    const char *p;
    unsigned v;

    for (p = strstr(text, "\\u"); p; p = strstr(p + 1, "\\u"))
        if (sscanf(p + 2, "%4x", &v) == 1 && (v & 0xfc3e) == 0xd836)
            return true;
    return false;
}

static void show(struct str text)
{
    printf("# %.*s\n", text.n < 2000 ? (int)text.n : 2000, text.p);
}

static void agree_on_good(void)
{
    struct json_object *o;
    struct json_doc d;
    struct buf b;
    int i;

    buf_init(&b, 16 << 20);
    for (i = 0; i < 10000 && !test_bad; i++) {
        buf_clear(&b);
        random_value(&b, 0);
        CHECK(json_parse(&d, &ar, buf_str(&b), NULL));
        CHECK(json_c_takes(buf_str(&b), &o));
        CHECK(same(json_root(&d), o));
        if (test_bad)
            show(buf_str(&b));
        json_object_put(o);
        arena_done(&ar);
    }
    buf_done(&b);
}

static void mutate(struct buf *b)
{
    static const char bytes[] = "{}[]\",:\\/0123456789.eE+-tfnul \n\t\x01\x80\xc3\xe2\xf0\xff";
    unsigned n = 1 + roll(3), at;

    while (n-- && b->len) {
        at = roll((unsigned)b->len);
        if (roll(3) == 0) {
            memmove(b->data + at, b->data + at + 1, b->len - at);
            b->len--;
        } else {
            b->data[at] = bytes[roll(sizeof bytes - 1)];
        }
    }
}

static void agree_on_mutated(void)
{
    int i, took = 0, not = 0;
    struct json_object *o;
    struct json_doc d;
    struct buf b;

    buf_init(&b, 16 << 20);
    for (i = 0; i < 20000 && !test_bad; i++) {
        buf_clear(&b);
        random_value(&b, 0);
        mutate(&b);
        if (!json_parse(&d, &ar, buf_str(&b), NULL)) {
            not ++;
            continue;
        }
        took++;
        if (json_c_errs(b.data))
            continue;
        CHECK(json_c_takes(buf_str(&b), &o));
        CHECK(same(json_root(&d), o));
        if (test_bad)
            show(buf_str(&b));
        json_object_put(o);
        arena_done(&ar);
    }
    CHECK(test_bad || (took > 1000 && not > 1000));
    arena_done(&ar);
    buf_done(&b);
}

int main(void)
{
    TEST("json-c reads 10,000 random documents the same way", agree_on_good);
    TEST("json-c takes whatever damaged document is taken here", agree_on_mutated);
    return test_end();
}
