/* log_test.c: lines are whole, never block, and the lost ones are counted. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "json/read.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct buf got;

/* Everything that is there to read, appended to got. */
static void drain(int fd)
{
    char *p;
    ssize_t n;

    do {
        p = buf_room(&got, 65536);
        n = read(fd, p, 65536);
        if (n > 0)
            got.len += (size_t)n;
    } while (n > 0);
    buf_add(&got, "", 0);
}

static void open_pipe(int fd[2], bool json, enum log_level min)
{
    CHECK(pipe2(fd, O_CLOEXEC) == 0);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    buf_init(&got, 64 << 20);
    log_open(fd[1], json, min);
}

/* The log holds a descriptor of its own on the pipe: let it go as well. */
static void close_pipe(int fd[2])
{
    log_open(-1, true, LOG_INFO);
    close(fd[0]);
    close(fd[1]);
    buf_done(&got);
}

static void json_lines(void)
{
    struct arena a = { 0 };
    struct json_doc d;
    struct json r;
    int fd[2];

    open_pipe(fd, true, LOG_INFO);
    log_event(LOG_INFO, "tool.done", "r\"1\n", STR("{\"a\":\n[1,\r\n2]}"));
    drain(fd[0]);
    CHECK(got.len && strchr(got.data, '\n') == got.data + got.len - 1);
    CHECK(json_parse(&d, &a, buf_str(&got), NULL));
    r = json_root(&d);
    CHECK(json_raw(json_get(r, "ts")).n == sizeof "\"2026-01-31T12:00:00.000Z\"" - 1);
    CHECK(str_is(json_str(json_get(r, "level"), &a), "info"));
    CHECK(str_is(json_str(json_get(r, "event"), &a), "tool.done"));
    CHECK(str_is(json_str(json_get(r, "request_id"), &a), "r\"1\n"));
    CHECK(json_count(json_get(json_get(r, "data"), "a")) == 2);
    buf_clear(&got);
    log_event(LOG_ERROR, "bare", NULL, (struct str){ 0 });
    drain(fd[0]);
    CHECK(json_parse(&d, &a, buf_str(&got), NULL));
    CHECK(json_type(json_get(json_root(&d), "data")) == JSON_OBJ);
    CHECK(!json_type(json_get(json_root(&d), "request_id")));
    CHECK(log_pending() == 0);
    close_pipe(fd);
    arena_done(&a);
}

static void text_lines(void)
{
    int fd[2], h, m, s, n = 0;

    open_pipe(fd, false, LOG_DEBUG);
    log_event(LOG_WARN, "tool.exec_failed", "7", STR("{\"tool\":\"read\"}"));
    drain(fd[0]);
    CHECK(sscanf(got.data, "%2d:%2d:%2d %n", &h, &m, &s, &n) == 3);
    CHECK_STR(got.data + n, "warn  tool.exec_failed id=7 {\"tool\":\"read\"}\n");
    buf_clear(&got);
    log_line("pith listens on http://127.0.0.1:7717");
    log_event(LOG_DEBUG, "x", NULL, (struct str){ 0 });
    drain(fd[0]);
    CHECK(strncmp(got.data, "pith listens on http://127.0.0.1:7717\n", 38) == 0);
    CHECK_STR(got.data + 38 + 9, "debug x\n");
    close_pipe(fd);
}

static void levels(void)
{
    int fd[2];

    open_pipe(fd, true, LOG_WARN);
    CHECK(!log_wants(LOG_INFO) && log_wants(LOG_WARN) && log_wants(LOG_ERROR));
    log_event(LOG_INFO, "quiet", NULL, (struct str){ 0 });
    drain(fd[0]);
    CHECK(got.len == 0);
    close_pipe(fd);
    CHECK(!log_wants(LOG_ERROR));
    log_event(LOG_ERROR, "nowhere", NULL, (struct str){ 0 });
    log_line("nowhere");
    log_flush();
    CHECK(log_pending() == 0);
}

/* Write numbered lines until there must have been a gap. */
static void overflow(int lines)
{
    char data[1100];
    int i, n;

    for (i = 0; i < lines; i++) {
        n = snprintf(data, sizeof data, "{\"n\":%d,\"fill\":\"%01000d\"}", i, 0);
        log_event(LOG_INFO, "fill", NULL, (struct str){ data, (size_t)n });
    }
}

/* Check that got is whole lines, that the numbers rise, and that what is
 * missing among `lines` is what log.dropped says. Gives how many gaps. */
static int check_lines(int lines)
{
    struct arena a = { 0 };
    long long n, last = -1, seen = 0, dropped = 0;
    struct json_doc d;
    char *p, *nl;
    int gaps = 0;

    for (p = got.data; *p; p = nl + 1) {
        struct json data;

        nl = strchr(p, '\n');
        if (!nl || !json_parse(&d, &a, (struct str){ p, (size_t)(nl - p) }, NULL)) {
            CHECK(!"a line is not whole");
            break;
        }
        data = json_get(json_root(&d), "data");
        if (json_int(json_get(data, "lines"), &n)) {
            CHECK(str_is(json_str(json_get(json_root(&d), "event"), &a), "log.dropped"));
            dropped += n;
            gaps++;
        } else if (json_int(json_get(data, "n"), &n)) {
            CHECK(n > last);
            last = n;
            seen++;
        } else {
            CHECK(!"a line that nobody wrote");
        }
    }
    CHECK(seen + dropped == lines);
    arena_done(&a);
    return gaps;
}

static void drain_all(int fd)
{
    int i;

    for (i = 0; i < 1000; i++) {
        drain(fd);
        if (!log_pending())
            break;
        log_flush();
    }
    CHECK(i < 1000);
}

static void stuck_reader(void)
{
    uint64_t start = clock_ms();
    int fd[2];

    open_pipe(fd, true, LOG_INFO);
    overflow(2000);
    CHECK(log_pending() > 200 * 1024 && log_pending() <= 256 * 1024);
    CHECK(clock_ms() - start < 10000);
    drain_all(fd[0]);
    CHECK(check_lines(2000) == 1);
    close_pipe(fd);
}

/* No descriptor is left to open the pipe a second time with. */
static void shared_pipe(void)
{
    struct rlimit old, none;
    int fd[2];

    CHECK(pipe2(fd, O_CLOEXEC) == 0 && getrlimit(RLIMIT_NOFILE, &old) == 0);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    buf_init(&got, 64 << 20);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = old.rlim_max };
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    log_open(fd[1], true, LOG_INFO);
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    alarm(20);
    overflow(2000);
    drain_all(fd[0]);
    alarm(0);
    CHECK(check_lines(2000) == 1);
    close_pipe(fd);
}

static void slow_reader(void)
{
    char some[16384];
    int fd[2], i;
    ssize_t n;

    open_pipe(fd, true, LOG_INFO);
    for (i = 0; i < 2000; i++) {
        char data[1100];

        n = snprintf(data, sizeof data, "{\"n\":%d,\"fill\":\"%01000d\"}", i, 0);
        log_event(LOG_INFO, "fill", NULL, (struct str){ data, (size_t)n });
        if (i % 20 == 0 && (n = read(fd[0], some, sizeof some)) > 0)
            buf_add(&got, some, (size_t)n);
    }
    drain_all(fd[0]);
    n = check_lines(2000);
    CHECK(n >= 1 && n < 20);
    close_pipe(fd);
}

static void on_socket(void)
{
    int fd[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    buf_init(&got, 64 << 20);
    log_open(fd[1], true, LOG_INFO);
    overflow(2000);
    CHECK(log_pending() > 0);
    drain_all(fd[0]);
    CHECK(check_lines(2000) == 1);
    close_pipe(fd);
}

/* A terminal polls writable while it has any room, and then blocks on more. */
static void on_terminal(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), tty;
    uint64_t start = clock_ms();
    size_t before;

    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    tty = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(tty >= 0);
    buf_init(&got, 64 << 20);
    log_open(tty, false, LOG_INFO);
    alarm(20);
    overflow(500);
    alarm(0);
    CHECK(clock_ms() - start < 10000);
    before = log_pending();
    CHECK(before > 0);
    drain(master);
    log_flush();
    CHECK(log_pending() < before);
    log_open(-1, true, LOG_INFO);
    close(tty);
    close(master);
    buf_done(&got);
}

static void flags_kept(void)
{
    int fd[2];

    open_pipe(fd, true, LOG_INFO);
    overflow(500);
    CHECK(!(fcntl(fd[1], F_GETFL) & O_NONBLOCK));
    close_pipe(fd);
}

static void to_file(void)
{
    char path[] = "/tmp/log_test.XXXXXX";
    int fd = mkstemp(path), back;

    CHECK(fd >= 0 && write(fd, "before\n", 7) == 7);
    buf_init(&got, 64 << 20);
    log_open(fd, true, LOG_INFO);
    overflow(600);
    CHECK(log_pending() == 0);
    back = open(path, O_RDONLY | O_CLOEXEC);
    drain(back);
    CHECK(got.len > 7 && strncmp(got.data, "before\n", 7) == 0);
    buf_drop(&got, 7);
    CHECK(check_lines(600) == 0);
    log_open(-1, true, LOG_INFO);
    close(back);
    close(fd);
    unlink(path);
    buf_done(&got);
}

static void too_long(void)
{
    size_t n = 300 * 1024;
    char *big = malloc(n);
    int fd[2];

    memset(big, ' ', n);
    big[0] = '{';
    big[n - 1] = '}';
    open_pipe(fd, true, LOG_INFO);
    log_event(LOG_INFO, "big", NULL, (struct str){ big, n });
    drain_all(fd[0]);
    CHECK(check_lines(1) == 1);
    close_pipe(fd);
    free(big);
}

static void disk_full(void)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    CHECK(fd >= 0);
    log_open(fd, true, LOG_INFO);
    overflow(2000);
    CHECK(log_pending() == 0); /* nothing that waiting for room could cure */
    CHECK(log_wants(LOG_INFO));
    log_open(-1, true, LOG_INFO);
    close(fd);
}

static void reader_gone(void)
{
    int fd[2];

    open_pipe(fd, true, LOG_INFO);
    overflow(100);
    close(fd[0]);
    overflow(2);
    CHECK(!log_wants(LOG_ERROR));
    CHECK(log_pending() == 0);
    overflow(2);
    log_open(-1, true, LOG_INFO);
    close(fd[1]);
    buf_done(&got);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    TEST("a JSON event is one line of valid JSON", json_lines);
    TEST("a text event is time, level, event, id, data", text_lines);
    TEST("levels below the least are not written, nor anything before it is open", levels);
    TEST("a stuck reader costs lines, which are counted, and never time", stuck_reader);
    TEST("a pipe that cannot be opened again does not block either", shared_pipe);
    TEST("a slow reader sees few gaps, each with its count", slow_reader);
    TEST("a socket is written without blocking", on_socket);
    TEST("a terminal that nobody reads does not block", on_terminal);
    TEST("the flags of a descriptor that others share stay", flags_kept);
    TEST("a file is appended to where it stands", to_file);
    TEST("a line larger than the buffer is dropped and counted", too_long);
    TEST("a full disk is waited out quietly", disk_full);
    TEST("a reader that is gone silences the log", reader_gone);
    return test_end();
}
