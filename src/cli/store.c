/* store.c: what is kept, for people. */
#include <stdio.h>
#include <sys/stat.h>
#include "cli/cli.h"
#include "cli/home.h"
#include "store/store.h"

/* What the file takes on disk, with what SQLite keeps beside it. */
static uint64_t on_disk(const struct store *s)
{
    static const char *const sides[] = { "", "-wal", "-shm" };
    char path[PATH_MAX], full[PATH_MAX + 8];
    struct stat st;
    uint64_t sum = 0;

    store_path(s, path);
    for (int i = 0; i < 3; i++) {
        snprintf(full, sizeof full, "%s%s", path, sides[i]);
        if (stat(full, &st) == 0)
            sum += (uint64_t)st.st_size;
    }
    return sum;
}

static void add_bytes(struct buf *b, const char *label, uint64_t n, const char *note)
{
    buf_addf(b, "%-8s %llu bytes", label, (unsigned long long)n);
    if (n >= 1000000)
        buf_addf(b, " (%.1f MB)", (double)n / 1e6);
    buf_addf(b, "%s\n", note);
}

static int show(struct store *s, const char *dir)
{
    struct store_stats st;
    struct err e;
    struct buf b;
    bool ok;

    if (!store_stats(s, &st, &e))
        return cli_fail(1, "%s", e.msg);
    buf_init(&b, 1 << 16);
    buf_addf(&b, "%-8s %s\n", "folder", dir);
    add_bytes(&b, "on disk", on_disk(s), "");
    buf_addf(&b, "%-8s %zu, under %zu ids\n", "texts", st.blobs, st.refs);
    add_bytes(&b, "packed", st.bytes, "; the oldest go beyond 100 MB");
    add_bytes(&b, "unpacked", st.bytes_raw, "");
    ok = cli_print(buf_str(&b));
    buf_done(&b);
    return ok ? 0 : 1;
}

static int purge(struct store *s, bool all)
{
    size_t removed;
    struct err e;
    struct buf b;
    bool ok;

    if (!store_purge(s, NULL, !all, &removed, &e))
        return cli_fail(1, "%s", e.msg);
    buf_init(&b, 200);
    buf_addf(&b, "%zu id%s removed%s\n", removed, removed == 1 ? "" : "s",
             all ? "" : ", whose time was over; --all removes every one");
    ok = cli_print(buf_str(&b));
    buf_done(&b);
    return ok ? 0 : 1;
}

int cmd_store(struct house *h, int argc, char **argv)
{
    bool all = h->set.num[OPT_ALL] != 0, purging = argc > 0 && strcmp(argv[0], "purge") == 0;
    struct store_opts o = { .loop = NULL };
    char dir[PATH_MAX];
    struct store *s;
    struct err e;
    int status;

    if (argc > purging)
        return cli_fail(2, "store takes 'purge' or nothing, not '%s'", argv[purging]);
    if (all && !purging)
        return cli_fail(2, "--all goes with 'pith store purge'");
    if (!home_store(dir, h->set.text[OPT_STORE], &e))
        return cli_fail(2, "%s", e.msg);
    o.dir = dir;
    s = store_new(&o);
    status = purging ? purge(s, all) : show(s, dir);
    store_free(s);
    return status;
}
