/* http_check.h: is this head of a request one that we take?
 *
 * A head is judged line by line as it arrives, then as a whole. Stricter than
 * llhttp, and than the RFC allows, on purpose: where two programs could read
 * one request differently there is request smuggling, so whatever is doubtful
 * is refused. Knows no sockets and no buffers; slices point into the caller's
 * bytes. */
#pragma once
#include <stdint.h>
#include "wire/http.h"

enum { HTTP_MAX_HEADERS = 100 };

/* Why a request is refused: the answer's status, code and sentence. */
struct http_bad {
    int status;
    const char *code;
    const char *msg;
};

/* What the head says. Start from zero with `headers` set. */
struct http_head {
    struct str method;
    struct str target;    /* as sent */
    struct str authority; /* of an absolute-form target, else absent */
    struct str path, query;
    int minor;                   /* of HTTP/1.x */
    struct http_header *headers; /* room for HTTP_MAX_HEADERS */
    size_t count;

    /* Known after http_check_head. */
    bool chunked;
    bool has_length;
    uint64_t length;
    bool expect_continue;
};

/* One line without its CR LF: the first is the request line. */
bool http_check_request_line(struct http_head *h, struct str line, struct http_bad *bad);
bool http_check_header_line(struct http_head *h, struct str line, struct http_bad *bad);

/* A line of which only this much has come: can it still become a good one? */
bool http_check_part(struct str part, struct http_bad *bad);

/* Whose names a request may use besides those of loopback. A page that had its
 * own name rebound to our address comes with that name, never with an address:
 * so where other machines may call, any address is fine, and names are those
 * that somebody gave. */
struct http_hosts {
    bool any_address;
    const char *names; /* between commas; NULL: none */
};

/* All lines together: framing, then Host and Origin, then what it asks for.
 * `hosts` may be NULL: loopback only. */
bool http_check_head(struct http_head *h, size_t max_body, const struct http_hosts *hosts,
                     struct http_bad *bad);

/* Is "host" or "host:port" a name of this machine's loopback? */
bool http_host_is_loopback(struct str host);

/* May a request be for "host" or "host:port"? */
bool http_host_ok(struct str host, const struct http_hosts *hosts);

/* May it come from the page `origin`? http://host or https://host, the host a
 * loopback name or one given; or the very address that the request is for: a
 * page at any other address is as foreign as one with a name. */
bool http_origin_ok(struct str origin, struct str host, const struct http_hosts *hosts);

/* May this byte stand in a method or a header name; in a header value? */
bool http_is_token(unsigned char c);
bool http_is_text(unsigned char c);

/* Equal in any case of ASCII letters. */
bool http_same_word(struct str a, const char *b);
