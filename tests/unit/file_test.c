/* file_test.c: whole or not at all. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "test.h"

static char base[64];
static struct err err;

static const char *at(const char *rel)
{
    static char path[4][256];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", base, rel);
    return path[turn];
}

static const char *text_of(const char *path)
{
    static char text[1 << 17];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n < 0 ? NULL : text;
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static int files_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

static void replace(void)
{
    mkdir(at("r"), 0755);
    CHECK(file_replace(at("r/f"), 0600, STR("one"), &err));
    CHECK_STR(text_of(at("r/f")), "one");
    CHECK(mode_of(at("r/f")) == 0600);
    CHECK(file_replace(at("r/f"), 0640, STR(""), &err));
    CHECK_STR(text_of(at("r/f")), "");
    CHECK(mode_of(at("r/f")) == 0640);
    CHECK(files_in(at("r")) == 1);
}

static void make(void)
{
    bool made;

    mkdir(at("m"), 0755);
    CHECK(file_make(at("m/f"), 0600, STR("one"), &made, &err) && made);
    CHECK(file_make(at("m/f"), 0600, STR("two"), &made, &err) && !made);
    CHECK_STR(text_of(at("m/f")), "one");
    CHECK(files_in(at("m")) == 1);
}

static void failures(void)
{
    bool made;

    CHECK(!file_replace(at("none/f"), 0600, STR("x"), &err));
    CHECK(strstr(err.msg, "none/f") != NULL);
    CHECK(!file_make(at("none/f"), 0600, STR("x"), &made, &err));
    mkdir(at("taken"), 0755);
    CHECK(!file_replace(at("taken"), 0600, STR("x"), &err));
    CHECK(file_replace(at("plain"), 0600, STR("x"), &err));
    CHECK(!file_make_dir(at("plain"), 0700, &err));
    CHECK(!file_make_dir(at("plain/below"), 0700, &err));
    CHECK(files_in(at("taken")) == 0);
}

static void folders(void)
{
    CHECK(file_make_dir(at("a/b/c"), 0700, &err));
    CHECK(mode_of(at("a")) == 0700 && mode_of(at("a/b/c")) == 0700);
    CHECK(file_make_dir(at("a/b/d/"), 0700, &err));
    CHECK(file_make_dir(at("a/b/c"), 0711, &err));
    CHECK(mode_of(at("a/b/c")) == 0700);
    CHECK(chdir(base) == 0 && file_make_dir("x", 0700, &err) && file_make_dir("y/z", 0700, &err));
    CHECK(mode_of(at("x")) == 0700 && mode_of(at("y/z")) == 0700);
    CHECK(file_make_dir("/", 0700, &err));
}

/* A reader sees 'a's or 'b's, all of them, while a writer changes them. */
static void never_half(void)
{
    static char a[100000], b[100000];
    bool whole = true;
    pid_t pid;
    int status;

    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    CHECK(file_replace(at("big"), 0600, (struct str){ a, sizeof a }, &err));
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 50; i++)
            file_replace(at("big"), 0600, (struct str){ i % 2 ? a : b, sizeof a }, &err);
        _exit(0);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        const char *t = text_of(at("big"));

        whole = whole && t && strspn(t, *t == 'a' ? "a" : "b") == sizeof a;
    }
    CHECK(whole);
}

int main(void)
{
    char rm[128];

    strcpy(base, "/tmp/file_test.XXXXXX");
    CHECK(mkdtemp(base) != NULL);
    TEST("a replaced file has the new text and mode, and nothing lies beside it", replace);
    TEST("a file that is there is not made again", make);
    TEST("what cannot be written is said, and leaves nothing", failures);
    TEST("folders are made with those above them", folders);
    TEST("a reader never sees half a file", never_half);
    snprintf(rm, sizeof rm, "rm -rf %s", base);
    return test_end() | (system(rm) != 0);
}
