/* ignore_test.c: gitignore rules, by hand and beside git itself. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "tools/ignore.h"
#include "test.h"

/* What gitignore(5) says; the path ends with a slash where it is a folder.
 * '-' skipped, '+' kept by a negated rule, '.' not spoken of. */
static const struct {
    const char *rules, *path;
    char want;
} rows[] = {
    { "foo", "foo", '-' },
    { "foo", "a/b/foo", '-' },
    { "foo", "foo/", '-' },
    { "foo", "food", '.' },
    { "foo", "foo/x", '.' }, /* the walker never gets there */
    { "/foo", "foo", '-' },
    { "/foo", "a/foo", '.' },
    { "foo/", "foo", '.' },
    { "foo/", "foo/", '-' },
    { "foo/", "a/foo/", '-' },
    { "a/b", "a/b", '-' },
    { "a/b", "x/a/b", '.' },
    { "a/b/", "a/b/", '-' },
    { "a/b/", "x/a/b/", '.' },
    { "*.o", "x.o", '-' },
    { "*.o", "d/x.o", '-' },
    { "*.o", ".o", '-' },
    { "*.o", "x.oo", '.' },
    { "a*b*c", "aXbYbZc", '-' },
    { "a*b*c", "aXbYbZ", '.' },
    { "/*.c", "x.c", '-' },
    { "/*.c", "d/x.c", '.' },
    { "d/*", "d/x", '-' },
    { "d/*", "d/e/x", '.' },
    { "?.c", "a.c", '-' },
    { "?.c", "ab.c", '.' },
    { "a?b", "a/b", '.' },
    { "[abc].c", "b.c", '-' },
    { "[abc].c", "d.c", '.' },
    { "[a-f0-9]x", "ex", '-' },
    { "[a-f0-9]x", "gx", '.' },
    { "[!a-f]x", "gx", '-' },
    { "[^a-f]x", "ax", '.' },
    { "[]]x", "]x", '-' },
    { "[a-]x", "-x", '-' },
    { "[\\]]x", "]x", '-' },
    { "[[:digit:]_]x", "7x", '-' },
    { "[[:digit:]_]x", "_x", '-' },
    { "[[:digit:]_]x", "ax", '.' },
    { "[x", "[x", '.' }, /* a class without an end matches nothing */
    { "**/foo", "foo", '-' },
    { "**/foo", "a/b/foo", '-' },
    { "**/foo/bar", "a/foo/bar", '-' },
    { "a/**/b", "a/b", '-' },
    { "a/**/b", "a/x/y/b", '-' },
    { "a/**/b", "x/a/b", '.' },
    { "a/**/b/**/c", "a/b/x/b/y/c", '-' },
    { "a/**/b/**/c", "a/x/c", '.' },
    { "a/**", "a/x/y", '-' },
    { "a/**", "a/", '.' },
    { "**", "a/b", '-' },
    { "x**y", "xaby", '-' }, /* not between slashes: an ordinary star */
    { "x**y", "xa/by", '.' },
    { "#foo", "#foo", '.' },
    { "\\#foo", "#foo", '-' },
    { "\\!foo", "!foo", '-' },
    { "foo\\*", "foo*", '-' },
    { "foo\\*", "foox", '.' },
    { "foo   ", "foo", '-' },
    { "foo\\ ", "foo ", '-' },
    { "foo\\", "foo", '.' },
    { " foo", " foo", '-' },
    { "foo\r\nbar\r\n", "foo", '-' },
    { "foo\n\n# no\nbar", "bar", '-' },
    { "/", "foo", '.' },
    { "!", "foo", '.' },
    { "", "foo", '.' },
    { "{a,b}", "a", '.' },
    { "{a,b}", "{a,b}", '-' },
    { "*.log\n!keep.log", "keep.log", '+' },
    { "*.log\n!keep.log", "x.log", '-' },
    { "!keep.log\n*.log", "keep.log", '-' }, /* the last one decides */
    { "*\n!*/\n!*.c", "a/", '+' },
    { "*\n!*/\n!*.c", "a/x.c", '+' },
    { "*\n!*/\n!*.c", "a/x.h", '-' },
    { "/build\n!/build/keep", "build/keep", '+' },
    { "caf\xc3\xa9", "caf\xc3\xa9", '-' },
};

static char said(const char *rules, const char *path)
{
    struct ignore *ig = ignore_new(str_of(rules));
    struct str p = str_of(path);
    bool folder = p.n > 0 && p.p[p.n - 1] == '/';
    enum ignore_verdict v;

    p.n -= folder;
    v = ignore_match(ig, p, folder);
    ignore_free(ig);
    return v == IGNORE_SKIP ? '-' : v == IGNORE_KEEP ? '+' : '.';
}

static void table(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got = said(rows[i].rules, rows[i].path);

        if (got != rows[i].want)
            printf("# '%s' on '%s': %c, not %c\n", rows[i].rules, rows[i].path, got, rows[i].want);
        CHECK(got == rows[i].want);
    }
}

static char base[64];

static void put(const char *name, const char *text)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", base, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* git check-ignore -v prints the deciding rule, "::\tpath" for none. A folder
 * has to be there for git to take it as one. */
static char git_said(const char *path)
{
    char cmd[512], line[512] = "";
    const char *tab, *colon;
    size_t n = strlen(path);
    FILE *f;

    snprintf(line, sizeof line, "%.*s", (int)(n - (path[n - 1] == '/')), path);
    put("paths", line);
    snprintf(cmd, sizeof cmd,
             "cd %s && case '%s' in */) mkdir -p './%s';; esac; git -c core.excludesFile= "
             "check-ignore --no-index -v -n --stdin <paths; rm -rf [a-o]*/ x",
             base, path, path);
    line[0] = '\0';
    f = popen(cmd, "r");
    if (!f || !fgets(line, sizeof line, f))
        line[0] = '\0';
    if (f)
        pclose(f);
    tab = strchr(line, '\t');
    if (!tab)
        return '?';
    if (line[0] == ':')
        return '.';
    colon = strchr(strchr(line, ':') + 1, ':');
    return colon[1] == '!' ? '+' : '-';
}

/* git also looks at the folders above the path, so rules that would hide one
 * of those are left out; so are a few that git's quoting or its own special
 * cases keep from being asked this way. */
static bool git_can_say(const char *rules, const char *path)
{
    char parent[128];

    if (strchr(path, '\\') || strchr(rules, '\r'))
        return false;
    for (size_t i = 1; path[i] && path[i + 1]; i++) {
        if (path[i] != '/')
            continue;
        snprintf(parent, sizeof parent, "%.*s", (int)i + 1, path);
        if (said(rules, parent) == '-')
            return false;
    }
    return true;
}

static void beside_git(void)
{
    char cmd[256];
    int asked = 0;

    strcpy(base, "/tmp/ignore_test.XXXXXX");
    CHECK(mkdtemp(base) != NULL);
    snprintf(cmd, sizeof cmd, "git init -q %s", base);
    CHECK(system(cmd) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char git;

        if (!git_can_say(rows[i].rules, rows[i].path))
            continue;
        put(".gitignore", rows[i].rules);
        git = git_said(rows[i].path);
        asked++;
        if (git != rows[i].want)
            printf("# git says %c of '%s' on '%s', not %c\n", git, rows[i].rules, rows[i].path,
                   rows[i].want);
        CHECK(git == rows[i].want);
    }
    CHECK(asked > 50);
    snprintf(cmd, sizeof cmd, "rm -rf %s", base);
    CHECK(system(cmd) == 0);
}

/* 40 stars against 4,000 letters: exponential matchers never come back. */
static void hostile(void)
{
    static char rule[300], path[8200];
    clock_t start = clock();

    for (int i = 0; i < 40; i++)
        strcat(rule, "*a");
    strcat(rule, "b");
    memset(path, 'a', 4000);
    CHECK(said(rule, path) == '.');
    rule[0] = path[0] = '\0';
    for (int i = 0; i < 40; i++)
        strcat(rule, "**/a/");
    strcat(rule, "b");
    for (int i = 0; i < 4000; i++)
        memcpy(path + 2 * i, "a/", 3);
    path[7999] = '\0';
    CHECK(said(rule, path) == '.');
    CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
}

int main(void)
{
    TEST("each rule of gitignore(5) does what it says", table);
    TEST("git itself says the same", beside_git);
    TEST("a hostile rule costs no more than its length times the path's", hostile);
    return test_end();
}
