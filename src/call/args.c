/* args.c: arguments, checked once against the tool's row.
 *
 * Every failing field is found before anything is said, so that a caller can
 * mend all of them at once. Values are copied into the call's arena: the
 * message they came in is gone by the time a handler asks for them.
 * Checks look at the text alone; what only the disk knows (is it there, is it
 * a file) is the tool's to find out. */
#include "call/args.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/utf8.h"

enum { MAX_ERRORS = 64, MAX_ENV_VALUE = 4000 };

struct arg {
    bool given;
    long num;
    struct str text;
    struct str *texts; /* F_STRS */
    char **pairs;      /* F_MAP: NAME=value */
    size_t count;
};

struct check {
    struct call *c;
    struct field_error *errors;
    size_t count;
};

static void refuse(struct check *k, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void refuse(struct check *k, const char *field, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    if (k->count == MAX_ERRORS)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    k->errors[k->count].field = arena_strdup(&k->c->a, field);
    k->errors[k->count++].message = arena_strdup(&k->c->a, text);
}

bool field_shown(const struct field *f, enum answer answer)
{
    return f->answers == 0 || (f->answers & (1u << answer));
}

bool schema_shown(const struct tool *t, enum answer answer)
{
    return t->schema && (t->schema_answers == 0 || (t->schema_answers & (1u << answer)));
}

const struct field *field_find(const struct tool *t, const char *name)
{
    const struct field *f = t->fields;

    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

static bool take_number(struct str *s, size_t *n)
{
    for (*n = 0; s->n > 0 && *s->p >= '0' && *s->p <= '9' && *n < 100000000; s->p++, s->n--)
        *n = *n * 10 + (size_t)(*s->p - '0');
    return *n > 0;
}

static bool take_sign(struct str *s, char sign)
{
    if (s->n == 0 || *s->p != sign)
        return false;
    s->p++;
    s->n--;
    return true;
}

/* Lines and their characters, 0 where there is none. */
static bool read_range(struct str s, size_t line[2], size_t at[2])
{
    at[0] = at[1] = 0;
    if (!take_number(&s, &line[0]) || (take_sign(&s, ':') && !take_number(&s, &at[0])))
        return false;
    line[1] = line[0];
    if (!take_sign(&s, '-'))
        return s.n == 0;
    line[1] = 0;
    if (s.n == 0)
        return true;
    if (!take_number(&s, &line[1]) || (take_sign(&s, ':') && !take_number(&s, &at[1])))
        return false;
    if (at[0] > 0 && at[1] == 0) {
        at[1] = line[1];
        line[1] = line[0];
    }
    return s.n == 0 && (line[0] < line[1] || (line[0] == line[1] && (!at[1] || at[0] <= at[1])));
}

bool lines_parse(struct str s, size_t *from, size_t *to)
{
    size_t line[2] = { 0, 0 }, at[2];
    bool ok = read_range(s, line, at);

    *from = line[0];
    *to = line[1];
    return ok;
}

void lines_chars(struct str s, size_t *first, size_t *last)
{
    size_t line[2], at[2];

    read_range(s, line, at);
    *first = at[0];
    *last = at[1];
}

static bool blank(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr(" \t\r\n\f\v", s.p[i]) || s.p[i] == 0)
            return false;
    return true;
}

static const struct {
    const char *name;
    bool prefix;
} forbidden_env[] = {
    { "LD_LIBRARY_PATH", false }, /* inherited, but not for a caller to set */
    { "LD_", true },
    { "BASH_ENV", false },
    { "ENV", false },
    { "PROMPT_COMMAND", false },
    { "BASH_FUNC_", true },
    { "SHELLOPTS", false },
    { "BASHOPTS", false },
    { "PS4", false },
};

bool env_forbidden(struct str name)
{
    for (size_t i = 0; i < sizeof forbidden_env / sizeof *forbidden_env; i++)
        if (forbidden_env[i].prefix ? str_starts(name, forbidden_env[i].name)
                                    : str_is(name, forbidden_env[i].name))
            return true;
    return false;
}

/* One text of a field: length, blanks, NUL, path. `field` names it in errors. */
static void check_text(struct check *k, const struct field *f, const char *field, struct str s,
                       long min, long max)
{
    size_t chars = utf8_count(s);
    const char *why;
    size_t from, to;

    if ((min > 0 && s.n == 0) || ((f->rules & FIELD_NONBLANK) && blank(s))) {
        refuse(k, field, "must not be empty");
        return;
    }
    if (max > 0 && chars > (size_t)max)
        refuse(k, field, "must be at most %ld characters, has %zu", max, chars);
    if ((f->rules & (FIELD_ARG | FIELD_PATH)) && memchr(s.p, 0, s.n)) {
        refuse(k, field, "must not hold a NUL character");
        return;
    }
    if (f->rules & FIELD_PATH) {
        why = root_refuses(k->c->root, s);
        if (why)
            refuse(k, field, "%s", why);
    }
    if ((f->rules & FIELD_LINES) && !lines_parse(s, &from, &to))
        refuse(k, field, "must look like \"120-180\", \"120\" or \"120-\"");
    if (f->only && !str_is(s, f->only))
        refuse(k, field, "must be \"%s\"", f->only);
}

static void check_str(struct check *k, const struct field *f, struct arg *arg, struct json v)
{
    if (json_type(v) != JSON_STR) {
        refuse(k, f->name, "must be a string");
        return;
    }
    arg->text = arena_str(&k->c->a, json_str(v, &k->c->a));
    check_text(k, f, f->name, arg->text, f->min, f->max);
}

static void check_int(struct check *k, const struct field *f, struct arg *arg, struct json v)
{
    long long n;

    if (json_type(v) != JSON_NUM)
        refuse(k, f->name, "must be an integer");
    else if (!json_int(v, &n) || n < f->min || n > f->max)
        refuse(k, f->name, "must be an integer from %ld to %ld", f->min, f->max);
    else
        arg->num = (long)n;
}

static void check_strs(struct check *k, const struct field *f, struct arg *arg, struct json v)
{
    struct json item;
    char name[64];
    size_t i = 0;

    if (json_type(v) != JSON_ARR) {
        refuse(k, f->name, "must be an array of strings");
        return;
    }
    arg->count = json_count(v);
    if (arg->count < (size_t)f->min || arg->count > (size_t)f->max) {
        refuse(k, f->name, "must have %ld to %ld items, has %zu", f->min, f->max, arg->count);
        return;
    }
    arg->texts = arena_zalloc(&k->c->a, (arg->count + 1) * sizeof *arg->texts);
    for (item = json_first(v); json_type(item); item = json_next(item), i++) {
        snprintf(name, sizeof name, "%s[%zu]", f->name, i);
        if (json_type(item) != JSON_STR) {
            refuse(k, name, "must be a string");
            continue;
        }
        arg->texts[i] = arena_str(&k->c->a, json_str(item, &k->c->a));
        check_text(k, f, name, arg->texts[i], 1, 0);
    }
}

static bool env_name_ok(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] == '_' || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (i > 0 && s.p[i] >= '0' && s.p[i] <= '9')))
            return false;
    return s.n > 0;
}

static void check_env(struct check *k, const char *field, struct str name, struct str value)
{
    if (!env_name_ok(name))
        refuse(k, field, "the name must match ^[A-Z_][A-Z0-9_]*$");
    else if (env_forbidden(name))
        refuse(k, field, "this variable cannot be set: it changes what a shell runs");
    if (utf8_count(value) > MAX_ENV_VALUE)
        refuse(k, field, "must be at most %d characters", MAX_ENV_VALUE);
    if (memchr(value.p, 0, value.n))
        refuse(k, field, "must not hold a NUL character");
}

static void check_map(struct check *k, const struct field *f, struct arg *arg, struct json v)
{
    struct arena *a = &k->c->a;
    struct json item;
    char field[128];

    if (json_type(v) != JSON_OBJ) {
        refuse(k, f->name, "must be an object with string values");
        return;
    }
    if (json_count(v) > (size_t)f->max) {
        refuse(k, f->name, "must have at most %ld entries, has %zu", f->max, json_count(v));
        return;
    }
    arg->pairs = arena_zalloc(a, (json_count(v) + 1) * sizeof *arg->pairs);
    for (item = json_first(v); json_type(item); item = json_next(item)) {
        struct str name = json_key(item, a), value = json_str(item, a);

        snprintf(field, sizeof field, "%s.%.*s", f->name, (int)(name.n < 60 ? name.n : 60), name.p);
        if (json_type(item) != JSON_STR) {
            refuse(k, field, "must be a string");
            continue;
        }
        if (f->rules & FIELD_ENV)
            check_env(k, field, name, value);
        arg->pairs[arg->count++] =
            arena_printf(a, "%.*s=%.*s", (int)name.n, name.p, (int)value.n, value.p);
    }
}

static void check_field(struct check *k, const struct field *f, struct arg *arg, struct json v)
{
    arg->given = true;
    switch (f->type) {
    case F_STR:
        check_str(k, f, arg, v);
        break;
    case F_INT:
        check_int(k, f, arg, v);
        break;
    case F_BOOL:
        if (json_type(v) != JSON_BOOL)
            refuse(k, f->name, "must be true or false");
        arg->num = json_is_true(v);
        break;
    case F_STRS:
        check_strs(k, f, arg, v);
        break;
    case F_MAP:
        check_map(k, f, arg, v);
        break;
    }
}

/* A misspelt argument must not be passed over in silence: the caller would
 * believe that it was obeyed. Seed 000 has no such rule, so jeeves is mild. */
static void check_unknown(struct check *k, struct json args)
{
    const struct field *f;
    struct json v;

    for (v = json_first(args); json_type(v); v = json_next(v)) {
        struct str key = json_key(v, &k->c->a);

        for (f = k->c->tool->fields; f->name; f++)
            if (field_shown(f, k->c->answer) && str_is(key, f->name))
                break;
        if (!f->name)
            refuse(k, arena_str(&k->c->a, (struct str){ key.p, key.n < 60 ? key.n : 60 }).p,
                   "%s has no such argument", k->c->tool->name);
    }
}

static size_t field_count(const struct tool *t)
{
    size_t n = 0;

    while (t->fields[n].name)
        n++;
    return n;
}

bool call_args(struct call *c, struct json arguments, const struct field_error **errors,
               size_t *count)
{
    struct check k = { .c = c };

    k.errors = arena_alloc(&c->a, MAX_ERRORS * sizeof *k.errors);
    c->args = arena_zalloc(&c->a, (field_count(c->tool) + 1) * sizeof *c->args);
    if (json_type(arguments) != JSON_NONE && json_type(arguments) != JSON_OBJ)
        refuse(&k, "arguments", "must be an object");
    if (schema_shown(c->tool, c->answer)) {
        c->arguments = arena_str(&c->a, json_raw(arguments));
        *errors = k.errors;
        *count = k.count;
        return k.count == 0;
    }
    for (size_t i = 0; c->tool->fields[i].name; i++) {
        const struct field *f = &c->tool->fields[i];
        struct json v = json_get(arguments, f->name);

        c->args[i].num = f->def;
        c->args[i].text = str_of(f->def_str);
        if (!field_shown(f, c->answer))
            continue;
        if (json_type(v))
            check_field(&k, f, &c->args[i], v);
        else if (f->required)
            refuse(&k, f->name, "is required");
    }
    if (c->answer != ANSWER_JEEVES)
        check_unknown(&k, arguments);
    *errors = k.errors;
    *count = k.count;
    return k.count == 0;
}

static const struct arg *find(const struct call *c, const char *name)
{
    static const struct arg none;

    const struct field *f = field_find(c->tool, name);

    assert(f); /* a tool asks only for what its row has */
    return c->args ? &c->args[f - c->tool->fields] : &none;
}

bool arg_has(const struct call *c, const char *name)
{
    return find(c, name)->given;
}

struct str arg_str(const struct call *c, const char *name)
{
    return find(c, name)->text;
}

long arg_int(const struct call *c, const char *name)
{
    return find(c, name)->num;
}

bool arg_bool(const struct call *c, const char *name)
{
    return find(c, name)->num != 0;
}

const struct str *arg_strs(const struct call *c, const char *name, size_t *count)
{
    const struct arg *arg = find(c, name);

    *count = arg->count;
    return arg->texts;
}

const char *const *arg_map(const struct call *c, const char *name, size_t *count)
{
    const struct arg *arg = find(c, name);

    *count = arg->count;
    return (const char *const *)arg->pairs;
}
