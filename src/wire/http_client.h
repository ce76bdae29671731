/* http_client.h: one POST to another server, on the loop.
 *
 * libcurl's multi interface, loaded with dlopen at the first call: linked at
 * start it would cost every `pith stdio` 4.6 ms and 4.5 MB. Redirects are not
 * followed; only http and https. All posts under way belong to one loop. */
#pragma once
#include "base/str.h"
#include "loop/loop.h"

struct http_post;

struct http_answer {
    enum err_code code; /* ERR_NONE, ERR_TIMEOUT, ERR_HTTP (no answer, or too long a one) */
    const char *msg;    /* why, when code is not ERR_NONE */
    int status;         /* HTTP status, 0 if none came */
    struct str body;
    uint64_t duration_ms;
};

/* POST body (copied) as JSON. `done` is called once, on a later turn; the
 * answer lives until it returns. Never NULL. */
struct http_post *http_post(struct loop *l, const char *url, struct str body, uint64_t timeout_ms,
                            size_t max_answer, void (*done)(void *arg, const struct http_answer *a),
                            void *arg);

/* `done` will not be called. */
void http_post_cancel(struct http_post *p);

/* Is this an absolute http: or https: URL with a host? One with a user name or
 * a password in it is not. */
bool http_url_ok(const char *url);
