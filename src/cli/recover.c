/* recover.c: what was left out, as it was.
 *
 * stdout has the lines byte for byte, so that "pith recover ID >FILE" gives the
 * text that went in. An id that ends in "~119" was shown with numbers that are
 * 119 too high (a part of a file): FROM and TO are such numbers then. */
#include "cli/cli.h"
#include <stdio.h>
#include <stdlib.h>
#include "call/args.h"
#include "call/cut.h"
#include "cli/kept.h"
#include "store/store.h"

struct wanted {
    char id[64];
    size_t offset;      /* what shown numbers are too high by */
    size_t from, to;    /* as shown; from 0: everything, to 0: to the end */
    size_t first, last; /* characters of these lines, 0: all */
};

static bool read_id(struct wanted *w, const char *arg)
{
    const char *off = strchr(arg, '~');
    size_t n = off ? (size_t)(off - arg) : strlen(arg);

    if (n == 0 || n >= sizeof w->id)
        return false;
    memcpy(w->id, arg, n);
    w->id[n] = '\0';
    if (off && (!off[1] || strlen(off + 1) > 9 || off[1 + strspn(off + 1, "0123456789")]))
        return false;
    w->offset = off ? strtoul(off + 1, NULL, 10) : 0;
    return true;
}

/* How many bytes the first n lines are. */
static size_t lines_end(struct str text, size_t n)
{
    const char *p = text.p, *end = p + text.n, *nl;

    for (; n > 0 && p < end; n--) {
        nl = memchr(p, '\n', (size_t)(end - p));
        p = nl ? nl + 1 : end;
    }
    return (size_t)(p - text.p);
}

static int print_lines(struct str text, const struct wanted *w)
{
    size_t total = cut_lines(text), from = w->from, to = w->to;
    size_t start, end;

    if (from && (from <= w->offset || from - w->offset > total))
        return cli_fail(1, "'%s' has lines %zu to %zu, not %zu", w->id, w->offset + 1,
                        w->offset + total, from);
    start = from ? lines_end(text, from - w->offset - 1) : 0;
    end = to ? lines_end(text, to - w->offset) : text.n;
    text = cut_chars((struct str){ text.p + start, end - start }, w->first, w->last);
    return cli_print(text) ? 0 : 1;
}

int cmd_recover(struct house *h, int argc, char **argv)
{
    struct wanted w = { 0 };
    struct buf text;
    struct err e;
    int status;

    if (argc < 1 || argc > 2)
        return cli_fail(2,
                        "recover needs an id, and takes line numbers: pith recover ID [FROM-TO]");
    if (!read_id(&w, argv[0]))
        return cli_fail(2, "'%s' is not an id: prn_… as an answer gave it", argv[0]);
    if (argc == 2 && !lines_parse(str_of(argv[1]), &w.from, &w.to))
        return cli_fail(2, "'%s' are not line numbers: 120-154, 120 or 120-, from 1 on", argv[1]);
    if (argc == 2)
        lines_chars(str_of(argv[1]), &w.first, &w.last);
    buf_init(&text, STORE_MOST_BYTES);
    if (kept_get(&h->set, w.id, &text, &e))
        status = print_lines(buf_str(&text), &w);
    else
        status = cli_fail(e.code == ERR_CONFIG ? 2 : 1, "%s", e.msg);
    buf_done(&text);
    return status;
}
