/* check.c: a closed object against its list of fields. */
#include "tools/check.h"
#include <stdio.h>
#include "call/render.h"

enum { MOST = 32 };

struct checking {
    struct call *c;
    struct field_error errors[MOST];
    size_t count;
};

static void wrong(struct checking *k, const char *prefix, const char *name, const char *message)
{
    if (k->count == MOST)
        return;
    k->errors[k->count].field = arena_printf(&k->c->a, "%s%s", prefix, name);
    k->errors[k->count++].message = message;
}

static bool has_word(const char *words, struct str s)
{
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (str_eq(s, (struct str){ p, strcspn(p, " ") }))
            return true;
    return false;
}

static const char *type_name(enum json_type t)
{
    return t == JSON_STR    ? "must be a string"
           : t == JSON_NUM  ? "must be a number"
           : t == JSON_BOOL ? "must be true or false"
           : t == JSON_ARR  ? "must be an array"
                            : "must be an object";
}

static void check_fields(struct checking *k, struct json v, const struct check_field *fields,
                         const char *prefix);

static void check_members(struct checking *k, struct json v, const struct check_field *f,
                          const char *prefix)
{
    size_t n = 0;

    for (struct json m = json_first(v); json_type(m) && k->count < MOST; m = json_next(m), n++) {
        const char *name = arena_printf(&k->c->a, "%s[%zu]", f->name, n);

        if (json_type(m) != JSON_OBJ)
            wrong(k, prefix, name, type_name(JSON_OBJ));
        else
            check_fields(k, m, f->inside, arena_printf(&k->c->a, "%s%s.", prefix, name));
    }
}

static void check_one(struct checking *k, struct json v, const struct check_field *f,
                      const char *prefix)
{
    struct arena *a = &k->c->a;
    long long whole;
    double num = 0;

    if (f->type == JSON_NONE) {
        return;
    } else if (json_type(v) == JSON_NONE) {
        wrong(k, prefix, f->name, "is required");
    } else if (json_type(v) != f->type) {
        wrong(k, prefix, f->name, type_name(f->type));
    } else if (f->type == JSON_NUM && f->integer && !json_int(v, &whole)) {
        wrong(k, prefix, f->name, "must be an integer");
    } else if (f->type == JSON_NUM && f->max != 0 &&
               (!json_double(v, &num) || num < f->min || num > f->max)) {
        wrong(k, prefix, f->name, arena_printf(a, "must be from %.10g to %.10g", f->min, f->max));
    } else if (f->words && !has_word(f->words, json_str(v, a))) {
        wrong(k, prefix, f->name, arena_printf(a, "must be one of: %s", f->words));
    } else if (f->inside && f->type == JSON_ARR) {
        check_members(k, v, f, prefix);
    } else if (f->inside) {
        check_fields(k, v, f->inside, arena_printf(a, "%s%s.", prefix, f->name));
    }
}

static void check_fields(struct checking *k, struct json v, const struct check_field *fields,
                         const char *prefix)
{
    const struct check_field *f;

    for (f = fields; f->name; f++)
        check_one(k, json_get(v, f->name), f, prefix);
    for (struct json m = json_first(v); json_type(m); m = json_next(m)) {
        struct str key = json_key(m, &k->c->a);

        for (f = fields; f->name && !str_is(key, f->name);)
            f++;
        if (!f->name)
            wrong(k, prefix, arena_printf(&k->c->a, "%.*s", (int)(key.n < 60 ? key.n : 60), key.p),
                  "there is no such argument");
    }
}

bool check_object(struct call *c, struct str text, const struct check_field *fields,
                  struct json_doc *d)
{
    struct checking *k = arena_zalloc(&c->a, sizeof *k);
    struct json_out o;
    struct buf b;

    k->c = c;
    if (text.n == 0)
        text = STR("{}");
    if (!json_parse(d, &c->a, text, NULL) || json_type(json_root(d)) != JSON_OBJ)
        wrong(k, "", "arguments", "must be an object");
    else
        check_fields(k, json_root(d), fields, "");
    if (k->count == 0)
        return true;
    buf_init(&b, 1 << 20);
    o = json_out(&b);
    json_obj(&o);
    json_put_key(&o, "field_errors");
    render_errors_array(&o, k->errors, k->count);
    json_obj_end(&o);
    err_set(&c->err, ERR_PARAMS, "Invalid params");
    call_refuse(c, -32602, arena_str(&c->a, buf_str(&b)));
    buf_done(&b);
    return false;
}
