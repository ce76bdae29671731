/* http_reply.h: the text of an answer.
 *
 * Status line, header lines and the body of an error, written into memory;
 * http.c sends them. */
#pragma once
#include "base/buf.h"

enum {
    HTTP_HEAD_ROOM = 512, /* for http_reply_head */
    HTTP_TYPE_MAX = 200,  /* of a Content-Type */
};

/* "Date: ...\r\n", made anew once a second. Starts from zero. */
struct http_date {
    long long at;
    char line[48];
    size_t n;
};

struct http_reply_line {
    int status;
    const char *type; /* NULL: there is no body */
    size_t length;
    int minor;   /* of the request's HTTP/1.x */
    bool close;  /* the connection ends with this answer */
    bool stream; /* no length: in chunks, or in HTTP/1.0 until the connection ends */
};

/* Write everything up to the caller's own header lines; the empty line that
 * ends the head is not in it. Gives its length. */
size_t http_reply_head(char out[HTTP_HEAD_ROOM], const struct http_reply_line *r,
                       struct http_date *date);

/* {"ok":false,"error":{"code":…,"message":…}} */
void http_error_body(struct buf *b, const char *code, struct str message);
