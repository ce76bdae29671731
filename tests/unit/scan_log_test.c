/* scan_log_test.c: what lines of tool output say, one by one and together.
 *
 * A row is a line and all that is said of it, in the words of SAYS below. The
 * rows of NOT_YET say what is right where the scanner does not see it yet: one
 * that comes true moves up. */
#include "scan/log.h"

#include "base/buf.h"
#include "scan/blocks.h"
#include "test.h"

/* In the order of enum line_log. */
static const char *const SAYS[] = {
    "failure", "trouble", "warning", "fine", "frame", "exception", "plus",  "minus",
    "want",    "exit",    "summary", "path", "caret", "group",     "dull",  "head",
    "hunk",    "time",    "trace",   "zero", "def",   "rule",      "field", "title",
};

struct row {
    const char *line, *says;
};

static const struct row COMPILERS[] = {
    { "src/ring.c:12:5: error: unknown type name 'word'", "failure path" },
    { "src/ring.c:12:5: fatal error: ring.h: No such file or directory", "failure path" },
    { "src/ring.c:12:5: error: 'n' undeclared (first use in this function)", "failure path" },
    { "src/ring.c:12:5: warning: unused variable 'n' [-Wunused-variable]", "warning path" },
    { "src/ring.c:9:6: note: declared here", "path" },
    { "   12 |     n = 3;", "caret" },
    { "      |     ~~^~~", "caret" },
    { "    ^^^^", "caret" },
    { "error: could not compile `shop` (lib) due to 2 previous errors", "failure" },
    { "error[E0308]: mismatched types", "failure" },
    { "  --> src/lib.rs:4:9", "frame path" },
    { "src/cart.ts(3,5): error TS2322: Type 'string' is not a number.", "failure" },
    { "src/cart.ts:3:5 - error TS2322: Type 'string' is not a number.", "failure path" },
    { "collect2: error: ld returned 1 exit status", "failure" },
    { "make: *** [Makefile:12: all] Error 2", "failure path" },
    { "make[2]: *** [Makefile:3: ring.o] Error 1", "failure path" },
    { "make[1]: Leaving directory '/srv/ring'", "" },
    { "ninja: build stopped: subcommand failed.", "trouble" },
    { "CMake Error at CMakeLists.txt:4 (find_package):", "failure path" },
    { "   Compiling serde v1.0.1", "dull" },
};

static const struct row RUNNERS[] = {
    { "E       assert 3 == 4", "failure" },
    { "tests/test_cart.py:12: AssertionError", "failure exception path" },
    { "FAILED tests/test_cart.py::test_total - assert 3 == 4", "failure" },
    { "============ FAILURES ============", "failure head" },
    { "____________ test_total ____________", "head" },
    { "==== shop/cart.py ====", "head" },
    { "===== 1 failed, 12 passed in 0.31s =====", "trouble fine summary head" },
    { "FAILED (failures=1, errors=2)", "failure summary" },
    { "Ran 12 tests in 0.020s", "" },
    { "OK", "fine" },
    { "=== RUN   TestGet", "head" },
    { "--- FAIL: TestGet (0.00s)", "failure head" },
    { "--- PASS: TestPut (0.00s)", "fine head" },
    { "    pool_test.go:31: got 2, want 3", "frame want path" },
    { "ok  \texample.org/pool\t0.012s", "fine" },
    { "test cart::tests::total ... FAILED", "failure" },
    { "test cart::tests::empty ... ok", "fine" },
    { "test result: ok. 12 passed; 0 failed; 0 ignored", "fine zero" },
    { "FAIL src/cart.test.js", "failure" },
    { "  \xe2\x9c\x95 adds up (4 ms)", "failure" },
    { "  \xe2\x97\x8f cart \xe2\x80\xba adds up", "failure" },
    { "  \xe2\x9c\x93 is empty at first (1 ms)", "" },
    { "    Expected: 4", "want" },
    { "Tests:       1 failed, 12 passed, 13 total", "trouble fine summary" },
    { "  1 failing", "trouble summary" },
    { "ok 2 - is empty at first", "fine" },
    { "not ok 3 - adds up", "failure" },
    { "3 examples, 1 failure", "trouble summary" },
    { "10 errors", "trouble summary" },
    { "Tests run: 12, Failures: 1, Errors: 0", "failure summary" },
    { "100% tests passed, 0 tests failed out of 12", "fine zero" },
};

static const struct row STACKS[] = {
    { "Traceback (most recent call last):", "failure trace" },
    { "  File \"cart.py\", line 9, in total", "frame" },
    { "    return sum(prices)", "" },
    { "TypeError: unsupported operand", "failure exception" },
    { "KeyError", "failure exception" },
    { "Error: Cannot find module 'express'", "failure" },
    { "java.lang.IllegalStateException: closed", "failure exception" },
    { "\tat org.example.Cart.total(Cart.java:31)", "frame path" },
    { "\t... 12 more", "" },
    { "Caused by: java.net.ConnectException: refused", "failure exception" },
    { "Caused by: closed by the other side", "failure exception" },
    { "   at Shop.Cart.Total() in /srv/Cart.cs:line 31", "frame" },
    { "    at async run (file:///srv/app.mjs:3:1)", "frame path" },
    { "thread 'main' panicked at src/cart.rs:31:9:", "failure path" },
    { "panic: runtime error: index out of range [3]", "failure" },
    { "goroutine 1 [running]:", "frame" },
    { "\t/srv/main.go:9 +0x1d", "frame path" },
    { "#0  0x00007f3a in pop (r=0x0) at ring.c:9", "frame path" },
    { "\tfrom cart.rb:14:in `<main>'", "frame path" },
    { "Segmentation fault (core dumped)", "failure" },
};

static const struct row SERVICES[] = {
    { "2024-05-02T09:04:48Z ERROR upstream closed", "failure time" },
    { "INFO shop.cart: ready", "dull" },
    { "[2024-05-02 09:04:48] production.ERROR: upstream closed", "failure time" },
    { "2024/05/02 09:04:48 [error] 12#12: *1 upstream closed", "failure time" },
    { "May  2 09:04:48 web1 app[211]: ready", "time" },
    { "09:04:48.120 [main] WARN  shop.Cart - slow", "warning time" },
    { "the error handler was installed", "trouble" },
    { "cat: a: Permission denied", "trouble" },
    { "fatal: not a git repository", "failure" },
    { "level=error msg=\"upstream closed\"", "failure" },
    { "{\"level\":\"error\",\"msg\":\"upstream closed\"}", "failure" },
    { "sh: 1: foo: not found", "trouble" },
    { "bash: foo: command not found", "trouble" },
    { "10.0.0.7 - - \"POST /items HTTP/1.1\" 201 12", "" },
};

static const struct row NOTHING_WRONG[] = {
    { "0 errors, 0 warnings", "warning zero" },
    { "no errors in 3 files", "zero" },
    { "12 files read, errors: 0", "zero" },
    { "errors=0", "zero" },
    { "exited with code 0", "" },
    { "Exit code: 0", "" },
};

static const struct row WRAPPERS[] = {
    { "##[error]Process completed with exit code 2.", "failure exit group" },
    { "Process completed with exit code 1.", "trouble exit" },
    { "The command exited with 137.", "trouble exit" },
    { "##[group]Run make test", "group head" },
    { "##[endgroup]", "group" },
    { "::group::make", "group head" },
    { "::endgroup::", "group" },
    { "npm ERR! code ERESOLVE", "failure" },
    { "npm error code ERESOLVE", "failure" },
    { "npm WARN deprecated glob@7.2.3", "warning" },
    { "E: Unable to locate package foo", "failure" },
    { "Get:1 http://deb.example.org stable/main", "path dull" },
    { "Setting up libfoo (1.2-3) ...", "dull" },
};

static const struct row VERSION_CONTROL[] = {
    { "commit 0c9d8e7f6a5b4c3d2e1f", "head" },
    { "commit to the plan", "" },
    { "diff --git a/x.c b/x.c", "head" },
    { "@@ -3,7 +3,7 @@ int main(void)", "hunk" },
    { "+added", "plus" },
    { "-gone", "minus" },
    { "--- a/src/ring.c", "" },
    { " +quoted", "" },
};

static const struct row GREP[] = {
    { "src/ring.c:12:int pop(struct ring *r)", "path def" },
    { "src/sum.c:12:int sum(const int *of,", "path def" },
    { "src/ring.c:19:    n = pop(r);", "path" },
    { "src/ring.c:20:pop(r);", "path" },
    { "src/ring.c:20:    pop((struct ring *)r);", "path" },
    { "src/ring.sh:4:if pop(x)", "path" },
    { "src/ring.py:12:def pop(ring):", "path def" },
    { "src/Ring.java:9:    public Item pop() {", "path def" },
};

static const struct row NOT_YET[] = {
    { "  1) cart adds up:", "failure" },
    { "2024-05-02 09:04:48,120 INFO shop.cart: ready", "dull time" },
};

/* ---- Reading rows ---- */

static const struct late never;

static void log_read(struct text *t, struct blocks *b, struct arena *a, struct str bytes)
{
    CHECK(text_read(t, a, bytes, NULL, 0, &never));
    CHECK(text_logs(t, &never));
    CHECK(text_blocks(b, a, t, PART_LOGS, &never));
}

/* The words for what is said; that a failure is trouble goes without saying. */
static void words_of(struct buf *out, uint32_t log)
{
    size_t k;

    buf_init(out, 500);
    if (log & L_STRONG)
        log &= ~(uint32_t)L_SEV;
    for (k = 0; k < sizeof SAYS / sizeof *SAYS; k++)
        if (log >> k & 1)
            buf_addf(out, "%s%s", out->len ? " " : "", SAYS[k]);
    buf_adds(out, "");
}

static void row(const struct row *r, bool yet)
{
    struct arena a = { 0 };
    struct blocks b;
    struct text t;
    struct buf got;

    log_read(&t, &b, &a, str_of(r->line));
    words_of(&got, t.lines[0].log);
    if (yet)
        CHECK_STR(got.data, r->says);
    else
        CHECK(strcmp(got.data, r->says) != 0);
    if (!yet == !strcmp(got.data, r->says))
        printf("# in: %s\n", r->line);
    buf_done(&got);
    arena_done(&a);
}

#define ROWS(name, table, yet)                                                                     \
    static void name(void)                                                                         \
    {                                                                                              \
        size_t i;                                                                                  \
                                                                                                   \
        for (i = 0; i < sizeof table / sizeof *table; i++)                                         \
            row(&table[i], yet);                                                                   \
    }

ROWS(compilers, COMPILERS, true)
ROWS(runners, RUNNERS, true)
ROWS(stacks, STACKS, true)
ROWS(services, SERVICES, true)
ROWS(nothing_wrong, NOTHING_WRONG, true)
ROWS(wrappers, WRAPPERS, true)
ROWS(version_control, VERSION_CONTROL, true)
ROWS(grep, GREP, true)
ROWS(not_yet, NOT_YET, false)

/* ---- In front of what a line says ---- */

/* A row: the line, what it says, is there a time? */
static const struct {
    const char *line, *says;
    bool time;
} PREFIXES[] = {
    { "2024-05-02T09:04:48Z ready", "ready", true },
    { "2024-05-02T09:04:48.1203345Z ##[group]Run make", "##[group]Run make", true },
    { "2024-05-02 09:04:48,120 INFO ready", "INFO ready", true },
    { "[2024-05-02T09:04:48] ready", "ready", true },
    { "[2024-05-02 09:04:48] ready", "ready", true },
    { "[Thu May 02 09:04:48 2024] [error] closed", "[error] closed", true },
    { "[  12.345678] usb 1-1: new device", "usb 1-1: new device", true },
    { "May  2 09:04:48 web1 app[211]: ready", "web1 app[211]: ready", true },
    { "09:04:48 ready", "ready", true },
    { "build\tRun tests\t2024-05-02T09:04:48.12Z FAIL x", "FAIL x", true },
    { "build\tRun tests\t\xef\xbb\xbf"
      "2024-05-02T09:04:48.12Z FAIL x",
      "FAIL x", true },
    { "\033[1m\033[31mFAIL x\033[0m", "FAIL x\033[0m", false },
    { "2024-05-02T09:04:48Z \033[31mFAIL x\033[0m", "FAIL x\033[0m", true },
    { "    indented", "indented", false },
    { "3 failed", "3 failed", false },
    { "10.0.0.7 - - \"GET /\" 200", "10.0.0.7 - - \"GET /\" 200", false },
    { "2.31.0 is the first with that", "2.31.0 is the first with that", false },
    { "12 | code", "12 | code", false },
    { "[main] ready", "[main] ready", false },
    { "Maybe later", "Maybe later", false },
    { "a\tb\tc of a table that has no time in it", "a\tb\tc of a table that has no time in it",
      false },
    { "", "", false },
};

static void prefixes(void)
{
    struct str line;
    size_t i, n;
    bool time;

    for (i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++) {
        line = str_of(PREFIXES[i].line);
        n = log_prefix(line, &time);
        CHECK_STR(line.p + n, PREFIXES[i].says);
        CHECK(time == PREFIXES[i].time);
    }
}

/* ---- Together ---- */

/* Each line behind the number of the head it stands under; 0: none, its own for a head. */
static void heads(const char *rows)
{
    struct arena a = { 0 };
    struct blocks b;
    struct text t;
    struct buf bytes;
    const char *p;
    size_t i, k;

    buf_init(&bytes, 10000);
    for (p = rows; *p; p += strcspn(p, "\n") + 1)
        buf_add(&bytes, p + 3, strcspn(p + 3, "\n") + 1);
    log_read(&t, &b, &a, buf_str(&bytes));
    for (p = rows, i = 0; *p; p += strcspn(p, "\n") + 1, i++) {
        k = (size_t)((p[0] == ' ' ? 0 : p[0] - '0') * 10 + p[1] - '0');
        CHECK(b.header[i] == (k ? k - 1 : NO_LINE));
        if (b.header[i] != (k ? k - 1 : NO_LINE))
            printf("# line %zu stands under %d: %.*s\n", i + 1, (int)b.header[i] + 1,
                   (int)strcspn(p, "\n"), p);
    }
    CHECK(i == t.count);
    buf_done(&bytes);
    arena_done(&a);
}

static void entries(void)
{
    heads(" 1 commit 0c9d8e7f6a5b4c3d2e1f\n"
          " 1 Author: Ada Field <ada@example.org>\n"
          " 1 Date:   Mon Mar 4 18:40:02 2024 +0100\n"
          " 1 \n"
          " 1     wire: give slow readers a deadline\n"
          " 1 \n"
          " 1  src/wire/http.c | 41 +++--\n"
          " 1 \n"
          " 9 commit 77aa66bb55cc44dd33ee\n"
          " 9 Author: Lea Brandt <lea@example.org>\n"
          " 9 \n"
          " 9     docs: say which dates\n");
    heads(" 0 From: Ada Field\n"
          " 2 diff --git a/x.c b/x.c\n"
          " 2 index 1234567..89abcde 100644\n"
          " 2 --- a/x.c\n"
          " 2 +++ b/x.c\n"
          " 2 @@ -3,7 +3,7 @@\n"
          " 2 -gone\n"
          " 8 diff --git a/y.c b/y.c\n"
          " 8 +added\n");
    heads(" 0 collected 2 items\n"
          " 2 ============ FAILURES ============\n"
          " 3 ____________ test_total ____________\n"
          " 3     def test_total():\n"
          " 3 E       assert 3 == 4\n"
          " 6 ____________ test_empty ____________\n"
          " 6 E       assert 0 == 1\n");
    heads(" 0 2024-05-02T09:04:48Z Runner 2.3\n"
          " 2 2024-05-02T09:04:48Z ##[group]Run make\n"
          " 2 2024-05-02T09:04:48Z make\n"
          " 2 2024-05-02T09:04:49Z ##[endgroup]\n"
          " 2 2024-05-02T09:04:50Z cc -c ring.c\n"
          " 6 2024-05-02T09:05:01Z ##[group]Run make test\n"
          " 6 2024-05-02T09:05:01Z make test\n");
}

/* A rule, a title, a rule: one head, and the title is what stands above. */
static void ruled_title(void)
{
    heads(" 1 ==========================\n"
          " 1 FAIL: test_total (CartTest)\n"
          " 2 --------------------------\n"
          " 2 Traceback (most recent call last):\n"
          " 2 AssertionError: 3 != 4\n"
          " 6 ==========================\n"
          " 6 FAIL: test_empty (CartTest)\n"
          " 7 --------------------------\n"
          " 7 AssertionError: 0 != 1\n");
    heads(" 1 ==========================\n"
          " 1 slowest tests\n"
          " 2 ==========================\n"
          " 2 0.31s test_total\n");
}

static void commit_parts(void)
{
    static const char *const PARTS[] = { "head", "field", "field", "", "title", "", "" };
    struct arena a = { 0 };
    struct blocks b;
    struct text t;
    struct buf got;
    size_t i;

    log_read(&t, &b, &a,
             STR("commit 0c9d8e7f6a5b4c3d2e1f\n"
                 "Author: Ada Field <ada@example.org>\n"
                 "Date:   Mon Mar 4\n"
                 "\n"
                 "    wire: give slow readers a deadline\n"
                 "\n"
                 "    A client held its connection for ever.\n"));
    CHECK(t.count == 7);
    for (i = 0; i < t.count; i++) {
        words_of(&got, t.lines[i].log);
        CHECK_STR(got.data, PARTS[i]);
        buf_done(&got);
    }
    arena_done(&a);
}

/* A head owns its text, but not all that follows for ever. */
static void long_entry(void)
{
    struct arena a = { 0 };
    struct blocks b;
    struct text t;
    struct buf bytes;
    size_t i;

    buf_init(&bytes, 10000);
    buf_adds(&bytes, "commit 0c9d8e7f6a5b4c3d2e1f\n");
    for (i = 0; i < 200; i++)
        buf_adds(&bytes, "    more\n");
    log_read(&t, &b, &a, buf_str(&bytes));
    CHECK(b.header[10] == 0);
    CHECK(b.header[199] == NO_LINE);
    for (i = 1; i < b.count; i++)
        CHECK(b.all[i].from == b.all[i - 1].to && b.all[i].to > b.all[i].from);
    CHECK(b.all[0].from == 0 && b.all[b.count - 1].to == t.count);
    buf_done(&bytes);
    arena_done(&a);
}

int main(void)
{
    TEST("what compilers and make write is told apart", compilers);
    TEST("what test runners write is told apart", runners);
    TEST("stacks: the exception, its frames, its cause", stacks);
    TEST("what services write is told apart", services);
    TEST("no error and exit 0 are no trouble", nothing_wrong);
    TEST("what CI and package managers write is told apart", wrappers);
    TEST("commits, diffs and hunks are known by their heads", version_control);
    TEST("behind grep's path:12: a definition is one", grep);
    TEST("lines that are known to be misread still are", not_yet);
    TEST("times, jobs and colours in front of a line are not what it says", prefixes);
    TEST("commits, diffs, tests and groups own the lines below", entries);
    TEST("a title between two rules is one head", ruled_title);
    TEST("a commit has fields and a title", commit_parts);
    TEST("an entry's head owns 80 lines at most", long_entry);
    return test_end();
}
