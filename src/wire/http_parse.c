/* http_parse.c: bytes to requests.
 *
 * The head is checked line by line here (http_check.c), then read once more,
 * whole, by llhttp: it is the second opinion on the grammar and has the last
 * word on keep-alive. A request passes only if both agree on its framing.
 *
 * Bodies are ours alone. Counting bytes needs no parser; and for chunks llhttp
 * 8.1 and 9 differ in what they let through, and neither bounds extensions and
 * trailers. The fuzz target holds our decoder against llhttp's. */
#include "wire/http_parse.h"

#include <assert.h>
#include <llhttp.h>
#include <stdlib.h>
#include "base/mem.h"

enum {
    BLOCK_SIZE = 8192, /* with the header list; most requests fit in one */
    POOL_KEEPS = 32,
    READ_MOST = 64 << 10, /* at a time, so that little of a next request comes along */
};

struct http_block {
    struct http_block *next; /* in the pool */
    char *data;              /* small, or on the heap */
    size_t cap;
    struct http_header headers[HTTP_MAX_HEADERS];
    char small[];
};

/* Blocks. */

static struct http_block *block_take(struct http_pool *pool)
{
    struct http_block *b;

    if (pool && pool->free) {
        b = pool->free;
        pool->free = b->next;
        pool->count--;
    } else {
        b = xmalloc(BLOCK_SIZE);
        b->data = b->small;
        b->cap = BLOCK_SIZE - sizeof *b;
    }
    b->next = NULL;
    return b;
}

/* Forget a large request; the first n bytes stay, if they fit. */
static void block_shrink(struct http_block *b, size_t n)
{
    size_t cap = BLOCK_SIZE - sizeof *b;

    if (b->data == b->small || n > cap)
        return;
    memcpy(b->small, b->data, n);
    free(b->data);
    b->data = b->small;
    b->cap = cap;
}

static void block_give(struct http_pool *pool, struct http_block *b)
{
    if (!b)
        return;
    block_shrink(b, 0);
    if (!pool || pool->count == POOL_KEEPS) {
        free(b);
        return;
    }
    b->next = pool->free;
    pool->free = b;
    pool->count++;
}

void http_pool_done(struct http_pool *pool)
{
    while (pool->free) {
        struct http_block *b = pool->free;

        pool->free = b->next;
        free(b);
    }
    pool->count = 0;
}

/* Only what points into the block moves; a path may be our own "/". */
static void slice_move(struct str *s, const char *old, size_t n, char *data)
{
    if (s->p >= old && s->p <= old + n)
        s->p = data + (s->p - old);
}

static void block_grow(struct http_parser *p, size_t cap)
{
    struct http_block *b = p->block;
    struct http_head *h = &p->head;
    char *data = xmalloc(cap), *old = b->data;

    memcpy(data, old, p->end);
    slice_move(&h->method, old, p->end, data);
    slice_move(&h->target, old, p->end, data);
    slice_move(&h->authority, old, p->end, data);
    slice_move(&h->path, old, p->end, data);
    slice_move(&h->query, old, p->end, data);
    for (size_t i = 0; i < h->count; i++) {
        slice_move(&h->headers[i].name, old, p->end, data);
        slice_move(&h->headers[i].value, old, p->end, data);
    }
    if (old != b->small)
        free(old);
    b->data = data;
    b->cap = cap;
}

/* The parser as its owner sees it. */

static void start_request(struct http_parser *p)
{
    p->state = HTTP_IN_HEAD;
    p->line = p->scanned = p->body_at = p->body_len = p->next = 0;
    p->asked = p->keep_alive = false;
    p->chunks = (struct http_chunks){ 0 };
    p->body = (struct str){ 0 };
    p->head = (struct http_head){ .headers = p->block ? p->block->headers : NULL };
}

void http_parser_init(struct http_parser *p, struct http_pool *pool, size_t max_header,
                      size_t max_body)
{
    *p = (struct http_parser){ .pool = pool, .max_header = max_header, .max_body = max_body };
    start_request(p);
}

void http_parser_done(struct http_parser *p)
{
    block_give(p->pool, p->block);
    p->block = NULL;
    p->end = 0;
}

void http_parser_rest(struct http_parser *p)
{
    if (p->end == 0)
        http_parser_done(p);
}

/* A length is announced, not yet sent: room grows with what really comes. */
char *http_parser_room(struct http_parser *p, size_t *n)
{
    size_t cap;

    assert(p->state != HTTP_IS_DONE && p->state != HTTP_IS_BAD);
    if (!p->block) {
        p->block = block_take(p->pool);
        p->head.headers = p->block->headers;
    }
    if (p->end == p->block->cap) {
        cap = p->block->cap * 2;
        if (cap < READ_MOST)
            cap = READ_MOST;
        if (p->state == HTTP_IN_LENGTH && cap > p->body_at + p->head.length)
            cap = p->body_at + p->head.length;
        block_grow(p, cap);
    }
    *n = p->block->cap - p->end;
    if (*n > READ_MOST && p->state != HTTP_IN_LENGTH)
        *n = READ_MOST;
    return p->block->data + p->end;
}

void http_parser_fed(struct http_parser *p, size_t n)
{
    assert(p->end + n <= p->block->cap);
    p->end += n;
}

void http_parser_next(struct http_parser *p)
{
    assert(p->state == HTTP_IS_DONE);
    p->end -= p->next;
    if (p->end) {
        memmove(p->block->data, p->block->data + p->next, p->end);
        block_shrink(p->block, p->end);
    } else {
        http_parser_rest(p);
    }
    start_request(p);
}

/* Head. */

static bool refuse(struct http_parser *p, int status, const char *code, const char *msg)
{
    p->bad = (struct http_bad){ status, code, msg };
    return false;
}

/* One line is here, its LF at `lf`. *end becomes true at the empty one. */
static bool take_line(struct http_parser *p, size_t lf, bool *end)
{
    const char *data = p->block->data;
    struct str line = { data + p->line, lf - p->line };
    bool first = !p->head.method.p;

    if (line.n == 0 || line.p[line.n - 1] != '\r')
        return refuse(p, 400, "bad_request", "a line feed without a carriage return");
    line.n--;
    p->line = p->scanned = lf + 1;
    if (line.n == 0) {
        /* Old clients send an empty line after a body: one is overlooked. */
        if (first && lf > 1)
            return refuse(p, 400, "bad_request", "empty lines in place of a request");
        *end = !first;
        return true;
    }
    return first ? http_check_request_line(&p->head, line, &p->bad)
                 : http_check_header_line(&p->head, line, &p->bad);
}

/* Read lines until the head ends. Nothing beyond max_header is looked at, so
 * the verdict is the same however the bytes were cut into pieces. */
static bool take_lines(struct http_parser *p, bool *end)
{
    const char *data = p->block->data, *lf;
    size_t most = p->end < p->max_header ? p->end : p->max_header;

    while (!*end && p->scanned < most) {
        lf = memchr(data + p->scanned, '\n', most - p->scanned);
        if (!lf) {
            /* From one back: a CR that came last before was let pass. */
            size_t at = p->scanned > p->line ? p->scanned - 1 : p->line;

            p->scanned = most;
            if (!http_check_part((struct str){ data + at, most - at }, &p->bad))
                return false;
        } else if (!take_line(p, (size_t)(lf - data), end)) {
            return false;
        }
    }
    if (!*end && p->end >= p->max_header)
        return refuse(p, 431, "header_too_large", "the request's head is over the ceiling");
    return true;
}

/* What llhttp makes of a head. */
struct verdict {
    bool whole, chunked, keep_alive;
    uint64_t length;
};

static int on_headers_complete(llhttp_t *ll)
{
    struct verdict *v = ll->data;

    v->whole = true;
    v->chunked = ll->flags & F_CHUNKED;
    v->length = ll->flags & F_CONTENT_LENGTH ? ll->content_length : 0;
    v->keep_alive = llhttp_should_keep_alive(ll);
    return 0;
}

static const llhttp_settings_t settings = { .on_headers_complete = on_headers_complete };

/* An offered upgrade makes llhttp stop behind the head; we do not take it up,
 * and such a request is an ordinary one. */
static bool second_opinion(struct http_parser *p)
{
    struct verdict v = { 0 };
    llhttp_t ll;
    llhttp_errno_t rc;

    llhttp_init(&ll, HTTP_REQUEST, &settings);
    ll.data = &v;
    rc = llhttp_execute(&ll, p->block->data, p->body_at);
    if (rc == HPE_INVALID_METHOD || str_is(p->head.method, "CONNECT"))
        return refuse(p, 501, "not_implemented", "a method that is not known here");
    if ((rc != HPE_OK && rc != HPE_PAUSED_UPGRADE) || !v.whole || v.chunked != p->head.chunked ||
        v.length != p->head.length)
        return refuse(p, 400, "bad_request", "the request's head is not proper HTTP");
    p->keep_alive = v.keep_alive;
    return true;
}

static bool take_head(struct http_parser *p)
{
    bool end = false;

    if (!take_lines(p, &end))
        return false;
    if (!end)
        return true;
    p->body_at = p->line;
    if (!http_check_head(&p->head, p->max_body, p->hosts, &p->bad) || !second_opinion(p))
        return false;
    p->chunks.extra = p->body_at;
    p->next = p->body_at; /* raw chunks are read from here on */
    p->state = p->head.chunked ? HTTP_IN_CHUNKS : HTTP_IN_LENGTH;
    return true;
}

/* Bodies. */

static void take_length(struct http_parser *p)
{
    if (p->end - p->body_at < p->head.length)
        return;
    p->body_len = p->head.length;
    p->next = p->body_at + p->body_len;
    p->state = HTTP_IS_DONE;
}

enum chunk_state {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER, /* at the start of a trailer line, or of the last, empty one */
    CHUNK_TRAILER_TEXT,
    CHUNK_TRAILER_LF,
    CHUNK_END_LF,
    CHUNK_END
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool bad_chunk(struct http_parser *p)
{
    return refuse(p, 400, "bad_request", "a malformed chunk");
}

/* Sixteen digits at most: enough for any size, too few to hide in. */
static bool chunk_size(struct http_parser *p, char c)
{
    struct http_chunks *k = &p->chunks;
    int digit = hex_digit(c);

    if (digit >= 0) {
        if (++k->digits > 16)
            return bad_chunk(p);
        k->left = k->left << 4 | (unsigned)digit;
        return true;
    }
    if (k->digits == 0 || (c != '\r' && c != ';'))
        return bad_chunk(p);
    if (k->left > p->max_body - p->body_len)
        return refuse(p, 413, "too_large", "the body is over the ceiling");
    k->state = c == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
    return true;
}

static bool count_extra(struct http_parser *p)
{
    return ++p->chunks.extra <= p->max_header ||
           refuse(p, 431, "header_too_large", "chunk extensions and trailers over the ceiling");
}

/* What decides how a request is read comes before it, never behind: some
 * program (llhttp 8 is one) would heed it. */
static bool trailer_name_ok(const struct http_chunks *k)
{
    static const char *const deciding[] = { "content-length", "transfer-encoding",
                                            "connection",     "proxy-connection",
                                            "upgrade",        "host",
                                            "origin",         "expect" };
    struct str name = { k->name, k->name_len };

    for (size_t i = 0; i < sizeof deciding / sizeof *deciding; i++)
        if (k->name_len <= sizeof k->name && http_same_word(name, deciding[i]))
            return false;
    return true;
}

static bool trailer_name(struct http_parser *p, char c)
{
    struct http_chunks *k = &p->chunks;

    if (c == ':') {
        k->in_name = false;
        return trailer_name_ok(k) || bad_chunk(p);
    }
    if (!http_is_token((unsigned char)c))
        return bad_chunk(p);
    if (k->name_len < sizeof k->name)
        k->name[k->name_len] = c;
    k->name_len++;
    return true;
}

/* A trailer is a header line by the same rules; nobody gets to see it. */
static bool chunk_trailer(struct http_parser *p, char c)
{
    struct http_chunks *k = &p->chunks;

    if (k->state == CHUNK_TRAILER) {
        if (c == '\r') {
            k->state = CHUNK_END_LF;
            return true;
        }
        if (c == ':')
            return bad_chunk(p);
        k->state = CHUNK_TRAILER_TEXT;
        k->in_name = true;
        k->name_len = 0;
    }
    if (k->in_name) {
        if (!trailer_name(p, c))
            return false;
    } else if (c == '\r') {
        k->state = CHUNK_TRAILER_LF;
    } else if (!http_is_text((unsigned char)c)) {
        return bad_chunk(p);
    }
    return count_extra(p);
}

/* Any byte that is not data. */
static bool chunk_byte(struct http_parser *p, char c)
{
    struct http_chunks *k = &p->chunks;

    switch ((enum chunk_state)k->state) {
    case CHUNK_SIZE:
        return chunk_size(p, c);
    case CHUNK_EXTENSION:
        if (c == '\r')
            k->state = CHUNK_SIZE_LF;
        else if (!http_is_text((unsigned char)c))
            return bad_chunk(p);
        return count_extra(p);
    case CHUNK_SIZE_LF:
        k->state = k->left ? CHUNK_DATA : CHUNK_TRAILER;
        break;
    case CHUNK_DATA_CR:
        k->state = CHUNK_DATA_LF;
        return c == '\r' || bad_chunk(p);
    case CHUNK_DATA_LF:
        k->state = CHUNK_SIZE;
        k->digits = 0;
        break;
    case CHUNK_TRAILER:
    case CHUNK_TRAILER_TEXT:
        return chunk_trailer(p, c);
    case CHUNK_TRAILER_LF:
        k->state = CHUNK_TRAILER;
        break;
    case CHUNK_END_LF:
        k->state = CHUNK_END;
        break;
    case CHUNK_DATA:
    case CHUNK_END:
        assert(0);
    }
    return c == '\n' || bad_chunk(p);
}

/* Decoded bytes move down behind the head, over the framing that is read. What
 * is consumed makes room for more. */
static bool take_chunks(struct http_parser *p)
{
    struct http_chunks *k = &p->chunks;
    char *data = p->block->data;

    while (p->next < p->end && k->state != CHUNK_END) {
        if (k->state != CHUNK_DATA) {
            if (!chunk_byte(p, data[p->next++]))
                return false;
        } else {
            size_t n = p->end - p->next;

            if (n > k->left)
                n = k->left;
            memmove(data + p->body_at + p->body_len, data + p->next, n);
            p->body_len += n;
            p->next += n;
            k->left -= n;
            if (k->left == 0)
                k->state = CHUNK_DATA_CR;
        }
    }
    if (k->state == CHUNK_END)
        p->state = HTTP_IS_DONE;
    else
        p->end = p->next = p->body_at + p->body_len;
    return true;
}

enum http_step http_parser_step(struct http_parser *p)
{
    if (p->end == 0)
        return HTTP_MORE;
    if (p->state == HTTP_IN_HEAD && !take_head(p))
        goto bad;
    if (p->state == HTTP_IN_LENGTH)
        take_length(p);
    if (p->state == HTTP_IN_CHUNKS && !take_chunks(p))
        goto bad;
    if (p->state == HTTP_IS_DONE) {
        p->body = (struct str){ p->block->data + p->body_at, p->body_len };
        return HTTP_DONE;
    }
    /* Nobody waits for a 100 who has begun to send. */
    if (p->body_at && p->head.expect_continue && !p->asked) {
        p->asked = true;
        if (p->end == p->body_at && p->chunks.state == CHUNK_SIZE && !p->chunks.digits)
            return HTTP_CONTINUE;
    }
    return HTTP_MORE;

bad:
    p->state = HTTP_IS_BAD;
    return HTTP_BAD;
}
