/* merge.h: byte pair encoding of one piece. */
#pragma once
#include <stddef.h>

/* How many tokens the n bytes at p are, which are no token themselves. Up to
 * end may be read. */
size_t merge_count(const char *p, size_t n, const char *end);
