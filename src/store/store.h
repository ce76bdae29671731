/* store.h: what was cut, by id, for as long as it was promised.
 *
 * Keeps whole outputs so that a part left out of an answer can be read back:
 * after a restart, after kill -9, by any pith of the same folder. A text is
 * kept once, under the hash of its content; who may read it, and until when, is
 * a reference (principal, id). Beyond the quota the reference that was used
 * longest ago goes first.
 *
 * Asynchronous: call from the loop thread, the answer comes back there on a
 * later turn. All work (SQLite, zstd, hashing) is done by one thread that
 * starts at the first request, so a program that keeps nothing pays nothing.
 * A store that cannot be used makes requests fail, each with its reason, and is
 * tried again, at most once a second.
 * Does not decide what is kept; prune/ and call/ do. */
#pragma once
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

enum {
    STORE_MOST_BYTES = 8 << 20,    /* a longer text is refused */
    STORE_QUEUE_BYTES = 64 << 20,  /* texts that wait for the disk, together */
    STORE_QUOTA_BYTES = 100000000, /* what a store keeps unless told otherwise */
};

struct store;

struct store_opts {
    struct loop *loop;        /* NULL: only what blocks is called */
    const char *dir;          /* made at the first put, 0700 */
    uint64_t quota_bytes;     /* packed; 0: STORE_QUOTA_BYTES */
    uint64_t (*now_ms)(void); /* the wall clock; NULL: the real one (tests have another) */
};

/* Opens nothing yet. Copies o. */
struct store *store_new(const struct store_opts *o);

/* Undo it. What is queued is still kept, if that takes no longer than two
 * seconds; nobody is called back any more. NULL is fine. */
void store_free(struct store *s);

enum store_kind { STORE_PRUNE, STORE_ARTIFACT };

/* The id of a text: "prn_" or "art_" and 26 letters of its SHA-256. Pure; takes
 * some 5 ms for a megabyte, so large ones belong to a worker. */
void store_id(char out[40], enum store_kind kind, struct str text);

struct store_op;

/* e is NULL once the text is committed: from then on kill -9 cannot lose it. */
typedef void store_put_fn(void *arg, const struct err *e);

/* Keep text under its id for the principal, for ttl_ms from now; to put it again
 * makes that time longer, never shorter. Copies. Fails with TOO_LARGE (this
 * text, or all that waits) or IO. */
struct store_op *store_put(struct store *s, enum store_kind kind, const char *principal,
                           struct str text, uint64_t ttl_ms, store_put_fn *done, void *arg);

/* text lives until the callback returns. e: MISSING (unknown, expired, evicted
 * or another's: one message for all), or IO (the store cannot be read, or what
 * is missing may be what it could not keep: the last put failed). */
typedef void store_get_fn(void *arg, struct str text, const struct err *e);
struct store_op *store_get(struct store *s, const char *principal, const char *id,
                           store_get_fn *done, void *arg);

/* `done` will not be called; what was put may still be kept. NULL is fine. */
void store_cancel(struct store_op *op);

/* For people (`pith store`); these block. A store that is not there is empty. */
struct store_stats {
    size_t blobs, refs;
    uint64_t bytes;     /* packed, as the quota counts them */
    uint64_t bytes_raw; /* what the texts are without packing */
};
bool store_stats(struct store *s, struct store_stats *out, struct err *e);

/* Remove references, of one principal or (NULL) of all; only those whose time is
 * over, or every one. *removed counts them. */
bool store_purge(struct store *s, const char *principal, bool only_expired, size_t *removed,
                 struct err *e);

/* The file that the store keeps its texts in; out has PATH_MAX bytes of room. */
void store_path(const struct store *s, char *out);
