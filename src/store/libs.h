/* libs.h: SQLite and zstd, loaded when the store is first used.
 *
 * Linked plainly they would cost every start some 0.3 ms and half a megabyte,
 * and most runs of `pith stdio` keep nothing. */
#pragma once
#include <sqlite3.h>
#include <zstd.h>
#include "base/err.h"

/* The functions we use, under their own types. */
#define SQLITE_FUNCTIONS(X)                                                                        \
    X(sqlite3_open_v2)                                                                             \
    X(sqlite3_close)                                                                               \
    X(sqlite3_extended_result_codes)                                                               \
    X(sqlite3_busy_handler)                                                                        \
    X(sqlite3_file_control)                                                                        \
    X(sqlite3_exec)                                                                                \
    X(sqlite3_errstr)                                                                              \
    X(sqlite3_system_errno)                                                                        \
    X(sqlite3_get_autocommit)                                                                      \
    X(sqlite3_changes)                                                                             \
    X(sqlite3_last_insert_rowid)                                                                   \
    X(sqlite3_prepare_v2)                                                                          \
    X(sqlite3_finalize)                                                                            \
    X(sqlite3_reset)                                                                               \
    X(sqlite3_step)                                                                                \
    X(sqlite3_bind_int64)                                                                          \
    X(sqlite3_bind_text)                                                                           \
    X(sqlite3_bind_blob)                                                                           \
    X(sqlite3_column_int64)                                                                        \
    X(sqlite3_column_blob)                                                                         \
    X(sqlite3_column_bytes)

#define ZSTD_FUNCTIONS(X)                                                                          \
    X(ZSTD_createCCtx)                                                                             \
    X(ZSTD_freeCCtx)                                                                               \
    X(ZSTD_CCtx_setParameter)                                                                      \
    X(ZSTD_compress2)                                                                              \
    X(ZSTD_compressBound)                                                                          \
    X(ZSTD_decompress)                                                                             \
    X(ZSTD_isError)                                                                                \
    X(ZSTD_getErrorName)

struct libs {
#define X(name) __typeof__(name) *name;
    SQLITE_FUNCTIONS(X)
    ZSTD_FUNCTIONS(X)
#undef X
};

/* The functions, or NULL with *e set (IO) where a library is missing. From any
 * thread; the libraries stay loaded. */
const struct libs *libs_load(struct err *e);
