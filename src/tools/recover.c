/* recover.c: out of the store, by line numbers. */
#include "tools/recover.h"
#include <stdlib.h>
#include "call/cut.h"
#include "store/store.h"
#include "tools/text.h"

/* So that a thousand ranges do not mean a thousand walks through the text. */
static void find_lines(struct recovery *r, struct arena *a)
{
    const char *p = r->text.p, *end = p + r->text.n;
    size_t n = 0;

    r->lines = cut_lines(r->text);
    r->at = arena_alloc(a, (r->lines + 1) * sizeof *r->at);
    for (; n < r->lines; n++) {
        r->at[n] = (size_t)(p - r->text.p);
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : end;
    }
    r->at[n] = r->text.n;
}

static void on_got(void *arg, struct str text, const struct err *e)
{
    struct recovery *r = arg;
    struct call *c = r->c;

    r->op = NULL;
    c->on_cancel = NULL;
    if (!e) {
        r->text = arena_str(&c->a, text);
        find_lines(r, &c->a);
    } else if (e->code == ERR_MISSING) {
        err_set(&c->err, ERR_UNKNOWN_ID, "%s", e->msg);
    } else {
        err_set(&c->err, ERR_NO_RECOVERY, "%s", e->msg);
    }
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

/* "prn_…~119": how far the numbers are off. Anything else behind "~" belongs to an
 * id that nobody gave out, and is looked up as it is. */
static void take_offset(struct recovery *r, char *name)
{
    char *off = strchr(name, '~');
    size_t n = off ? strspn(off + 1, "0123456789") : 0;

    if (n == 0 || n > 9 || off[n + 1])
        return;
    r->offset = strtoul(off + 1, NULL, 10);
    *off = 0;
}

void recover_start(struct call *c, struct str id, void (*done)(struct call *c))
{
    struct recovery *r = arena_zalloc(&c->a, sizeof *r);
    char *name = (char *)arena_str(&c->a, id).p;

    if (strlen(name) != id.n)
        *name = 0; /* a NUL in it: no id at all */
    take_offset(r, name);
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
    size_t end = r->offset + r->lines;

    if (to == 0 || to > end)
        to = end;
    if (from <= r->offset)
        from = r->offset + 1;
    *first = *last = 0;
    if (from > to)
        return (struct str){ "", 0 };
    *first = from;
    *last = to;
    from = r->at[from - 1 - r->offset];
    return (struct str){ r->text.p + from, r->at[to - r->offset] - from };
}

void recover_answer(struct call *c, const struct recovery *r, size_t from, size_t to)
{
    size_t total = r->offset + r->lines, first, last;
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
        result_status(res, "no such lines: there are %zu-%zu", r->offset + 1, total);
    res->more = "ask again with lines \"FROM-TO\"";
    call_done(c);
}
