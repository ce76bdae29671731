/* http_reply.c: the text of an answer.
 *
 * Put together by hand: printf would cost as much as all the rest of a small
 * request. Nothing here depends on the locale. */
#include "wire/http_reply.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>
#include "base/utf8.h"
#include "json/write.h"

static const struct {
    int status;
    const char *text;
} reasons[] = {
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 304, "Not Modified" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 413, "Content Too Large" },
    { 415, "Unsupported Media Type" },
    { 417, "Expectation Failed" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
};

static const char *reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Other";
}

static char *put(char *out, const char *s)
{
    return stpcpy(out, s);
}

static char *put_number(char *out, size_t v)
{
    char digits[24];
    size_t n = sizeof digits;

    do
        digits[--n] = (char)('0' + v % 10);
    while (v /= 10);
    memcpy(out, digits + n, sizeof digits - n);
    return out + sizeof digits - n;
}

static void date_make(struct http_date *d, time_t now)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm t;
    int n;

    gmtime_r(&now, &t);
    n = snprintf(d->line, sizeof d->line, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n",
                 days + 3 * t.tm_wday, t.tm_mday, months + 3 * t.tm_mon, t.tm_year + 1900,
                 t.tm_hour, t.tm_min, t.tm_sec);
    d->n = n < (int)sizeof d->line ? (size_t)n : sizeof d->line - 1;
    d->at = now;
}

/* A 204 and a 304 never have a body, so no length is said. */
static bool says_length(int status)
{
    return status != 204 && status != 304;
}

size_t http_reply_head(char out[HTTP_HEAD_ROOM], const struct http_reply_line *r,
                       struct http_date *date)
{
    char *p = out;
    time_t now = time(NULL);

    assert(r->status >= 100 && r->status <= 599);
    assert(!r->type || strlen(r->type) <= HTTP_TYPE_MAX);
    if (now != date->at || date->n == 0)
        date_make(date, now);

    p = put_number(put(p, "HTTP/1.1 "), (size_t)r->status);
    *p++ = ' ';
    p = put(put(p, reason(r->status)), "\r\n");
    p = put(p, date->line);
    if (r->type)
        p = put(put(put(p, "Content-Type: "), r->type), "\r\n");
    if (r->stream && r->minor > 0)
        p = put(p, "Transfer-Encoding: chunked\r\n");
    else if (!r->stream && says_length(r->status))
        p = put(put_number(put(p, "Content-Length: "), r->length), "\r\n");
    if (r->close)
        p = put(p, "Connection: close\r\n");
    else if (r->minor == 0)
        p = put(p, "Connection: keep-alive\r\n");
    return (size_t)(p - out);
}

void http_error_body(struct buf *b, const char *code, struct str message)
{
    struct json_out o = json_out(b);
    struct buf text;

    buf_init(&text, 3 * message.n + 1);
    utf8_repair(&text, message);
    json_obj(&o);
    json_kv_bool(&o, "ok", false);
    json_put_key(&o, "error");
    json_obj(&o);
    json_kv_strz(&o, "code", code);
    json_kv_str(&o, "message", buf_str(&text));
    json_obj_end(&o);
    json_obj_end(&o);
    buf_done(&text);
}
