/* grep_walk_test.c: our own search finds what ripgrep finds.
 *
 * Both look at the same tree with the same patterns, rg with the flags that
 * grep_rg.c gives it and through its reader; the lists must be equal. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "tools/grep.h"
#include "test.h"

static char base[64];
static atomic_bool cancelled;

static void put(const char *rel, const char *text, size_t n)
{
    char path[600], *slash;
    int fd;

    snprintf(path, sizeof path, "%s/%s", base, rel);
    for (slash = path + strlen(base) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    close(fd);
}

static void puts_(const char *rel, const char *text)
{
    put(rel, text, strlen(text));
}

static void link_to(const char *target, const char *rel)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", base, rel);
    CHECK(symlink(target, path) == 0);
}

static void make_tree(void)
{
    static char late[200 << 10];

    strcpy(base, "/tmp/grep_walk_test.XXXXXX");
    CHECK(mkdtemp(base) != NULL);
    puts_(".gitignore", "*.log\n/top.txt\nbuild/\n!keep.log\n/a/anchored\n!.shown\n");
    puts_("a.txt", "foo bar\nFoo Bar\n\nint main(void)\n\tfoo();\nfoo_bar = 12;\nend");
    puts_("top.txt", "foo ignored\n");
    puts_("a/top.txt", "foo not at the top\n");
    puts_("a/anchored", "foo ignored\n");
    puts_("a/b/anchored", "foo kept\n");
    puts_("a/x.log", "foo ignored\n");
    puts_("a/keep.log", "foo brought back\n");
    puts_("a/.gitignore", "secret*\n!x.log\n");
    puts_("a/secret1", "foo ignored\n");
    puts_("a/b/secret2", "foo ignored\n");
    puts_("build/out", "foo ignored\n");
    puts_("src/build", "foo a file, not a folder\n");
    puts_("src/build2/x", "foo\n");
    puts_("a b/x", "foo sorts after a/\n");
    puts_("a-b", "foo\n");
    puts_("B/upper", "foo\n");
    puts_(".hidden", "foo\n");
    puts_(".shown", "foo hidden, but asked for\n");
    puts_(".dir/x", "foo\n");
    puts_("crlf", "foo\r\nbar foo\r\n");
    puts_("bom", "\xef\xbb\xbf"
                 "foo at the start\nfoo\n");
    puts_("latin1", "caf\xe9 foo\nfoo\n");
    puts_("utf8", "caf\xc3\xa9 na\xc3\xafve foo \xe2\x82\xac 42\n\xc3\x89T\xc3\x89 FOO\n");
    put("binary", "foo\n\0foo\n", 9);
    puts_("empty", "");
    puts_("newlines", "\n\n\n");
    puts_("nested/.git/HEAD", "foo\n");
    puts_("nested/x.log", "foo not ours to ignore\n");
    puts_("nested/deep/y.log", "foo\n");
    puts_("one/two/three/four", "1.5 a.b (foo) [x] foo|bar a+b\n");
    link_to("a.txt", "link-file");
    link_to("a", "link-dir");
    link_to("/etc/passwd", "link-out");
    memset(late, 'x', sizeof late);
    for (size_t i = 79; i < sizeof late; i += 80)
        late[i] = '\n';
    memcpy(late + 160, "foo early", 9);
    memcpy(late + sizeof late - 100, "foo late", 8);
    put("long", late, sizeof late);
    memset(late, 'y', sizeof late);
    memcpy(late + 150000, "foo in a long line", 18);
    put("oneline", late, sizeof late);
    CHECK(mkfifo(strcat(strcpy(late, base), "/fifo"), 0644) == 0);
}

static struct grep search(struct arena *a, const char *pattern)
{
    return (struct grep){
        .a = a,
        .cancelled = &cancelled,
        .pattern = str_of(pattern),
        .max_matches = 5000,
        .max_bytes = 10 << 20,
        .timeout_ms = 20000,
        .deadline_ms = clock_ms() + 20000,
    };
}

static void walk(struct grep *g, const char *path)
{
    struct grep_path p = { .name = path };
    struct stat st;
    char full[600];

    snprintf(full, sizeof full, "%s/%s", base, path);
    p.fd = open(full, O_RDONLY | O_CLOEXEC);
    CHECK(p.fd >= 0 && fstat(p.fd, &st) == 0);
    p.folder = S_ISDIR(st.st_mode);
    g->paths = &p;
    g->path_count = 1;
    grep_walk(g);
    close(p.fd);
    g->paths = NULL;
    g->path_count = 0;
}

static void quote(char *out, const char *s)
{
    *out++ = '\'';
    for (; *s; s++)
        out += sprintf(out, *s == '\'' ? "'\\''" : "%c", *s);
    strcpy(out, "'");
}

/* As grep_rg.c does: in the folder, "."; a file by its name. */
static void ripgrep(struct grep *g, const char *path, bool folder)
{
    char cmd[4096], *line = NULL, quoted[512];
    size_t cap = 0, n;
    ssize_t len;
    FILE *f;

    n = (size_t)snprintf(cmd, sizeof cmd, "cd '%s/%s' && rg", base, folder ? path : ".");
    for (size_t i = 0; grep_rg_flags[i]; i++)
        n += (size_t)snprintf(cmd + n, sizeof cmd - n, " %s", grep_rg_flags[i]);
    quote(quoted, g->pattern.p);
    snprintf(cmd + n, sizeof cmd - n, " %s %s -e %s -- '%s' 2>/dev/null", g->fixed ? "-F" : "",
             g->any_case ? "-i" : "-s", quoted, folder ? "." : path);
    f = popen(cmd, "r");
    while (f && (len = getline(&line, &cap, f)) > 0)
        if (strstr(line, "{\"type\":\"match\"") == line)
            grep_rg_line(g, (struct str){ line, (size_t)len }, folder ? path : ".");
    free(line);
    if (f)
        pclose(f);
}

static bool same(const struct match *x, const struct match *y)
{
    return str_eq(x->path, y->path) && str_eq(x->text, y->text) && x->line == y->line &&
           x->column == y->column;
}

static void show(const char *who, const struct grep *g, size_t i)
{
    if (i < g->count)
        printf("#   %s: %s:%ld:%ld:%.60s\n", who, g->matches[i].path.p, g->matches[i].line,
               g->matches[i].column, g->matches[i].text.p);
    else
        printf("#   %s: nothing\n", who);
}

/* rg 14 lets the rules above a repository reach into it, and an anchored rule
 * above the folder searched match deeper down; rg 13 and git do not. Where such
 * an rg is, these two files are left out of the comparison. */
static bool disputed(const struct match *m)
{
    return str_starts(m->path, "nested/") || str_is(m->path, "a/b/anchored");
}

static bool rg_disputes(void)
{
    static int major = -1;
    FILE *f = major < 0 ? popen("rg --version 2>/dev/null", "r") : NULL;

    if (f) {
        if (fscanf(f, "ripgrep %d", &major) != 1)
            major = 0;
        pclose(f);
    }
    return major >= 14;
}

static void leave_out_disputed(struct grep *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->count; i++)
        if (!disputed(&g->matches[i]))
            g->matches[n++] = g->matches[i];
    g->count = n;
}

/* Gives how many matches both found. */
static size_t compare(const char *pattern, const char *path, bool folder, bool fixed, bool any_case)
{
    struct arena a = { 0 };
    struct grep own = search(&a, pattern), rg = search(&a, pattern);
    size_t i = 0, count;

    own.fixed = rg.fixed = fixed;
    own.any_case = rg.any_case = any_case;
    walk(&own, path);
    ripgrep(&rg, path, folder);
    CHECK(own.err.code == ERR_NONE);
    if (rg_disputes()) {
        leave_out_disputed(&own);
        leave_out_disputed(&rg);
    }
    while (i < own.count && i < rg.count && same(&own.matches[i], &rg.matches[i]))
        i++;
    if (own.count != rg.count || i != own.count) {
        printf("# '%s' in %s: %zu and rg's %zu differ at %zu\n", pattern, path, own.count, rg.count,
               i);
        show("own", &own, i);
        show("rg", &rg, i);
        CHECK(false);
    }
    CHECK(own.replaced == rg.replaced);
    count = own.count;
    arena_done(&a);
    return count;
}

static void patterns(void)
{
    static const char *const list[] = {
        "foo",       "^foo",        "foo$",        "f.o",          "\\bfoo\\b", "[Ff]oo",
        "\\d+",      "\\w+\\s*=",   "(foo|bar) ?", "foo.*bar",     "caf.\\b",   "^$",
        "^\\s",      "fo{2}",       "(?i)FOO",     "a\\.b",        "\\(foo\\)", "[^x]$",
        "\\p{Lu}",   "foo(?=_bar)", "(?P<n>o)_",   "[[:digit:]]",  "x*",        "\\x{e9}",
        "(?<!_)bar", "\\.",         "foo\\|bar",   "na\xc3\xafve",
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        CHECK(compare(list[i], ".", true, false, false) > 0);
}

static void plain_text(void)
{
    CHECK(compare("foo|bar", ".", true, true, false) == 1);
    CHECK(compare("(foo)", ".", true, true, false) == 1);
    CHECK(compare("a+b", ".", true, true, false) == 1);
    CHECK(compare(".*", ".", true, true, false) == 0);
    CHECK(compare("foo", ".", true, true, true) > 20);
}

static void any_case(void)
{
    CHECK(compare("\xc3\xa9t\xc3\xa9", ".", true, false, true) == 1);
    CHECK(compare("FOO", ".", true, false, true) > 20);
    CHECK(compare("FOO", ".", true, false, false) == 1);
}

static void parts(void)
{
    CHECK(compare("foo", "a", true, false, false) > 0); /* rules of the folder above hold */
    CHECK(compare("foo", "a/b", true, false, false) == (rg_disputes() ? 0 : 1));
    CHECK(compare("foo", "build", true, false, false) == 1); /* ignored, but asked for */
    CHECK(compare("foo", ".dir", true, false, false) == 1);
    CHECK(compare("foo", "nested", true, false, false) == (rg_disputes() ? 0 : 2));
    CHECK(compare("foo", "nested/deep", true, false, false) == (rg_disputes() ? 0 : 1));
    CHECK(compare("foo", "src", true, false, false) == 2);
}

static void named_files(void)
{
    CHECK(compare("foo", "top.txt", false, false, false) == 1);
    CHECK(compare("foo", ".hidden", false, false, false) == 1);
    CHECK(compare("foo", "a.txt", false, false, false) == 3);
    CHECK(compare("foo", "long", false, false, false) == 2);
    CHECK(compare("foo", "oneline", false, false, false) == 1);
    CHECK(compare("foo", "binary", false, false, false) == 2);
    CHECK(compare("foo", "empty", false, false, false) == 0);
    CHECK(compare("^", "newlines", false, false, false) == 3);
    CHECK(compare("^foo", "bom", false, false, false) == 2);
}

static void expensive(void)
{
    struct arena a = { 0 };
    struct grep g = search(&a, "(x+x+)+\\d");

    walk(&g, "long");
    CHECK(g.err.code == ERR_RG && strstr(g.err.msg, "too expensive"));
    arena_done(&a);
}

static void bad_pattern(void)
{
    struct arena a = { 0 };
    struct grep g = search(&a, "(foo");

    walk(&g, ".");
    CHECK(g.err.code == ERR_RG && strstr(g.err.msg, "bad pattern") && g.exit_code == 2);
    arena_done(&a);
}

static void stops(void)
{
    struct arena a = { 0 };
    struct grep g = search(&a, "x"), late = search(&a, "x"), gone = search(&a, "x");

    g.max_matches = 10;
    walk(&g, "long");
    CHECK(g.count == 11 && g.full); /* one more, to know that there is one */
    late.deadline_ms = clock_ms();
    walk(&late, ".");
    CHECK(late.err.code == ERR_TIMEOUT);
    cancelled = true;
    walk(&gone, ".");
    CHECK(gone.count < 3000);
    cancelled = false;
    arena_done(&a);
}

static void ceiling(void)
{
    struct arena a = { 0 };
    struct grep g = search(&a, "x");

    g.max_bytes = 1024;
    walk(&g, "long");
    CHECK(g.full && g.bytes > 1024 && g.bytes < 1300);
    arena_done(&a);
}

static int cmp(const char *x, const char *y)
{
    return grep_path_cmp(str_of(x), str_of(y));
}

static void order(void)
{
    CHECK(cmp("a/x", "a b") < 0);
    CHECK(cmp("a/x", "a-b") < 0);
    CHECK(cmp("a", "a/x") < 0);
    CHECK(cmp("B", "a") < 0);
    CHECK(cmp("a/x", "a/x") == 0);
    CHECK(cmp("ab", "a/z") > 0);
    CHECK(cmp("\xc3\xa9", "z") > 0);
}

int main(void)
{
    char cmd[128];

    make_tree();
    TEST("paths are ordered name by name", order);
    TEST("common patterns find what rg finds, in its order", patterns);
    TEST("literal text finds what rg -F finds", plain_text);
    TEST("case is ignored as rg -i does", any_case);
    TEST("a folder inside the tree is searched as rg does there", parts);
    TEST("a file asked for by name is searched whatever it is", named_files);
    TEST("a pattern that backtracks without end is refused", expensive);
    TEST("a bad pattern says what is wrong", bad_pattern);
    TEST("the search stops: enough found, too late, cancelled", stops);
    TEST("the search stops at its ceiling of bytes", ceiling);
    snprintf(cmd, sizeof cmd, "rm -rf %s", base);
    return system(cmd) == 0 ? test_end() : 1;
}
