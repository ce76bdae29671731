/* table.h: which bytes are a token, and which.
 *
 * data/o200k.bin as it lies in the program. A perfect hash: the hash of the
 * bytes gives a bucket, the bucket's pilot and the hash give one slot, and the
 * slot names the only token it could be; a few bits of the hash beside it (tag)
 * save most comparisons with what it is not. Little-endian only, as the file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    TABLE_TOKENS = 199998,
    TABLE_BUCKETS = 65536,
    TABLE_SLOTS = 204800,
    TABLE_BLOCK = 16,
    TABLE_TEXT = 1397670,
    TABLE_LONGEST = 128, /* bytes of a token, at most */
};

enum { NO_RANK = 0x7fffffff };

struct table {
    uint16_t pilot[TABLE_BUCKETS];
    struct {
        uint32_t start;           /* of its first token, in text */
        uint8_t len[TABLE_BLOCK]; /* of each */
    } block[(TABLE_TOKENS + TABLE_BLOCK - 1) / TABLE_BLOCK];
    uint8_t slot[TABLE_SLOTS * 3 + 8]; /* 18 bits of rank, 6 of tag */
    char text[TABLE_TEXT + 8];         /* the tokens in order of rank */
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

/* Where the text of a token starts: after those before it in its block. The
 * lengths before it are added up four to a word, in pairs of bytes. */
static inline uint32_t table_start(uint32_t rank)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff), ones = UINT64_C(0x0001000100010001);
    unsigned nth = rank % TABLE_BLOCK;
    const uint8_t *len = tokens_table.block[rank / TABLE_BLOCK].len;
    uint64_t low, high;

    memcpy(&low, len, 8);
    memcpy(&high, len + 8, 8);
    if (nth < 8) {
        low &= (UINT64_C(1) << (8 * nth)) - 1;
        high = 0;
    } else {
        high &= (UINT64_C(1) << (8 * (nth - 8))) - 1;
    }
    low = (low & even) + (low >> 8 & even) + (high & even) + (high >> 8 & even);
    return tokens_table.block[rank / TABLE_BLOCK].start + (uint32_t)(low * ones >> 48);
}

/* The rank of the n bytes at p, or NO_RANK. `end`: up to where may be read. */
static inline uint32_t table_rank(const char *p, size_t n, const char *end)
{
    uint64_t last, mine, h;
    uint32_t at, slot, rank;
    const char *text;

    if (n > TABLE_LONGEST)
        return NO_RANK;
    h = table_hash(p, n, end, &last);
    at = ((uint32_t)(h >> 16) ^ tokens_table.pilot[h >> 48] * 0x9e3779b1u) * 0x85ebca6bu;
    at = (uint32_t)((uint64_t)at * TABLE_SLOTS >> 32);
    memcpy(&slot, tokens_table.slot + (size_t)at * 3, 4);
    rank = slot & 0x3ffff;
    if ((slot >> 18 & 63) != (h & 63) || rank >= TABLE_TOKENS ||
        tokens_table.block[rank / TABLE_BLOCK].len[rank % TABLE_BLOCK] != n)
        return NO_RANK;
    text = tokens_table.text + table_start(rank);
    if (n > 8 && memcmp(text, p, n - 8) != 0)
        return NO_RANK;
    if (n > 8) { /* the last eight, which overlap what was compared */
        memcpy(&mine, text + n - 8, 8);
        memcpy(&last, p + n - 8, 8);
    } else {
        mine = table_word(text, n, text + 8);
    }
    return mine == last ? rank : NO_RANK;
}
