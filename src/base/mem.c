/* mem.c: allocation that cannot fail.
 *
 * Running out of memory ends the program with one line on stderr: no path
 * through the rooms could do better than be restarted, and a check nobody can
 * test is a bug that waits. No allocator of our own; glibc's is good. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Plain write(2): stdio may itself want memory. */
static _Noreturn void out_of_memory(void)
{
    static const char msg[] = "pith: out of memory\n";

    if (write(STDERR_FILENO, msg, sizeof msg - 1) < 0)
        abort();
    abort();
}

/* malloc(0) may give NULL, which is no failure: ask for a byte instead. */
void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = count && size ? calloc(count, size) : calloc(1, 1);

    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);

    if (!q)
        out_of_memory();
    return q;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, SIZE_MAX);
}

char *xstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *p = xmalloc(len + 1);

    memcpy(p, s, len);
    p[len] = '\0';
    return p;
}
