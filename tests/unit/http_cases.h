/* http_cases.h: requests and what becomes of them.
 *
 * Used by http_parse_test.c on the bare parser and by http_test.c over a
 * socket, each at once and byte by byte: the verdict must be the same. The
 * ceilings are a head of CASE_MAX_HEADER and a body of CASE_MAX_BODY bytes. */
#pragma once
#include "base/str.h"

enum { CASE_MAX_HEADER = 2048, CASE_MAX_BODY = 1000 };

struct http_case {
    const char *name;
    struct str bytes;
    int status;       /* 200: the request is taken */
    const char *code; /* of an error; else the body that the handler must see */
};

#define HOST     "Host: localhost\r\n"
#define HEAD     "POST /echo HTTP/1.1\r\n" HOST
#define CHUNKED  HEAD "Transfer-Encoding: chunked\r\n\r\n"
#define TEN      "0123456789"
#define HUNDRED  TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
#define LINES10  "a:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\n"

static const struct http_case http_cases[] = {
    /* Taken. */
    { "GET", STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"), 200, "" },
    { "HTTP/1.0", STR("GET /echo HTTP/1.0\r\n" HOST "\r\n"), 200, "" },
    { "an empty line first", STR("\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n"), 200, "" },
    { "a counted body", STR(HEAD "Content-Length: 5\r\n\r\nhello"), 200, "hello" },
    { "an empty counted body", STR(HEAD "Content-Length: 0\r\n\r\n"), 200, "" },
    { "a body at the ceiling", STR(HEAD "Content-Length: 1000\r\n\r\n" THOUSAND), 200, THOUSAND },
    { "a body with NUL and CR LF", STR(HEAD "Content-Length: 6\r\n\r\na\0b\r\nc"), 200, "a" },
    { "a chunked body", STR(CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), 200, "hello world" },
    { "an empty chunked body", STR(CHUNKED "0\r\n\r\n"), 200, "" },
    { "chunk sizes in both cases", STR(CHUNKED "a\r\n" TEN "\r\n0B\r\n" TEN "x\r\n0\r\n\r\n"), 200,
      TEN TEN "x" },
    { "a chunk extension", STR(CHUNKED "5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n"), 200, "hello" },
    { "trailers", STR(CHUNKED "5\r\nhello\r\n0\r\nX-A: 1\r\nX-B:\r\n\r\n"), 200, "hello" },
    { "Chunked in capitals", STR(HEAD "Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n"), 200, "" },
    { "tabs around a value", STR("GET /echo HTTP/1.1\r\nHost:\tlocalhost \t\r\n\r\n"), 200, "" },
    { "UTF-8 in a value", STR("GET /echo HTTP/1.1\r\n" HOST "X: \xc3\xa9\r\n\r\n"), 200, "" },
    { "an empty value", STR("GET /echo HTTP/1.1\r\n" HOST "X:\r\n\r\n"), 200, "" },
    { "an absolute target",
      STR("GET http://localhost:80/echo HTTP/1.1\r\nHost: LOCALHOST:80\r\n\r\n"), 200, "" },
    { "OPTIONS *", STR("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 200, "" },
    { "an offered upgrade",
      STR(HEAD "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi"), 200, "hi" },
    { "an offered upgrade without a body",
      STR("GET /echo HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"), 200, "" },
    { "Host 127.0.0.1", STR("GET /echo HTTP/1.1\r\nHost: 127.0.0.1:7717\r\n\r\n"), 200, "" },
    { "Host [::1]", STR("GET /echo HTTP/1.1\r\nHost: [::1]:7717\r\n\r\n"), 200, "" },
    { "Origin of this machine",
      STR("GET /echo HTTP/1.1\r\n" HOST "Origin: http://localhost:5173\r\n\r\n"), 200, "" },
    { "100 header lines",
      STR("GET /echo HTTP/1.1\r\n" HOST LINES10 LINES10 LINES10 LINES10 LINES10 LINES10 LINES10
              LINES10 LINES10 "a:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\n\r\n"),
      200, "" },

    /* The request line. */
    { "no version", STR("GET /echo\r\n" HOST "\r\n"), 400, "bad_request" },
    { "two spaces", STR("GET  /echo HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a space in the target", STR("GET /a b HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a space before the method", STR(" GET / HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a space after the version", STR("GET / HTTP/1.1 \r\n" HOST "\r\n"), 400, "bad_request" },
    { "a tab for a space", STR("GET\t/ HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a method that is no token", STR("G(T / HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "two empty lines first", STR("\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a target without a slash", STR("GET echo HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a fragment", STR("GET /a#b HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a raw UTF-8 target", STR("GET /\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "GET *", STR("GET * HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "CONNECT to an authority", STR("CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n"), 400,
      "bad_request" },
    { "an unknown method", STR("BREW / HTTP/1.1\r\n" HOST "\r\n"), 501, "not_implemented" },
    { "a control character beside a bad version", STR("GET /\0 HTTP/2.0\r\n" HOST "\r\n"), 400,
      "bad_request" },
    { "HTTP/0.9", STR("GET / HTTP/0.9\r\n" HOST "\r\n"), 505, "version_not_supported" },
    { "HTTP/1.2", STR("GET / HTTP/1.2\r\n" HOST "\r\n"), 505, "version_not_supported" },
    { "HTTP/2.0", STR("GET / HTTP/2.0\r\n" HOST "\r\n"), 505, "version_not_supported" },
    { "http/1.1 in small letters", STR("GET / http/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "HTTP/1.10", STR("GET / HTTP/1.10\r\n" HOST "\r\n"), 400, "bad_request" },
    { "TLS on a plain port", STR("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"), 400, "bad_request" },
    { "a target of another server", STR("GET http://evil/ HTTP/1.1\r\n" HOST "\r\n"), 400,
      "bad_request" },
    { "a target with a user", STR("GET http://a@localhost/ HTTP/1.1\r\n" HOST "\r\n"), 400,
      "bad_request" },

    /* Lines. */
    { "bare line feeds", STR("GET / HTTP/1.1\nHost: localhost\n\n"), 400, "bad_request" },
    { "one bare line feed", STR("GET / HTTP/1.1\r\nHost: localhost\n\r\n"), 400, "bad_request" },
    { "a bare CR in a value", STR("GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n"), 400,
      "bad_request" },
    { "a bare CR for a line end", STR("GET / HTTP/1.1\r\n" HOST "X: a\rY: b\r\n\r\n"), 400,
      "bad_request" },
    { "CR CR LF", STR("GET / HTTP/1.1\r\n" HOST "X: a\r\r\n\r\n"), 400, "bad_request" },
    { "a NUL in a value", STR("GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"), 400, "bad_request" },
    { "a NUL in the target", STR("GET /a\0b HTTP/1.1\r\n" HOST "\r\n"), 400, "bad_request" },
    { "a NUL in a name", STR("GET / HTTP/1.1\r\n" HOST "X\0: a\r\n\r\n"), 400, "bad_request" },
    { "a control character", STR("GET / HTTP/1.1\r\n" HOST "X: \x01\r\n\r\n"), 400, "bad_request" },
    { "DEL", STR("GET / HTTP/1.1\r\n" HOST "X: \x7f\r\n\r\n"), 400, "bad_request" },
    { "a folded line", STR("GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n"), 400, "bad_request" },
    { "a line folded by a tab", STR("GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n"), 400,
      "bad_request" },
    { "a folded Transfer-Encoding", STR(HEAD "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
      400, "bad_request" },
    { "a folded first line", STR("GET / HTTP/1.1\r\n Host: localhost\r\n\r\n"), 400,
      "bad_request" },
    { "a space before the colon", STR("GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"), 400,
      "bad_request" },
    { "a line without a colon", STR("GET / HTTP/1.1\r\n" HOST "nonsense\r\n\r\n"), 400,
      "bad_request" },
    { "a line without a name", STR("GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n"), 400, "bad_request" },
    { "101 header lines",
      STR("GET /echo HTTP/1.1\r\n" HOST LINES10 LINES10 LINES10 LINES10 LINES10 LINES10 LINES10
              LINES10 LINES10 LINES10 "\r\n"),
      431, "header_too_large" },
    { "a head over the ceiling",
      STR("GET / HTTP/1.1\r\n" HOST "X: " THOUSAND "\r\nY: " THOUSAND HUNDRED "\r\n\r\n"), 431,
      "header_too_large" },
    { "a request line over the ceiling", STR("GET /" THOUSAND THOUSAND HUNDRED), 431,
      "header_too_large" },

    /* Framing. */
    { "two lengths", STR(HEAD "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), 400,
      "bad_request" },
    { "two equal lengths", STR(HEAD "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), 400,
      "bad_request" },
    { "a list of lengths", STR(HEAD "Content-Length: 5, 5\r\n\r\nhello"), 400, "bad_request" },
    { "a length with a sign", STR(HEAD "Content-Length: +5\r\n\r\nhello"), 400, "bad_request" },
    { "a negative length", STR(HEAD "Content-Length: -5\r\n\r\nhello"), 400, "bad_request" },
    { "a hexadecimal length", STR(HEAD "Content-Length: 0x5\r\n\r\nhello"), 400, "bad_request" },
    { "an empty length", STR(HEAD "Content-Length:\r\n\r\n"), 400, "bad_request" },
    { "a length with a space", STR(HEAD "Content-Length: 1 0\r\n\r\n" TEN), 400, "bad_request" },
    { "length and chunks",
      STR(HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400,
      "bad_request" },
    { "chunks and length",
      STR(HEAD "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"), 400,
      "bad_request" },
    { "two codings",
      STR(HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400,
      "bad_request" },
    { "gzip, chunked", STR(HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 400,
      "bad_request" },
    { "identity", STR(HEAD "Transfer-Encoding: identity\r\n\r\n"), 400, "bad_request" },
    { "xchunked", STR(HEAD "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 400, "bad_request" },
    { "chunked with a parameter", STR(HEAD "Transfer-Encoding: chunked;a\r\n\r\n0\r\n\r\n"), 400,
      "bad_request" },
    { "an empty coding", STR(HEAD "Transfer-Encoding:\r\n\r\n"), 400, "bad_request" },
    { "chunks in HTTP/1.0",
      STR("POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400,
      "bad_request" },
    { "a length over the ceiling", STR(HEAD "Content-Length: 1001\r\n\r\n"), 413, "too_large" },
    { "a length of 30 digits", STR(HEAD "Content-Length: " TEN TEN TEN "\r\n\r\n"), 413,
      "too_large" },

    /* Chunks. */
    { "a chunk size that is none", STR(CHUNKED "x\r\n"), 400, "bad_request" },
    { "an empty chunk size", STR(CHUNKED "\r\n"), 400, "bad_request" },
    { "a chunk size with 0x", STR(CHUNKED "0x5\r\nhello\r\n0\r\n\r\n"), 400, "bad_request" },
    { "a chunk size with a sign", STR(CHUNKED "+5\r\nhello\r\n0\r\n\r\n"), 400, "bad_request" },
    { "a chunk size with a space", STR(CHUNKED "5 \r\nhello\r\n0\r\n\r\n"), 400, "bad_request" },
    { "17 digits of chunk size", STR(CHUNKED "00000000000000005\r\nhello\r\n"), 400,
      "bad_request" },
    { "a bare LF after a size", STR(CHUNKED "5\nhello\r\n0\r\n\r\n"), 400, "bad_request" },
    { "a bare CR after a size", STR(CHUNKED "5\rhello\r\n0\r\n\r\n"), 400, "bad_request" },
    { "a bare LF after data", STR(CHUNKED "5\r\nhello\n0\r\n\r\n"), 400, "bad_request" },
    { "more data than its size", STR(CHUNKED "5\r\nhello!\r\n0\r\n\r\n"), 400, "bad_request" },
    { "a bare LF in an extension", STR(CHUNKED "5;a\nb\r\nhello\r\n0\r\n\r\n"), 400,
      "bad_request" },
    { "a NUL in an extension", STR(CHUNKED "5;a\0b\r\nhello\r\n0\r\n\r\n"), 400, "bad_request" },
    { "a bare LF at the end", STR(CHUNKED "0\r\n\n"), 400, "bad_request" },
    { "a folded trailer", STR(CHUNKED "0\r\nX: a\r\n b\r\n\r\n"), 400, "bad_request" },
    { "a trailer that would decide", STR(CHUNKED "0\r\nTransfer-encoding: chunked\r\n\r\n"), 400,
      "bad_request" },
    { "a length in a trailer", STR(CHUNKED "0\r\nX: 1\r\nContent-Length: 5\r\n\r\n"), 400,
      "bad_request" },
    { "a trailer without a name", STR(CHUNKED "0\r\n: a\r\n\r\n"), 400, "bad_request" },
    { "a trailer without a colon", STR(CHUNKED "0\r\nnonsense\r\n\r\n"), 400, "bad_request" },
    { "a bare LF in a trailer", STR(CHUNKED "0\r\nX: a\n\r\n"), 400, "bad_request" },
    { "a chunk over the ceiling", STR(CHUNKED "3e9\r\n"), 413, "too_large" },
    { "a huge chunk", STR(CHUNKED "ffffffffffffffff\r\n"), 413, "too_large" },
    { "chunks over the ceiling", STR(CHUNKED "3e8\r\n" THOUSAND "\r\n1\r\n"), 413, "too_large" },
    { "an endless extension", STR(CHUNKED "5;" THOUSAND THOUSAND), 431, "header_too_large" },
    { "endless trailers", STR(CHUNKED "0\r\nX: " THOUSAND "\r\nY: " THOUSAND), 431,
      "header_too_large" },

    /* Who asks, and where. */
    { "no Host", STR("GET / HTTP/1.1\r\n\r\n"), 400, "bad_request" },
    { "no Host in HTTP/1.0", STR("GET / HTTP/1.0\r\n\r\n"), 400, "bad_request" },
    { "two Hosts", STR("GET / HTTP/1.1\r\n" HOST "host: localhost\r\n\r\n"), 400, "bad_request" },
    { "an empty Host", STR("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 403, "forbidden_host" },
    { "another Host", STR("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403, "forbidden_host" },
    { "a Host that begins well", STR("GET / HTTP/1.1\r\nHost: localhost.evil\r\n\r\n"), 403,
      "forbidden_host" },
    { "another Origin", STR("GET / HTTP/1.1\r\n" HOST "Origin: https://evil.example\r\n\r\n"), 403,
      "forbidden_origin" },
    { "Origin null", STR("GET / HTTP/1.1\r\n" HOST "Origin: null\r\n\r\n"), 403,
      "forbidden_origin" },
    { "two Origins",
      STR("GET / HTTP/1.1\r\n" HOST "Origin: http://localhost\r\nOrigin: http://localhost\r\n\r\n"),
      400, "bad_request" },
    { "another expectation", STR(HEAD "Expect: a-pony\r\nContent-Length: 5\r\n\r\n"), 417,
      "expectation_failed" },
    { "a 100 for too large a body",
      STR(HEAD "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n"), 413, "too_large" },
};

enum { HTTP_CASES = sizeof http_cases / sizeof *http_cases };
