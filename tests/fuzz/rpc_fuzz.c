/* rpc_fuzz.c: any bytes as a message, its era and its tool arguments.
 *
 * What is taken must be usable: ids are JSON, arguments pass into a call, and
 * an error answer made from it parses again. */
#include <assert.h>
#include <stdint.h>
#include "call/args.h"
#include "rpc/era.h"
#include "tools/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_args(struct json params)
{
    static struct site site = { .root = { .fd = -1, .path = "/root", .confined = true } };

    for (const struct tool *const *t = tool_table; *t; t++) {
        for (int answer = ANSWER_PLAIN; answer <= ANSWER_PRUNER; answer++) {
            struct call *c = call_new(&site, *t, &site.root, (enum answer)answer);
            const struct field_error *errors;
            size_t count;
            bool ok = call_args(c, json_get(params, "arguments"), &errors, &count);

            assert(ok == (count == 0));
            for (size_t i = 0; i < count; i++)
                assert(errors[i].field && errors[i].message);
            call_free(c);
        }
    }
}

static void check_answer(const struct rpc_msg *m)
{
    struct arena a = { 0 };
    struct json_doc d;
    struct buf b;

    buf_init(&b, 1 << 24);
    rpc_error(&b, m->id, -32603, "fuzz", (struct str){ 0 });
    assert(json_parse(&d, &a, buf_str(&b), NULL));
    assert(str_eq(json_raw(json_get(json_root(&d), "id")), m->id));
    buf_done(&b);
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct era_headers none = { 0 };
    struct arena a = { 0 };
    struct rpc_msg m;
    struct era era;
    struct err e;

    if (rpc_parse(&m, &a, (struct str){ (const char *)data, size }, &e)) {
        era_decode(&era, &m, &a, &none, &e);
        check_args(m.params);
    }
    check_answer(&m);
    arena_done(&a);
    return 0;
}
