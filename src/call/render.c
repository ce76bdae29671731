/* render.c: the forms of an answer.
 *
 * plain: made for a model. One status line, then the text; programs find the
 * same facts in _meta["pith/result"], which costs the model nothing. No times:
 * the same input gives the same bytes.
 * jeeves: seed 000's structuredContent, and the text itself as content.
 * pruner: seed 001's JSON object, written as text.
 * Nothing is made smaller here; finish.c did that. */
#include "call/render.h"
#include "call/finish.h"
#include "call/focus.h"

static void put_pruning(struct json_out *o, const struct pruning *p)
{
    json_put_key(o, "pruning");
    json_obj(o);
    json_kv_bool(o, "attempted", p->attempted);
    json_kv_bool(o, "applied", p->applied);
    json_kv_bool(o, "fallback", p->fallback);
    if (p->reason)
        json_kv_strz(o, "reason", p->reason);
    json_kv_int(o, "raw_bytes", (long long)p->raw_bytes);
    if (p->applied)
        json_kv_int(o, "pruned_bytes", (long long)p->pruned_bytes);
    if (p->attempted)
        json_kv_int(o, "pruner_duration_ms", (long long)p->duration_ms);
    if (p->id)
        json_kv_strz(o, "prune_id", p->id);
    if (p->lines) {
        json_kv_int(o, "lines", (long long)p->lines);
        json_kv_int(o, "kept_lines", (long long)p->kept);
    }
    if (p->err.code) {
        json_put_key(o, "error");
        json_obj(o);
        json_kv_strz(o, "code", err_word(p->err.code));
        json_kv_strz(o, "message", p->err.msg);
        json_obj_end(o);
    }
    json_obj_end(o);
}

static void put_error(struct json_out *o, const struct call *c)
{
    json_put_key(o, "error");
    json_obj(o);
    json_kv_strz(o, "code", err_word(c->err.code));
    json_kv_strz(o, "message", c->err.msg);
    if (c->exit_code >= 0)
        json_kv_int(o, "exit_code", c->exit_code);
    json_obj_end(o);
}

static void put_rows(struct json_out *o, const struct rows *rows)
{
    json_arr(o);
    for (size_t i = 0; i < rows->count; i++)
        rows->json(o, (const char *)rows->items + i * rows->size);
    json_arr_end(o);
}

/* A text that stands in the answer already, as content, is copied from there:
 * escaping twice is what a large read would spend most of its time on. */
static void put_text(struct json_out *o, const struct entry *e)
{
    char *to;

    if (e->escaped_n == 0) {
        json_put_str(o, e->text);
        return;
    }
    json_put_raw(o, STR("\""));
    to = buf_room(o->b, e->escaped_n);
    if (to) {
        memcpy(to, o->b->data + e->escaped_at, e->escaped_n);
        o->b->len += e->escaped_n;
    }
    buf_addc(o->b, '"');
}

enum { FACTS = 1, PARTS = 2, TIMES = 4 };

static unsigned group_of(enum entry_kind kind)
{
    if (kind == ENTRY_TEXT || kind == ENTRY_ROWS)
        return PARTS;
    return kind == ENTRY_DURATION ? TIMES : FACTS;
}

static void put_entries(struct json_out *o, const struct call *c, unsigned which)
{
    for (const struct entry *e = c->result.first; e; e = e->next) {
        if (!(which & group_of(e->kind)))
            continue;
        json_put_key(o, e->name);
        switch (e->kind) {
        case ENTRY_FACT:
            json_put_raw(o, e->json);
            break;
        case ENTRY_TEXT:
            put_text(o, e);
            break;
        case ENTRY_ROWS:
            put_rows(o, &e->rows);
            break;
        case ENTRY_TRUNCATED:
            json_put_bool(o, c->finish->truncated);
            break;
        case ENTRY_BYTES:
            json_put_int(o, (long long)c->finish->pruning.raw_bytes);
            break;
        case ENTRY_DURATION:
            json_put_int(o, (long long)c->duration_ms);
            break;
        }
    }
    if (which & FACTS) {
        if (c->result.replaced)
            json_kv_int(o, "replaced_bytes", (long long)c->result.replaced);
        if (c->result.binary)
            json_kv_bool(o, "binary", true);
    }
}

/* {members"content":[{"type":"text","text":" … the caller goes on from here. */
static void open_result(struct call *c, struct buf *out)
{
    buf_addc(out, '{');
    buf_add(out, c->members.p, c->members.n);
    buf_adds(out, "\"content\":[{\"type\":\"text\",\"text\":\"");
}

static void close_text(struct buf *out)
{
    buf_adds(out, "\"}]");
}

/* "_meta":{ with the transport's members; the caller may add its own. */
static void open_meta(struct json_out *o, const struct call *c)
{
    json_put_key(o, "_meta");
    json_obj(o);
    if (c->meta.n) {
        buf_add(o->b, c->meta.p, c->meta.n);
        o->comma = true;
    }
}

/* For forms that have no _meta of their own. */
static void put_meta(struct json_out *o, const struct call *c)
{
    if (c->meta.n == 0)
        return;
    open_meta(o, c);
    json_obj_end(o);
}

/* The parts one after the other, escaped into the open string. */
static void add_texts(struct call *c, struct buf *out, bool titles)
{
    struct buf line;

    buf_init(&line, (size_t)1 << 26);
    for (struct entry *e = c->result.first; e; e = e->next) {
        if (e->kind == ENTRY_TEXT && e->text.n > 0) {
            if (titles && e->title) {
                buf_clear(&line);
                buf_addf(&line, "[%s]\n", e->title);
                json_escape(out, buf_str(&line));
            }
            e->escaped_at = out->len;
            json_escape(out, e->text);
            e->escaped_n = out->len - e->escaped_at;
            if (titles && e->next && e->text.p[e->text.n - 1] != '\n')
                json_escape(out, STR("\n"));
        } else if (e->kind == ENTRY_ROWS) {
            for (size_t i = 0; i < e->rows.count; i++) {
                buf_clear(&line);
                e->rows.text(&line, (const char *)e->rows.items + i * e->rows.size);
                buf_addc(&line, '\n');
                json_escape(out, buf_str(&line));
            }
        }
    }
    buf_done(&line);
}

/* --- plain --- */

static bool has_rows(const struct call *c)
{
    for (const struct entry *e = c->result.first; e; e = e->next)
        if (e->kind == ENTRY_ROWS)
            return true;
    return false;
}

static void status_line(const struct call *c, struct buf *b)
{
    const struct finish *f = c->finish;
    const struct pruning *p = &f->pruning;

    if (c->err.code)
        buf_addf(b, "%s: %s", err_word(c->err.code), c->err.msg);
    else
        buf_adds(b, c->result.status ? c->result.status : "ok");
    if (f->truncated && !has_rows(c)) /* a tool with rows says how many more there are */
        buf_adds(b, "; cut at its ceiling, not complete");
    if (c->result.replaced)
        buf_addf(b, "; %zu bytes of invalid UTF-8 shown as U+FFFD", c->result.replaced);
    if (p->lines)
        focus_say(b, p);
    else if (p->applied)
        buf_addf(b, "; pruned to the question: %zu of %zu bytes kept", p->pruned_bytes,
                 p->raw_bytes);
    else if (p->fallback)
        buf_addf(b, "; not pruned (%s: %s)", err_word(p->err.code), p->err.msg);
    else if (p->too_long && f->cut)
        buf_adds(b, "; not pruned: the lines that would stay are too long");
}

static void render_plain(struct call *c, struct buf *out)
{
    const struct finish *f = c->finish;
    struct json_out o = json_out(out);
    struct buf status;

    buf_init(&status, 4096);
    status_line(c, &status);
    open_result(c, out);
    json_escape(out, buf_str(&status));
    if (f->pruning.raw_bytes > 0)
        json_escape(out, STR("\n"));
    add_texts(c, out, true);
    close_text(out);
    o.comma = true;
    if (c->err.code)
        json_kv_bool(&o, "isError", true);
    open_meta(&o, c);
    json_put_key(&o, "pith/result");
    json_obj(&o);
    json_kv_strz(&o, "tool", c->tool->name);
    if (c->err.code)
        put_error(&o, c);
    put_entries(&o, c, FACTS);
    json_kv_bool(&o, "complete", !f->truncated && !f->cut && !f->pruning.applied);
    if (f->pruning.attempted || f->question.n > 0)
        put_pruning(&o, &f->pruning);
    json_obj_end(&o);
    json_obj_end(&o);
    json_obj_end(&o);
    buf_done(&status);
}

/* --- jeeves --- */

static void render_jeeves(struct call *c, struct buf *out)
{
    struct json_out o = json_out(out);
    bool failed = c->err.code != ERR_NONE;

    open_result(c, out);
    if (failed) {
        json_escape(out, str_of(c->err.msg));
        if (c->finish->pruning.raw_bytes > 0)
            json_escape(out, STR("\n"));
    }
    add_texts(c, out, false);
    close_text(out);
    o.comma = true;
    json_put_key(&o, "structuredContent");
    json_obj(&o);
    json_kv_strz(&o, "tool", c->tool->name);
    if (failed)
        put_error(&o, c);
    put_entries(&o, c, failed ? PARTS : FACTS | PARTS | TIMES);
    put_pruning(&o, &c->finish->pruning);
    json_obj_end(&o);
    if (failed)
        json_kv_bool(&o, "isError", true);
    put_meta(&o, c);
    json_obj_end(&o);
}

/* --- pruner --- */

static void render_pruner(struct call *c, struct buf *out)
{
    struct json_out o = json_out(out), text;
    struct buf b;

    buf_init(&b, out->max);
    text = json_out(&b);
    json_obj(&text);
    if (c->err.code)
        put_error(&text, c);
    else
        put_entries(&text, c, FACTS | PARTS | TIMES);
    json_obj_end(&text);
    open_result(c, out);
    json_escape(out, buf_str(&b));
    close_text(out);
    o.comma = true;
    if (c->err.code)
        json_kv_bool(&o, "isError", true);
    put_meta(&o, c);
    json_obj_end(&o);
    buf_done(&b);
}

void render_result(struct call *c, struct buf *out)
{
    switch (c->answer) {
    case ANSWER_PLAIN:
        render_plain(c, out);
        break;
    case ANSWER_JEEVES:
        render_jeeves(c, out);
        break;
    case ANSWER_PRUNER:
        render_pruner(c, out);
        break;
    }
}

void render_ready(struct call *c, struct buf *out)
{
    struct json_out o = json_out(out);

    buf_addc(out, '{');
    buf_add(out, c->members.p, c->members.n);
    buf_add(out, c->json.p, c->json.n);
    buf_add(out, c->cache.p, c->cache.n);
    o.comma = true;
    put_meta(&o, c);
    json_obj_end(&o);
}

void render_errors_array(struct json_out *o, const struct field_error *errors, size_t count)
{
    json_arr(o);
    for (size_t i = 0; i < count; i++) {
        json_obj(o);
        json_kv_strz(o, "field", errors[i].field);
        json_kv_strz(o, "message", errors[i].message);
        json_obj_end(o);
    }
    json_arr_end(o);
}

void render_field_errors(struct call *c, struct buf *out, const struct field_error *errors,
                         size_t count)
{
    struct json_out o = json_out(out);

    open_result(c, out);
    json_escape(out, STR("invalid arguments"));
    for (size_t i = 0; i < count; i++) {
        json_escape(out, i ? STR("; ") : STR(": "));
        json_escape(out, str_of(errors[i].field));
        json_escape(out, STR(" "));
        json_escape(out, str_of(errors[i].message));
    }
    close_text(out);
    o.comma = true;
    json_kv_bool(&o, "isError", true);
    open_meta(&o, c);
    json_put_key(&o, "pith/result");
    json_obj(&o);
    json_kv_strz(&o, "tool", c->tool->name);
    json_put_key(&o, "error");
    json_obj(&o);
    json_kv_strz(&o, "code", err_word(ERR_PARAMS));
    json_kv_strz(&o, "message", "invalid arguments");
    json_obj_end(&o);
    json_put_key(&o, "field_errors");
    render_errors_array(&o, errors, count);
    json_obj_end(&o);
    json_obj_end(&o);
    json_obj_end(&o);
}
