/* store_sqlite.c: blobs and references in one SQLite file.
 *
 * blobs: a text, packed, once per content. refs: who may read it, until when,
 * and `used`, a count that grows with every put and get: the smallest is the
 * oldest. Triggers drop a blob with its last reference and keep the sum of
 * sizes, so no path through the code can forget to.
 *
 * WAL with synchronous=NORMAL: a commit is one write to the page cache, which
 * survives the death of the process, not of the machine. The file is touched
 * only after its schema was looked at, in every transaction anew: a newer pith
 * may come and change it while we hold it open. */
#include "store/store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/libs.h"

enum {
    SCHEMA = 1,
    APPLICATION = 0x70697468, /* "pith", in the file's header */
    BUSY_MS = 5000,           /* how long another process may write */
    ROW_BYTES = 256,          /* what a text costs besides its bytes */
    MOST_TOUCHED = 64,
};

static const char create_sql[] =
    "CREATE TABLE blobs (n INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,"
    " raw INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL);"
    "CREATE TABLE refs (n INTEGER PRIMARY KEY, principal TEXT NOT NULL, id TEXT NOT NULL,"
    " blob INTEGER NOT NULL, used INTEGER NOT NULL, expires INTEGER NOT NULL,"
    " UNIQUE (principal, id));"
    "CREATE INDEX refs_blob ON refs (blob);"
    "CREATE INDEX refs_used ON refs (used);"
    "CREATE INDEX refs_expires ON refs (expires);"
    "CREATE TABLE total (bytes INTEGER NOT NULL, raw INTEGER NOT NULL);"
    "INSERT INTO total VALUES (0, 0);"
    "CREATE TRIGGER blob_in AFTER INSERT ON blobs BEGIN"
    " UPDATE total SET bytes = bytes + new.size, raw = raw + new.raw; END;"
    "CREATE TRIGGER blob_out AFTER DELETE ON blobs BEGIN"
    " UPDATE total SET bytes = bytes - old.size, raw = raw - old.raw; END;"
    "CREATE TRIGGER ref_out AFTER DELETE ON refs BEGIN"
    " DELETE FROM blobs WHERE n = old.blob"
    " AND NOT EXISTS (SELECT 1 FROM refs WHERE blob = old.blob); END;";

/* The statements, each prepared when it is first used. */
enum statement {
    VERSION,
    BEGIN,
    COMMIT,
    NEWEST,
    TOTAL,
    BLOB_FIND,
    BLOB_ADD,
    REF_PUT,
    REF_GET,
    REF_USE,
    FORGET_OVER,
    FORGET_OLDEST,
    STATS,
    PURGE,
    STATEMENTS
};

static const char *const sql[STATEMENTS] = {
    [VERSION] = "PRAGMA user_version",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [NEWEST] = "SELECT coalesce(max(used), 0) FROM refs",
    [TOTAL] = "SELECT bytes FROM total",
    [BLOB_FIND] = "SELECT n FROM blobs WHERE hash = ?1",
    [BLOB_ADD] = "INSERT INTO blobs (hash, raw, size, data) VALUES (?1, ?2, ?3, ?4)",
    [REF_PUT] = "INSERT INTO refs (principal, id, blob, used, expires)"
                " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (principal, id) DO UPDATE SET"
                " blob = excluded.blob, used = excluded.used,"
                " expires = max(expires, excluded.expires)",
    [REF_GET] = "SELECT refs.n, raw, data FROM refs JOIN blobs ON blobs.n = refs.blob"
                " WHERE principal = ?1 AND id = ?2 AND expires > ?3",
    [REF_USE] = "UPDATE refs SET used = ?2 WHERE n = ?1",
    [FORGET_OVER] = "DELETE FROM refs WHERE n IN"
                    " (SELECT n FROM refs WHERE expires <= ?1 ORDER BY expires LIMIT 64)",
    [FORGET_OLDEST] = "DELETE FROM refs WHERE n ="
                      " (SELECT n FROM refs WHERE used <= ?1 ORDER BY used LIMIT 1)",
    [STATS] = "SELECT (SELECT count(*) FROM blobs), (SELECT count(*) FROM refs), bytes, raw"
              " FROM total",
    [PURGE] = "DELETE FROM refs WHERE (?1 IS NULL OR principal = ?1) AND expires <= ?2",
};

struct db {
    const struct libs *lib;
    sqlite3 *sq;
    sqlite3_stmt *st[STATEMENTS];
    ZSTD_CCtx *zip;
    uint64_t quota;
    const atomic_bool *hurry;
    uint64_t busy_since;
    bool broken;
    int64_t used; /* inside a transaction: the count so far */
    int64_t touched[MOST_TOUCHED];
    size_t touched_n;
    char path[PATH_MAX];
};

/* Failing. */

static bool is_passing(int rc)
{
    int kind = rc & 0xff;

    return kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_FULL;
}

/* `verb`: what the store cannot be. The path comes last, where it may be cut. */
static bool fail(struct db *d, int rc, const char *verb, struct err *e)
{
    int kind = rc & 0xff, os = d->sq ? d->lib->sqlite3_system_errno(d->sq) : 0;
    bool damaged = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
    bool by_os = os && (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN);

    /* Of a read-only folder SQLite tells only that its helper is not there. */
    if (kind == SQLITE_CANTOPEN && access(d->path, W_OK) != 0)
        os = errno;
    if (!is_passing(rc))
        d->broken = true;
    return err_set(e, ERR_IO, "the store cannot be %s: %s%s%s: %s", verb,
                   by_os ? strerror(os) : d->lib->sqlite3_errstr(rc),
                   damaged ? "; move it away and a new one is made" : "",
                   kind == SQLITE_BUSY ? " (by another program)" : "", d->path);
}

bool db_missing(const char *id, struct err *e)
{
    return err_set(e, ERR_MISSING,
                   "nothing is kept under '%.60s': it is unknown, expired, evicted or another's",
                   id);
}

/* Statements. */

/* Ready to be bound. NULL, with *e set, where it cannot be prepared. */
static sqlite3_stmt *ready(struct db *d, enum statement i, struct err *e)
{
    int rc;

    if (d->st[i])
        return d->st[i];
    rc = d->lib->sqlite3_prepare_v2(d->sq, sql[i], -1, &d->st[i], NULL);
    if (rc != SQLITE_OK)
        fail(d, rc, "used", e);
    return d->st[i];
}

static void bind_int(struct db *d, enum statement i, int at, int64_t v)
{
    d->lib->sqlite3_bind_int64(d->st[i], at, v);
}

static void bind_text(struct db *d, enum statement i, int at, const char *s)
{
    d->lib->sqlite3_bind_text(d->st[i], at, s, -1, SQLITE_STATIC);
}

/* A statement that gives no row. */
static bool run(struct db *d, enum statement i, struct err *e)
{
    sqlite3_stmt *st = ready(d, i, e);
    int rc;

    if (!st)
        return false;
    rc = d->lib->sqlite3_step(st);
    d->lib->sqlite3_reset(st);
    return rc == SQLITE_DONE || rc == SQLITE_ROW || fail(d, rc, "written", e);
}

/* A statement that gives a number, or none: then *out stays. */
static bool ask(struct db *d, enum statement i, int64_t *out, struct err *e)
{
    sqlite3_stmt *st = ready(d, i, e);
    int rc;

    if (!st)
        return false;
    rc = d->lib->sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *out = d->lib->sqlite3_column_int64(st, 0);
    d->lib->sqlite3_reset(st);
    return rc == SQLITE_DONE || rc == SQLITE_ROW || fail(d, rc, "read", e);
}

static bool exec(struct db *d, const char *text, struct err *e)
{
    int rc = d->lib->sqlite3_exec(d->sq, text, NULL, NULL, NULL);

    return rc == SQLITE_OK || fail(d, rc, "used", e);
}

static bool ask_once(struct db *d, const char *text, int64_t *out, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int rc = d->lib->sqlite3_prepare_v2(d->sq, text, -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = d->lib->sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *out = d->lib->sqlite3_column_int64(st, 0);
    d->lib->sqlite3_finalize(st);
    return rc == SQLITE_ROW || fail(d, rc, "read", e);
}

/* Opening. */

bool db_path(char *out, const char *dir, struct err *e)
{
    int n = snprintf(out, PATH_MAX, "%s/store.db", dir);

    return n < PATH_MAX - 8 || /* SQLite puts "-wal" behind it */
           err_set(e, ERR_IO, "the store's path is too long: %s", dir);
}

/* The file, 0600 from its first moment; SQLite gives its helpers the same mode.
 * One that is there is not opened here: to close it would drop the locks that
 * another connection of this process holds on it. */
static bool make_file(const char *path, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (errno != EEXIST)
        return err_set(e, ERR_IO, "the store cannot be made: %s: %s", strerror(errno), path);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077) && chmod(path, 0600) != 0)
        return err_set(e, ERR_IO, "others can read the store: %s: %s", strerror(errno), path);
    return true;
}

static int on_busy(void *arg, int count)
{
    struct db *d = arg;
    struct timespec nap = { 0, count < 20 ? 1000000 : 5000000 };

    if (count == 0)
        d->busy_since = clock_ms();
    if (*d->hurry || clock_ms() - d->busy_since > BUSY_MS)
        return 0;
    nanosleep(&nap, NULL);
    return 1;
}

static bool newer(struct db *d, int64_t version, struct err *e)
{
    d->broken = true;
    return err_set(e, ERR_IO,
                   "the store is of a newer pith (schema %lld, this one knows %d) and is left "
                   "alone; take that pith or another --store: %s",
                   (long long)version, SCHEMA, d->path);
}

static bool check_version(struct db *d, struct err *e)
{
    int64_t version = 0;

    return ask(d, VERSION, &version, e) && (version == SCHEMA || newer(d, version, e));
}

/* Is there nothing in the file yet? Refuses one that is not ours to touch. */
static bool check_file(struct db *d, bool *fresh, struct err *e)
{
    int64_t version = 0, application = 0, tables = 0;

    if (!ask_once(d, "PRAGMA user_version", &version, e) ||
        !ask_once(d, "PRAGMA application_id", &application, e) ||
        !ask_once(d, "SELECT count(*) FROM sqlite_master", &tables, e))
        return false;
    *fresh = version == 0 && tables == 0;
    if (*fresh)
        return true;
    if (application != APPLICATION || version < 1)
        return err_set(e, ERR_IO, "this is another program's, not a store of pith: %s", d->path);
    return version == SCHEMA || newer(d, version, e);
}

static void roll_back(struct db *d)
{
    if (!d->lib->sqlite3_get_autocommit(d->sq))
        d->lib->sqlite3_exec(d->sq, "ROLLBACK", NULL, NULL, NULL);
}

/* Of several who come at once one makes the tables; the others then find them. */
static bool create(struct db *d, struct err *e)
{
    char mark[80];
    bool fresh;

    snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
             APPLICATION, SCHEMA);
    if (exec(d, sql[BEGIN], e) && check_file(d, &fresh, e) && (!fresh || exec(d, create_sql, e)) &&
        exec(d, mark, e))
        return true;
    roll_back(d);
    return false;
}

static bool set_up(struct db *d, struct err *e)
{
    bool fresh;

    if (!check_file(d, &fresh, e))
        return false;
    if (fresh && !exec(d, "PRAGMA auto_vacuum=INCREMENTAL", e))
        return false;
    return exec(d,
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                "PRAGMA journal_size_limit=16777216; PRAGMA trusted_schema=OFF",
                e) &&
           (!fresh || create(d, e));
}

static struct db *open_once(const char *path, uint64_t quota, const atomic_bool *hurry,
                            struct err *e, bool *busy)
{
    struct db *d = xcalloc(1, sizeof *d);
    int rc;

    *busy = false;
    d->lib = libs_load(e);
    if (!d->lib)
        goto fail;
    d->quota = quota;
    d->hurry = hurry;
    snprintf(d->path, sizeof d->path, "%s", path);
    rc = d->lib->sqlite3_open_v2(path, &d->sq, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) {
        fail(d, rc, "opened", e);
        goto fail;
    }
    d->lib->sqlite3_extended_result_codes(d->sq, 1);
    d->lib->sqlite3_busy_handler(d->sq, on_busy, d);
    if (set_up(d, e))
        return d;
    *busy = !d->broken && !*hurry;

fail:
    db_close(d);
    return NULL;
}

/* To become WAL a file must be nobody else's for a moment, and SQLite does not
 * ask the busy handler about that: so again, a little later. */
struct db *db_open(const char *dir, uint64_t quota, const atomic_bool *hurry, struct err *e)
{
    struct timespec nap = { 0, 10000000 };
    uint64_t start = clock_ms();
    char path[PATH_MAX];
    struct db *d;
    bool busy;

    if (!db_path(path, dir, e))
        return NULL;
    if (!file_make_dir(dir, 0700, e)) {
        if (e)
            e->code = ERR_IO;
        return NULL;
    }
    if (!make_file(path, e))
        return NULL;
    while (!(d = open_once(path, quota, hurry, e, &busy)) && busy && clock_ms() - start < BUSY_MS)
        nanosleep(&nap, NULL);
    return d;
}

void db_close(struct db *d)
{
    if (!d)
        return;
    if (d->lib) {
        for (int i = 0; i < STATEMENTS; i++)
            d->lib->sqlite3_finalize(d->st[i]);
        d->lib->sqlite3_close(d->sq);
        d->lib->ZSTD_freeCCtx(d->zip);
    }
    free(d);
}

bool db_is_there(struct db *d)
{
    int moved = 0;

    d->lib->sqlite3_file_control(d->sq, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return !moved;
}

bool db_is_broken(const struct db *d)
{
    return d->broken;
}

/* Transactions. */

static bool begin(struct db *d, struct err *e)
{
    d->used = 0;
    if (run(d, BEGIN, e) && check_version(d, e) && ask(d, NEWEST, &d->used, e))
        return true;
    roll_back(d);
    return false;
}

static bool commit(struct db *d, struct err *e)
{
    if (run(d, COMMIT, e))
        return true;
    roll_back(d);
    return false;
}

/* Putting. */

void db_text_done(struct db_text *t)
{
    free(t->packed);
    t->packed = NULL;
}

static bool find_blob(struct db *d, const unsigned char hash[32], int64_t *n, struct err *e)
{
    *n = 0;
    if (!ready(d, BLOB_FIND, e))
        return false;
    d->lib->sqlite3_bind_blob(d->st[BLOB_FIND], 1, hash, 32, SQLITE_STATIC);
    return ask(d, BLOB_FIND, n, e);
}

static bool pack(struct db *d, struct db_text *t, struct err *e)
{
    size_t room = d->lib->ZSTD_compressBound(t->text.n), n;

    if (!d->zip) {
        d->zip = d->lib->ZSTD_createCCtx();
        if (!d->zip)
            return err_set(e, ERR_IO, "zstd cannot be used");
        d->lib->ZSTD_CCtx_setParameter(d->zip, ZSTD_c_compressionLevel, 1);
        d->lib->ZSTD_CCtx_setParameter(d->zip, ZSTD_c_checksumFlag, 1);
    }
    t->packed = xmalloc(room);
    n = d->lib->ZSTD_compress2(d->zip, t->packed, room, t->text.p, t->text.n);
    if (d->lib->ZSTD_isError(n))
        return err_set(e, ERR_IO, "cannot pack a text: %s", d->lib->ZSTD_getErrorName(n));
    t->packed_n = n;
    if (n + ROW_BYTES > d->quota)
        return err_set(e, ERR_TOO_LARGE, "%zu bytes, packed, are more than the whole store keeps",
                       n);
    return true;
}

bool db_pack(struct db *d, struct db_text *t, struct err *e)
{
    int64_t n;

    return find_blob(d, t->hash, &n, e) && (n || pack(d, t, e));
}

static bool add_blob(struct db *d, struct db_text *t, int64_t *n, struct err *e)
{
    sqlite3_stmt *st = ready(d, BLOB_ADD, e);

    if (!st || (!t->packed && !pack(d, t, e))) /* it was there a moment ago */
        return false;
    d->lib->sqlite3_bind_blob(st, 1, t->hash, 32, SQLITE_STATIC);
    bind_int(d, BLOB_ADD, 2, (int64_t)t->text.n);
    bind_int(d, BLOB_ADD, 3, (int64_t)t->packed_n + ROW_BYTES);
    d->lib->sqlite3_bind_blob(st, 4, t->packed, (int)t->packed_n, SQLITE_STATIC);
    if (!run(d, BLOB_ADD, e))
        return false;
    *n = d->lib->sqlite3_last_insert_rowid(d->sq);
    return true;
}

static bool put_one(struct db *d, struct db_text *t, struct err *e)
{
    int64_t n;

    if (!find_blob(d, t->hash, &n, e) || (!n && !add_blob(d, t, &n, e)) || !ready(d, REF_PUT, e))
        return false;
    bind_text(d, REF_PUT, 1, t->principal);
    bind_text(d, REF_PUT, 2, t->id);
    bind_int(d, REF_PUT, 3, n);
    bind_int(d, REF_PUT, 4, ++d->used);
    bind_int(d, REF_PUT, 5, (int64_t)t->expires);
    return run(d, REF_PUT, e);
}

/* What is over, some at a time; then the oldest while there is too much. Those
 * put just now stay: their ids are about to be given out. */
static bool forget(struct db *d, int64_t before, uint64_t now, struct err *e)
{
    int64_t total = 0;

    if (!ready(d, FORGET_OVER, e) || !ready(d, FORGET_OLDEST, e))
        return false;
    bind_int(d, FORGET_OVER, 1, (int64_t)now);
    bind_int(d, FORGET_OLDEST, 1, before);
    if (!run(d, FORGET_OVER, e))
        return false;
    for (;;) {
        if (!ask(d, TOTAL, &total, e))
            return false;
        if ((uint64_t)total <= d->quota)
            return true;
        if (!run(d, FORGET_OLDEST, e))
            return false;
        if (d->lib->sqlite3_changes(d->sq) == 0)
            return true;
    }
}

static bool use_touched(struct db *d, struct err *e)
{
    if (!ready(d, REF_USE, e))
        return false;
    for (size_t i = 0; i < d->touched_n; i++) {
        bind_int(d, REF_USE, 1, d->touched[i]);
        bind_int(d, REF_USE, 2, ++d->used);
        if (!run(d, REF_USE, e))
            return false;
    }
    return true;
}

bool db_put(struct db *d, struct db_text *texts, size_t n, uint64_t now, struct err *e)
{
    int64_t before;
    size_t i;

    if (!begin(d, e))
        return false;
    if (!use_touched(d, e))
        goto fail;
    before = d->used;
    for (i = 0; i < n; i++)
        if (!put_one(d, &texts[i], e))
            goto fail;
    if (!forget(d, before, now, e) || !commit(d, e))
        goto fail;
    d->touched_n = 0;
    return true;

fail:
    roll_back(d);
    return false;
}

/* Getting. */

static bool unpack(struct db *d, sqlite3_stmt *st, struct buf *out, struct err *e)
{
    int64_t raw = d->lib->sqlite3_column_int64(st, 1);
    const void *data = d->lib->sqlite3_column_blob(st, 2);
    int size = d->lib->sqlite3_column_bytes(st, 2);
    char *room = raw >= 0 && raw <= STORE_MOST_BYTES ? buf_room(out, (size_t)raw) : NULL;
    size_t n;

    if (!room || !data)
        return fail(d, SQLITE_CORRUPT, "read", e);
    n = d->lib->ZSTD_decompress(room, (size_t)raw, data, (size_t)size);
    if (d->lib->ZSTD_isError(n) || n != (size_t)raw)
        return fail(d, SQLITE_CORRUPT, "read", e);
    out->len += n;
    return true;
}

static void note_use(struct db *d, int64_t ref)
{
    if (d->touched_n == MOST_TOUCHED)
        db_touch(d);
    if (d->touched_n < MOST_TOUCHED)
        d->touched[d->touched_n++] = ref;
}

bool db_get(struct db *d, const char *principal, const char *id, uint64_t now, struct buf *out,
            struct err *e)
{
    sqlite3_stmt *st;
    int64_t ref = 0;
    bool ok;
    int rc;

    if (!check_version(d, e) || !(st = ready(d, REF_GET, e)))
        return false;
    bind_text(d, REF_GET, 1, principal);
    bind_text(d, REF_GET, 2, id);
    bind_int(d, REF_GET, 3, (int64_t)now);
    rc = d->lib->sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        ref = d->lib->sqlite3_column_int64(st, 0);
        ok = unpack(d, st, out, e);
    } else {
        ok = rc == SQLITE_DONE ? db_missing(id, e) : fail(d, rc, "read", e);
    }
    d->lib->sqlite3_reset(st);
    if (ok)
        note_use(d, ref);
    return ok;
}

void db_touch(struct db *d)
{
    if (d->touched_n == 0)
        return;
    if (begin(d, NULL)) {
        if (!use_touched(d, NULL) || !commit(d, NULL))
            roll_back(d);
    }
    d->touched_n = 0;
}

/* For people. */

bool db_stats(struct db *d, struct store_stats *out, struct err *e)
{
    sqlite3_stmt *st;
    int rc;

    if (!check_version(d, e) || !(st = ready(d, STATS, e)))
        return false;
    rc = d->lib->sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        out->blobs = (size_t)d->lib->sqlite3_column_int64(st, 0);
        out->refs = (size_t)d->lib->sqlite3_column_int64(st, 1);
        out->bytes = (uint64_t)d->lib->sqlite3_column_int64(st, 2);
        out->bytes_raw = (uint64_t)d->lib->sqlite3_column_int64(st, 3);
    }
    d->lib->sqlite3_reset(st);
    return rc == SQLITE_ROW || fail(d, rc, "read", e);
}

/* Then give the room back to the disk; a reader may keep us from it. */
bool db_purge(struct db *d, const char *principal, bool only_expired, uint64_t now, size_t *removed,
              struct err *e)
{
    if (!begin(d, e))
        return false;
    if (!ready(d, PURGE, e))
        goto fail;
    bind_text(d, PURGE, 1, principal);
    bind_int(d, PURGE, 2, only_expired ? (int64_t)now : INT64_MAX);
    if (!run(d, PURGE, e))
        goto fail;
    *removed = (size_t)d->lib->sqlite3_changes(d->sq);
    if (!commit(d, e))
        goto fail;
    d->lib->sqlite3_exec(d->sq, "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)", NULL,
                         NULL, NULL);
    return true;

fail:
    roll_back(d);
    return false;
}
