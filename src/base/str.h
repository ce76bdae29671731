/* str.h: text as pointer and length.
 *
 * A str borrows its bytes; it may hold NULs and is not NUL-terminated unless
 * the function that gave it says so. An absent text is { NULL, 0 }. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })

static inline struct str str_of(const char *s)
{
    return (struct str){ s, s ? strlen(s) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *s)
{
    return str_eq(a, str_of(s));
}

static inline bool str_starts(struct str a, const char *prefix)
{
    size_t n = strlen(prefix);

    return a.n >= n && memcmp(a.p, prefix, n) == 0;
}
