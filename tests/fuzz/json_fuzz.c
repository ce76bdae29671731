/* json_fuzz.c: whatever bytes come in, the reader refuses them or gives a
 * document that holds together: every value is a slice that parses to the same
 * again, every text is valid UTF-8, and what the writer makes of it reads back
 * the same. */
#include "base/buf.h"
#include "base/utf8.h"
#include "json/read.h"
#include "json/write.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena arena;

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Write v anew, through the reader's eyes: texts unescaped and escaped again,
 * numbers as they were written. Recursion is bounded by the reader's depth. */
static void rewrite(struct json_out *o, struct json v)
{
    bool object = json_type(v) == JSON_OBJ;
    size_t n = 0;
    struct json m;
    struct str s;

    switch (json_type(v)) {
    case JSON_NULL:
        json_put_null(o);
        break;
    case JSON_BOOL:
        json_put_bool(o, json_is_true(v));
        break;
    case JSON_NUM:
        json_put_raw(o, json_raw(v));
        break;
    case JSON_STR:
        s = json_str(v, &arena);
        must(s.p && utf8_valid(s) == s.n);
        json_put_str(o, s);
        break;
    case JSON_ARR:
    case JSON_OBJ:
        object ? json_obj(o) : json_arr(o);
        for (m = json_first(v); json_type(m); m = json_next(m), n++) {
            s = json_key(m, &arena);
            must((s.p != NULL) == object && utf8_valid(s) == s.n);
            if (object) {
                json_put_str(o, s);
                buf_addc(o->b, ':');
                o->comma = false;
            }
            rewrite(o, m);
        }
        must(n == json_count(v));
        object ? json_obj_end(o) : json_arr_end(o);
        break;
    default:
        abort();
    }
}

/* Are both the same value? */
static void compare(struct json a, struct json b)
{
    long long i = 0, j = 0;
    double x = 0, y = 0;
    struct json m, n;

    must(json_type(a) == json_type(b));
    must(json_is_true(a) == json_is_true(b));
    must(json_int(a, &i) == json_int(b, &j) && i == j);
    must(json_double(a, &x) == json_double(b, &y) && x == y);
    if (json_type(a) == JSON_NUM)
        must(str_eq(json_raw(a), json_raw(b)));
    must(str_eq(json_str(a, &arena), json_str(b, &arena)));
    for (m = json_first(a), n = json_first(b); json_type(m); m = json_next(m), n = json_next(n)) {
        must(str_eq(json_key(m, &arena), json_key(n, &arena)));
        compare(m, n);
    }
    must(!json_type(n));
}

/* A member is found by its own key; where keys repeat, the last one is. */
static void find_members(struct json obj)
{
    struct json m, found;
    const char *key;
    struct str s;
    int most = 20;

    if (json_type(obj) != JSON_OBJ)
        return;
    for (m = json_first(obj); json_type(m) && most--; m = json_next(m)) {
        s = json_key(m, &arena);
        if (memchr(s.p, '\0', s.n))
            continue;
        key = arena_str(&arena, s).p;
        found = json_get(obj, key);
        must(json_type(found) && str_is(json_key(found, &arena), key));
        must(found.at == m.at || (m.doc->duplicate_keys && found.at > m.at));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_doc d, raw, again;
    struct json_out o;
    struct err e = { 0 };
    struct buf b;

    buf_init(&b, 16 * size + 64);
    if (!json_parse(&d, &arena, (struct str){ (const char *)data, size }, &e)) {
        must(e.code == ERR_PARSE && e.msg[0] && d.error_at <= size);
        must(!json_type(json_root(&d)));
        goto out;
    }
    must(json_parse(&raw, &arena, json_raw(json_root(&d)), NULL));
    compare(json_root(&d), json_root(&raw));
    o = json_out(&b);
    rewrite(&o, json_root(&d));
    must(!b.full);
    must(json_parse(&again, &arena, buf_str(&b), NULL));
    compare(json_root(&d), json_root(&again));
    must(d.duplicate_keys == again.duplicate_keys && d.count == again.count);
    find_members(json_root(&d));
out:
    buf_done(&b);
    arena_done(&arena);
    return 0;
}
