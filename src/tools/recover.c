/* recover.c: out of the store, by line numbers. */
#include "tools/recover.h"
#include <stdlib.h>
#include "call/cut.h"
#include "store/store.h"
#include "tools/text.h"

static void on_got(void *arg, struct str text, const struct err *e)
{
    struct recovery *r = arg;
    struct call *c = r->c;

    r->op = NULL;
    c->on_cancel = NULL;
    if (!e)
        r->text = arena_str(&c->a, text);
    else if (e->code == ERR_MISSING)
        err_set(&c->err, ERR_UNKNOWN_ID, "%s", e->msg);
    else
        err_set(&c->err, ERR_NO_RECOVERY, "%s", e->msg);
    r->done(c);
}

static void on_cancel(struct call *c)
{
    struct recovery *r = c->op;

    store_cancel(r->op);
    r->op = NULL;
    err_set(&c->err, ERR_CANCELLED, "cancelled");
    r->done(c);
}

void recover_start(struct call *c, struct str id, void (*done)(struct call *c))
{
    struct recovery *r = arena_zalloc(&c->a, sizeof *r);
    char *name = (char *)arena_str(&c->a, id).p, *off = strchr(name, '~');

    if (off) {
        r->offset = strtoul(off + 1, NULL, 10);
        *off = 0;
    }
    r->name = name;
    r->c = c;
    r->done = done;
    c->op = r;
    c->on_cancel = on_cancel;
    r->op = store_get(c->site->store, c->principal, name, on_got, r);
}

struct str recover_lines(const struct recovery *r, size_t from, size_t to, size_t *first,
                         size_t *last)
{
    const char *p = r->text.p, *end = p + r->text.n, *start = NULL;
    size_t n = r->offset + 1;

    *first = *last = 0;
    for (; p < end && (to == 0 || n <= to); n++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));

        if (n >= from) {
            if (!start) {
                start = p;
                *first = n;
            }
            *last = n;
        }
        p = nl ? nl + 1 : end;
    }
    return start ? (struct str){ start, (size_t)(p - start) } : (struct str){ "", 0 };
}

void recover_answer(struct call *c, const struct recovery *r, size_t from, size_t to)
{
    size_t total = r->offset + cut_lines(r->text), first, last;
    struct str text = recover_lines(r, from ? from : 1, to, &first, &last);
    struct result *res = &c->result;
    struct entry *e;

    result_str(res, "prune_id", str_of(r->name));
    result_str(res, "encoding", STR("utf-8"));
    e = result_text(res, "content", text);
    if (first)
        e->first_line = first;
    result_place(res, "truncated", ENTRY_TRUNCATED);
    result_place(res, "bytes", ENTRY_BYTES);
    result_place(res, "duration_ms", ENTRY_DURATION);
    if (first)
        result_status(res, "lines %zu-%zu of %zu", first, last, total);
    else
        result_status(res, "no such lines: there are %zu", total);
    res->more = "ask again with lines \"FROM-TO\"";
    call_done(c);
}
