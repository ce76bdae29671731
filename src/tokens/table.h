/* table.h: which bytes are a token, and which.
 *
 * data/o200k.bin as it lies in the program. A perfect hash: the hash of the
 * bytes gives a bucket, the bucket's pilot and the hash give one slot, and in it
 * is the only token it could be; its length and a byte of its hash (tag) save
 * most comparisons with what it is not. A question costs three cache lines, two
 * where the answer is no. Little-endian only, as the file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    TABLE_BUCKETS = 49152,
    TABLE_BLOCK = 14,
    TABLE_BLOCKS = 14600,
    TABLE_SLOTS = TABLE_BLOCKS * TABLE_BLOCK,
    TABLE_BYTES = 1397670, /* of all tokens */
    TABLE_LONGEST = 128,   /* bytes of a token, at most */
    TABLE_RANK = 3,        /* bytes of a rank, before its token, in an empty slot too */
};

enum { NO_RANK = 0x7fffffff };

struct table {
    uint16_t pilot[TABLE_BUCKETS];
    struct {
        uint32_t start;           /* of its first record */
        uint8_t len[TABLE_BLOCK]; /* of each token; 0: none */
        uint8_t tag[TABLE_BLOCK];
    } block[TABLE_BLOCKS];
    char record[TABLE_SLOTS * TABLE_RANK + TABLE_BYTES + 8]; /* rank and token, by slot */
};

extern const struct table tokens_table; /* data.S */

/* The first n (1 to 8) bytes as a number. Reads eight where there are so many
 * before end. */
static inline uint64_t table_word(const char *p, size_t n, const char *end)
{
    uint64_t w = 0;

    if (end - p < 8) {
        for (size_t i = 0; i < n; i++)
            w |= (uint64_t)(unsigned char)p[i] << (8 * i);
        return w;
    }
    memcpy(&w, p, 8);
    return w & ~UINT64_C(0) >> (64 - 8 * n);
}

/* The same as hash() in data/make-tokens.mjs; *last is the word of the end. */
static inline uint64_t table_hash(const char *p, size_t n, const char *end, uint64_t *last)
{
    uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15), w;

    for (; n > 8; p += 8, n -= 8) {
        memcpy(&w, p, 8);
        h = (h ^ w) * UINT64_C(0xd6e8feb86659fd93);
        h ^= h >> 32;
    }
    *last = table_word(p, n, end);
    h = (h ^ *last) * UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 29;
}

/* Where the record of the nth slot of a block is: behind those before it. Their
 * lengths are added up in pairs of bytes, four to a word. */
static inline const char *table_record(uint32_t block, unsigned nth)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff), ones = UINT64_C(0x0001000100010001);
    const uint8_t *len = tokens_table.block[block].len;
    uint64_t low, high;

    memcpy(&low, len, 8);
    memcpy(&high, len + 8, 8); /* two bytes of tags with it, masked below */
    low &= nth < 8 ? (UINT64_C(1) << (8 * nth)) - 1 : ~UINT64_C(0);
    high &= nth > 8 ? (UINT64_C(1) << (8 * (nth - 8))) - 1 : 0;
    low = (low & even) + (low >> 8 & even) + (high & even) + (high >> 8 & even);
    return tokens_table.record + tokens_table.block[block].start + (low * ones >> 48) +
           (size_t)nth * TABLE_RANK;
}

/* The rank of the n bytes at p, or NO_RANK. `end`: up to where may be read. */
static inline uint32_t table_rank(const char *p, size_t n, const char *end)
{
    uint64_t last, mine, h;
    uint32_t slot, block, rank;
    const char *record;
    unsigned nth;

    if (n > TABLE_LONGEST)
        return NO_RANK;
    h = table_hash(p, n, end, &last);
    slot =
        ((uint32_t)(h >> 16) ^ tokens_table.pilot[(h >> 48) * TABLE_BUCKETS >> 16] * 0x9e3779b1u) *
        0x85ebca6bu;
    slot = (uint32_t)((uint64_t)slot * TABLE_SLOTS >> 32);
    block = slot / TABLE_BLOCK;
    nth = slot % TABLE_BLOCK;
    if (tokens_table.block[block].len[nth] != n || tokens_table.block[block].tag[nth] != (h & 255))
        return NO_RANK;
    record = table_record(block, nth);
    memcpy(&rank, record, 4);
    record += TABLE_RANK;
    if (n > 8) {
        if (memcmp(record, p, n) != 0)
            return NO_RANK;
    } else {
        memcpy(&mine, record, 8);
        if ((mine ^ last) << (64 - 8 * n))
            return NO_RANK;
    }
    return rank & 0xffffff;
}
