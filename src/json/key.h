/* key.h: text as it stands between its quotes, compared as what it means.
 *
 * "a" and "\u0061" are the same key. Takes only text that the reader has
 * checked; private to this room. */
#pragma once
#include <stdint.h>

#include "base/str.h"

struct key {
    struct str raw;
    bool escaped; /* a backslash in raw begins an escape */
};

bool key_eq(struct key a, struct key b);

/* A hash of the unescaped text. With a random r below 2^60 nobody can prepare
 * keys that collide. */
uint64_t key_hash(struct key k, uint64_t r);

/* The character of the checked escape at *p, as UTF-8 in ch; *p is moved past
 * it. Gives its length. A surrogate without its other half is U+FFFD. */
int key_unescape(const char **p, char ch[4]);

/* Value of a hex digit, or -1. */
int key_hex(char c);
