/* store_sqlite.h: the store's file, one connection to it.
 *
 * Blocking, and for one thread at a time: the store's own. Several processes
 * may hold the same file: WAL, and a writer waits for its turn.
 * Times are wall clock milliseconds and are passed in; what decides about age
 * is not a time but a count, so a clock that is set back throws nothing away. */
#pragma once
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

struct db;

/* A text on its way into the store. */
struct db_text {
    const char *principal, *id;
    struct str text;
    unsigned char hash[32];
    uint64_t expires;
    void *packed; /* made by db_pack, freed by db_text_done */
    size_t packed_n;
};
void db_text_done(struct db_text *t);

/* dir/store.db; out has PATH_MAX bytes of room. */
bool db_path(char *out, const char *dir, struct err *e);

/* Open it, or make it (folder 0700, file 0600). While *hurry is true it does not
 * wait for other writers. NULL with *e set: IO. */
struct db *db_open(const char *dir, uint64_t quota, const atomic_bool *hurry, struct err *e);
void db_close(struct db *d); /* NULL is fine */

/* Is it still the file of that name? */
bool db_is_there(struct db *d);

/* After a failure: is it better to open it anew? */
bool db_is_broken(const struct db *d);

/* Compress what is not kept yet. Outside of a transaction: it takes time. */
bool db_pack(struct db *d, struct db_text *t, struct err *e);

/* Keep all of them, in one transaction; then forget what is over or too much. */
bool db_put(struct db *d, struct db_text *texts, size_t n, uint64_t now, struct err *e);

/* Append the text to out. MISSING or IO. */
bool db_get(struct db *d, const char *principal, const char *id, uint64_t now, struct buf *out,
            struct err *e);

/* Note the gets since the last put as uses. Best effort. */
void db_touch(struct db *d);

bool db_stats(struct db *d, struct store_stats *out, struct err *e);
bool db_purge(struct db *d, const char *principal, bool only_expired, uint64_t now, size_t *removed,
              struct err *e);

/* The one message for what is not there. Gives false. */
bool db_missing(const char *id, struct err *e);
