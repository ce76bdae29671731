/* Where a server waits and who may come; http_play.h says how it is run. */
#include "http_play.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>

static char dir[] = "/tmp/pith-listen-XXXXXX";
static char path[100];

static void handler(void *arg, struct http_req *r)
{
    char text[100];

    (void)arg;
    if (str_is(r->path, "/drain"))
        http_drain(server);
    snprintf(text, sizeof text, "unix %d uid %u tls %d loopback %d", r->peer.unix_socket,
             r->peer.uid, r->peer.tls, r->peer.loopback);
    http_reply(r, 200, "text/plain", NULL, str_of(text));
}

static struct http_opts defaults(void)
{
    return (struct http_opts){ .socket = path,
                               .max_header = 4096,
                               .max_body = 4096,
                               .max_conns = 20,
                               .request_ms = 300,
                               .idle_ms = 2000,
                               .handler = handler };
}

static struct sockaddr_un address(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };

    memcpy(a.sun_path, path, strlen(path) + 1);
    return a;
}

static int dial_unix(void)
{
    struct sockaddr_un a = address();
    struct timeval tv = { 5, 0 };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool is_there(void)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* A socket file whose server is dead. */
static void leave_stale(void)
{
    struct sockaddr_un a = address();
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 1) == 0);
    close(fd);
}

static void alone_and_beside(void)
{
    struct http_opts o = defaults();
    struct answer a;
    struct stat st;
    char want[100];
    int fd;

    umask(0); /* the server takes no notice */
    start(o);
    umask(022);
    CHECK(server_port == 0);
    CHECK(lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0600);
    fd = dial_unix();
    a = ask(fd, GET("/"));
    snprintf(want, sizeof want, "unix 1 uid %u tls 0 loopback 1", (unsigned)geteuid());
    CHECK_STR(a.body, want);
    CHECK(ask(fd, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 403);
    close(fd);
    stop();
    CHECK(!is_there());

    o.host = "127.0.0.1";
    start(o);
    fd = dial();
    a = ask(fd, GET("/"));
    CHECK_STR(a.body, "unix 0 uid 0 tls 0 loopback 1");
    close(fd);
    fd = dial_unix();
    CHECK(ask(fd, GET("/drain")).status == 200);
    CHECK(!is_there()); /* as soon as nobody is let in */
    close(fd);
    stop();
}

static void take_over(void)
{
    int fd;

    CHECK(is_there() && dial_unix() < 0);
    start(defaults());
    fd = dial_unix();
    CHECK(ask(fd, GET("/")).status == 200);
    close(fd);
    stop();
}

static void stale(void)
{
    leave_stale();
    take_over();
}

/* A killed server leaves its file; the next one takes its place. */
static void killed(void)
{
    start(defaults());
    kill(server_pid, SIGKILL);
    waitpid(server_pid, NULL, 0);
    take_over();
}

static void expect_refusal(struct http_opts o, const char *why)
{
    struct err e = { 0 };

    loop = loop_new(&e);
    CHECK(!http_listen(loop, &o, &e));
    if (!strstr(e.msg, why))
        printf("# said: %s\n", e.msg);
    CHECK(strstr(e.msg, why) && strstr(e.msg, "--socket"));
    loop_free(loop);
}

static void taken(void)
{
    struct http_opts o = defaults();
    struct stat st;
    char longer[200];
    int fd;

    start(o);
    expect_refusal(o, "a server listens at");
    fd = dial_unix(); /* unharmed */
    CHECK(ask(fd, GET("/")).status == 200);
    close(fd);
    stop();

    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    expect_refusal(o, "is not a socket");
    CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
    unlink(path);
    CHECK(symlink("elsewhere", path) == 0);
    expect_refusal(o, "is not a socket");
    unlink(path);

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    o.socket = longer;
    expect_refusal(o, "path of 1 to 107 letters");
    o.socket = "";
    expect_refusal(o, "path of 1 to 107 letters");
    o.socket = "/nowhere/at/all";
    expect_refusal(o, "No such file");
    o.socket = NULL;
    expect_refusal(o, "neither an address");
}

static void anothers(void)
{
    start(defaults());
    unlink(path);
    leave_stale(); /* as if another server had come */
    stop();
    CHECK(is_there());
    unlink(path);
}

/* The file is ours alone; even if somebody opens it up, they are not served. */
static void wrong_user(void)
{
    int status = -1;
    pid_t pid;

    if (geteuid() != 0)
        return;
    start(defaults());
    CHECK(chmod(dir, 0755) == 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        _exit(setuid(65534) == 0 && dial_unix() < 0 && errno == EACCES ? 0 : 1);
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);

    CHECK(chmod(path, 0666) == 0);
    pid = fork();
    if (pid == 0) {
        char c;
        int fd = setuid(65534) == 0 ? dial_unix() : -1;

        say_all(fd, GET("/"));
        _exit(fd >= 0 && recv(fd, &c, 1, 0) <= 0 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    stop();
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/sock", dir);
    TEST("a unix socket is private, stands alone or beside TCP, and goes", alone_and_beside);
    TEST("a stale socket is replaced", stale);
    TEST("the socket of a killed server is replaced", killed);
    TEST("a live socket and any other file are left alone", taken);
    TEST("the socket of another server is not removed", anothers);
    TEST("another user is not served", wrong_user);
    rmdir(dir);
    return test_end();
}
