/* remote_pruner.c: the request's body, and no trust in the answer. */
#include "call/remote_pruner.h"
#include "wire/http_client.h"

struct remote_prune {
    struct call *c;
    struct http_post *post;
    size_t input_bytes;
    void (*done)(struct call *c, const struct remote_answer *a);
};

static bool take_output(struct remote_prune *p, struct str body, struct remote_answer *a)
{
    struct arena scratch = { 0 };
    struct json_doc doc;
    struct json out;
    long long bytes;
    bool ok = false;

    if (!json_parse(&doc, &scratch, body, &a->err)) {
        err_set(&a->err, ERR_RESPONSE, "the pruner's answer is not JSON");
        goto done;
    }
    out = json_get(json_root(&doc), "output");
    if (json_type(out) != JSON_STR) {
        err_set(&a->err, ERR_RESPONSE, "the pruner's answer has no string 'output'");
        goto done;
    }
    if (!json_int(json_get(json_root(&doc), "output_bytes"), &bytes) || bytes < 0) {
        err_set(&a->err, ERR_RESPONSE, "the pruner's answer has no integer 'output_bytes'");
        goto done;
    }
    a->output = arena_str(&p->c->a, json_str(out, &scratch));
    if (a->output.n > p->input_bytes) {
        err_set(&a->err, ERR_RESPONSE, "the pruner's output is larger than its input");
        goto done;
    }
    ok = true;

done:
    arena_done(&scratch);
    return ok;
}

static void on_answer(void *arg, const struct http_answer *http)
{
    struct remote_prune *p = arg;
    struct remote_answer a = { .duration_ms = http->duration_ms };

    p->post = NULL;
    if (http->code != ERR_NONE)
        err_set(&a.err, http->code, "%s", http->msg);
    else if (http->status < 200 || http->status > 299)
        err_set(&a.err, ERR_HTTP, "the pruner answered with status %d", http->status);
    else
        take_output(p, http->body, &a);
    p->done(p->c, &a);
}

struct remote_prune *remote_prune(struct call *c, struct str question, struct str input,
                                  long max_output,
                                  void (*done)(struct call *c, const struct remote_answer *a))
{
    struct remote_prune *p = arena_zalloc(&c->a, sizeof *p);
    struct site *s = c->site;
    struct buf b;
    struct json_out o = json_out(&b);

    p->c = c;
    p->input_bytes = input.n;
    p->done = done;
    buf_init(&b, input.n * 6 + question.n * 6 + 4096);
    json_obj(&o);
    json_kv_strz(&o, "request_id", c->request_id);
    json_kv_strz(&o, "tool", c->tool->name);
    json_kv_str(&o, "focus_question", question);
    json_kv_str(&o, "input", input);
    json_kv_int(&o, "input_bytes", (long long)input.n);
    if (max_output > 0)
        json_kv_int(&o, "max_output_bytes", max_output);
    json_obj_end(&o);
    /* An output as large as the input, each byte of it escaped, and its frame. */
    p->post = http_post(s->loop, s->pruner_url, buf_str(&b), s->pruner_timeout_ms,
                        input.n * 6 + 4096, on_answer, p);
    buf_done(&b);
    return p;
}

void remote_prune_cancel(struct remote_prune *p)
{
    if (p && p->post)
        http_post_cancel(p->post);
    if (p)
        p->post = NULL;
}
