/* http_client.c: one POST to another server, on the loop.
 *
 * libcurl's multi interface over our watches and timers. The library is loaded
 * at the first call and stays; its one multi handle lives while a post is under
 * way, so that an idle program holds neither descriptors nor timers of it.
 *
 * libcurl must not be called back into while it calls us, nor may `done` be
 * called from below it: finished posts are collected on a later turn. */
#include "wire/http_client.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

/* The functions we use, under their own types. */
#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_global_init)                                                                            \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)                                                                         \
    X(curl_multi_init)                                                                             \
    X(curl_multi_cleanup)                                                                          \
    X(curl_multi_setopt)                                                                           \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_socket_action)                                                                    \
    X(curl_multi_assign)                                                                           \
    X(curl_multi_info_read)

/* curl.h guards some of them with macros that check arguments; the typed
 * pointers here are called past those. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

static struct {
    void *library;
#define X(name) __typeof__(name) *name;
    CURL_FUNCTIONS(X)
#undef X
} lib;

struct http_post {
    struct loop *loop;
    struct http_post *next; /* in the list of those under way */
    CURL *easy;
    struct curl_slist *headers;
    char *url;
    struct str body; /* our copy */
    struct buf answer;
    bool too_long;
    char error[CURL_ERROR_SIZE];
    uint64_t started, timeout_ms;
    size_t max_answer;
    struct timer *failing; /* it could not even start */
    char why[240];
    void (*done)(void *arg, const struct http_answer *a);
    void *arg;
};

/* A descriptor of libcurl's. */
struct sock {
    curl_socket_t fd;
    struct watch *watch;
};

static struct {
    struct loop *loop;
    CURLM *multi;        /* NULL while nothing is under way */
    struct timer *timer; /* libcurl wants to be called */
    struct timer *look;  /* a post may be finished */
    struct http_post *posts;
} client;

static void on_look(void *arg);

/* Loading. */

static bool load(char why[240])
{
    if (lib.library)
        return true;
    lib.library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!lib.library)
        lib.library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!lib.library) {
        snprintf(why, 240, "libcurl.so.4 is not installed");
        return false;
    }
#define X(name)                                                                                    \
    *(void **)&lib.name = dlsym(lib.library, #name);                                               \
    if (!lib.name)                                                                                 \
        goto fail;
    CURL_FUNCTIONS(X)
#undef X
    if (lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        return true;

fail:
    dlclose(lib.library);
    lib.library = NULL;
    snprintf(why, 240, "libcurl.so.4 cannot be used here");
    return false;
}

/* libcurl asks for watches and a timer. */

static void look_soon(void)
{
    if (!client.look)
        client.look = timer_start(client.loop, 0, on_look, NULL);
}

static void act(curl_socket_t fd, int what)
{
    int running;

    lib.curl_multi_socket_action(client.multi, fd, what, &running);
    look_soon();
}

static void on_socket_ready(void *arg, int events)
{
    struct sock *k = arg;

    act(k->fd, (events & WATCH_READ ? CURL_CSELECT_IN : 0) |
                   (events & WATCH_WRITE ? CURL_CSELECT_OUT : 0));
}

static int on_want_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct sock *k = known;
    int events = (what & CURL_POLL_IN ? WATCH_READ : 0) | (what & CURL_POLL_OUT ? WATCH_WRITE : 0);

    (void)easy;
    (void)arg;
    if (what == CURL_POLL_REMOVE) {
        if (k)
            watch_free(k->watch);
        free(k);
        lib.curl_multi_assign(client.multi, fd, NULL);
        return 0;
    }
    if (!k) {
        k = xcalloc(1, sizeof *k);
        k->fd = fd;
        k->watch = watch_new(client.loop, fd, on_socket_ready, k, NULL);
        if (!k->watch) {
            free(k);
            return -1;
        }
        lib.curl_multi_assign(client.multi, fd, k);
    }
    watch_set(k->watch, events);
    return 0;
}

static void on_curl_timer(void *arg)
{
    (void)arg;
    client.timer = NULL;
    act(CURL_SOCKET_TIMEOUT, 0);
}

static int on_want_timer(CURLM *multi, long ms, void *arg)
{
    (void)multi;
    (void)arg;
    timer_cancel(client.timer);
    client.timer = ms < 0 ? NULL : timer_start(client.loop, (uint64_t)ms, on_curl_timer, NULL);
    return 0;
}

static bool multi_open(struct loop *l)
{
    if (client.multi)
        return client.loop == l;
    client.multi = lib.curl_multi_init();
    if (!client.multi)
        return false;
    client.loop = l;
    lib.curl_multi_setopt(client.multi, CURLMOPT_SOCKETFUNCTION, on_want_socket);
    lib.curl_multi_setopt(client.multi, CURLMOPT_TIMERFUNCTION, on_want_timer);
    return true;
}

static void multi_close(void)
{
    lib.curl_multi_cleanup(client.multi); /* removes its sockets through us */
    client.multi = NULL;
    timer_cancel(client.timer);
    timer_cancel(client.look);
    client.timer = client.look = NULL;
}

/* A post. */

static void post_free(struct http_post *p)
{
    struct http_post **at = &client.posts;

    timer_cancel(p->failing);
    while (*at && *at != p)
        at = &(*at)->next;
    if (*at)
        *at = p->next;
    if (p->easy) {
        lib.curl_multi_remove_handle(client.multi, p->easy);
        lib.curl_easy_cleanup(p->easy);
        lib.curl_slist_free_all(p->headers);
    }
    if (client.multi && !client.posts)
        multi_close();
    buf_done(&p->answer);
    free((char *)p->body.p);
    free(p->url);
    free(p);
}

static size_t on_answer(char *data, size_t size, size_t n, void *arg)
{
    struct http_post *p = arg;

    if (buf_add(&p->answer, data, size * n))
        return size * n;
    p->too_long = true;
    return 0; /* ends the transfer */
}

static void post_end(struct http_post *p, enum err_code code, const char *msg, int status)
{
    struct http_answer a = {
        .code = code,
        .msg = code == ERR_NONE ? NULL : msg,
        .status = status,
        .body = code == ERR_NONE ? buf_str(&p->answer) : (struct str){ 0 },
        .duration_ms = clock_ms() - p->started,
    };

    p->done(p->arg, &a);
    post_free(p);
}

static void post_finished(struct http_post *p, CURLcode result)
{
    long status = 0;
    char why[CURL_ERROR_SIZE + 32];

    lib.curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    if (result == CURLE_OK) {
        post_end(p, ERR_NONE, NULL, (int)status);
        return;
    }
    if (p->too_long)
        snprintf(why, sizeof why, "answer over %zu bytes", p->max_answer);
    else if (result == CURLE_OPERATION_TIMEDOUT)
        snprintf(why, sizeof why, "no answer within %llu ms", (unsigned long long)p->timeout_ms);
    else
        snprintf(why, sizeof why, "%s", p->error[0] ? p->error : lib.curl_easy_strerror(result));
    post_end(p, result == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_HTTP, why, (int)status);
}

/* `done` may start and cancel posts, even end the last one and with it the
 * multi handle: so look again from the start after each. */
static void on_look(void *arg)
{
    CURLMsg *m;
    int left;

    (void)arg;
    client.look = NULL;
    while (client.multi && (m = lib.curl_multi_info_read(client.multi, &left))) {
        struct http_post *p = NULL;
        CURLcode result;
        CURL *easy = m->easy_handle;

        if (m->msg != CURLMSG_DONE)
            continue;
        result = m->data.result;
        for (p = client.posts; p && p->easy != easy;)
            p = p->next;
        if (p)
            post_finished(p, result);
    }
}

static void on_failing(void *arg)
{
    struct http_post *p = arg;

    p->failing = NULL;
    post_end(p, ERR_HTTP, p->why, 0);
}

/* Headers of ours; libcurl's own Expect would cost a round trip. */
static void post_set_body(struct http_post *p)
{
    p->headers = lib.curl_slist_append(NULL, "Content-Type: application/json");
    p->headers = lib.curl_slist_append(p->headers, "Accept: application/json");
    p->headers = lib.curl_slist_append(p->headers, "Expect:");
    lib.curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers);
    lib.curl_easy_setopt(p->easy, CURLOPT_POST, 1L);
    lib.curl_easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->body.n);
    lib.curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, p->body.p);
    lib.curl_easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, on_answer);
    lib.curl_easy_setopt(p->easy, CURLOPT_WRITEDATA, p);
    lib.curl_easy_setopt(p->easy, CURLOPT_ERRORBUFFER, p->error);
}

/* Certificates are checked by default, and said here so that it stays so. */
static bool post_set_rules(struct http_post *p)
{
    CURL *c = p->easy;

    lib.curl_easy_setopt(c, CURLOPT_URL, p->url);
    lib.curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    lib.curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    lib.curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)p->timeout_ms);
    lib.curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)p->timeout_ms);
    lib.curl_easy_setopt(c, CURLOPT_NOPROXY, "localhost,127.0.0.1,127.0.0.0/8,::1");
    lib.curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
    lib.curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
    return lib.curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
}

static bool post_start(struct http_post *p)
{
    if (!http_url_ok(p->url)) {
        snprintf(p->why, sizeof p->why, "not an http or https URL: %.180s", p->url);
        return false;
    }
    if (!load(p->why))
        return false;
    snprintf(p->why, sizeof p->why, "libcurl cannot start a transfer");
    if (!multi_open(p->loop))
        return false;
    p->easy = lib.curl_easy_init();
    if (!p->easy)
        return false;
    post_set_body(p);
    return post_set_rules(p) && lib.curl_multi_add_handle(client.multi, p->easy) == CURLM_OK;
}

struct http_post *http_post(struct loop *l, const char *url, struct str body, uint64_t timeout_ms,
                            size_t max_answer, void (*done)(void *arg, const struct http_answer *a),
                            void *arg)
{
    struct http_post *p = xcalloc(1, sizeof *p);
    char *copy = xmalloc(body.n + 1);

    if (body.n)
        memcpy(copy, body.p, body.n);
    p->body = (struct str){ copy, body.n };
    p->loop = l;
    p->url = xstrdup(url);
    p->timeout_ms = timeout_ms;
    p->max_answer = max_answer;
    p->done = done;
    p->arg = arg;
    p->started = clock_ms();
    buf_init(&p->answer, max_answer);
    p->next = client.posts;
    client.posts = p;
    if (!post_start(p))
        p->failing = timer_start(l, 0, on_failing, p);
    return p;
}

void http_post_cancel(struct http_post *p)
{
    if (p)
        post_free(p);
}

/* An URL by hand: libcurl need not be there to look at a setting. */

static bool host_ok(struct str host)
{
    bool v6 = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';

    if (v6)
        host = (struct str){ host.p + 1, host.n - 2 };
    for (size_t i = 0; i < host.n; i++)
        if (strchr(v6 ? "[]@\\" : "[]@:\\", host.p[i]))
            return false;
    return host.n > 0;
}

static bool port_ok(struct str port)
{
    int v = 0;

    for (size_t i = 0; i < port.n; i++) {
        if (port.p[i] < '0' || port.p[i] > '9' || v > 65535)
            return false;
        v = v * 10 + (port.p[i] - '0');
    }
    return v >= 1 && v <= 65535;
}

bool http_url_ok(const char *url)
{
    struct str host;
    const char *colon, *bracket;

    for (const char *c = url; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return false;
    if (strncasecmp(url, "http://", 7) == 0)
        url += 7;
    else if (strncasecmp(url, "https://", 8) == 0)
        url += 8;
    else
        return false;

    host = (struct str){ url, strcspn(url, "/?#") };
    if (memchr(host.p, '@', host.n)) /* a password has no place in a setting */
        return false;
    bracket = memrchr(host.p, ']', host.n);
    colon = memrchr(host.p, ':', host.n);
    if (colon && (!bracket || colon > bracket)) {
        struct str port = { colon + 1, host.n - (size_t)(colon + 1 - host.p) };

        if (!port_ok(port))
            return false;
        host.n = (size_t)(colon - host.p);
    }
    return host_ok(host);
}
