/* Lines over pipes, files and sockets, on a loop in this process. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/mem.h"
#include "wire/stdio.h"

static struct loop *loop;
static struct stdio *io;
static struct buf seen; /* "line|line|LONG|END|" */
static size_t lines;
static struct timer *guard;

static void on_line(void *arg, struct str line)
{
    (void)arg;
    lines++;
    buf_add(&seen, line.p, line.n < 40 ? line.n : 40);
    buf_addc(&seen, '|');
}

static void on_long(void *arg)
{
    (void)arg;
    buf_adds(&seen, "LONG|");
}

static void on_end(void *arg)
{
    (void)arg;
    buf_adds(&seen, "END|");
    loop_stop(loop);
}

static void on_guard(void *arg)
{
    (void)arg;
    guard = NULL;
    buf_adds(&seen, "HANGS|");
    loop_stop(loop);
}

static void open_io(int in, int out, size_t max_line)
{
    struct stdio_opts o = { in, out, max_line, on_line, on_long, on_end, NULL };
    struct err e = { 0 };

    buf_init(&seen, 1 << 20);
    lines = 0;
    loop = loop_new(&e);
    guard = timer_start(loop, 5000, on_guard, NULL);
    io = stdio_open(loop, &o, &e);
    CHECK(io);
}

static void close_io(void)
{
    stdio_close(io, 0);
    timer_cancel(guard);
    loop_free(loop);
    buf_done(&seen);
}

static void stop_loop(void *arg)
{
    (void)arg;
    loop_stop(loop);
}

static void run_for(uint64_t ms)
{
    timer_start(loop, ms, stop_loop, NULL);
    loop_run(loop);
}

/* stdio_open may have asked for a larger one. */
static void make_small(int fd)
{
    CHECK(fcntl(fd, F_SETPIPE_SZ, 64 << 10) > 0);
}

static void put(int fd, const char *text)
{
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static const char mixed[] = "one\ntwo\r\n\n  \t\n\r\nthree\n12345678901\n1234567890\n1234567890\r\n"
                            "123456789012345\nlast";
static const char want[] = "one|two|three|LONG|1234567890|1234567890|LONG|last|END|";

static void by_pipe(void)
{
    int p[2];

    CHECK(pipe(p) == 0);
    put(p[1], mixed);
    close(p[1]);
    open_io(p[0], STDERR_FILENO, 10);
    loop_run(loop);
    CHECK_STR(seen.data, want);
    close_io();
    close(p[0]);
}

static void by_byte(void)
{
    int p[2];

    CHECK(pipe(p) == 0);
    open_io(p[0], STDERR_FILENO, 10);
    for (size_t i = 0; i < strlen(mixed); i++) {
        CHECK(write(p[1], mixed + i, 1) == 1);
        run_for(1);
    }
    close(p[1]);
    loop_run(loop);
    CHECK_STR(seen.data, want);
    close_io();
    close(p[0]);
}

static int temp_file(const char *text)
{
    char path[] = "/tmp/stdio_test_XXXXXX";
    int fd = mkstemp(path);

    unlink(path);
    put(fd, text);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void by_file(void)
{
    int in = temp_file(mixed), out = temp_file("");
    char text[32] = "";

    open_io(in, out, 10);
    stdio_send(io, STR("hello"));
    CHECK(stdio_pending(io) == 0);
    loop_run(loop);
    CHECK_STR(seen.data, want);
    CHECK(pread(out, text, sizeof text - 1, 0) == 6);
    CHECK_STR(text, "hello\n");
    close_io();
    close(in);
    close(out);
}

static void by_null(void)
{
    int fd = open("/dev/null", O_RDWR);

    open_io(fd, fd, 10);
    stdio_send(io, STR("nobody reads this"));
    loop_run(loop);
    CHECK_STR(seen.data, "END|");
    close_io();
    close(fd);
}

/* One socket for both directions. */
static void by_socket(void)
{
    int s[2];
    char text[32] = "";

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    open_io(s[0], s[0], 10);
    put(s[1], "ping\n");
    run_for(20);
    stdio_send(io, STR("pong"));
    CHECK(read(s[1], text, sizeof text - 1) == 5);
    CHECK_STR(text, "pong\n");
    shutdown(s[1], SHUT_WR);
    loop_run(loop);
    CHECK_STR(seen.data, "ping|END|");
    close_io();
    close(s[0]);
    close(s[1]);
}

/* A line of 3 MB in, whole; the buffer is small again afterwards. */
static void large_line(void)
{
    enum { N = 3 << 20 };
    char *big = xmalloc(N + 2);
    int in;

    memset(big, 'x', N);
    memcpy(big + N, "\n", 2);
    in = temp_file(big);
    open_io(in, STDERR_FILENO, N);
    loop_run(loop);
    CHECK(lines == 1 && strncmp(seen.data, "xxxx", 4) == 0);
    CHECK(strstr(seen.data, "|END|"));
    close_io();
    close(in);

    in = temp_file(big);
    open_io(in, STDERR_FILENO, N - 1);
    loop_run(loop);
    CHECK_STR(seen.data, "LONG|END|");
    close_io();
    close(in);
    free(big);
}

/* A long line without an end is reported too. */
static void long_at_end(void)
{
    int in = temp_file("12345678901234567890");

    open_io(in, STDERR_FILENO, 10);
    loop_run(loop);
    CHECK_STR(seen.data, "LONG|END|");
    close_io();
    close(in);
}

/* Out, through a pipe that is full: nothing is lost, flags come back. */
static void output_waits(void)
{
    enum { N = 4 << 20 };
    int in[2], out[2];
    char *big = xmalloc(N), *got = xmalloc(N + 1);
    size_t have = 0;

    for (size_t i = 0; i < N; i++)
        big[i] = (char)('a' + i % 23);
    CHECK(pipe(in) == 0 && pipe(out) == 0);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    open_io(in[0], out[1], 100);
    make_small(out[1]);
    CHECK(fcntl(out[1], F_GETFL) & O_NONBLOCK);
    stdio_send(io, (struct str){ big, N });
    CHECK(stdio_pending(io) > N / 2);
    for (int i = 0; i < 1000 && have < N + 1; i++) {
        ssize_t n = read(out[0], got + have, N + 1 - have);

        if (n > 0)
            have += (size_t)n;
        run_for(1);
    }
    CHECK(have == N + 1 && memcmp(got, big, N) == 0 && got[N] == '\n');
    CHECK(stdio_pending(io) == 0);
    close_io();
    CHECK(!(fcntl(out[1], F_GETFL) & O_NONBLOCK));
    free(big);
    free(got);
    close(in[0]);
    close(in[1]);
    close(out[0]);
    close(out[1]);
}

/* Each line is answered by 1 MB; the peer reads nothing at first. */
static char *megabyte;

static void answer_large(void *arg, struct str line)
{
    (void)arg;
    (void)line;
    lines++;
    stdio_send(io, (struct str){ megabyte, 1 << 20 });
}

static void reading_pauses(void)
{
    struct stdio_opts o = {
        .max_line = 10, .on_line = answer_large, .on_long = on_long, .on_end = on_end
    };
    struct err e = { 0 };
    int out[2];
    size_t have = 0;
    static char waste[1 << 16];

    megabyte = xcalloc(1, 1 << 20);
    CHECK(pipe(out) == 0);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    o.in = temp_file("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n");
    o.out = out[1];
    buf_init(&seen, 1 << 20);
    lines = 0;
    loop = loop_new(&e);
    guard = timer_start(loop, 20000, on_guard, NULL);
    io = stdio_open(loop, &o, &e);
    make_small(out[1]);
    run_for(50);
    CHECK(lines == 5); /* the fifth passes 4 MB */
    CHECK(stdio_pending(io) < 6 << 20);
    for (int i = 0; i < 100000 && (lines < 20 || stdio_pending(io)); i++) {
        ssize_t n = read(out[0], waste, sizeof waste);

        if (n > 0)
            have += (size_t)n;
        run_for(1); /* newer libuvs run a timer of 0 before they look at descriptors */
        CHECK(stdio_pending(io) < 6 << 20);
    }
    CHECK(lines == 20);
    run_for(10);
    CHECK_STR(seen.data, "END|");
    while (read(out[0], waste, sizeof waste) > 0)
        ;
    CHECK(have > 19 << 20);
    close_io();
    free(megabyte);
    close(o.in);
    close(out[0]);
    close(out[1]);
}

static void nobody_reads(void)
{
    int in[2], out[2];

    CHECK(pipe(in) == 0 && pipe(out) == 0);
    open_io(in[0], out[1], 100);
    make_small(out[1]);
    close(out[0]);
    stdio_send(io, STR("hello"));
    CHECK(seen.len == 0); /* not from within stdio_send */
    loop_run(loop);
    CHECK_STR(seen.data, "END|");
    stdio_send(io, STR("hello again"));
    run_for(10);
    CHECK_STR(seen.data, "END|"); /* once */
    close_io();
    close(in[0]);
    close(in[1]);
    close(out[1]);
}

/* The reader leaves while output waits for it. */
static void reader_leaves(void)
{
    int in[2], out[2];

    megabyte = xcalloc(1, 1 << 20);
    CHECK(pipe(in) == 0 && pipe(out) == 0);
    open_io(in[0], out[1], 100);
    make_small(out[1]);
    stdio_send(io, (struct str){ megabyte, 1 << 20 });
    run_for(10);
    close(out[0]);
    loop_run(loop);
    CHECK_STR(seen.data, "END|");
    CHECK(stdio_pending(io) == 0);
    close_io();
    free(megabyte);
    close(in[0]);
    close(in[1]);
    close(out[1]);
}

static void close_on_line(void *arg, struct str line)
{
    on_line(arg, line);
    stdio_close(io, 0);
    loop_stop(loop);
}

static void closed_inside(void)
{
    struct stdio_opts o = {
        .max_line = 10, .on_line = close_on_line, .on_long = on_long, .on_end = on_end
    };
    struct err e = { 0 };
    int in[2];

    CHECK(pipe(in) == 0);
    put(in[1], "one\ntwo\nthree\n");
    o.in = in[0];
    o.out = STDERR_FILENO;
    buf_init(&seen, 1 << 20);
    loop = loop_new(&e);
    io = stdio_open(loop, &o, &e);
    loop_run(loop);
    CHECK_STR(seen.data, "one|");
    loop_free(loop);
    buf_done(&seen);
    close(in[0]);
    close(in[1]);
}

/* stdio_close hands over what it can in its time. */
static void close_flushes(void)
{
    int in[2], out[2];
    static char waste[1 << 16];
    size_t have = 0;
    ssize_t n;
    pid_t reader;

    megabyte = xcalloc(1, 1 << 20);
    CHECK(pipe(in) == 0 && pipe(out) == 0);
    open_io(in[0], out[1], 100);
    make_small(out[1]);
    stdio_send(io, (struct str){ megabyte, 1 << 20 });
    fflush(stdout);
    reader = fork();
    if (reader == 0) {
        close(out[1]);
        while ((n = read(out[0], waste, sizeof waste)) > 0)
            have += (size_t)n;
        _exit(have == (1 << 20) + 1 ? 0 : 1);
    }
    stdio_close(io, 5000);
    io = NULL;
    close(out[1]);
    close_io();
    int status = -1;
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
    free(megabyte);
    close(in[0]);
    close(in[1]);
    close(out[0]);
}

static void bad_descriptors(void)
{
    struct stdio_opts o = { 900, STDERR_FILENO, 10, on_line, on_long, on_end, NULL };
    struct err e = { 0 };

    loop = loop_new(&e);
    CHECK(!stdio_open(loop, &o, &e));
    CHECK(strstr(e.msg, "descriptor 900"));
    o.in = STDERR_FILENO;
    o.out = 901;
    CHECK(!stdio_open(loop, &o, &e));
    CHECK(strstr(e.msg, "descriptor 901"));
    stdio_close(NULL, 0);
    loop_free(loop);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    TEST("lines come from a pipe, blank ones do not, long ones are reported", by_pipe);
    TEST("the same byte by byte", by_byte);
    TEST("the same from a file, and output goes to a file", by_file);
    TEST("/dev/null is an end", by_null);
    TEST("one socket serves both directions", by_socket);
    TEST("a line may be as long as the ceiling and no longer", large_line);
    TEST("a long line without its newline is reported", long_at_end);
    TEST("output waits for a full pipe, and flags are put back", output_waits);
    TEST("reading pauses while too much output waits", reading_pauses);
    TEST("when nobody reads, that is the end, once", nobody_reads);
    TEST("a reader that leaves is the end", reader_leaves);
    TEST("it may be closed from its own callback", closed_inside);
    TEST("closing hands over what waits", close_flushes);
    TEST("a bad descriptor is named", bad_descriptors);
    return test_end();
}
