/* libs.c: dlopen, once. */
#include "store/libs.h"

#include <dlfcn.h>
#include <pthread.h>

static struct libs libs;
static bool loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *library(const char *name, struct err *e)
{
    void *p = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (!p)
        err_set(e, ERR_IO, "%s is not installed, so nothing can be kept", name);
    return p;
}

static bool load(struct err *e)
{
    static void *sqlite, *zstd; /* one may have been there at an earlier try */

    if (!sqlite && !(sqlite = library("libsqlite3.so.0", e)))
        return false;
    if (!zstd && !(zstd = library("libzstd.so.1", e)))
        return false;
#define X(name)                                                                                    \
    *(void **)&libs.name = dlsym(from, #name);                                                     \
    if (!libs.name)                                                                                \
        return err_set(e, ERR_IO, "the store needs a newer library: it has no %s", #name);
    void *from = sqlite;
    SQLITE_FUNCTIONS(X)
    from = zstd;
    ZSTD_FUNCTIONS(X)
#undef X
    return true;
}

const struct libs *libs_load(struct err *e)
{
    bool ok;

    pthread_mutex_lock(&lock);
    if (!loaded)
        loaded = load(e);
    ok = loaded;
    pthread_mutex_unlock(&lock);
    return ok ? &libs : NULL;
}
