/* http_check.c: the scan of a request's head.
 *
 * llhttp (8.1, and in parts 9) lets through folded header lines, any number of
 * Host headers, bare line feeds in its loose build, and lists such as
 * "Transfer-Encoding: gzip, chunked". Here each of them is a 400. */
#include "wire/http_check.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static bool refuse(struct http_bad *bad, int status, const char *code, const char *msg)
{
    *bad = (struct http_bad){ status, code, msg };
    return false;
}

static bool bad_request(struct http_bad *bad, const char *msg)
{
    return refuse(bad, 400, "bad_request", msg);
}

/* RFC 9110, tchar. */
static const bool token_byte[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['!'] = true,  ['#'] = true,
    ['$'] = true,         ['%'] = true,         ['&'] = true,         ['\''] = true, ['*'] = true,
    ['+'] = true,         ['-'] = true,         ['.'] = true,         ['^'] = true,  ['_'] = true,
    ['`'] = true,         ['|'] = true,         ['~'] = true,
};

bool http_is_token(unsigned char c)
{
    return token_byte[c];
}

/* From 0x80 on too: programs send UTF-8 in header values. */
bool http_is_text(unsigned char c)
{
    return (c >= ' ' && c != 0x7f) || c == '\t';
}

bool http_same_word(struct str a, const char *b)
{
    return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

static bool all_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!http_is_text((unsigned char)s.p[i]))
            return false;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct str from(struct str s, size_t at)
{
    return (struct str){ s.p + at, s.n - at };
}

/* The authority's end in what follows "http://". */
static size_t authority_len(struct str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '/' && s.p[n] != '?')
        n++;
    return n;
}

/* Origin-form, absolute-form, or the '*' of OPTIONS. A CONNECT's authority
 * falls out here as well. */
static bool check_target(struct http_head *h, struct http_bad *bad)
{
    struct str t = h->target;
    const char *mark;

    for (size_t i = 0; i < t.n; i++)
        if (t.p[i] <= ' ' || t.p[i] >= 0x7f || t.p[i] == '#')
            return bad_request(bad, "the request target has a byte that no URL may have");

    if (t.n >= 7 && strncasecmp(t.p, "http://", 7) == 0)
        t = from(t, 7);
    else if (t.n >= 8 && strncasecmp(t.p, "https://", 8) == 0)
        t = from(t, 8);
    else if (t.n == 0 || (t.p[0] != '/' && !(str_is(t, "*") && str_is(h->method, "OPTIONS"))))
        return bad_request(bad, "the request target is neither a path nor an http URL");

    if (t.p != h->target.p) {
        h->authority = (struct str){ t.p, authority_len(t) };
        t = from(t, h->authority.n);
    }
    mark = memchr(t.p, '?', t.n);
    h->path = (struct str){ t.p, mark ? (size_t)(mark - t.p) : t.n };
    if (mark)
        h->query = from(t, h->path.n + 1);
    if (h->path.n == 0)
        h->path = STR("/");
    return true;
}

static bool check_version(struct http_head *h, struct str v, struct http_bad *bad)
{
    if (v.n != 8 || memcmp(v.p, "HTTP/", 5) != 0 || !is_digit(v.p[5]) || v.p[6] != '.' ||
        !is_digit(v.p[7]))
        return bad_request(bad, "the request line is not 'METHOD target HTTP/1.1'");
    if (v.p[5] != '1' || (v.p[7] != '0' && v.p[7] != '1'))
        return refuse(bad, 505, "version_not_supported", "only HTTP/1.0 and HTTP/1.1 are spoken");
    h->minor = v.p[7] - '0';
    return true;
}

bool http_check_request_line(struct http_head *h, struct str line, struct http_bad *bad)
{
    size_t n = 0;
    const char *space;

    if (!all_text(line)) /* before all else, as http_check_part does */
        return bad_request(bad, "a control character in the head");
    while (n < line.n && http_is_token((unsigned char)line.p[n]))
        n++;
    if (n == 0 || n == line.n || line.p[n] != ' ')
        return bad_request(bad, "the method is not a token");
    h->method = (struct str){ line.p, n };
    line = from(line, n + 1);

    space = memchr(line.p, ' ', line.n);
    if (!space)
        return bad_request(bad, "the request line is not 'METHOD target HTTP/1.1'");
    h->target = (struct str){ line.p, (size_t)(space - line.p) };
    return check_version(h, from(line, h->target.n + 1), bad) && check_target(h, bad);
}

bool http_check_header_line(struct http_head *h, struct str line, struct http_bad *bad)
{
    struct str value;
    size_t n = 0;

    if (!all_text(line))
        return bad_request(bad, "a control character in the head");
    while (n < line.n && http_is_token((unsigned char)line.p[n]))
        n++;
    if (n == 0 && line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
        return bad_request(bad, "a folded header line");
    if (n == 0 || n == line.n || line.p[n] != ':')
        return bad_request(bad, "a header line without a proper name before its colon");
    if (h->count == HTTP_MAX_HEADERS)
        return refuse(bad, 431, "header_too_large", "more than 100 header lines");

    value = from(line, n + 1);
    while (value.n && (value.p[0] == ' ' || value.p[0] == '\t'))
        value = from(value, 1);
    while (value.n && (value.p[value.n - 1] == ' ' || value.p[value.n - 1] == '\t'))
        value.n--;
    h->headers[h->count++] = (struct http_header){ { line.p, n }, value };
    return true;
}

/* A CR may come last: its LF is then still on the way. */
bool http_check_part(struct str part, struct http_bad *bad)
{
    if (part.n && part.p[part.n - 1] == '\r')
        part.n--;
    return all_text(part) || bad_request(bad, "a control character in the head");
}

/* Digits only, one value; a list of equal ones is refused too. What has more
 * digits than fit is over any ceiling. */
static bool check_length(struct http_head *h, struct str v, struct http_bad *bad)
{
    uint64_t length = 0;

    if (h->has_length)
        return bad_request(bad, "two Content-Length headers");
    if (v.n == 0)
        return bad_request(bad, "Content-Length is not a number of bytes");
    for (size_t i = 0; i < v.n; i++) {
        if (!is_digit(v.p[i]))
            return bad_request(bad, "Content-Length is not a number of bytes");
        length = length * 10 + (uint64_t)(v.p[i] - '0');
    }
    h->has_length = true;
    h->length = v.n > 18 ? UINT64_MAX : length;
    return true;
}

static bool check_coding(struct http_head *h, struct str v, struct http_bad *bad)
{
    if (h->chunked)
        return bad_request(bad, "two Transfer-Encoding headers");
    if (!http_same_word(v, "chunked"))
        return bad_request(bad, "a Transfer-Encoding other than chunked");
    if (h->minor == 0)
        return bad_request(bad, "Transfer-Encoding in HTTP/1.0");
    h->chunked = true;
    return true;
}

/* The host of "host" or "host:port", the port being 1 to 5 digits. */
static struct str without_port(struct str s)
{
    size_t n = s.n;

    while (n && is_digit(s.p[n - 1]))
        n--;
    if (n && n < s.n && s.n - n <= 5 && s.p[n - 1] == ':')
        s.n = n - 1;
    return s;
}

static bool same_authority(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

/* Is it a dotted quad that begins with 127? */
static bool is_127(struct str s)
{
    int part = 0, value = 0, digits = 0;

    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && is_digit(s.p[i])) {
            value = value * 10 + (s.p[i] - '0');
            if (++digits > 3)
                return false;
            continue;
        }
        if (digits == 0 || value > 255 || (part == 0 && value != 127))
            return false;
        if (i < s.n && s.p[i] != '.')
            return false;
        part++;
        value = digits = 0;
    }
    return part == 4;
}

bool http_host_is_loopback(struct str s)
{
    struct str host = without_port(s);

    return http_same_word(host, "localhost") || str_is(host, "[::1]") || is_127(host);
}

/* An address as URLs write it: 192.168.0.9 or [fe80::1]. */
static bool is_address(struct str host)
{
    char text[INET6_ADDRSTRLEN];
    bool v6 = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
    struct in6_addr any;

    if (v6)
        host = (struct str){ host.p + 1, host.n - 2 };
    if (host.n >= sizeof text || memchr(host.p, 0, host.n))
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = 0;
    return inet_pton(v6 ? AF_INET6 : AF_INET, text, &any) == 1;
}

static bool is_named(struct str host, const char *names)
{
    while (names && *names) {
        size_t n = strcspn(names, ", ");

        if (n && host.n == n && strncasecmp(host.p, names, n) == 0)
            return true;
        names += n + strspn(names + n, ", ");
    }
    return false;
}

static bool is_known(struct str host, const struct http_hosts *hosts)
{
    return http_host_is_loopback(host) || (hosts && is_named(without_port(host), hosts->names));
}

bool http_host_ok(struct str host, const struct http_hosts *hosts)
{
    return is_known(host, hosts) || (hosts && hosts->any_address && is_address(without_port(host)));
}

bool http_origin_ok(struct str origin, struct str host, const struct http_hosts *hosts)
{
    struct str page;

    if (origin.n >= 7 && strncasecmp(origin.p, "http://", 7) == 0)
        page = from(origin, 7);
    else if (origin.n >= 8 && strncasecmp(origin.p, "https://", 8) == 0)
        page = from(origin, 8);
    else
        return false; /* "null" too */
    return is_known(page, hosts) || (same_authority(page, host) && http_host_ok(host, hosts));
}

/* The headers that decide whether and how a request is read. */
struct deciding {
    struct str host, origin;
    int hosts, origins;
    bool expects, expects_other;
};

/* The name's length sorts out nearly all others. */
static bool decide(struct http_head *h, const struct http_header *x, struct deciding *d,
                   struct http_bad *bad)
{
    switch (x->name.n) {
    case 4:
        if (http_same_word(x->name, "host")) {
            d->host = x->value;
            d->hosts++;
        }
        return true;
    case 6:
        if (http_same_word(x->name, "origin")) {
            d->origin = x->value;
            d->origins++;
        } else if (http_same_word(x->name, "expect")) {
            d->expects = true;
            d->expects_other |= !http_same_word(x->value, "100-continue");
        }
        return true;
    case 14:
        return !http_same_word(x->name, "content-length") || check_length(h, x->value, bad);
    case 17:
        return !http_same_word(x->name, "transfer-encoding") || check_coding(h, x->value, bad);
    default:
        return true;
    }
}

bool http_check_head(struct http_head *h, size_t max_body, const struct http_hosts *hosts,
                     struct http_bad *bad)
{
    struct deciding d = { 0 };

    for (size_t i = 0; i < h->count; i++)
        if (!decide(h, &h->headers[i], &d, bad))
            return false;
    if (h->chunked && h->has_length)
        return bad_request(bad, "Content-Length together with Transfer-Encoding");
    if (d.hosts != 1)
        return bad_request(bad, d.hosts ? "two Host headers" : "no Host header");
    if (d.origins > 1)
        return bad_request(bad, "two Origin headers");
    if (h->authority.p && !same_authority(h->authority, d.host))
        return bad_request(bad, "the request target and Host name different servers");

    if (!http_host_ok(d.host, hosts))
        return refuse(bad, 403, "forbidden_host",
                      hosts && hosts->any_address
                          ? "Host must be an address, localhost or a name given by --allow-host"
                          : "Host must be localhost, 127.0.0.1 or [::1]");
    if (d.origins && !http_origin_ok(d.origin, d.host, hosts))
        return refuse(bad, 403, "forbidden_origin", "Origin must be a page of this machine");
    if (h->length > max_body)
        return refuse(bad, 413, "too_large", "the body is over the ceiling");
    if (d.expects_other)
        return refuse(bad, 417, "expectation_failed", "only 100-continue can be expected");
    h->expect_continue = d.expects && h->minor == 1;
    return true;
}
