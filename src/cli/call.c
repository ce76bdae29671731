/* call.c: one call from a terminal.
 *
 * key=value pairs become the arguments object: the field's type says how a
 * value is written (numbers and true/false as they are, strings quoted, lists
 * by repeating the key, maps as key=NAME=value). They then pass the same
 * checks as everybody's. The exit status is 1 when the tool failed, 2 when the
 * arguments were refused. */
#include "cli/cli.h"
#include <signal.h>
#include <stdio.h>
#include "base/log.h"
#include "call/args.h"
#include "call/principal.h"
#include "call/render.h"

enum { MAX_ARGS = 1 << 24 };

struct run {
    struct house *h;
    struct call *call; /* NULL: none under way */
    bool json;
    int status;
};

/* --- key=value to JSON --- */

static void put_value(struct json_out *o, const struct field *f, const char *value)
{
    if (f->type == F_INT || f->type == F_BOOL)
        json_put_raw(o, str_of(value)); /* not a number: the reader will say so */
    else
        json_put_str(o, str_of(value));
}

static void put_map_value(struct json_out *o, const char *pair)
{
    const char *eq = strchr(pair, '=');
    char name[256];

    snprintf(name, sizeof name, "%.*s", (int)(eq ? eq - pair : (long)strlen(pair)), pair);
    json_kv_str(o, name, str_of(eq ? eq + 1 : ""));
}

static bool is_key(const char *arg, const char *key)
{
    size_t n = strlen(key);

    return strncmp(arg, key, n) == 0 && arg[n] == '=';
}

/* All values of one field, in the form its type asks for. */
static bool put_field(struct json_out *o, const struct field *f, int argc, char **argv)
{
    bool any = false;

    for (int i = 0; i < argc; i++) {
        const char *value = argv[i] + strlen(f->name) + 1;

        if (!is_key(argv[i], f->name))
            continue;
        if (!any) {
            json_put_key(o, f->name);
            if (f->type == F_STRS)
                json_arr(o);
            if (f->type == F_MAP)
                json_obj(o);
        } else if (f->type != F_STRS && f->type != F_MAP) {
            return false;
        }
        any = true;
        if (f->type == F_MAP)
            put_map_value(o, value);
        else
            put_value(o, f, value);
    }
    if (any && f->type == F_STRS)
        json_arr_end(o);
    if (any && f->type == F_MAP)
        json_obj_end(o);
    return true;
}

static bool put_args(struct buf *b, const struct tool *t, int argc, char **argv, struct err *e)
{
    struct json_out o = json_out(b);

    json_obj(&o);
    for (int i = 0; i < argc; i++) {
        const struct field *f = t->fields;

        while (f->name && !is_key(argv[i], f->name))
            f++;
        if (!f->name)
            return err_set(e, ERR_PARAMS, "'%s' is no argument of %s; 'pith tools %s' shows them",
                           argv[i], t->name, t->name);
    }
    for (const struct field *f = t->fields; f->name; f++)
        if (!put_field(&o, f, argc, argv))
            return err_set(e, ERR_PARAMS, "%s is given twice", f->name);
    json_obj_end(&o);
    return true;
}

/* --- the answer --- */

/* The text of the first content block, or the whole result with --json. */
static void print_result(struct run *r, struct str message)
{
    struct arena a = { 0 };
    struct json_doc doc;
    struct err e;
    struct str text = message;

    if (json_parse(&doc, &a, message, &e)) {
        struct json root = json_root(&doc);

        if (json_is_true(json_get(root, "isError")))
            r->status = 1;
        if (!r->json)
            text = json_str(json_get(json_first(json_get(root, "content")), "text"), &a);
    }
    if (!cli_print(text) || ((text.n == 0 || text.p[text.n - 1] != '\n') && !cli_print(STR("\n"))))
        r->status = 1;
    arena_done(&a);
}

static void on_reply(void *arg, struct call *c, struct str message)
{
    struct run *r = arg;

    r->call = NULL;
    if (c->refused)
        r->status = cli_fail(1, "%s", c->err.msg);
    else
        print_result(r, message);
    loop_stop(r->h->loop);
}

static void on_dropped(void *arg, struct call *c)
{
    struct run *r = arg;

    (void)c;
    r->call = NULL;
    r->status = 130;
    loop_stop(r->h->loop);
}

static void on_signal(void *arg)
{
    struct run *r = arg;

    if (r->call)
        call_cancel(r->call);
}

static int refused(const struct field_error *errors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_fail(2, "%s %s", errors[i].field, errors[i].message);
    return 2;
}

/* Check the arguments and run the call to its end. */
static int run_call(struct house *h, const struct tool *t, struct str args)
{
    struct run r = { .h = h, .json = h->set.num[OPT_JSON] };
    struct call *c = call_new(&h->site, t, &h->site.root, h->profile->answer);
    const struct field_error *errors;
    struct arena a = { 0 };
    struct json_doc doc;
    struct err e;
    size_t count;
    int status;

    if (!json_parse(&doc, &a, args, &e)) {
        call_free(c);
        arena_done(&a);
        return cli_fail(2, "a number, true or false is expected where something else is given");
    }
    if (!call_args(c, json_root(&doc), &errors, &count)) {
        status = refused(errors, count);
        call_free(c);
    } else {
        r.call = c;
        c->principal = principal_local();
        c->reply = on_reply;
        c->dropped = on_dropped;
        c->reply_arg = &r;
        loop_on_signal(h->loop, SIGINT, on_signal, &r);
        loop_on_signal(h->loop, SIGTERM, on_signal, &r);
        call_start(c);
        if (r.call)
            loop_run(h->loop);
        status = r.status;
    }
    arena_done(&a);
    return status;
}

int cmd_call(struct house *h, int argc, char **argv)
{
    const struct tool *t;
    struct buf args;
    struct err e;
    int status;

    if (argc < 1)
        return cli_fail(2, "call needs a tool: pith call TOOL [key=value ...]; 'pith tools' lists "
                           "them");
    log_open(2, false, LOG_ERROR);
    if (!house_open(h, &e)) {
        house_close(h);
        return cli_fail(2, "%s", e.msg);
    }
    buf_init(&args, MAX_ARGS);
    t = registry_find(h->registry, h->profile, str_of(argv[0]));
    if (!t)
        status = cli_fail(2, "profile %s has no tool '%s'; 'pith tools' lists them",
                          h->profile->name, argv[0]);
    else if (!put_args(&args, t, argc - 1, argv + 1, &e))
        status = cli_fail(2, "%s", e.msg);
    else
        status = run_call(h, t, buf_str(&args));
    buf_done(&args);
    house_close(h);
    return status;
}
