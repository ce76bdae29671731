/* merge.h: byte pair encoding of one piece. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* What was looked up before: the ranks of short parts, by their bytes. Zeroed is
 * empty. */
struct merge_memory {
    struct {
        uint64_t bytes;
        uint32_t len, rank;
    } part[4096];
};

/* How many tokens the n bytes at p are, which are no token themselves. Up to
 * end may be read. */
size_t merge_count(struct merge_memory *m, const char *p, size_t n, const char *end);
