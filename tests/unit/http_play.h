/* http_play.h: a server in a child process, and the client that tests it.
 *
 * The child runs the handler that the test gives to start(); the test itself
 * is the client, and blocks. The child ends by SIGTERM and must then have freed
 * all (under AddressSanitizer its exit status says so). */
#pragma once
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "wire/http.h"

/* The server; in the child. */

static struct loop *loop;
static struct http_server *server;
static void (*at_end)(void); /* after http_free */

static inline void on_term(void *arg)
{
    (void)arg;
    loop_stop(loop);
}

static pid_t server_pid;
static int server_port;

static inline void serve(struct http_opts o, int ready)
{
    struct err e = { 0 };

    loop = loop_new(&e);
    loop_on_signal(loop, SIGTERM, on_term, NULL);
    server = http_listen(loop, &o, &e);
    if (!server) {
        fprintf(stderr, "%s\n", e.msg);
        _exit(3);
    }
    server_port = http_port(server);
    if (write(ready, &server_port, sizeof server_port) != sizeof server_port)
        _exit(3);
    close(ready);
    loop_run(loop);
    http_free(server);
    if (at_end)
        at_end();
    loop_free(loop);
    exit(0);
}

static inline void start(struct http_opts o)
{
    int ready[2];

    fflush(stdout);
    if (pipe(ready) != 0 || (server_pid = fork()) < 0)
        abort();
    if (server_pid == 0)
        serve(o, ready[1]);
    close(ready[1]);
    if (read(ready[0], &server_port, sizeof server_port) != sizeof server_port)
        abort();
    close(ready[0]);
}

static inline void stop(void)
{
    int status = -1;

    kill(server_pid, SIGTERM);
    waitpid(server_pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The client. */

static inline int dial(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)server_port) };
    struct timeval tv = { 5, 0 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        abort();
    return fd;
}

static inline void say(int fd, struct str bytes, size_t step)
{
    while (bytes.n) {
        size_t want = step < bytes.n ? step : bytes.n;
        ssize_t n = send(fd, bytes.p, want, MSG_NOSIGNAL);

        if (n <= 0)
            return; /* refused already; the answer tells */
        bytes = (struct str){ bytes.p + n, bytes.n - (size_t)n };
    }
}

static inline void say_all(int fd, const char *text)
{
    say(fd, str_of(text), (size_t)-1);
}

/* One answer. */
struct answer {
    int status; /* 0: the connection closed instead, -1: reset or silence */
    char head[2048];
    char body[4096]; /* as much as fits */
    size_t length;   /* announced, and read */
    bool has_length;
};

static inline bool read_head(int fd, struct answer *a)
{
    size_t n = 0;

    while (n < sizeof a->head - 1) {
        ssize_t got = recv(fd, a->head + n, 1, 0);

        if (got <= 0) {
            a->status = got == 0 && n == 0 ? 0 : -1;
            return false;
        }
        a->head[++n] = 0;
        if (n >= 4 && memcmp(a->head + n - 4, "\r\n\r\n", 4) == 0)
            return true;
    }
    return false;
}

static inline void hear(int fd, struct answer *a, bool head_only)
{
    const char *length;
    char piece[65536];
    size_t got = 0;

    memset(a, 0, sizeof *a);
    if (!read_head(fd, a))
        return;
    sscanf(a->head, "HTTP/1.1 %d ", &a->status);
    length = strstr(a->head, "\r\nContent-Length: ");
    a->has_length = length;
    a->length = length ? strtoul(length + 18, NULL, 10) : 0;
    while (!head_only && got < a->length) {
        size_t want = a->length - got < sizeof piece ? a->length - got : sizeof piece;
        ssize_t n = recv(fd, piece, want, 0);

        if (n <= 0) {
            a->status = -1;
            return;
        }
        for (ssize_t i = 0; i < n; i++, got++)
            if (got < sizeof a->body - 1)
                a->body[got] = piece[i];
    }
}

/* Does nothing more come but the end? */
static inline bool closes(int fd)
{
    char c;

    return recv(fd, &c, 1, 0) == 0;
}

static inline struct answer ask(int fd, const char *request)
{
    struct answer a;

    say_all(fd, request);
    hear(fd, &a, strncmp(request, "HEAD", 4) == 0);
    return a;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static inline void nap(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

static inline void wait_for_state(const char *want)
{
    struct answer a;
    int fd = dial();

    for (int i = 0; i < 200; i++) {
        a = ask(fd, GET("/state"));
        if (strcmp(a.body, want) == 0)
            break;
        nap(10);
    }
    CHECK_STR(a.body, want);
    close(fd);
}
