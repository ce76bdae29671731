/* show.c: gaps and lines, written out. */
#include "cli/show.h"
#include "base/utf8.h"
#include "json/write.h"
#include "tokens/tokens.h"

static void dim(struct buf *out, const struct show *s, bool on)
{
    if (s->colour)
        buf_adds(out, on ? "\033[2m" : "\033[0m");
}

static struct str line_of(const struct show *s, size_t line)
{
    const uint32_t *at = s->p->at + line - 1;

    return (struct str){ s->text.p + at[0], at[1] - at[0] };
}

/* --- for people --- */

static void add_line(struct buf *out, const struct show *s, size_t line)
{
    struct str text = line_of(s, line);

    if (s->numbers) {
        dim(out, s, true);
        buf_addf(out, "%zu", line);
        dim(out, s, false);
        buf_addc(out, '\t');
    }
    buf_add(out, text.p, text.n);
}

static void add_gap(struct buf *out, const struct show *s, const struct prune_gap *g)
{
    dim(out, s, true);
    if (g->to > g->from)
        buf_addf(out, "⋯ %zu lines left out (%zu-%zu): %s", g->to - g->from + 1, g->from, g->to,
                 g->why);
    else
        buf_addf(out, "⋯ 1 line left out (%zu): %s", g->from, g->why);
    dim(out, s, false);
    buf_addc(out, '\n');
}

void show_text(struct buf *out, const struct show *s)
{
    const struct prune *p = s->p;
    size_t line = 1;

    if (p->gap_count == 0) {
        buf_add(out, s->text.p, s->text.n);
        return;
    }
    for (size_t i = 0; i < p->gap_count; i++) {
        for (; line < p->gaps[i].from; line++)
            add_line(out, s, line);
        add_gap(out, s, &p->gaps[i]);
        line = p->gaps[i].to + 1;
    }
    for (; line <= p->lines; line++)
        add_line(out, s, line);
}

/* --- with reasons --- */

/* Is this line left out? *gap is the first that may hold it. */
static bool goes(const struct prune *p, size_t line, size_t *gap)
{
    while (*gap < p->gap_count && p->gaps[*gap].to < line)
        ++*gap;
    return *gap < p->gap_count && p->gaps[*gap].from <= line;
}

static void add_explained(struct buf *out, const struct show *s, size_t line, bool gone)
{
    struct str text = line_of(s, line);
    size_t before;

    dim(out, s, true);
    buf_addf(out, "%c%zu\t%.2f", gone ? '-' : ' ', line, (double)s->p->score[line - 1]);
    dim(out, s, false);
    buf_addc(out, '\t');
    buf_add(out, text.p, text.n);
    if (text.n == 0 || text.p[text.n - 1] != '\n')
        buf_addc(out, '\n');
    before = out->len;
    dim(out, s, true);
    buf_adds(out, "\t\t↳ ");
    text.n = out->len;
    prune_explain(out, s->p, line);
    if (out->len == text.n) { /* nothing to say */
        out->len = before;
        return;
    }
    dim(out, s, false);
    buf_addc(out, '\n');
}

void show_explained(struct buf *out, const struct show *s)
{
    size_t gap = 0;

    if (!s->p->score || !s->p->at) {
        show_text(out, s);
        return;
    }
    for (size_t line = 1; line <= s->p->lines; line++)
        add_explained(out, s, line, goes(s->p, line, &gap));
}

/* --- for programs --- */

static void put_text(struct json_out *o, const char *key, struct str text)
{
    struct buf b;
    size_t replaced;

    buf_init(&b, 3 * text.n + 16);
    replaced = utf8_repair(&b, text);
    json_kv_str(o, key, buf_str(&b));
    if (replaced)
        json_kv_int(o, "replaced_bytes", (long long)replaced);
    buf_done(&b);
}

static void put_gaps(struct json_out *o, const struct prune *p)
{
    json_put_key(o, "gaps");
    json_arr(o);
    for (size_t i = 0; i < p->gap_count; i++) {
        const struct prune_gap *g = &p->gaps[i];

        json_obj(o);
        json_kv_int(o, "from", (long long)g->from);
        json_kv_int(o, "to", (long long)g->to);
        json_kv_int(o, "count", (long long)(g->to - g->from + 1));
        json_kv_strz(o, "reason", g->why);
        json_obj_end(o);
    }
    json_arr_end(o);
}

static void put_score(struct json_out *o, const struct prune *p, size_t line, bool gone)
{
    struct buf b;

    buf_init(&b, 4096);
    json_obj(o);
    json_kv_int(o, "line", (long long)line);
    buf_addf(&b, "%.3f", (double)p->score[line - 1]);
    json_kv_raw(o, "score", buf_str(&b));
    json_kv_bool(o, "kept", !gone);
    buf_clear(&b);
    prune_explain(&b, p, line);
    put_text(o, "why", buf_str(&b));
    json_obj_end(o);
    buf_done(&b);
}

static void put_scores(struct json_out *o, const struct prune *p)
{
    size_t gap = 0;

    json_put_key(o, "scores");
    json_arr(o);
    for (size_t line = 1; p->score && line <= p->lines; line++)
        put_score(o, p, line, goes(p, line, &gap));
    json_arr_end(o);
}

static void put_or_null(struct json_out *o, const char *key, const char *value)
{
    json_put_key(o, key);
    if (value)
        json_put_strz(o, value);
    else
        json_put_null(o);
}

void show_json(struct buf *out, const struct show *s, struct str shown, bool explain)
{
    struct json_out o = json_out(out);

    json_obj(&o);
    json_kv_int(&o, "lines", (long long)s->p->lines);
    json_kv_int(&o, "kept", (long long)s->p->kept);
    put_gaps(&o, s->p);
    put_text(&o, "text", shown);
    json_put_key(&o, "tokens");
    json_obj(&o);
    json_kv_int(&o, "before", (long long)s->before);
    json_kv_int(&o, "after", (long long)tokens_count(shown));
    json_obj_end(&o);
    put_or_null(&o, "prune_id", s->id);
    put_or_null(&o, "warning", s->warning);
    json_kv_bool(&o, "nothing", s->p->nothing);
    if (explain)
        put_scores(&o, s->p);
    json_obj_end(&o);
    buf_addc(out, '\n');
}
