/* http_parse.h: bytes to requests, without a socket.
 *
 * Feed it what was read, step it, and it says when a request is whole. The
 * bytes lie in one block, the request's parts are slices of it, and a body
 * that came in one piece is never copied. The block goes back to a pool as
 * soon as nothing waits in it, so that an idle connection holds none.
 *
 *     p = http_parser_room(&x, &n); got = read(fd, p, n); http_parser_fed(&x, got);
 *     switch (http_parser_step(&x)) ...
 *
 * One request at a time: after HTTP_DONE, http_parser_next forgets it and keeps
 * the bytes behind it. */
#pragma once
#include "wire/http_check.h"

struct http_block;

/* Blocks at rest, shared by the connections of a server. */
struct http_pool {
    struct http_block *free;
    unsigned count;
};

void http_pool_done(struct http_pool *pool);

enum http_step {
    HTTP_MORE,     /* not whole yet */
    HTTP_CONTINUE, /* as HTTP_MORE, and the peer waits for a 100; once a request */
    HTTP_DONE,     /* head, body and keep_alive are set */
    HTTP_BAD       /* bad is set; nothing more can be read here */
};

enum http_parse_state { HTTP_IN_HEAD, HTTP_IN_LENGTH, HTTP_IN_CHUNKS, HTTP_IS_DONE, HTTP_IS_BAD };

struct http_chunks {
    int state;       /* enum in http_parse.c */
    uint64_t left;   /* size being read, then bytes of the chunk still to come */
    unsigned digits; /* of the size */
    size_t extra;    /* bytes of head, extensions and trailers: they share a ceiling */
    bool in_name;    /* in a trailer, before its colon */
    size_t name_len; /* of that name; what is longer than name is none we know */
    char name[20];
};

struct http_parser {
    struct http_pool *pool; /* NULL: blocks are freed, not kept */
    size_t max_header, max_body;
    const struct http_hosts *hosts; /* NULL: loopback only; set it after init */

    struct http_block *block; /* NULL while nothing waits */
    size_t end;               /* bytes in it */
    size_t line;              /* where the line being read starts */
    size_t scanned;           /* no line feed between line and here */
    size_t body_at;           /* where the head ended */
    size_t body_len;          /* decoded so far */
    size_t next;              /* where the next request starts, once done */
    enum http_parse_state state;
    struct http_chunks chunks;
    bool asked; /* HTTP_CONTINUE was given */

    struct http_head head;
    struct str body;
    bool keep_alive;
    struct http_bad bad;
};

void http_parser_init(struct http_parser *p, struct http_pool *pool, size_t max_header,
                      size_t max_body);
void http_parser_done(struct http_parser *p);

/* Room for at least one byte, *n bytes of it; not after HTTP_DONE or HTTP_BAD. */
char *http_parser_room(struct http_parser *p, size_t *n);
void http_parser_fed(struct http_parser *p, size_t n);

enum http_step http_parser_step(struct http_parser *p);

/* After HTTP_DONE: forget the request. */
void http_parser_next(struct http_parser *p);

/* Does a part of a request wait? */
static inline bool http_parser_idle(const struct http_parser *p)
{
    return p->end == 0;
}

/* Give back an empty block, taken for a read that brought nothing. */
void http_parser_rest(struct http_parser *p);
