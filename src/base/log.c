/* log.c: event lines into a descriptor that may be slow, stuck or gone.
 *
 * Lines are built at the end of one bounded buffer and leave from its front.
 * A line that does not fit is taken back whole and counted; once lines were
 * lost, more are refused until half of the buffer is free, so that a slow
 * reader sees one gap with its count and not a hundred small ones.
 *
 * Never blocking is more than asking poll(2): a terminal says it has room and
 * then blocks on a write larger than that room, and another writer of a shared
 * pipe may fill it between poll and write. O_NONBLOCK would cure both, but it
 * belongs to the open file, which we share with whoever started us. So pipes
 * and terminals are opened a second time, for us alone. Where /proc does not
 * let us, poll and small writes have to do: a pipe that polls writable takes
 * PIPE_BUF bytes.
 *
 * Belongs to the loop thread. Expects SIGPIPE to be ignored. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

enum { WAITING_MAX = 256 * 1024, WRITE_MAX = 4096 };

static struct {
    int fd;  /* -1: closed, or the reader is gone */
    int own; /* the descriptor opened a second time, or -1 */
    bool socket;
    bool json;
    bool disk_full; /* poll would call it writable, so nobody may wait for it */
    enum log_level min;
    struct buf out;
    unsigned long long dropped;
    void (*on_pending)(void);
} lg = { .fd = -1, .own = -1 };

static const char *const level_names[] = { "debug", "info", "warn", "error" };

/* A regular file is not opened again: that would lose its offset. */
static int open_again(int fd, mode_t mode)
{
    char path[40];

    if (!S_ISFIFO(mode) && !S_ISCHR(mode))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The reader is gone for good: nothing waits, nothing is counted. */
static void go_quiet(void)
{
    if (lg.own >= 0)
        close(lg.own);
    lg.fd = lg.own = -1;
    lg.dropped = 0;
    lg.disk_full = false;
    buf_done(&lg.out);
}

void log_open(int fd, bool json, enum log_level min)
{
    struct stat st;

    go_quiet();
    buf_init(&lg.out, WAITING_MAX);
    lg.json = json;
    lg.min = min;
    if (fstat(fd, &st) != 0)
        return;
    lg.own = open_again(fd, st.st_mode);
    lg.fd = lg.own >= 0 ? lg.own : fd;
    lg.socket = S_ISSOCK(st.st_mode);
}

bool log_wants(enum log_level level)
{
    return lg.fd >= 0 && level >= lg.min;
}

enum log_level log_level_of(const char *word)
{
    for (int i = LOG_DEBUG; i <= LOG_ERROR; i++)
        if (strcmp(word, level_names[i]) == 0)
            return (enum log_level)i;
    return LOG_INFO;
}

void log_on_pending(void (*fn)(void))
{
    lg.on_pending = fn;
}

/* Text is UTF-8 already; only what JSON forbids inside a string is escaped.
 * Here and not by json/, which stands on this room. */
static void add_escaped(const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c < 0x20) {
            buf_addf(&lg.out, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            buf_addc(&lg.out, '\\');
        buf_addc(&lg.out, *s);
    }
}

static void add_json(enum log_level level, const char *event, const char *id, struct str data)
{
    char ts[32];

    clock_iso(ts);
    buf_addf(&lg.out, "{\"ts\":\"%s\",\"level\":\"%s\",\"event\":\"", ts, level_names[level]);
    add_escaped(event);
    if (id) {
        buf_adds(&lg.out, "\",\"request_id\":\"");
        add_escaped(id);
    }
    buf_adds(&lg.out, "\",\"data\":");
    if (data.n)
        buf_add(&lg.out, data.p, data.n);
    else
        buf_adds(&lg.out, "{}");
    buf_addc(&lg.out, '}');
}

static void add_text(enum log_level level, const char *event, const char *id, struct str data)
{
    char ts[32];

    clock_iso(ts);
    buf_addf(&lg.out, "%.8s %-5s %s", ts + sizeof "2026-01-31T" - 1, level_names[level], event);
    if (id) {
        buf_adds(&lg.out, " id=");
        add_escaped(id);
    }
    if (data.n) {
        buf_addc(&lg.out, ' ');
        buf_add(&lg.out, data.p, data.n);
    }
}

/* End the line that began at start. In JSON a raw line break can only be white
 * space between tokens (a client's own, in a slice that we forward), so a
 * space says the same and keeps the line one line. */
static bool end_line(size_t start)
{
    size_t i;

    if (!buf_addc(&lg.out, '\n')) {
        lg.out.full = false;
        lg.out.len = start;
        return false;
    }
    for (i = start; i < lg.out.len - 1; i++)
        if (lg.out.data[i] == '\n' || lg.out.data[i] == '\r')
            lg.out.data[i] = ' ';
    return true;
}

static bool add_event(enum log_level level, const char *event, const char *id, struct str data)
{
    size_t start = lg.out.len;

    (lg.json ? add_json : add_text)(level, event, id, data);
    return end_line(start);
}

/* May a line be added? After a gap: only when the reader is back, and then the
 * count of what is missing comes first. */
static bool gap_closed(void)
{
    char data[48];
    int n;

    if (lg.dropped == 0)
        return true;
    if (lg.out.len > WAITING_MAX / 2)
        return false;
    n = snprintf(data, sizeof data, "{\"lines\":%llu}", lg.dropped);
    lg.dropped = 0;
    return add_event(LOG_WARN, "log.dropped", NULL, (struct str){ data, (size_t)n });
}

void log_event(enum log_level level, const char *event, const char *request_id, struct str data)
{
    if (!log_wants(level))
        return;
    if (!gap_closed() || !add_event(level, event, request_id, data))
        lg.dropped++;
    log_flush();
}

static bool add_line(const char *text)
{
    size_t start = lg.out.len;

    buf_adds(&lg.out, text);
    return end_line(start);
}

void log_line(const char *text)
{
    if (lg.fd < 0)
        return;
    if (!gap_closed() || !add_line(text))
        lg.dropped++;
    log_flush();
}

size_t log_pending(void)
{
    return lg.disk_full ? 0 : lg.out.len;
}

/* One write that does not block. Gives what was taken, or -1 with errno. */
static ssize_t write_some(const char *p, size_t n)
{
    struct pollfd pf = { .fd = lg.fd, .events = POLLOUT };

    if (n > WRITE_MAX)
        n = WRITE_MAX;
    if (lg.socket)
        return send(lg.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (lg.own < 0 && poll(&pf, 1, 0) <= 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(lg.fd, p, n);
}

/* Send until the buffer is empty or the reader takes no more. False when the
 * reader is gone. The buffer is moved up once, not per write. */
static bool send_waiting(void)
{
    size_t sent = 0;
    ssize_t k;

    lg.disk_full = false;
    while (sent < lg.out.len) {
        k = write_some(lg.out.data + sent, lg.out.len - sent);
        if (k >= 0) {
            sent += (size_t)k;
            continue;
        }
        if (errno == EINTR)
            continue;
        lg.disk_full = errno == ENOSPC || errno == EDQUOT;
        if (errno != EAGAIN && !lg.disk_full)
            return false;
        break;
    }
    buf_drop(&lg.out, sent);
    return true;
}

void log_flush(void)
{
    bool alive;

    if (lg.fd < 0)
        return;
    alive = send_waiting();
    if (alive && lg.dropped && gap_closed())
        alive = send_waiting();
    if (!alive)
        go_quiet();
    else if (log_pending() && lg.on_pending)
        lg.on_pending();
}
