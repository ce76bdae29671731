/* result.c: entries in a list, kept in the call's arena. */
#include "call/result.h"
#include <stdarg.h>
#include <stdio.h>
#include "base/utf8.h"

static struct entry *append(struct result *r, const char *name, enum entry_kind kind)
{
    struct entry *e = arena_zalloc(r->a, sizeof *e);

    e->kind = kind;
    e->name = name;
    if (r->last)
        r->last->next = e;
    else
        r->first = e;
    r->last = e;
    return e;
}

void result_json(struct result *r, const char *name, struct str json)
{
    append(r, name, ENTRY_FACT)->json = json;
}

void result_str(struct result *r, const char *name, struct str value)
{
    struct buf fixed, b;
    struct json_out o = json_out(&b);

    buf_init(&fixed, 3 * value.n + 16);
    utf8_repair(&fixed, value);
    buf_init(&b, 6 * fixed.len + 16);
    json_put_str(&o, buf_str(&fixed));
    result_json(r, name, arena_str(r->a, buf_str(&b)));
    buf_done(&b);
    buf_done(&fixed);
}

void result_int(struct result *r, const char *name, long long value)
{
    result_json(r, name, str_of(arena_printf(r->a, "%lld", value)));
}

void result_bool(struct result *r, const char *name, bool value)
{
    result_json(r, name, value ? STR("true") : STR("false"));
}

struct entry *result_text(struct result *r, const char *name, struct str text)
{
    struct entry *e = append(r, name, ENTRY_TEXT);

    e->text = text;
    e->first_line = 1;
    return e;
}

void result_rows(struct result *r, const char *name, struct rows rows)
{
    append(r, name, ENTRY_ROWS)->rows = rows;
}

void result_place(struct result *r, const char *name, enum entry_kind kind)
{
    append(r, name, kind);
}

void result_status(struct result *r, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->status = arena_strdup(r->a, text);
}
