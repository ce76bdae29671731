/* scan_words_test.c: lines and words of any bytes, and which words are the same. */
#include "scan/words.h"

#include <stdlib.h>

#include "base/mem.h"
#include "scan/stem.h"
#include "test.h"

static struct arena arena;

static struct text read_bytes(struct str bytes)
{
    static const struct late never;
    struct text t;

    CHECK(text_read(&t, &arena, bytes, NULL, 0, &never));
    CHECK(t.lines[t.count].at == bytes.n);
    return t;
}

static bool line_is(const struct text *t, size_t i, const char *want)
{
    struct str s = line_str(t, i);

    return i < t->count && s.n == strlen(want) && memcmp(s.p, want, s.n) == 0;
}

/* ---- Lines ---- */

static void ends_of_lines(void)
{
    static const struct {
        struct str text;
        size_t count;
        const char *first, *last;
    } ROWS[] = {
        { STR(""), 0, NULL, NULL },           { STR("\n"), 1, "", "" },
        { STR("\n\n"), 2, "", "" },           { STR("a"), 1, "a", "a" },
        { STR("a\n"), 1, "a", "a" },          { STR("a\nb"), 2, "a", "b" },
        { STR("a\r\nb\r\n"), 2, "a", "b" },   { STR("a\r\nb"), 2, "a", "b" },
        { STR("a\rb\n"), 1, "a\rb", "a\rb" }, { STR("a\r\r\n"), 1, "a\r", "a\r" },
        { STR("\r\n"), 1, "", "" },           { STR("a\v\fb\n"), 1, "a\v\fb", "a\v\fb" },
    };
    struct text t;
    size_t i;

    for (i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        t = read_bytes(ROWS[i].text);
        CHECK(t.count == ROWS[i].count);
        if (t.count) {
            CHECK(line_is(&t, 0, ROWS[i].first));
            CHECK(line_is(&t, t.count - 1, ROWS[i].last));
        }
    }
    arena_done(&arena);
}

/* CR does not count as the last sign of a line. */
static void outside_of_lines(void)
{
    struct text t =
        read_bytes(STR("\t  run(x) {\r\n\033[31m  + red\033[0m\n   \r\n\xc3\xa9t\xc3\xa9;\n"));

    CHECK(t.count == 4);
    CHECK(t.lines[0].indent == 6 && t.lines[0].first == 'r' && t.lines[0].last == '{');
    CHECK(t.lines[1].first == '+' && t.lines[1].saw & SAW_ANSI);
    CHECK(!t.lines[2].first && t.lines[2].words == t.lines[3].words);
    CHECK(t.lines[3].first == 0xc3 && t.lines[3].last == ';');
    arena_done(&arena);
}

static void odd_bytes(void)
{
    struct text t = read_bytes(STR("a\0b\n\0\n\xff\xfe read \x80\n\xe2\x9f\n\xc3"));

    CHECK(t.count == 5);
    CHECK(line_str(&t, 0).n == 3 && line_str(&t, 1).n == 1);
    CHECK(t.lines[1].words == t.lines[2].words);
    CHECK(t.lines[3].words - t.lines[2].words == 3);
    CHECK(line_str(&t, 4).n == 1);
    arena_done(&arena);
}

static void long_lines(void)
{
    enum { MB = 1 << 20 };
    char *big = xmalloc(MB);
    struct text t;
    size_t i;

    memset(big, 'x', MB);
    t = read_bytes((struct str){ big, MB });
    CHECK(t.count == 1 && line_str(&t, 0).n == MB && t.word_count == 2);
    for (i = 3; i < MB; i += 4)
        big[i] = ' ';
    t = read_bytes((struct str){ big, MB });
    CHECK(t.count == 1 && t.lines[1].words == MB / 4);
    CHECK(t.words[1].count == MB / 4 && t.words[1].lines == 1);
    CHECK(t.lines[0].tokens == 65535);
    memset(big, ' ', MB);
    t = read_bytes((struct str){ big, MB });
    CHECK(t.count == 1 && !t.lines[0].first && t.lines[0].indent == 1000);
    memset(big, '\033', MB);
    t = read_bytes((struct str){ big, MB });
    CHECK(t.count == 1);
    free(big);
    arena_done(&arena);
}

static bool at_once(void *arg)
{
    (void)arg;
    return true;
}

static void late(void)
{
    struct text t;

    CHECK(!text_read(&t, &arena, STR("a\nb\n"), NULL, 0, &(struct late){ at_once, NULL }));
    arena_done(&arena);
}

/* ---- What the first pass sees of a line ---- */

static void seen(void)
{
    static const struct {
        const char *line;
        unsigned is, isnt;
    } ROWS[] = {
        { "run(x)", SAW_CALL | SAW_PAREN, SAW_ASSIGN },
        { "if (x)", SAW_PAREN, SAW_CALL },
        { "x = 1", SAW_ASSIGN, SAW_CALL },
        { "x += 1", SAW_ASSIGN, 0 },
        { "x == 1 && y != 2 && z <= 3 && a >= 4", 0, SAW_ASSIGN },
        { "x => x", SAW_ARROW, SAW_ASSIGN },
        { "fn f() -> u8", SAW_ARROW | SAW_CALL, SAW_ASSIGN },
        { "/* opens", SAW_OPEN, SAW_CLOSE },
        { "/* whole */", SAW_CLOSE, SAW_OPEN },
        { "closes */", SAW_CLOSE, SAW_OPEN },
        { "src/*.c", 0, SAW_OPEN },
        { "\"\"\"One line.\"\"\"", SAW_QUOTE, SAW_TRIPLE },
        { "\"\"\"Opens.", SAW_TRIPLE, 0 },
        { "'''Opens.", SAW_TRIPLE, 0 },
        { "ring.c:12: x", SAW_PATH_LINE, 0 },
        { "ring: 12", SAW_COLON, SAW_PATH_LINE },
        { "a || b", SAW_BAR, 0 },
        { "it failed", SAW_SEV, 0 },
        { "it went on", 0, SAW_SEV },
        { "\xe2\x9f\xa6NO_PRUNE_BEGIN\xe2\x9f\xa7", SAW_MARK, 0 },
        { "\033[1mbold", SAW_ANSI, 0 },
    };
    struct text t;
    size_t i;

    for (i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        t = read_bytes(str_of(ROWS[i].line));
        CHECK((t.lines[0].saw & ROWS[i].is) == ROWS[i].is && !(t.lines[0].saw & ROWS[i].isnt));
        if ((t.lines[0].saw & ROWS[i].is) != ROWS[i].is || t.lines[0].saw & ROWS[i].isnt)
            printf("# %s: saw %#x\n", ROWS[i].line, t.lines[0].saw);
    }
    arena_done(&arena);
}

/* ---- Words ---- */

/* The words of a text in their order, numbers that are masked as "#". */
static void words_are(const char *line, const char *want)
{
    struct text t = read_bytes(str_of(line));
    const struct word *w;
    char got[400] = "";
    size_t i, n = 0;

    for (i = 0; i < t.lines[t.count].words; i++) {
        w = &t.words[t.places[i]];
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s", i ? " " : "",
                              t.places[i] ? (int)w->len : 1, t.places[i] ? t.bytes.p + w->at : "#");
    }
    CHECK_STR(got, want);
}

static void words_and_masks(void)
{
    words_are("read-header(a.b)", "read header a b");
    words_are("_private __init__ x_y", "_private __init__ x_y");
    words_are("tar -x --long -1 a-b", "tar -x long -1 a b");
    words_are("[-n] NUM|-q", "-n NUM -q");
    words_are("version 1.12.3, v2, utf8", "version 1 12 3 v2 utf8");
    words_are("in 2024 line 404", "in 2024 line 404");
    words_are("pid 12345 of 0c9d8e7f6a5b at 0x7fff0012", "pid # of # at #");
    words_are("id=550e8400-e29b-41d4-a716-446655440000", "id # e29b 41d4 a716 #");
    words_are("\033[31mred\033[0m", "red");
    words_are("na\xc3\xafve \xc3\xa9t\xc3\xa9", "na\xc3\xafve \xc3\xa9t\xc3\xa9");
    arena_done(&arena);
}

/* A number that the question names is a word. */
static void numbers_asked_for(void)
{
    static const struct late never;
    uint32_t keep = stem_exact("0c9d8e7f", 8);
    struct text t;

    CHECK(text_read(&t, &arena, STR("commit 0C9D8E7F\ncommit 0c9d8e70\n"), &keep, 1, &never));
    CHECK(t.places[1] != 0 && t.words[t.places[1]].hash == keep);
    CHECK(t.places[3] == 0);
    arena_done(&arena);
}

static void counts(void)
{
    struct text t = read_bytes(STR("read read\nRead\nread\n"));

    CHECK(t.word_count == 3); /* one stands for what is masked */
    CHECK(t.words[1].count == 3 && t.words[1].lines == 2 && !t.words[1].upper);
    CHECK(t.words[2].count == 1 && t.words[2].upper);
    CHECK(t.words[1].hash == t.words[2].hash);
    arena_done(&arena);
}

static bool masks_meet(const char *a, const char *b)
{
    struct text s = read_bytes(str_of(a)), t = read_bytes(str_of(b));

    return s.lines[0].mask == t.lines[0].mask;
}

/* Lines of a log that differ in numbers only are the same line. */
static void masks(void)
{
    CHECK(masks_meet("request 17 took 5ms", "request 230 took 41ms"));
    CHECK(masks_meet("09:04:48 up", "10:51:00 up"));
    CHECK(masks_meet("pid 12345 gone", "pid 987654 gone"));
    CHECK(!masks_meet("request 17 took 5ms", "reply 17 took 5ms"));
    CHECK(!masks_meet("request 17", "request 17;"));
    CHECK(!masks_meet("a b", "b a"));
    /* Not yet: a number that is masked and one that is short enough to be a word. */
    CHECK(!masks_meet("pid 999 gone", "pid 12345 gone"));
    arena_done(&arena);
}

/* ---- Parts and stems ---- */

/* Do the parts of a name have the stems of the words of `want`? */
static bool splits(const char *name, const char *want)
{
    uint32_t parts[WORD_PARTS], joined;
    size_t n = word_split(str_of(name), parts, &joined), i = 0, k;

    for (; *want; want += k + (want[k] == ' '), i++) {
        k = strcspn(want, " ");
        if (i >= n || parts[i] != stem_of(want, k))
            return false;
    }
    return i == n;
}

static void names(void)
{
    static const char *const ROWS[][2] = {
        { "readHeader", "read header" },
        { "ReadHeader", "read header" },
        { "read_header", "read header" },
        { "READ_HEADER", "read header" },
        { "__read__header__", "read header" },
        { "HTTPServer", "http server" },
        { "parseURLs", "parse urls" },
        { "getX", "get x" },
        { "sha256sum", "sha 256 sum" },
        { "x86_64", "x 86 64" },
        { "v2", "v 2" },
        { "plain", "plain" },
    };
    size_t i;

    for (i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        CHECK(splits(ROWS[i][0], ROWS[i][1]));
        if (!splits(ROWS[i][0], ROWS[i][1]))
            printf("# %s\n", ROWS[i][0]);
    }
}

/* However it is written, joined it is the same. */
static void joined_names(void)
{
    uint32_t parts[WORD_PARTS], a, b;

    word_split(STR("readHeader"), parts, &a);
    word_split(STR("READ_HEADER"), parts, &b);
    CHECK(a == b && a == stem_exact("readheader", 10));
    word_split(STR("setDefault"), parts, &a);
    word_split(STR("setdefault"), parts, &b);
    CHECK(a == b);
    word_split(STR("readHeaders"), parts, &b);
    CHECK(a != b);
}

static void stems(void)
{
    /* Words of a row have one stem, words of two rows never. */
    static const char *const ROWS[] = {
        "parse parses parsed parser parsers parsing",
        "config cfg conf configure configured configuration",
        "connect conn connected connecting connection connections",
        "delete del deletes deleted deleting deletion",
        "retry retries retried",
        "run runs runner running",
        "cache caches cached caching",
        "class classes",
        "status",
        "state states",
        "process processes",
        "index idx indexes",
        "indent indented",
        "string str strings",
        "strict",
        "test tests tested testing",
        "text",
        "error err errors",
        "length len",
        "authentic auth authentication authenticate",
        "authorize authorization",
        "file files",
        "field fields",
        "option opt options opts",
        "operate op operation operator",
        "allocate alloc allocated allocation allocator",
        "message msg messages msgs",
        "value val values",
        "bus",
        "use",
    };
    uint32_t stem[sizeof ROWS / sizeof *ROWS];
    const char *p;
    size_t i, j, k;

    for (i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        for (p = ROWS[i]; *p; p += k + (p[k] == ' ')) {
            k = strcspn(p, " ");
            if (p == ROWS[i])
                stem[i] = stem_of(p, k);
            CHECK(stem_of(p, k) == stem[i]);
            if (stem_of(p, k) != stem[i])
                printf("# %.*s\n", (int)k, p);
        }
        for (j = 0; j < i; j++)
            CHECK(stem[j] != stem[i]);
    }
}

static void odd_words(void)
{
    char big[100];

    memset(big, 'a', sizeof big);
    CHECK(stem_of("", 0) == stem_exact("", 0));
    CHECK(stem_of("s", 1) == stem_exact("s", 1));
    CHECK(stem_of(big, sizeof big) == stem_exact(big, sizeof big));
    CHECK(stem_of(big, STEM_MAX) != stem_of(big, STEM_MAX - 1));
    CHECK(stem_of("\xc3\xa9t\xc3\xa9s", 6) == stem_of("\xc3\xa9t\xc3\xa9", 5));
}

static void classes(void)
{
    static const struct {
        const char *word;
        uint8_t kw, sev;
    } ROWS[] = {
        { "def", KW_DEF, 0 },
        { "fn", KW_DEF, 0 },
        { "class", KW_TYPE, 0 },
        { "Class", 0, 0 },
        { "import", KW_IMPORT, 0 },
        { "SELECT", KW_SQL, 0 },
        { "end", KW_END, 0 },
        { "error", 0, SEV_FAIL },
        { "ERROR", 0, SEV_FAIL },
        { "errors", 0, SEV_FAIL },
        { "KeyError", 0, SEV_EXC },
        { "IOException", 0, SEV_EXC },
        { "Error", 0, SEV_FAIL },
        { "warning", 0, SEV_WARN },
        { "passed", 0, SEV_OK },
        { "expected", 0, SEV_WANT },
        { "Downloading", 0, SEV_DULL },
        { "Copyright", 0, SEV_RIGHTS },
        { "terror", 0, 0 },
        { "error2", 0, 0 },
        { "define", KW_DEF, 0 },
        { "defined", 0, 0 },
    };
    uint8_t kw, sev;
    size_t i;

    for (i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        word_class(str_of(ROWS[i].word), &kw, &sev);
        CHECK(kw == ROWS[i].kw && sev == ROWS[i].sev);
        if (kw != ROWS[i].kw || sev != ROWS[i].sev)
            printf("# %s: %d %d\n", ROWS[i].word, kw, sev);
    }
}

int main(void)
{
    TEST("a line ends with LF, CRLF or the text", ends_of_lines);
    TEST("indent, first and last sign of a line are what one sees", outside_of_lines);
    TEST("NUL and invalid UTF-8 are bytes of lines like others", odd_bytes);
    TEST("a line of a megabyte is one line", long_lines);
    TEST("too late gives no text", late);
    TEST("calls, assignments, comments and marks are seen", seen);
    TEST("words are told apart, long numbers masked", words_and_masks);
    TEST("a number that is asked for is not masked", numbers_asked_for);
    TEST("words are counted by place and by line", counts);
    TEST("lines that differ in numbers only have one mask", masks);
    TEST("names are cut into their parts", names);
    TEST("joined names meet however they are written", joined_names);
    TEST("what belongs together has one stem, what does not has not", stems);
    TEST("odd words have stems too", odd_words);
    TEST("keywords and words of trouble are known", classes);
    return test_end();
}
