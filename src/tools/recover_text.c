/* recover_text.c: what was left out of an answer, by id and line numbers.
 *
 * In profile pruner as seed 001 writes it (ranges, numbers as "N│ "); elsewhere
 * with `lines`, and a question if the kept text is to be pruned again. */
#include "call/args.h"
#include "tools/check.h"
#include "tools/recover.h"
#include "tools/table.h"

/* Bytes that one answer brings back, numbers included. */
enum { MOST_MB = 64 };

/* --- seed 001's form --- */

static void refuse(struct call *c, const char *id)
{
    struct buf b;
    struct json_out o = json_out(&b);
    enum err_code code = c->err.code;

    buf_init(&b, 1 << 16);
    json_obj(&o);
    json_kv_strz(&o, "code", err_word(code));
    json_kv_strz(&o, "prune_id", id);
    json_kv_strz(&o, "detail", c->err.msg);
    json_obj_end(&o);
    err_set(&c->err, code, "%s", err_word(code));
    call_refuse(c, err_number(code), arena_str(&c->a, buf_str(&b)));
    buf_done(&b);
}

static void add_range(struct buf *out, const struct recovery *r, size_t from, size_t to,
                      bool numbers)
{
    size_t first, last;
    struct str text = recover_lines(r, from, to, &first, &last);

    if (out->len > 0 && text.n > 0 && out->data[out->len - 1] != '\n')
        buf_addc(out, '\n');
    if (!numbers) {
        buf_add(out, text.p, text.n);
        return;
    }
    for (const char *p = text.p, *end = p + text.n; p < end && !out->full; first++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = nl ? (size_t)(nl - p) + 1 : (size_t)(end - p);

        buf_addf(out, "%zu│ ", first);
        buf_add(out, p, n);
        p += n;
    }
}

static bool range_ok(struct json v, long long *from, long long *to)
{
    return json_int(json_get(v, "start_line"), from) && json_int(json_get(v, "end_line"), to) &&
           *from >= 1 && *to >= *from;
}

static void put_metadata(struct call *c, const struct recovery *r, struct json ranges)
{
    struct buf b;
    struct json_out o = json_out(&b);

    buf_init(&b, c->arguments.n + 1024);
    json_obj(&o);
    json_kv_strz(&o, "prune_id", r->name);
    json_kv_raw(&o, "ranges", json_raw(ranges));
    json_kv_strz(&o, "line_numbering", "original");
    json_obj_end(&o);
    result_json(&c->result, "metadata", arena_str(&c->a, buf_str(&b)));
    buf_done(&b);
}

static void send_ranges(struct call *c)
{
    const struct recovery *r = c->op;
    struct json_doc d;
    struct json root, list;
    struct buf text;
    bool numbers;

    if (c->err.code == ERR_CANCELLED) {
        call_fail(c);
        return;
    }
    if (c->err.code) {
        refuse(c, r->name);
        return;
    }
    json_parse(&d, &c->a, c->arguments, NULL);
    root = json_root(&d);
    list = json_get(root, "ranges");
    numbers = json_is_true(json_get(root, "include_line_numbers"));
    buf_init(&text, (size_t)MOST_MB << 20);
    for (struct json v = json_first(list); json_type(v) && !text.full; v = json_next(v)) {
        long long from = 1, to = 1;

        range_ok(v, &from, &to);
        add_range(&text, r, (size_t)from, (size_t)to, numbers);
    }
    if (text.full) {
        err_set(&c->err, ERR_RANGE, "these ranges are more than %d MB together: ask for fewer",
                MOST_MB);
        refuse(c, r->name);
    } else {
        result_str(&c->result, "raw_text", buf_str(&text));
        put_metadata(c, r, list);
        call_done(c);
    }
    buf_done(&text);
}

/* What is no line number is an invalid range, not an invalid parameter. */
static const struct check_field range_fields[] = { { .name = "start_line" },
                                                   { .name = "end_line" },
                                                   { 0 } };

static const struct check_field pruner_fields[] = { { "prune_id", .type = JSON_STR },
                                                    { "ranges", .type = JSON_ARR,
                                                      .inside = range_fields },
                                                    { "include_line_numbers", .type = JSON_BOOL },
                                                    { 0 } };

static void run_pruner(struct call *c)
{
    struct json_doc d;
    struct json root;
    struct str id;

    if (!check_object(c, c->arguments, pruner_fields, &d))
        return;
    root = json_root(&d);
    id = arena_str(&c->a, json_str(json_get(root, "prune_id"), &c->a));
    for (struct json v = json_first(json_get(root, "ranges")); json_type(v); v = json_next(v)) {
        long long from, to;

        if (range_ok(v, &from, &to))
            continue;
        err_set(&c->err, ERR_RANGE, "lines are counted from 1, and start_line <= end_line");
        refuse(c, id.p);
        return;
    }
    recover_start(c, id, send_ranges);
}

/* --- plain --- */

static void send_lines(struct call *c)
{
    struct str lines = arg_str(c, "lines");
    size_t from = 0, to = 0;

    if (lines.p)
        lines_parse(lines, &from, &to);
    if (c->err.code)
        call_fail(c);
    else
        recover_answer(c, c->op, from, to);
}

static void run(struct call *c)
{
    if (c->answer == ANSWER_PRUNER)
        run_pruner(c);
    else
        recover_start(c, arg_str(c, "id"), send_lines);
}

static const struct field fields[] = {
    { "id", F_STR, .required = true, .min = 5, .max = 60, .rules = FIELD_ARG,
      .text = "the id that an answer named, prn_…" },
    { "lines", F_STR, .min = 1, .max = 48, .rules = FIELD_LINES,
      .text = "only these lines, e.g. \"120-180\"; default: all" },
    { "context_focus_question", F_STR, .min = 1, .max = 1000, .rules = FIELD_NONBLANK,
      .text = "what you want to know; keeps only lines that matter" },
    { 0 },
};

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"prune_id\":{\"type\":\"string\"},\"ranges\":{\"type\":"
    "\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"start_line\":{\"type\":\"integer\","
    "\"minimum\":1},\"end_line\":{\"type\":\"integer\",\"minimum\":1}},\"required\":[\"start_"
    "line\","
    "\"end_line\"],\"additionalProperties\":false}},\"include_line_numbers\":{\"type\":\"boolean\"}"
    "},"
    "\"required\":[\"prune_id\",\"ranges\",\"include_line_numbers\"],\"additionalProperties\":"
    "false}";

static const struct tool_noun nouns[] = { { "pruner", "recover" }, { 0 } };

const struct tool tool_recover_text = {
    .name = "recover_text",
    .alias = "recover_range",
    .category = CAT_PRUNE,
    .effects = READS,
    .text = "Lines that were left out of an earlier answer, by its id.",
    .fields = fields,
    .nouns = nouns,
    .schema = schema,
    .schema_answers = 1 << ANSWER_PRUNER,
    .run = run,
};
