/* mem.h: memory that is there or the program is not.
 *
 * These abort when memory runs out, so nobody checks them. Whatever is sized
 * by the outside is bounded before it gets here (see buf.h). */
#pragma once
#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
