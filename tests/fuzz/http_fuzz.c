/* http_fuzz.c: the HTTP parser against itself and against llhttp.
 *
 * The first byte says in which pieces the rest arrives. The stream is parsed
 * once whole and once in those pieces: the requests and the final verdict must
 * be the same. Each request that was taken is given to llhttp as the bytes it
 * stood in: it must find one request there, with the same body and the same
 * end. That is what request smuggling would break. */
#include <llhttp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "wire/http_parse.h"

enum { MAX_HEADER = 600, MAX_BODY = 20000, MAX_REQUESTS = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "http_fuzz: %s\n", what);
    abort();
}

/* llhttp's view of one request. */
struct other {
    struct buf body;
    int done;
};

static int on_body(llhttp_t *ll, const char *at, size_t n)
{
    struct other *o = ll->data;

    buf_add(&o->body, at, n);
    return 0;
}

static int on_done(llhttp_t *ll)
{
    struct other *o = ll->data;

    o->done++;
    return HPE_PAUSED;
}

/* It may dislike an extension that we merely skip; nothing else. */
static void ask_llhttp(const struct http_parser *p, struct str raw)
{
    static const llhttp_settings_t settings = { .on_body = on_body,
                                                .on_message_complete = on_done };
    struct other o = { 0 };
    llhttp_t ll;
    llhttp_errno_t rc;

    buf_init(&o.body, MAX_BODY);
    llhttp_init(&ll, HTTP_REQUEST, &settings);
    ll.data = &o;
    rc = llhttp_execute(&ll, raw.p, raw.n);
    if (o.done == 0 && p->head.chunked && memchr(raw.p + p->body_at, ';', raw.n - p->body_at)) {
        buf_done(&o.body);
        return;
    }
    must(o.done == 1, "llhttp finds no request where we do");
    must(rc == HPE_PAUSED || rc == HPE_PAUSED_UPGRADE, "llhttp finds an error where we do not");
    must(llhttp_get_error_pos(&ll) == raw.p + raw.n, "llhttp finds another end");
    must(str_eq(buf_str(&o.body), p->body), "llhttp finds another body");
    buf_done(&o.body);
}

static void look_at(const struct http_parser *p)
{
    int hosts = 0;

    must(p->body.n <= MAX_BODY, "a body over its ceiling");
    must(p->body_at <= MAX_HEADER, "a head over its ceiling");
    must(p->head.count <= HTTP_MAX_HEADERS, "more headers than there is room for");
    must(p->head.path.n > 0 && (p->head.path.p[0] == '/' || p->head.path.p[0] == '*'), "a path");
    for (size_t i = 0; i < p->head.count; i++)
        hosts += http_same_word(p->head.headers[i].name, "host");
    must(hosts == 1, "not one Host");
}

/* A line for each request and one for the end. */
static void note(struct buf *b, const struct http_parser *p)
{
    const struct http_head *h = &p->head;

    buf_addf(b, "%zu %d %d ", h->count, h->minor, p->keep_alive);
    buf_add(b, h->method.p, h->method.n);
    buf_add(b, h->path.p, h->path.n);
    buf_addc(b, '?');
    buf_add(b, h->query.p ? h->query.p : "", h->query.n);
    for (size_t i = 0; i < h->count; i++) {
        buf_add(b, h->headers[i].name.p, h->headers[i].name.n);
        buf_add(b, h->headers[i].value.p, h->headers[i].value.n);
    }
    buf_add(b, p->body.p, p->body.n);
    buf_addc(b, '\n');
}

static void parse(struct str all, size_t step, struct buf *out)
{
    struct http_pool pool = { 0 };
    struct http_parser p;
    enum http_step s = HTTP_MORE;
    size_t fed = 0, start = 0;

    http_parser_init(&p, &pool, MAX_HEADER, MAX_BODY);
    for (int requests = 0; requests < MAX_REQUESTS && s != HTTP_BAD;) {
        s = http_parser_step(&p);
        if (s == HTTP_DONE) {
            size_t end = fed - (p.end - p.next);

            look_at(&p);
            ask_llhttp(&p, (struct str){ all.p + start, end - start });
            note(out, &p);
            http_parser_next(&p);
            start = end;
            requests++;
        } else if (s != HTTP_BAD) {
            size_t room, n = all.n - fed;
            char *at;

            if (n == 0)
                break;
            at = http_parser_room(&p, &room);
            n = n < step ? n : step;
            n = n < room ? n : room;
            memcpy(at, all.p + fed, n);
            http_parser_fed(&p, n);
            fed += n;
        }
    }
    if (s == HTTP_BAD)
        buf_addf(out, "%d %s", p.bad.status, p.bad.code);
    http_parser_done(&p);
    http_pool_done(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, pieces;
    struct str all;

    if (size < 2)
        return 0;
    all = (struct str){ (const char *)data + 1, size - 1 };
    buf_init(&whole, (size_t)4 << 20);
    buf_init(&pieces, (size_t)4 << 20);
    parse(all, (size_t)-1, &whole);
    parse(all, (size_t)data[0] + 1, &pieces);
    must(str_eq(buf_str(&whole), buf_str(&pieces)), "pieces make a difference");
    buf_done(&whole);
    buf_done(&pieces);
    return 0;
}
