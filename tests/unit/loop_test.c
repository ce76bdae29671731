/* loop_test.c: what the loop promises: order, silence after cancelling, wake-ups. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "loop/loop.h"
#include "test.h"

static struct loop *l;
static char trace[200];

static void note(const char *word)
{
    strncat(trace, word, sizeof trace - strlen(trace) - 1);
}

static void begin(void)
{
    trace[0] = '\0';
    l = loop_new(NULL);
}

static void stop(void *arg)
{
    (void)arg;
    loop_stop(l);
}

/* A test that waits for something that never comes fails instead of hanging. */
static void too_late(void *arg)
{
    (void)arg;
    note("TOO LATE ");
    loop_stop(l);
}

static void run(void)
{
    struct timer *t = timer_start(l, 3000, too_late, NULL);

    loop_run(l);
    if (!strstr(trace, "TOO LATE"))
        timer_cancel(t);
}

static void say(void *arg)
{
    note(arg);
}

/* Soon. */

static void say_and_two_more(void *arg)
{
    (void)arg;
    loop_soon(l, say, "c ");
    loop_soon(l, stop, NULL);
    note("a ");
}

static void soon_order(void)
{
    begin();
    loop_soon(l, say_and_two_more, NULL);
    loop_soon(l, say, "b ");
    note("before ");
    run();
    CHECK_STR(trace, "before a b c ");
    loop_free(l);
}

static int ready_pipe[2];
static struct watch *w1, *w2;

static void read_all(int fd)
{
    char b[64];

    while (read(fd, b, sizeof b) > 0)
        ;
}

static void on_ready_soon(void *arg, int events)
{
    (void)events;
    read_all(ready_pipe[0]);
    loop_soon(l, say, arg);
    note("ready ");
}

static void on_second(void *arg, int events)
{
    (void)events;
    read_all(*(int *)arg);
    note("second ");
    loop_soon(l, stop, NULL);
}

static void soon_after_callbacks(void)
{
    int second[2];

    begin();
    CHECK(pipe(ready_pipe) == 0 && pipe(second) == 0);
    CHECK(write(ready_pipe[1], "x", 1) == 1 && write(second[1], "x", 1) == 1);
    w1 = watch_new(l, ready_pipe[0], on_ready_soon, "soon ", NULL);
    w2 = watch_new(l, second[0], on_second, &second[0], NULL);
    watch_set(w1, WATCH_READ);
    watch_set(w2, WATCH_READ);
    run();
    CHECK_STR(trace, "ready second soon ");
    loop_free(l);
    close(ready_pipe[0]);
    close(ready_pipe[1]);
    close(second[0]);
    close(second[1]);
}

static void soon_from_timer_cb(void *arg)
{
    (void)arg;
    loop_soon(l, stop, NULL);
}

/* Nothing else is going on, so a soon that does not wake the loop hangs here. */
static void soon_wakes(void)
{
    begin();
    timer_start(l, 1, soon_from_timer_cb, NULL);
    run();
    CHECK_STR(trace, "");
    loop_free(l);
}

static void soon_at_free(void)
{
    begin();
    loop_soon(l, say_and_two_more, NULL);
    loop_free(l);
    CHECK_STR(trace, "a c ");
}

/* Timers. */

static void timer_order(void)
{
    struct timer *t;

    begin();
    timer_start(l, 20, stop, NULL);
    timer_start(l, 10, say, "ten ");
    timer_start(l, 5, say, "five ");
    t = timer_start(l, 7, say, "never ");
    timer_cancel(t);
    timer_cancel(NULL);
    run();
    CHECK_STR(trace, "five ten ");
    loop_free(l);
}

static struct timer *victim;

static void cancel_victim(void *arg)
{
    (void)arg;
    timer_cancel(victim);
    note("cancelled ");
}

static void timer_cancelled_same_turn(void)
{
    struct timespec late = { 0, 15000000 };

    begin();
    timer_start(l, 1, cancel_victim, NULL);
    victim = timer_start(l, 2, say, "fired ");
    timer_start(l, 3, stop, NULL);
    nanosleep(&late, NULL); /* all three are due in the first turn */
    run();
    CHECK_STR(trace, "cancelled ");
    loop_free(l);
}

static uint64_t started_at, fired_at;

static void fired(void *arg)
{
    (void)arg;
    fired_at = clock_ms();
    loop_stop(l);
}

static void busy_then_start(void *arg)
{
    struct timespec busy = { 0, 60000000 };

    (void)arg;
    nanosleep(&busy, NULL);
    started_at = clock_ms();
    timer_start(l, 40, fired, NULL);
}

static void timer_not_early(void)
{
    begin();
    loop_soon(l, busy_then_start, NULL);
    run();
    CHECK(fired_at - started_at >= 38);
    loop_free(l);
}

/* Watches. */

static int epoll_calls;

/* libuv's calls land here, so that they can be counted. */
int epoll_ctl(int ep, int op, int fd, struct epoll_event *ev)
{
    epoll_calls++;
    return (int)syscall(SYS_epoll_ctl, ep, op, fd, ev);
}

static int seen_events, calls;

static void on_events(void *arg, int events)
{
    (void)arg;
    calls++;
    seen_events = events;
    loop_stop(l);
}

static void turns(int ms)
{
    timer_start(l, (uint64_t)ms, stop, NULL);
    loop_run(l);
}

static void watch_level(void)
{
    int p[2];

    begin();
    CHECK(pipe(p) == 0);
    w1 = watch_new(l, p[0], on_events, NULL, NULL);
    calls = seen_events = 0;
    turns(5);
    CHECK(calls == 0);

    watch_set(w1, WATCH_READ);
    CHECK(write(p[1], "abc", 3) == 3);
    loop_run(l);
    loop_run(l); /* unread, so it is told again */
    CHECK(calls == 2 && seen_events == WATCH_READ);

    watch_set(w1, 0);
    turns(5);
    CHECK(calls == 2);
    watch_set(w1, WATCH_READ);
    loop_run(l);
    CHECK(calls == 3);

    read_all(p[0]);
    seen_events = 0;
    close(p[1]); /* end of file is a thing to read */
    loop_run(l);
    CHECK(seen_events & WATCH_READ);
    watch_free(w1);
    watch_free(NULL);
    close(p[0]);
    loop_free(l);
}

static void watch_cheap(void)
{
    int s[2];

    begin();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    w1 = watch_new(l, s[0], on_events, NULL, NULL);
    watch_set(w1, WATCH_READ);
    turns(2);
    epoll_calls = 0;
    for (int i = 0; i < 10; i++) {
        watch_set(w1, 0);
        turns(1);
        watch_set(w1, WATCH_READ);
        watch_set(w1, WATCH_READ);
        turns(1);
    }
    CHECK(epoll_calls == 0);

    calls = 0;
    watch_set(w1, 0);
    CHECK(write(s[1], "x", 1) == 1);
    turns(5);
    CHECK(calls == 0 && epoll_calls == 1); /* what nobody wants does not spin */
    watch_set(w1, WATCH_WRITE);
    loop_run(l);
    CHECK(calls == 1 && seen_events == WATCH_WRITE);
    watch_set(w1, WATCH_READ | WATCH_WRITE);
    loop_run(l);
    CHECK(calls == 2 && seen_events == (WATCH_READ | WATCH_WRITE));
    loop_free(l); /* with the watch still there */
    close(s[0]);
    close(s[1]);
}

static void watch_gone(void)
{
    int s[2];

    begin();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    w1 = watch_new(l, s[0], on_events, NULL, NULL);
    watch_set(w1, WATCH_GONE);
    calls = seen_events = 0;
    CHECK(write(s[1], "x", 1) == 1);
    turns(5);
    CHECK(calls == 0); /* something to read is not an end */
    close(s[1]);
    loop_run(l);
    CHECK(calls == 1 && seen_events == WATCH_GONE);
    loop_free(l);
    close(s[0]);
}

static void watch_error(void)
{
    int p[2];

    begin();
    CHECK(pipe2(p, O_NONBLOCK) == 0);
    while (write(p[1], trace, sizeof trace) > 0)
        ;
    w1 = watch_new(l, p[1], on_events, NULL, NULL);
    watch_set(w1, WATCH_WRITE);
    calls = 0;
    turns(5);
    CHECK(calls == 0);
    close(p[0]); /* nobody reads any more: an error on the writing end */
    loop_run(l);
    CHECK(calls == 1 && seen_events == (WATCH_READ | WATCH_WRITE));
    loop_run(l);
    CHECK(calls == 2); /* and it is told again */
    watch_free(w1);
    close(p[1]);
    loop_free(l);
}

static void watch_file(void)
{
    struct err e = { 0 };
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    begin();
    CHECK(!watch_new(l, fd, on_events, NULL, &e));
    CHECK(e.code == ERR_IO && strstr(e.msg, "cannot watch"));
    close(fd);
    loop_free(l);
}

static void free_both(void *arg, int events)
{
    (void)arg;
    (void)events;
    note("one ");
    watch_free(w1);
    watch_free(w2);
    w1 = w2 = NULL;
}

/* Both are ready in one turn; whichever comes first frees both. */
static void watch_freed_in_callback(void)
{
    int a[2], b[2];

    begin();
    CHECK(pipe(a) == 0 && pipe(b) == 0);
    CHECK(write(a[1], "x", 1) == 1 && write(b[1], "x", 1) == 1);
    w1 = watch_new(l, a[0], free_both, NULL, NULL);
    w2 = watch_new(l, b[0], free_both, NULL, NULL);
    watch_set(w1, WATCH_READ);
    watch_set(w2, WATCH_READ);
    turns(5);
    CHECK_STR(trace, "one ");
    loop_free(l);
    for (int i = 0; i < 2; i++) {
        close(a[i]);
        close(b[i]);
    }
}

/* Workers. */

static pthread_t loop_thread;
static atomic_int ran, elsewhere, blocked, inside;
static int done_count, done_here;

static void count_run(void *arg)
{
    sigset_t mask;

    (void)arg;
    atomic_fetch_add(&ran, 1);
    atomic_fetch_add(&elsewhere, !pthread_equal(pthread_self(), loop_thread));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_fetch_add(&blocked, sigismember(&mask, SIGTERM) == 1);
}

static void count_done(void *arg)
{
    (void)arg;
    done_here += pthread_equal(pthread_self(), loop_thread) != 0;
    if (++done_count == 1000)
        loop_stop(l);
}

static void work_many(void)
{
    begin();
    loop_thread = pthread_self();
    ran = elsewhere = blocked = 0;
    done_count = done_here = 0;
    for (int i = 0; i < 1000; i++)
        loop_work(l, count_run, count_done, NULL);
    run();
    CHECK(ran == 1000 && elsewhere == 1000 && blocked == 1000);
    CHECK(done_count == 1000 && done_here == 1000);
    loop_free(l);
}

/* Each waits until the other is there too. */
static void meet(void *arg)
{
    uint64_t until = clock_ms() + 2000;

    (void)arg;
    atomic_fetch_add(&inside, 1);
    while (inside < 2 && clock_ms() < until)
        sched_yield();
}

static void met(void *arg)
{
    (void)arg;
    if (++done_count == 2)
        loop_stop(l);
}

static void work_parallel(void)
{
    uint64_t t0 = clock_ms();

    begin();
    inside = done_count = 0;
    loop_work(l, meet, met, NULL);
    loop_work(l, meet, met, NULL);
    run();
    CHECK(inside == 2 && clock_ms() - t0 < 1500);
    loop_free(l);
}

static void more_work(void *arg)
{
    (void)arg;
    if (++done_count < 5)
        loop_work(l, count_run, more_work, NULL);
}

static void work_at_free(void)
{
    begin();
    done_count = 0;
    loop_work(l, count_run, more_work, NULL);
    loop_soon(l, more_work, NULL);
    loop_free(l);
    CHECK(done_count >= 5);
}

/* Signals. */

static void on_usr1(void *arg)
{
    note(arg);
    if (strlen(trace) >= 8)
        loop_stop(l);
}

static void send_usr1(void *arg)
{
    (void)arg;
    kill(getpid(), SIGUSR1);
}

static void signals(void)
{
    begin();
    loop_on_signal(l, SIGUSR1, on_usr1, "usr1");
    loop_soon(l, send_usr1, NULL);
    timer_start(l, 10, send_usr1, NULL);
    run();
    CHECK_STR(trace, "usr1usr1");
    loop_free(l);
}

static void free_unrun(void)
{
    begin();
    timer_start(l, 1, say, "never ");
    loop_stop(l);
    loop_free(l);
    loop_free(NULL);
    CHECK_STR(trace, "");
}

int main(void)
{
    TEST("soon runs in order, and what it adds runs a turn later", soon_order);
    TEST("soon runs after all callbacks of the turn", soon_after_callbacks);
    TEST("soon wakes a loop in which nothing else happens", soon_wakes);
    TEST("freeing the loop still calls what waits for soon", soon_at_free);
    TEST("timers fire once, in order of time, cancelled ones never", timer_order);
    TEST("a timer cancelled in the turn it is due stays silent", timer_cancelled_same_turn);
    TEST("a timer started after a long callback is not early", timer_not_early);
    TEST("a watch is level triggered and pauses", watch_level);
    TEST("setting a watch to what it was costs no system call", watch_cheap);
    TEST("a watch for GONE sees the peer leave and nothing else", watch_gone);
    TEST("an error shows as READ and WRITE, until it is dealt with", watch_error);
    TEST("a regular file cannot be watched, and that is said", watch_file);
    TEST("a watch freed in a callback of the same turn stays silent", watch_freed_in_callback);
    TEST("work runs elsewhere with signals blocked, done comes here", work_many);
    TEST("at least two pieces of work run at once", work_parallel);
    TEST("freeing the loop lets queued work finish", work_at_free);
    TEST("a signal arrives as a callback", signals);
    TEST("a loop that never ran is freed whole", free_unrun);
    return test_end();
}
