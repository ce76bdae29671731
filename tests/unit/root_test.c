/* root_test.c: nothing outside the root is ever opened. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "call/root.h"
#include "test.h"

static char base[64]; /* holds in/, the root, and out/ */
static struct root root;
static struct err err;

static const char *at(const char *rel)
{
    static char path[4][512];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", base, rel);
    return path[turn];
}

static void put(const char *rel, const char *text)
{
    int fd = open(at(rel), O_WRONLY | O_CREAT | O_TRUNC, 0644);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void link_to(const char *target, const char *rel)
{
    CHECK(symlink(target, at(rel)) == 0);
}

static void make_tree(void)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    int s;

    strcpy(base, "/tmp/root_test.XXXXXX");
    CHECK(mkdtemp(base) != NULL);
    mkdir(at("in"), 0755);
    mkdir(at("in/dir"), 0755);
    mkdir(at("in/dir/deep"), 0755);
    mkdir(at("in-other"), 0755);
    mkdir(at("out"), 0755);
    put("in/file", "inside");
    put("in/dir/deep/leaf", "leaf");
    put("in-other/file", "outside");
    put("out/secret", "outside");
    link_to("file", "in/rel");
    link_to("../dir/deep/leaf", "in/dir/up");
    link_to(at("in/dir"), "in/abs-dir");
    link_to(at("in/file"), "in/abs-file");
    link_to("../in/file", "in/out-and-back");
    link_to("abs-dir/deep", "in/chain");
    link_to("../out/secret", "in/rel-out");
    link_to(at("out"), "in/abs-out");
    link_to("/etc/passwd", "in/passwd");
    link_to("rel-out", "in/chain-out");
    link_to("abs-out/..", "in/tricky");
    link_to("abs-dir/deep/../../rel", "in/winding");
    link_to("loop", "in/loop");
    link_to("nowhere", "in/dangling");
    link_to(at("nowhere"), "in/dangling-out");
    CHECK(mkfifo(at("in/fifo"), 0644) == 0);
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s/in/sock", base);
    s = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(s, (struct sockaddr *)&sa, sizeof sa) == 0);
    close(s);
    link_to("/dev/zero", "in/zero");
}

/* The first bytes of a file, "/" for a folder. Closes fd. */
static const char *shows(int fd, char text[64])
{
    struct stat st;
    ssize_t n;

    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return "/";
    }
    n = read(fd, text, 63);
    text[n < 0 ? 0 : n] = '\0';
    close(fd);
    return text;
}

static bool swapping; /* somebody changes the tree meanwhile */
static int at_once;   /* how many were opened without waiting */

/* What the path opens to, or the word of the error. Opening without waiting
 * opens the same or nothing. */
static const char *opens(const char *path, enum root_want want)
{
    static char text[64], cached[64];
    const char *got, *now = NULL;
    int fd = root_open_cached(&root, str_of(path), want);

    at_once += fd >= 0;
    if (fd >= 0)
        now = shows(fd, cached);
    err = (struct err){ 0 };
    fd = root_open_path(&root, str_of(path), want, &err);
    got = fd >= 0 ? shows(fd, text) : err_word(err.code);
    if (now)
        CHECK_STR(now, swapping ? "inside" : got);
    return got;
}

static void by_name(void)
{
    CHECK_STR(opens("file", ROOT_FILE), "inside");
    CHECK_STR(opens("./dir//deep/../deep/leaf", ROOT_FILE), "leaf");
    CHECK_STR(opens(at("in/dir/deep/leaf"), ROOT_FILE), "leaf");
    CHECK_STR(opens(".", ROOT_DIR), "/");
    CHECK_STR(opens(at("in"), ROOT_ANY), "/");
    CHECK_STR(opens("dir", ROOT_ANY), "/");
}

/* Where this is not so, reading is only slower. */
static void without_waiting(void)
{
    bool local;

    at_once = 0;
    for (int i = 0; i < 2; i++) {
        opens("file", ROOT_FILE);
        opens("dir/up", ROOT_FILE);
        opens("dir/deep", ROOT_DIR);
    }
    CHECK(!root.local || at_once >= 3);
    local = root.local;
    root.local = false; /* as on a network */
    at_once = 0;
    opens("file", ROOT_FILE);
    CHECK(at_once == 0);
    root.local = local;
}

static void links_inside(void)
{
    CHECK_STR(opens("rel", ROOT_FILE), "inside");
    CHECK_STR(opens("dir/up", ROOT_FILE), "leaf");
    CHECK_STR(opens("abs-file", ROOT_FILE), "inside");
    CHECK_STR(opens("abs-dir/deep/leaf", ROOT_FILE), "leaf");
    CHECK_STR(opens("abs-dir", ROOT_DIR), "/");
    CHECK_STR(opens("out-and-back", ROOT_FILE), "inside");
    CHECK_STR(opens("chain/leaf", ROOT_FILE), "leaf");
    CHECK_STR(opens("winding", ROOT_FILE), "inside");
}

static void links_outside(void)
{
    static const char *const paths[] = {
        "rel-out",          "abs-out",           "abs-out/secret",      "passwd", "chain-out",
        "tricky/secret",    "tricky/out/secret", "dangling-out",        "zero",   "../out/secret",
        "../in-other/file", "/etc/passwd",       "dir/../../out/secret"
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK_STR(opens(paths[i], ROOT_ANY), "invalid_path");
    CHECK_STR(opens("rel-out", ROOT_FILE), "invalid_path");
    CHECK(strstr(err.msg, "'rel-out' leads outside"));
}

static void wrong_kinds(void)
{
    static const struct {
        const char *path;
        enum root_want want;
        const char *says;
    } rows[] = {
        { "dir", ROOT_FILE, "is a folder" },   { "file", ROOT_DIR, "is a file" },
        { "fifo", ROOT_ANY, "is a FIFO" },     { "sock", ROOT_ANY, "is a socket" },
        { "fifo", ROOT_FILE, "regular file" }, { "loop", ROOT_ANY, "too many symlinks" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_STR(opens(rows[i].path, rows[i].want), "invalid_path");
        CHECK(strstr(err.msg, rows[i].says));
    }
}

static void missing(void)
{
    static char longest[6000];

    CHECK_STR(opens("nowhere", ROOT_ANY), "not_found");
    CHECK(strstr(err.msg, "'nowhere'"));
    CHECK_STR(opens("dangling", ROOT_ANY), "not_found");
    CHECK_STR(opens("file/x", ROOT_ANY), "not_found");
    memset(longest, 'x', sizeof longest - 1);
    CHECK_STR(opens(longest, ROOT_ANY), "invalid_path");
}

static void devices(void)
{
    struct root dev;

    CHECK(root_open(&dev, "/dev", true, &err));
    CHECK(root_open_path(&dev, STR("null"), ROOT_ANY, &err) < 0);
    CHECK(err.code == ERR_PATH && strstr(err.msg, "a character device"));
    root_done(&dev);
}

/* A child, since root may open everything: there it becomes nobody. */
static void unreadable(void)
{
    int status;
    pid_t pid;

    put("in/closed", "closed");
    chmod(at("in/closed"), 0);
    chmod(base, 0755);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(9);
        _exit(strcmp(opens("closed", ROOT_FILE), "permission_denied") != 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void texts(void)
{
    struct arena a = { 0 };

    CHECK(root_refuses(&root, STR("a/../b")) == NULL);
    CHECK(root_refuses(&root, STR("rel-out")) == NULL); /* only the disk knows */
    CHECK(root_refuses(&root, str_of(at("in"))) == NULL);
    CHECK(root_refuses(&root, str_of(at("in/x"))) == NULL);
    CHECK(root_refuses(&root, str_of(at("in-other"))) != NULL);
    CHECK(root_refuses(&root, STR("..")) != NULL);
    CHECK(root_refuses(&root, STR("a/../../b")) != NULL);
    CHECK(root_refuses(&root, STR("/")) != NULL);
    CHECK_STR(root_relative(&root, &a, STR("./a//b/../c/")), "a/c");
    CHECK_STR(root_relative(&root, &a, STR(".")), ".");
    CHECK_STR(root_relative(&root, &a, str_of(at("in/x"))), "x");
    CHECK_STR(root_relative(&root, &a, STR("/etc/../etc/passwd")), "/etc/passwd");
    arena_done(&a);
}

static void unconfined(void)
{
    struct root keep = root;

    root.confined = false;
    CHECK(root_refuses(&root, STR("../x")) == NULL);
    CHECK_STR(opens("../out/secret", ROOT_FILE), "outside");
    CHECK_STR(opens("rel-out", ROOT_FILE), "outside");
    CHECK_STR(opens(at("out/secret"), ROOT_FILE), "outside");
    CHECK_STR(opens("file", ROOT_FILE), "inside");
    CHECK_STR(opens("fifo", ROOT_FILE), "invalid_path");
    root = keep;
}

static void whole_disk(void)
{
    struct arena a = { 0 };
    struct root all, keep = root;

    CHECK(root_open(&all, "/", true, &err));
    root = all;
    CHECK(root_refuses(&all, STR("/etc/passwd")) == NULL);
    CHECK_STR(root_relative(&all, &a, STR("/etc/passwd")), "etc/passwd");
    CHECK_STR(opens(at("in/abs-out/secret"), ROOT_FILE), "outside");
    root = keep;
    root_done(&all);
    arena_done(&a);
}

static void bad_roots(void)
{
    struct root r;

    CHECK(!root_open(&r, at("nowhere"), true, &err) && err.code == ERR_MISSING);
    root_done(&r);
    CHECK(!root_open(&r, at("in/file"), true, &err) && err.code == ERR_PATH);
    root_done(&r);
}

/* --- the race --- */

static atomic_bool over;

/* Swap a folder for a symlink that leads out, and back, as fast as it goes. */
static void *swapper(void *arg)
{
    char a[128], b[128];

    (void)arg;
    snprintf(a, sizeof a, "%s/in/flip", base);
    snprintf(b, sizeof b, "%s/in/flop", base);
    while (!atomic_load(&over))
        renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
    return NULL;
}

static void race(void)
{
    int inside = 0, refused = 0, other = 0, outside = 0;
    pthread_t t;

    mkdir(at("in/flip"), 0755);
    put("in/flip/secret", "inside");
    link_to(at("out"), "in/flop");
    swapping = true;
    CHECK(pthread_create(&t, NULL, swapper, NULL) == 0);
    for (int i = 0; i < 40000; i++) {
        const char *got = opens(i % 2 ? "flip/secret" : "flip/../flip/secret", ROOT_FILE);

        inside += strcmp(got, "inside") == 0;
        refused += strcmp(got, "invalid_path") == 0;
        outside += strcmp(got, "outside") == 0;
        other += strcmp(got, "inside") && strcmp(got, "invalid_path") && strcmp(got, "outside");
    }
    atomic_store(&over, true);
    pthread_join(t, NULL);
    swapping = false;
    CHECK(outside == 0);
    CHECK(other == 0);
    CHECK(inside > 0 && refused > 0); /* the swapping was seen at all */
}

int main(void)
{
    char cmd[128];

    make_tree();
    if (!root_open(&root, at("in"), true, &err))
        return 1;
    TEST("files and folders inside are opened by any name", by_name);
    TEST("what is cached is opened without waiting, where the disk is local", without_waiting);
    TEST("symlinks that stay inside are followed, absolute ones too", links_inside);
    TEST("nothing leads outside: symlinks, .., absolute paths", links_outside);
    TEST("a folder, a FIFO, a socket say what they are", wrong_kinds);
    TEST("a device is not opened", devices);
    TEST("what is not there is not found", missing);
    TEST("what may not be read is denied", unreadable);
    TEST("a path's text alone says whether it stays inside, and its short form", texts);
    TEST("an unconfined root opens everything but special files", unconfined);
    TEST("a root of / holds everything", whole_disk);
    TEST("a root must be a folder that exists", bad_roots);
    TEST("a folder swapped for a symlink while opening never leads out", race);
    root_done(&root);
    snprintf(cmd, sizeof cmd, "rm -rf %s", base);
    return system(cmd) == 0 ? test_end() : 1;
}
