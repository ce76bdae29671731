/* child_test.c: commands end as they should, and nothing of them is left.
 *
 * What is left is looked for in /proc by a number that only this run uses as
 * the duration of its sleeps. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "loop/child.h"
#include "test.h"

static struct loop *l;
static char tag[32]; /* a duration for sleep */

/* What a child ended as. */
struct got {
    struct child c;
    char out[4096], err[4096];
    int ends;
};

static void sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

/* Looking around in /proc. */

static size_t proc_read(pid_t pid, const char *file, char *b, size_t size)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, b, size - 1);
    close(fd);
    b[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static pid_t parent_of(pid_t pid, char *state)
{
    char b[512], *p;
    int parent = 0;

    *state = 'X';
    if (!proc_read(pid, "stat", b, sizeof b))
        return 0;
    p = strrchr(b, ')');
    return p && sscanf(p + 1, " %c %d", state, &parent) == 2 ? parent : 0;
}

static bool alive(pid_t pid)
{
    char state;

    parent_of(pid, &state);
    return state != 'X' && state != 'Z';
}

/* Up to max pids for which `parent` (not 0) is the parent and `word` (not
 * NULL) stands in the command line; zombies do not count. */
static int find(pid_t parent, const char *word, pid_t *pids, int max)
{
    static char b[256 << 10];
    DIR *d = opendir("/proc");
    struct dirent *ent;
    char state;
    int n = 0;

    while ((ent = readdir(d))) {
        pid_t pid = atoi(ent->d_name), up = pid > 0 ? parent_of(pid, &state) : 0;

        if (pid <= 0 || pid == getpid() || state == 'Z' || (parent && up != parent))
            continue;
        if (word) {
            size_t len = proc_read(pid, "cmdline", b, sizeof b);

            if (!memmem(b, len, word, strlen(word)))
                continue;
        }
        if (n < max && pids)
            pids[n] = pid;
        n++;
    }
    closedir(d);
    return n;
}

static int left(void)
{
    return find(0, tag, NULL, 0);
}

static bool gone_within(int ms)
{
    uint64_t until = clock_ms() + (uint64_t)ms;

    while (left() && clock_ms() < until)
        sleep_ms(5);
    return left() == 0;
}

static int fd_count(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Running. */

static int running;

static void on_end(void *arg, struct child *c)
{
    struct got *g = arg;

    g->ends++;
    g->c = *c;
    snprintf(g->out, sizeof g->out, "%s", c->out.data ? c->out.data : "");
    snprintf(g->err, sizeof g->err, "%s", c->err_out.data ? c->err_out.data : "");
    g->c.out.data = g->c.err_out.data = NULL;
    if (--running == 0)
        loop_stop(l);
}

static void too_late(void *arg)
{
    *(bool *)arg = true;
    loop_stop(l);
}

static void wait_for(int ms)
{
    bool late = false;
    struct timer *t = timer_start(l, (uint64_t)ms, too_late, &late);

    loop_run(l);
    CHECK(!late);
    if (!late)
        timer_cancel(t);
}

static const char *const plain_env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "A=1", NULL };

static struct child *start(const char *const *argv, struct child_opts o, struct got *g)
{
    memset(g, 0, sizeof *g);
    o.argv = argv;
    if (!o.env)
        o.env = plain_env;
    if (!o.cwd)
        o.cwd = -1;
    if (!o.max_out)
        o.max_out = o.max_err = 4000;
    o.on_end = on_end;
    o.arg = g;
    running++;
    return child_start(l, &o);
}

static struct child *start_bash(const char *script, struct child_opts o, struct got *g)
{
    const char *argv[] = { "bash", "-c", script, NULL };

    return start(argv, o, g);
}

static struct got *bash(const char *script, struct child_opts o)
{
    static struct got g;

    start_bash(script, o, &g);
    wait_for(15000);
    CHECK(g.ends == 1);
    return &g;
}

static const struct child_opts usual;

/* Ends. */

static void exits(void)
{
    struct got *g = bash("true", usual);

    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 0 && g->c.signal == 0);
    CHECK(g->c.err.code == ERR_NONE);
    g = bash("exit 7", usual);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 7 && g->c.signal == 0);
    g = bash("exit 255", usual);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 255);
    g = bash("no-such-program-at-all", usual);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 127);
}

static void signalled(void)
{
    struct got *g = bash("kill -9 $$", usual);

    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 137 && g->c.signal == 9);
    g = bash("kill -15 $$", usual);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 143 && g->c.signal == 15);
    g = bash("exit 137", usual);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 137 && g->c.signal == 0);
}

static void no_program(void)
{
    const char *missing[] = { "no-such-program-at-all", "x", NULL };
    const char *folder[] = { "/tmp", NULL };
    const char *nothing[] = { NULL };
    const char *blank[] = { "", NULL };
    struct got g;

    start(missing, usual, &g);
    CHECK(g.ends == 0); /* not on the caller's stack */
    wait_for(5000);
    CHECK(g.ends == 1 && g.c.outcome == CHILD_NO_START && g.c.status == 127);
    CHECK(g.c.err.code == ERR_SPAWN);
    CHECK_STR(g.c.err.msg, "cannot start 'no-such-program-at-all': No such file or directory");
    start(folder, usual, &g);
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_NO_START && strstr(g.c.err.msg, "Permission denied"));
    CHECK(g.c.status == 126);
    start(nothing, usual, &g);
    CHECK(g.ends == 0);
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_NO_START && strstr(g.c.err.msg, "no command"));
    start(blank, usual, &g);
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_NO_START && strstr(g.c.err.msg, "no command"));
}

/* Output and surroundings. */

static void output(void)
{
    struct child_opts merged = { .merge_err = true };
    struct got *g = bash("echo one; echo two >&2; printf three", usual);

    CHECK_STR(g->out, "one\nthree");
    CHECK_STR(g->err, "two\n");
    CHECK(g->c.out_total == 9 && g->c.err_total == 4);
    g = bash("echo one; echo two >&2; echo three", merged);
    CHECK_STR(g->out, "one\ntwo\nthree\n");
    CHECK(g->c.err_total == 0 && g->c.out_total == 14);
}

static void ceilings(void)
{
    struct child_opts o = { .max_out = 100, .max_err = 10 };
    struct got *g = bash("head -c 3000000 /dev/zero | tr '\\0' x; head -c 12 /dev/zero >&2", o);

    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 0);
    CHECK(g->c.out.len == 100 && g->c.out_total == 3000000);
    CHECK(g->c.err_out.len == 10 && g->c.err_total == 12);
    CHECK(strlen(g->out) == 100 && g->out[99] == 'x');
}

/* What it writes right before its end, up to a full pipe, is not lost. */
static void last_words(void)
{
    struct child_opts o = { .max_out = 1 << 20, .max_err = 1 };

    for (int i = 0; i < 20; i++) {
        struct got *g = bash("exec head -c 65536 /dev/zero", o);

        CHECK(g->c.out.len == 65536 && g->c.out_total == 65536);
    }
}

static void be_busy(void *arg)
{
    (void)arg;
    sleep_ms(300);
}

/* A pipe made larger, filled while the loop was busy elsewhere: the end and
 * more output than is read in one turn are there at the same moment. */
static void last_words_in_a_large_pipe(void)
{
    const char *argv[] = { "perl", "-e",
                           "fcntl(STDOUT, 1031, 1 << 20) or die; syswrite(STDOUT, 'x' x 1048576)",
                           NULL };
    struct child_opts o = { .max_out = 2 << 20, .max_err = 100 };
    struct got g;

    start(argv, o, &g);
    loop_soon(l, be_busy, NULL);
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_EXITED && g.c.status == 0);
    CHECK(g.c.out.len == 1048576 && g.c.out_total == 1048576);
}

static void surroundings(void)
{
    const char *const env[] = { "ONE=1", "TWO=a b", NULL }, *const none[] = { NULL };
    const char *print_env[] = { "env", NULL };
    const char *print_signals[] = { "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status", NULL };
    unsigned long long blocked = 1, ignored = 1;
    struct child_opts o = { .env = env };
    struct got g;

    CHECK_STR(bash("readlink /proc/self/fd/0; cat; echo $?", usual)->out, "/dev/null\n0\n");
    CHECK_STR(bash("ls /proc/self/fd", usual)->out, "0\n1\n2\n3\n"); /* 3 is ls reading it */
    CHECK_STR(bash("read p c s pp group session r </proc/$$/stat; "
                   "[ $$ = $group ] && [ $$ = $session ] && echo leads",
                   usual)
                  ->out,
              "leads\n");
    start(print_signals, usual, &g);
    wait_for(5000);
    CHECK(sscanf(g.out, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored) == 2);
    /* glibc's posix_spawn leaves its own two, 32 and 33, ignored. */
    CHECK(blocked == 0 && (ignored & 0x7fffffff) == 0);
    start(print_env, o, &g);
    wait_for(5000);
    CHECK_STR(g.out, "ONE=1\nTWO=a b\n");
    o.env = none;
    start(print_env, o, &g);
    wait_for(5000);
    CHECK_STR(g.out, "");
}

/* Ours goes to the one that is to have it; its keeper holds none of it. */
static void own_stdin(void)
{
    struct child_opts o = { .inherit_in = true };
    int p[2], was = dup(0);

    CHECK(was >= 0 && pipe2(p, O_CLOEXEC) == 0 && dup2(p[0], 0) == 0);
    close(p[0]);
    CHECK(write(p[1], "told\n", 5) == 5);
    CHECK_STR(bash("head -n 1", o)->out, "told\n");
    CHECK_STR(bash("readlink /proc/self/fd/0", usual)->out, "/dev/null\n");
    CHECK(dup2(was, 0) == 0);
    close(was);
    CHECK(write(p[1], "x", 1) < 0 && errno == EPIPE);
    close(p[1]);
}

static void folder(void)
{
    char dir[] = "/tmp/child_test.XXXXXX", moved[64], want[80];
    struct child_opts o = usual;
    struct got *g;
    int file;

    CHECK(mkdtemp(dir) != NULL);
    o.cwd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(moved, sizeof moved, "%s.moved", dir);
    CHECK(rename(dir, moved) == 0); /* the descriptor counts, not the path */
    g = bash("pwd", o);
    snprintf(want, sizeof want, "%s\n", moved);
    CHECK_STR(g->out, want);
    close(o.cwd);
    CHECK(rmdir(moved) == 0);

    CHECK(getcwd(want, sizeof want - 1) != NULL);
    strcat(want, "\n");
    CHECK_STR(bash("pwd", usual)->out, want);

    file = o.cwd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    g = bash("pwd", o);
    CHECK(g->c.outcome == CHILD_NO_START && g->c.err.code == ERR_CWD);
    CHECK(strstr(g->c.err.msg, "Not a directory"));
    close(file);
    o.cwd = 1 << 30;
    g = bash("pwd", o);
    CHECK(g->c.outcome == CHILD_NO_START && strstr(g->c.err.msg, "Bad file descriptor"));
}

static void long_request(void)
{
    enum { STRING = 120000, MOST = 40 };
    static char text[200000];
    const char *argv[MOST + 4] = { "bash", "-c", "echo $# ${#12}" }, *env[MOST + 1] = { NULL };
    struct child_opts o = { .env = env };
    struct got g;

    memset(text, 'x', STRING);
    text[0] = 'E';
    text[1] = '=';
    for (int i = 3; i < 10; i++)
        argv[i] = text;
    argv[3] = "zero";
    argv[10] = NULL;
    for (int i = 0; i < 7; i++)
        env[i] = text;
    start(argv, o, &g); /* 1.6 MB, which the kernel takes */
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_EXITED);
    CHECK_STR(g.out, "6 0\n");

    for (int i = 3; i < MOST + 3; i++)
        argv[i] = text; /* 5 MB: we take it, the kernel does not */
    argv[MOST + 3] = NULL;
    start(argv, o, &g);
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_NO_START && g.c.err.code == ERR_SPAWN);
    CHECK(strstr(g.c.err.msg, "too long"));
    for (int i = 0; i < MOST; i++)
        env[i] = text; /* 9.6 MB: our own ceiling */
    start(argv, o, &g);
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_NO_START && strstr(g.c.err.msg, "8 MiB"));

    memset(text, 'x', sizeof text - 1);
    argv[3] = text; /* one string over 128 KiB */
    argv[4] = NULL;
    o.env = NULL;
    start(argv, o, &g);
    wait_for(5000);
    CHECK(g.c.outcome == CHILD_NO_START && strstr(g.c.err.msg, "128 KiB"));
}

/* Streaming. */

static char streamed[100];
static int pieces;
static bool enough;

static bool on_piece(void *arg, struct str piece)
{
    (void)arg;
    pieces++;
    strncat(streamed, piece.p, piece.n < 50 ? piece.n : 50);
    return !enough;
}

static void streaming(void)
{
    struct child_opts o = { .on_out = on_piece };
    struct got *g;

    streamed[0] = '\0';
    pieces = 0;
    enough = false;
    g = bash("echo a; sleep 0.1; echo b; echo e >&2", o);
    CHECK(g->c.outcome == CHILD_EXITED && pieces >= 2);
    CHECK_STR(streamed, "a\nb\n");
    CHECK_STR(g->err, "e\n");
    CHECK(g->c.out.len == 0 && g->c.out_total == 4);

    pieces = 0;
    enough = true;
    g = bash("yes", o);
    CHECK(g->c.outcome == CHILD_CANCELLED && pieces == 1);
    pieces = 0;
    g = bash("echo done", o); /* refused in the last moment counts as well */
    CHECK(g->c.outcome == CHILD_CANCELLED && pieces == 1);
}

/* Killing. */

static const char *with_tag(const char *script)
{
    static char b[1000];
    char *o = b;

    for (; *script; script++) {
        if (*script == '@')
            o += sprintf(o, "%s", tag);
        else
            *o++ = *script;
    }
    *o = '\0';
    return b;
}

/* Every way to run away that a shell has. */
static const char runaways[] = "sleep @ & (sleep @ & sleep @) & setsid sleep @ & "
                               "setsid sh -c 'sleep @ & setsid sh -c \"sleep @ & exit\" & exit' & "
                               "(trap '' TERM HUP INT; sleep @) & nohup sleep @ & "
                               "sleep @ & kill -STOP $!; sleep 0.1; echo ready; ";

static void deadline(void)
{
    char script[1000];
    struct child_opts o = { .timeout_ms = 400 };
    struct got *g;

    snprintf(script, sizeof script, "%swait", runaways);
    g = bash(with_tag(script), o);
    CHECK(left() == 0);
    CHECK(g->c.outcome == CHILD_TIMED_OUT && g->c.status == 137 && g->c.signal == 9);
    CHECK(g->c.err.code == ERR_TIMEOUT && strstr(g->c.err.msg, "400 ms"));
    CHECK(g->c.duration_ms >= 395 && g->c.duration_ms < 2000);
    CHECK_STR(g->out, "ready\n"); /* what came before is kept */
}

static void cancel_it(void *arg)
{
    CHECK(left() > 0);
    child_kill(arg);
    child_kill(arg);
}

static void cancel(void)
{
    char script[1000];
    struct child *c;
    struct got g;

    snprintf(script, sizeof script, "%swait", runaways);
    c = start_bash(with_tag(script), usual, &g);
    timer_start(l, 300, cancel_it, c);
    wait_for(5000);
    CHECK(left() == 0);
    CHECK(g.ends == 1 && g.c.outcome == CHILD_CANCELLED && g.c.err.code == ERR_CANCELLED);

    c = start_bash(with_tag("sleep @"), usual, &g);
    child_kill(c); /* before it has begun */
    CHECK(g.ends == 0);
    wait_for(5000);
    CHECK(left() == 0 && g.ends == 1 && g.c.outcome == CHILD_CANCELLED);
}

static void background(void)
{
    struct got *g = bash(with_tag("sleep @ & echo hi"), usual);

    CHECK(left() == 0);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 0 && g->c.duration_ms < 2000);
    CHECK_STR(g->out, "hi\n");
}

static void runs_away(void)
{
    char script[1000];
    struct got *g;

    snprintf(script, sizeof script, "%sexit 5", runaways);
    g = bash(with_tag(script), usual);
    CHECK(left() == 0);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.status == 5 && g->c.duration_ms < 2000);
    CHECK_STR(g->out, "ready\n");
}

/* Each keeps making more of its kind, in sessions of their own. */
static void multiplies(void)
{
    const char *script = "f() { setsid bash -c \"$1\" \"$1\" & }; export -f f; "
                         "f 'for i in 1 2 3; do setsid sleep @ & sleep 0.01; done; "
                         "setsid bash -c \"$0\" \"$0\" & sleep @'; sleep 0.4; echo $?";
    struct got *g = bash(with_tag(script), usual);

    CHECK(left() == 0);
    CHECK(g->c.outcome == CHILD_EXITED && g->c.duration_ms < 4000);
}

/* Those above the command. */

static pid_t warden_pid(pid_t pith)
{
    pid_t pid = 0;

    return find(pith, "pith-warden", &pid, 1) == 1 ? pid : 0;
}

static void keeper_killed(void)
{
    struct got *g = bash(with_tag("kill -9 $PPID; sleep @"), usual);

    CHECK(left() == 0);
    CHECK(g->c.outcome == CHILD_LOST && g->c.status == -1 && strstr(g->c.err.msg, "keeper"));
    CHECK(g->c.duration_ms < 2000);
    g = bash(with_tag("setsid sleep @ & (setsid sleep @ &) ; sleep 0.1; kill -9 $PPID; sleep @"),
             usual);
    CHECK(left() == 0 && g->c.outcome == CHILD_LOST);
    g = bash(with_tag("for i in {1..200}; do setsid sleep @ & done; kill -9 $PPID; sleep @"),
             usual);
    CHECK(left() == 0 && g->c.outcome == CHILD_LOST);
    CHECK(find(warden_pid(getpid()), NULL, NULL, 0) == 0);
}

static void keeper_unharmed(void)
{
    struct child_opts o = { .timeout_ms = 600 };
    struct got *g = bash("kill -TERM $PPID; kill -INT $PPID; sleep 0.1; echo still", usual);

    CHECK(g->c.outcome == CHILD_EXITED);
    CHECK_STR(g->out, "still\n");
    g = bash(with_tag("kill -STOP $PPID; sleep @"), o);
    CHECK(g->c.outcome == CHILD_TIMED_OUT && left() == 0);
}

static void kill_warden(void *arg)
{
    (void)arg;
    CHECK(left() > 0);
    kill(warden_pid(getpid()), SIGKILL);
}

static void warden_killed(void)
{
    struct got a, b, *g;
    pid_t old;

    start_bash(with_tag("sleep @"), usual, &a);
    start_bash(with_tag("setsid sleep @ & sleep @"), usual, &b);
    timer_start(l, 200, kill_warden, NULL);
    old = warden_pid(getpid());
    wait_for(5000);
    CHECK(left() == 0);
    CHECK(a.c.outcome == CHILD_LOST && b.c.outcome == CHILD_LOST);
    CHECK(strstr(a.c.err.msg, "warden"));
    g = bash("echo again", usual);
    CHECK(g->c.outcome == CHILD_EXITED);
    CHECK_STR(g->out, "again\n");
    CHECK(old && warden_pid(getpid()) && warden_pid(getpid()) != old && !alive(old));

    kill(warden_pid(getpid()), SIGKILL); /* while nothing runs */
    sleep_ms(50);
    CHECK_STR(bash("echo again", usual)->out, "again\n");
}

/* The keeper that waits for a next command; 0: none. */
static pid_t spare_pid(pid_t pith)
{
    pid_t warden = warden_pid(pith), pid = 0;

    return warden && find(warden, NULL, &pid, 1) == 1 ? pid : 0;
}

static void spare_used(void)
{
    char dir[] = "/tmp/child_test.XXXXXX", path[64], at[64] = "", fds[64];
    struct child_opts o = usual;
    pid_t spare;
    struct got *g;

    bash("true", usual);
    spare = spare_pid(getpid());
    CHECK(spare != 0);
    CHECK(atoi(bash("echo $PPID", usual)->out) == spare);

    /* It keeps neither the folder nor a pipe, nor what the command ran away with. */
    CHECK(mkdtemp(dir) != NULL);
    o.cwd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    g = bash(with_tag("setsid sleep @ & (setsid sleep @ &); sleep 0.05; echo $PPID; exit 9"), o);
    close(o.cwd);
    CHECK(atoi(g->out) == spare && g->c.status == 9 && left() == 0);
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)spare);
    CHECK(readlink(path, at, sizeof at - 1) > 0);
    CHECK_STR(at, "/");
    CHECK(rmdir(dir) == 0);
    snprintf(fds, sizeof fds, "ls /proc/%d/fd | wc -l", (int)spare);
    CHECK_STR(bash(fds, usual)->out, "5\n"); /* 0, 1, 2, signals, control */
    g = bash("ls /proc/self/fd; pwd", usual);
    CHECK(strncmp(g->out, "0\n1\n2\n3\n/", 9) == 0);
    CHECK(atoi(bash("echo $PPID", usual)->out) == spare);
    CHECK(find(spare, NULL, NULL, 0) == 0);
}

static struct child *late;

static bool kill_late(void *arg, struct str piece)
{
    (void)arg;
    (void)piece;
    sleep_ms(20); /* it has ended, and its keeper has said so */
    child_kill(late);
    return true;
}

/* A word to kill that comes too late is not meant for the next command. */
static void late_kill(void)
{
    struct child_opts o = { .on_out = kill_late };
    pid_t spare = spare_pid(getpid());
    struct got g;

    for (int i = 0; i < 5; i++) {
        late = start_bash("echo x", o, &g);
        wait_for(5000);
        CHECK(g.c.outcome == CHILD_CANCELLED);
        CHECK_STR(bash("sleep 0.02; echo next", usual)->out, "next\n");
    }
    CHECK(spare_pid(getpid()) == spare);
}

static void spare_dies(void)
{
    pid_t spare = spare_pid(getpid());

    kill(spare, SIGKILL);
    for (int i = 0; i < 200 && spare_pid(getpid()) == spare; i++)
        sleep_ms(5);
    sleep_ms(20);
    CHECK_STR(bash("echo again", usual)->out, "again\n");
    CHECK(spare_pid(getpid()) != 0 && spare_pid(getpid()) != spare);

    spare = spare_pid(getpid());
    kill(spare, SIGSTOP); /* nobody stops a keeper */
    CHECK_STR(bash("echo again", usual)->out, "again\n");

    kill(warden_pid(getpid()), SIGKILL);
    for (int i = 0; i < 200 && alive(spare); i++)
        sleep_ms(5);
    CHECK(!alive(spare));
    CHECK_STR(bash("echo again", usual)->out, "again\n");
}

/* A second pith: this binary, started to be killed with -9. */
static int be_pith(void)
{
    char script[1000];
    static struct got g[3];

    snprintf(tag, sizeof tag, "%s", getenv("TEST_TAG"));
    snprintf(script, sizeof script, "%swait", runaways);
    l = loop_new(NULL);
    for (int i = 0; i < 3; i++)
        start_bash(with_tag(i == 2 ? "sleep @" : script), usual, &g[i]);
    loop_run(l);
    return 1;
}

static void pith_killed(void)
{
    char *argv[] = { "child_test", "be-pith", NULL };
    pid_t pid = 0, warden, keepers[8];
    int n, i;

    setenv("TEST_TAG", tag, 1);
    CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0);
    for (i = 0; i < 500 && left() < 20; i++)
        sleep_ms(10);
    sleep_ms(200);
    CHECK(left() >= 20);
    warden = warden_pid(pid);
    n = find(warden, NULL, keepers, 8);
    CHECK(warden && n == 3);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK(gone_within(2000));
    for (i = 0; i < 100 && alive(warden); i++)
        sleep_ms(10);
    CHECK(!alive(warden));
    while (n > 0)
        CHECK(!alive(keepers[--n]));
}

/* One that has run something and now does nothing. */
static int be_idle_pith(void)
{
    l = loop_new(NULL);
    bash("true", usual);
    loop_run(l);
    return 1;
}

static void idle_pith_killed(void)
{
    char *argv[] = { "child_test", "be-idle-pith", NULL };
    pid_t pid = 0, warden, spare = 0;
    int i;

    CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0);
    for (i = 0; i < 500 && !(spare = spare_pid(pid)); i++)
        sleep_ms(10);
    warden = warden_pid(pid);
    CHECK(warden && spare);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (i = 0; i < 200 && (alive(warden) || alive(spare)); i++)
        sleep_ms(10);
    CHECK(!alive(warden) && !alive(spare));
}

static void stop(void *arg)
{
    (void)arg;
    loop_stop(l);
}

static void stop_all(void)
{
    static struct got g[11];
    const char *nothing[] = { NULL };
    pid_t warden;
    uint64_t t0;

    for (int i = 0; i < 10; i++)
        start_bash(with_tag("setsid sleep @ & sleep @"), usual, &g[i]);
    timer_start(l, 300, stop, NULL);
    loop_run(l);
    CHECK(left() >= 20);
    start(nothing, usual, &g[10]); /* one that is just about to end */
    warden = warden_pid(getpid());
    t0 = clock_ms();
    child_stop_all(l);
    CHECK(left() == 0 && clock_ms() - t0 < 1000);
    CHECK(warden && !alive(warden) && waitpid(warden, NULL, WNOHANG) < 0);
    timer_start(l, 50, stop, NULL);
    loop_run(l);
    for (int i = 0; i < 11; i++)
        CHECK(g[i].ends == 0);
    running = 0;
    CHECK_STR(bash("echo again", usual)->out, "again\n");
}

/* Many. */

static void many(void)
{
    static struct got g[50];

    for (int i = 0; i < 50; i++) {
        char script[64];

        snprintf(script, sizeof script, "echo %d; sleep 0.05; exit %d", i, i);
        start_bash(script, usual, &g[i]);
    }
    wait_for(20000);
    for (int i = 0; i < 50; i++) {
        CHECK(g[i].ends == 1 && g[i].c.outcome == CHILD_EXITED && g[i].c.status == i);
        CHECK(atoi(g[i].out) == i && g[i].out[0]);
    }
}

static void wake_warden(void *arg)
{
    (void)arg;
    kill(warden_pid(getpid()), SIGCONT);
}

/* The socket to a warden that is slow fills up; what does not fit waits. The
 * 257th is refused. */
static void too_many(void)
{
    static struct got g[257];
    struct child_opts o = { .timeout_ms = 200 };
    int ok = 0, timed_out = 0;

    bash("true", usual);
    kill(warden_pid(getpid()), SIGSTOP);
    for (int i = 0; i < 257; i++)
        start_bash("exit 3", i % 64 == 60 ? o : usual, &g[i]);
    timer_start(l, 400, wake_warden, NULL);
    wait_for(30000);
    for (int i = 0; i < 256; i++) {
        ok += g[i].c.outcome == CHILD_EXITED && g[i].c.status == 3;
        timed_out += g[i].c.outcome == CHILD_TIMED_OUT && g[i].c.status == -1;
    }
    CHECK(ok == 252 && timed_out == 4);
    CHECK(g[256].c.outcome == CHILD_NO_START);
    CHECK_STR(g[256].c.err.msg, "too many commands at once: 256 are running");
}

static void no_descriptors(void)
{
    struct rlimit old, few;
    int ok = 0, refused = 0;
    static struct got g[30];

    bash("true", usual);
    getrlimit(RLIMIT_NOFILE, &old);
    few = old;
    few.rlim_cur = (rlim_t)fd_count() + 20;
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < 30; i++)
        start_bash("sleep 0.2", usual, &g[i]);
    wait_for(10000);
    setrlimit(RLIMIT_NOFILE, &old);
    for (int i = 0; i < 30; i++) {
        ok += g[i].c.outcome == CHILD_EXITED && g[i].c.status == 0;
        refused += g[i].c.outcome == CHILD_NO_START &&
                   strstr(g[i].c.err.msg, "Too many open files") != NULL;
    }
    CHECK(ok >= 3 && refused >= 10 && ok + refused == 30);
}

static int fds_before;

static void nothing_open(void)
{
    CHECK(fd_count() == fds_before);
    CHECK(left() == 0);
}

int main(int argc, char **argv)
{
    int status;

    if (warden_main(argc, argv, &status))
        return status;
    if (argc == 2 && strcmp(argv[1], "be-pith") == 0)
        return be_pith();
    if (argc == 2 && strcmp(argv[1], "be-idle-pith") == 0)
        return be_idle_pith();

    signal(SIGPIPE, SIG_IGN); /* as pith does */
    snprintf(tag, sizeof tag, "77%07d", (int)getpid());
    l = loop_new(NULL);
    bash("true", usual); /* the warden's socket stays open from here on */
    fds_before = fd_count();
    TEST("exit codes are exact", exits);
    TEST("a signal shows as 128+n and by its number", signalled);
    TEST("what cannot be started says why, on a later turn", no_program);
    TEST("output is read, merged when asked for", output);
    TEST("ceilings hold, totals count everything", ceilings);
    TEST("what is written right before the end is read", last_words);
    TEST("so is what fills a large pipe while nobody reads", last_words_in_a_large_pipe);
    TEST("stdin, descriptors, signals, session and environment are clean", surroundings);
    TEST("stdin is inherited where it is to be, and only there", own_stdin);
    TEST("the folder is entered by descriptor", folder);
    TEST("a long request passes, one too long says so", long_request);
    TEST("output comes in pieces, and enough is enough", streaming);
    TEST("a deadline kills everything, setsid and double forks too", deadline);
    TEST("cancelling kills everything", cancel);
    TEST("a background process neither delays the end nor outlives it", background);
    TEST("a command that exits leaves no runaway behind", runs_away);
    TEST("a command that multiplies is outrun", multiplies);
    TEST("a killed keeper loses its command, which is killed", keeper_killed);
    TEST("a keeper shrugs off TERM, INT and STOP", keeper_unharmed);
    TEST("a killed warden loses its commands, which are killed; the next start has a new one",
         warden_killed);
    TEST("one keeper serves commands one after the other, and keeps nothing of them", spare_used);
    TEST("a kill that comes too late does not hit the next command", late_kill);
    TEST("a waiting keeper may die, alone or with the warden", spare_dies);
    TEST("kill -9 of pith leaves nothing", pith_killed);
    TEST("nor does it leave a keeper that waits", idle_pith_killed);
    TEST("stopping all leaves nothing and calls nobody", stop_all);
    TEST("fifty commands at once", many);
    TEST("a slow warden is waited for, the 257th command refused", too_many);
    TEST("without descriptors a command is refused, and the rest go on", no_descriptors);
    TEST("no descriptor and no process is left over", nothing_open);
    child_stop_all(l);
    loop_free(l);
    return test_end();
}
