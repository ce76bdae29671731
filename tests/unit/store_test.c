/* store_test.c: what is kept comes back, whoever dies meanwhile; what must not
 * be read is not; a store that cannot be used says so and nothing worse. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "store/store.h"
#include "test.h"

enum { HOUR = 3600000, MB = 1 << 20 };

static struct loop *loop;
static struct store *store;
static char base[64], dir[200], file[220];
static atomic_ullong wall = 1000000000;
static int folders;

static uint64_t now(void)
{
    return wall;
}

static struct store *open_store(uint64_t quota)
{
    struct store_opts o = { .loop = loop, .dir = dir, .quota_bytes = quota, .now_ms = now };

    return store_new(&o);
}

static void begin_with(uint64_t quota)
{
    snprintf(dir, sizeof dir, "%s/%d/kept", base, folders++);
    snprintf(file, sizeof file, "%s/store.db", dir);
    loop = loop_new(NULL);
    store = open_store(quota);
}

static void begin(void)
{
    begin_with(0);
}

static void end(void)
{
    store_free(store);
    loop_free(loop);
    store = NULL;
    loop = NULL;
}

static void again(void)
{
    store_free(store);
    store = open_store(0);
}

/* One request, waited for. */

static struct err last; /* NONE: it went well */
static char *text;
static size_t text_n;

static void on_put(void *arg, const struct err *e)
{
    (void)arg;
    last = e ? *e : (struct err){ 0 };
    loop_stop(loop);
}

static void on_get(void *arg, struct str t, const struct err *e)
{
    on_put(arg, e);
    free(text);
    text = xmalloc(t.n + 1);
    if (t.n > 0)
        memcpy(text, t.p, t.n);
    text_n = t.n;
}

static bool put(const char *who, struct str t, uint64_t ttl)
{
    last = (struct err){ .code = ERR_INTERNAL };
    store_put(store, STORE_PRUNE, who, t, ttl, on_put, NULL);
    loop_run(loop);
    return last.code == ERR_NONE;
}

static bool get(const char *who, const char *id)
{
    last = (struct err){ .code = ERR_INTERNAL };
    store_get(store, who, id, on_get, NULL);
    loop_run(loop);
    return last.code == ERR_NONE;
}

static bool has(const char *who, struct str t)
{
    char id[40];

    store_id(id, STORE_PRUNE, t);
    return get(who, id) && text_n == t.n && memcmp(text, t.p, t.n) == 0;
}

/* Text number `seed`: n bytes that do not pack, the same each time. */
static struct str noise(char *out, size_t n, uint64_t seed)
{
    uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;

    for (size_t i = 0; i < n; i++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        out[i] = (char)(x * 0x2545F4914F6CDD1Du >> 56);
    }
    return (struct str){ out, n };
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* --- keeping --- */

static void ids(void)
{
    char a[40], b[40];

    store_id(a, STORE_PRUNE, STR("abc"));
    CHECK_STR(a, "prn_xj4bnp4pahh6uqkbidpf3lrceo");
    store_id(b, STORE_ARTIFACT, STR("abc"));
    CHECK(strcmp(a + 4, b + 4) == 0 && strncmp(b, "art_", 4) == 0);
    store_id(b, STORE_PRUNE, STR("abd"));
    CHECK(strcmp(a, b) != 0);
}

static void back_again(void)
{
    static const struct str texts[] = { STR("one line\n"), STR(""), STR("nul\0nul\xff\xfe") };
    char *big = xmalloc(8 * MB);

    begin();
    for (int i = 0; i < 3; i++) {
        CHECK(put("me", texts[i], HOUR));
        CHECK(has("me", texts[i]));
    }
    CHECK(put("me", noise(big, 8 * MB, 1), HOUR));
    CHECK(has("me", (struct str){ big, 8 * MB }));
    again();
    for (int i = 0; i < 3; i++)
        CHECK(has("me", texts[i]));
    CHECK(has("me", (struct str){ big, 8 * MB }));
    free(big);
    end();
}

static void others(void)
{
    char mine[240], id[40];

    begin();
    CHECK(put("me", STR("secret"), HOUR));
    store_id(id, STORE_PRUNE, STR("secret"));
    CHECK(!get("you", id) && last.code == ERR_MISSING);
    CHECK(strstr(last.msg, "unknown, expired, evicted or another's") != NULL);
    snprintf(mine, sizeof mine, "%s", last.msg);
    wall += 2 * HOUR;
    CHECK(!get("me", id) && last.code == ERR_MISSING);
    CHECK_STR(last.msg, mine);
    CHECK(!get("me", "prn_nothing") && last.code == ERR_MISSING);
    CHECK(!get("me", "") && last.code == ERR_MISSING);
    store_id(id, STORE_ARTIFACT, STR("secret"));
    CHECK(!get("me", id) && last.code == ERR_MISSING);
    end();
}

static void lazy(void)
{
    struct store_stats st;
    size_t removed;

    begin();
    CHECK(!get("me", "prn_x") && last.code == ERR_MISSING);
    CHECK(store_stats(store, &st, NULL) && st.blobs == 0 && st.bytes == 0);
    CHECK(store_purge(store, NULL, false, &removed, NULL) && removed == 0);
    CHECK(!exists(dir));
    end();
}

static int mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (int)(st.st_mode & 0777) : -1;
}

static void private(void)
{
    char wal[240];
    mode_t old = umask(0);

    begin();
    CHECK(put("me", STR("x"), HOUR));
    snprintf(wal, sizeof wal, "%s-wal", file);
    CHECK(mode_of(dir) == 0700 && mode_of(file) == 0600 && mode_of(wal) == 0600);
    chmod(file, 0644);
    again();
    CHECK(has("me", STR("x")));
    CHECK(mode_of(file) == 0600);
    umask(old);
    end();
}

static void time_to_live(void)
{
    begin();
    CHECK(put("me", STR("short"), 1000));
    CHECK(put("me", STR("long"), HOUR));
    CHECK(put("me", STR("for ever"), UINT64_MAX));
    wall += 999;
    CHECK(has("me", STR("short")));
    wall += 1;
    CHECK(!has("me", STR("short")));
    CHECK(put("me", STR("long"), 10)); /* longer, never shorter */
    wall += HOUR - 1001;
    CHECK(has("me", STR("long")));
    CHECK(put("me", STR("long"), HOUR));
    wall += HOUR - 1;
    CHECK(has("me", STR("long")));
    wall += 1;
    CHECK(!has("me", STR("long")));
    CHECK(has("me", STR("for ever")));
    end();
}

static void clock_set_back(void)
{
    static char bytes[3][30000];
    struct str t[3];

    begin_with(80000); /* two of them */
    for (int i = 0; i < 3; i++)
        t[i] = noise(bytes[i], sizeof bytes[i], 100 + (uint64_t)i);
    CHECK(put("me", t[0], HOUR));
    CHECK(put("me", t[1], HOUR));
    wall -= 500 * HOUR / 2;
    CHECK(has("me", t[0]) && has("me", t[1]));
    CHECK(put("me", t[2], HOUR));
    CHECK(!has("me", t[0]) && has("me", t[1]) && has("me", t[2]));
    wall += 500 * HOUR / 2;
    end();
}

static void quota(void)
{
    static char bytes[6][30000], larger[140000];
    struct store_stats st;
    struct str t[6];

    begin_with(130000); /* four of them */
    for (int i = 0; i < 6; i++)
        t[i] = noise(bytes[i], sizeof bytes[i], 200 + (uint64_t)i);
    for (int i = 0; i < 4; i++)
        CHECK(put("me", t[i], HOUR));
    CHECK(has("me", t[0])); /* read: young again; 1 is the oldest now */
    CHECK(put("me", t[4], HOUR));
    CHECK(!has("me", t[1]));
    CHECK(put("me", t[2], HOUR)); /* put: young again; 3 is the oldest */
    CHECK(put("me", t[5], HOUR));
    CHECK(!has("me", t[3]) && has("me", t[0]) && has("me", t[2]) && has("me", t[4]));
    CHECK(store_stats(store, &st, NULL) && st.blobs == 4 && st.refs == 4 && st.bytes <= 130000);
    CHECK(st.bytes_raw == 120000);
    CHECK(!put("me", noise(larger, sizeof larger, 7), HOUR) && last.code == ERR_TOO_LARGE);
    CHECK(has("me", t[5]));
    end();
}

static void shared(void)
{
    struct store_stats st;
    size_t removed;

    begin();
    CHECK(put("a", STR("common"), HOUR) && put("b", STR("common"), HOUR));
    CHECK(store_stats(store, &st, NULL) && st.blobs == 1 && st.refs == 2 && st.bytes_raw == 6);
    CHECK(store_purge(store, "a", false, &removed, NULL) && removed == 1);
    CHECK(!has("a", STR("common")) && has("b", STR("common")));
    wall += 2 * HOUR;
    CHECK(put("b", STR("young"), HOUR)); /* forgets on its way what is over */
    CHECK(store_stats(store, &st, NULL) && st.blobs == 1 && st.refs == 1);
    CHECK(store_purge(store, NULL, true, &removed, NULL) && removed == 0);
    CHECK(store_purge(store, NULL, false, &removed, NULL) && removed == 1);
    CHECK(store_stats(store, &st, NULL) && st.blobs == 0 && st.bytes == 0 && st.bytes_raw == 0);
    end();
}

/* --- limits of a request --- */

static int answers, refused;

static void count_put(void *arg, const struct err *e)
{
    int *left = arg;

    answers++;
    refused += e && e->code == ERR_TOO_LARGE;
    if (--*left == 0)
        loop_stop(loop);
}

static void too_large(void)
{
    char *big = xcalloc(1, 8 * MB + 1);
    int left = 20;

    begin();
    CHECK(!put("me", (struct str){ big, 8 * MB + 1 }, HOUR) && last.code == ERR_TOO_LARGE);
    answers = refused = 0;
    for (int i = 0; i < 20; i++)
        store_put(store, STORE_PRUNE, "me", (struct str){ big, 8 * MB }, HOUR, count_put, &left);
    CHECK(answers == 0); /* never from inside */
    loop_run(loop);
    CHECK(answers == 20 && refused == 13);
    CHECK(put("me", (struct str){ big, 8 * MB }, HOUR));
    free(big);
    end();
}

static void never_put(void *arg, const struct err *e)
{
    (void)arg;
    (void)e;
    CHECK(!"called after it was cancelled");
}

static void never_get(void *arg, struct str t, const struct err *e)
{
    (void)t;
    never_put(arg, e);
}

static void cancelled(void)
{
    begin();
    store_cancel(store_put(store, STORE_PRUNE, "me", STR("a"), HOUR, never_put, NULL));
    store_cancel(store_get(store, "me", "prn_x", never_get, NULL));
    store_cancel(NULL);
    CHECK(put("me", STR("b"), HOUR));
    CHECK(has("me", STR("b")));
    end();
}

static void free_keeps(void)
{
    char bytes[40];

    begin();
    for (uint64_t i = 0; i < 300; i++)
        store_put(store, STORE_PRUNE, "me", noise(bytes, 40, i), HOUR, never_put, NULL);
    store_get(store, "me", "prn_x", never_get, NULL);
    again();
    for (uint64_t i = 0; i < 300; i++)
        CHECK(has("me", noise(bytes, 40, i)));
    end();
}

/* --- stores that cannot be used --- */

static void spoil(const char *bytes, size_t at)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && pwrite(fd, bytes, strlen(bytes), (off_t)at) == (ssize_t)strlen(bytes));
    close(fd);
}

static void nap(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static void corrupt(void)
{
    struct store_stats st;
    struct err e;

    begin();
    CHECK(put("me", STR("x"), HOUR));
    store_free(store);
    spoil("this is no database at all, whatever its name says", 0);
    store = open_store(0);
    CHECK(!put("me", STR("y"), HOUR) && last.code == ERR_IO && strstr(last.msg, file));
    CHECK(!has("me", STR("x")) && last.code == ERR_IO);
    CHECK(!store_stats(store, &st, &e) && e.code == ERR_IO);
    unlink(file);
    CHECK(!put("me", STR("y"), HOUR)); /* it was tried a moment ago */
    nap(1050);
    CHECK(put("me", STR("y"), HOUR) && has("me", STR("y")));
    end();
}

static void damaged_page(void)
{
    static char bytes[20000];
    char junk[300];
    struct stat st;

    memset(junk, 'J', sizeof junk);
    junk[299] = '\0';
    begin();
    CHECK(put("me", noise(bytes, sizeof bytes, 9), HOUR));
    CHECK(put("me", STR("unharmed"), HOUR));
    store_free(store);
    CHECK(stat(file, &st) == 0);
    for (off_t at = 12 * 4096 + 100; at < st.st_size; at += 4096)
        spoil(junk, (size_t)at);
    store = open_store(0);
    CHECK(!has("me", (struct str){ bytes, sizeof bytes }) && last.code == ERR_IO);
    CHECK(strstr(last.msg, file) != NULL);
    end();
}

static void no_folder(void)
{
    begin();
    snprintf(dir, sizeof dir, "%s/%d", base, folders++);
    memcpy(file, dir, sizeof dir);
    spoil("a file", 0);
    strcat(dir, "/below/a/file");
    again();
    CHECK(!put("me", STR("y"), HOUR) && last.code == ERR_IO && strstr(last.msg, file));
    CHECK(!has("me", STR("y")) && last.code == ERR_IO);
    unlink(file);
    nap(1050);
    CHECK(put("me", STR("y"), HOUR) && has("me", STR("y")));
    end();
}

static void sql(const char *statement)
{
    sqlite3 *db = NULL;

    CHECK(sqlite3_open(file, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, statement, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static size_t slurp(char *out, size_t room)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, room);

    close(fd);
    return n > 0 ? (size_t)n : 0;
}

static void newer_schema(void)
{
    static char before[MB], after[MB];
    size_t n;

    begin();
    CHECK(put("me", STR("x"), HOUR));
    store_free(store);
    sql("PRAGMA user_version = 2; CREATE TABLE more (x)");
    n = slurp(before, MB);
    store = open_store(0);
    CHECK(!put("me", STR("y"), HOUR) && last.code == ERR_IO && strstr(last.msg, "newer"));
    CHECK(strstr(last.msg, file) != NULL);
    CHECK(!has("me", STR("x")) && last.code == ERR_IO);
    store_free(store);
    store = NULL;
    CHECK(slurp(after, MB) == n && memcmp(before, after, n) == 0);
    end();
}

/* It becomes newer while we hold it open. */
static void newer_meanwhile(void)
{
    begin();
    CHECK(put("me", STR("x"), HOUR));
    sql("PRAGMA user_version = 2");
    CHECK(!put("me", STR("y"), HOUR) && strstr(last.msg, "newer"));
    CHECK(!has("me", STR("x")) && last.code == ERR_IO);
    sql("PRAGMA user_version = 1");
    nap(1050);
    CHECK(put("me", STR("y"), HOUR) && has("me", STR("x")));
    end();
}

static void foreign_file(void)
{
    begin();
    CHECK(put("me", STR("x"), HOUR));
    store_free(store);
    unlink(file);
    sql("CREATE TABLE recipes (cake)");
    store = open_store(0);
    CHECK(!put("me", STR("y"), HOUR) && last.code == ERR_IO && strstr(last.msg, "another program"));
    end();
}

static void removed_meanwhile(void)
{
    char side[240];

    begin();
    CHECK(put("me", STR("x"), HOUR));
    unlink(file);
    snprintf(side, sizeof side, "%s-wal", file);
    unlink(side);
    snprintf(side, sizeof side, "%s-shm", file);
    unlink(side);
    CHECK(rmdir(dir) == 0);
    CHECK(!has("me", STR("x")) && last.code == ERR_MISSING);
    CHECK(put("me", STR("y"), HOUR) && has("me", STR("y")));
    again();
    CHECK(has("me", STR("y")));
    end();
}

/* No file may become larger than this: as when the disk is full. Reading goes
 * on, and so does the program. */
static void disk_full_child(void)
{
    struct rlimit small = { 200000, 200000 };
    static char bytes[300000];

    begin();
    CHECK(put("me", STR("first"), HOUR));
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(!put("me", noise(bytes, sizeof bytes, 1), HOUR) && last.code == ERR_IO);
    CHECK(has("me", STR("first")));
    CHECK(!has("me", (struct str){ bytes, sizeof bytes }) && last.code == ERR_IO);
    nap(1050);
    CHECK(put("me", STR("second"), HOUR) && has("me", STR("second")));
    CHECK(!has("me", (struct str){ bytes, sizeof bytes }) && last.code == ERR_MISSING);
    end();
}

static void in_child(void (*fn)(void))
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        fn();
        fflush(stdout);
        _exit(test_bad != 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void disk_full(void)
{
    folders++;
    in_child(disk_full_child);
}

/* --- several processes --- */

enum { PROCESSES = 3, EACH = 150 };

static int which;

static void put_many(void)
{
    char bytes[5000];
    int left = EACH;

    loop = loop_new(NULL);
    store = open_store(0);
    answers = refused = 0;
    for (int i = 0; i < EACH; i++) {
        store_put(store, STORE_PRUNE, "me",
                  noise(bytes, sizeof bytes, (uint64_t)(which * EACH + i)), HOUR, count_put, &left);
        if (i % 10 == 0)
            CHECK(put("me", noise(bytes, 100, (uint64_t)(which + i)), HOUR)); /* common ones */
    }
    if (left > 0)
        loop_run(loop);
    while (left > 0) /* each put above stopped the loop, too */
        loop_run(loop);
    end();
}

static void several(void)
{
    char bytes[5000];
    pid_t pids[PROCESSES];
    int status;

    begin();
    store_free(store);
    loop_free(loop);
    fflush(stdout);
    for (which = 0; which < PROCESSES; which++) {
        pids[which] = fork();
        if (pids[which] == 0) {
            put_many();
            fflush(stdout);
            _exit(test_bad != 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++)
        CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
    loop = loop_new(NULL);
    store = open_store(0);
    for (int i = 0; i < PROCESSES * EACH; i++)
        CHECK(has("me", noise(bytes, sizeof bytes, (uint64_t)i)));
    end();
}

/* --- kill -9 --- */

static int report_fd;
static uint64_t next_seed;

static size_t size_of(uint64_t seed)
{
    return 20 + (size_t)(seed * 7919 % 30000);
}

static void kill_step(void *arg, const struct err *e);

static void kill_put(void)
{
    static char bytes[64000];
    uint64_t *seed = xmalloc(sizeof *seed);

    *seed = next_seed++;
    store_put(store, STORE_PRUNE, "me", noise(bytes, size_of(*seed), *seed), HOUR, kill_step, seed);
}

static void kill_step(void *arg, const struct err *e)
{
    uint64_t *seed = arg;

    if (e || write(report_fd, seed, sizeof *seed) != sizeof *seed)
        _exit(1);
    free(seed);
    kill_put();
}

static void kill_child(void)
{
    loop = loop_new(NULL);
    store = open_store(0);
    for (int i = 0; i < 5; i++)
        kill_put();
    loop_run(loop);
}

/* One round: seeds that were reported are added to seen. */
static bool kill_round(int round, uint64_t *seen, size_t *n, size_t most)
{
    int fds[2], status;
    uint64_t seed;
    pid_t pid;

    CHECK(pipe2(fds, O_CLOEXEC) == 0);
    pid = fork();
    if (pid == 0) {
        report_fd = fds[1];
        next_seed = (uint64_t)round * 100000;
        kill_child();
        _exit(1);
    }
    close(fds[1]);
    /* Some die while they still open the file, others in the middle of it. */
    if (round % 5 && read(fds[0], &seed, sizeof seed) == sizeof seed && *n < most)
        seen[(*n)++] = seed;
    nap(1 + round * 13 % 17);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid);
    while (read(fds[0], &seed, sizeof seed) == sizeof seed)
        if (*n < most)
            seen[(*n)++] = seed;
    close(fds[0]);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void kill_nine(void)
{
    static uint64_t seen[20000];
    static char bytes[64000];
    size_t n = 0, found = 0, checked = 0;

    begin();
    store_free(store);
    loop_free(loop);
    fflush(stdout);
    for (int round = 1; round <= 50; round++) {
        CHECK(kill_round(round, seen, &n, 20000));
        if (round % 10)
            continue;
        loop = loop_new(NULL); /* meanwhile, before the quota forgets them */
        store = open_store(1 << 30);
        for (; checked < n; checked++)
            found += has("me", noise(bytes, size_of(seen[checked]), seen[checked]));
        end();
    }
    printf("# %zu ids in 50 rounds\n", n);
    CHECK(n > 50 && found == n);
}

static void clear(const char *path)
{
    char cmd[200];

    snprintf(cmd, sizeof cmd, "rm -rf '%s'", path);
    CHECK(system(cmd) == 0);
}

int main(void)
{
    snprintf(base, sizeof base, "/tmp/pith-store-XXXXXX");
    if (!mkdtemp(base))
        return 2;
    TEST("an id is the content's hash and says its kind", ids);
    TEST("what was put comes back, after a restart too", back_again);
    TEST("unknown, expired and another's are one and the same", others);
    TEST("reading makes no store", lazy);
    TEST("folder 0700, files 0600", private);
    TEST("a text lives as long as it was put for, or longer", time_to_live);
    TEST("a clock set back loses nothing, and age is not its matter", clock_set_back);
    TEST("beyond the quota what was used longest ago goes first", quota);
    TEST("equal texts are kept once, for each who put them", shared);
    TEST("too large a text, or too many waiting, is refused", too_large);
    TEST("a cancelled request calls nobody", cancelled);
    TEST("to free a store keeps what was queued", free_keeps);
    TEST("a spoilt file fails, and a new one is taken a second later", corrupt);
    TEST("a damaged page is an error, not another text", damaged_page);
    TEST("a folder that cannot be made fails, until it can", no_folder);
    TEST("a store of a newer schema is left alone", newer_schema);
    TEST("so is one that becomes newer while it is open", newer_meanwhile);
    TEST("another program's database is left alone", foreign_file);
    TEST("a store that is removed while open is made again", removed_meanwhile);
    TEST("on a full disk puts fail, gets go on, and puts recover", disk_full);
    TEST("several processes share a store", several);
    TEST("after kill -9 every id that was reported is there", kill_nine);
    free(text);
    clear(base);
    return test_end();
}
