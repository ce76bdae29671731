/* sha256.h: SHA-256, and HMAC with it (FIPS 180-4, RFC 2104).
 *
 * Ours, because ids and signatures are needed where TLS is not, and loading
 * libcrypto would double the time that a plain `pith stdio` takes to start. */
#pragma once
#include <stdint.h>
#include "base/str.h"

struct sha256 {
    uint32_t h[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, unsigned char out[32]);

void sha256_hmac(struct str key, struct str text, unsigned char out[32]);

/* Equal, in a time that does not tell where they differ. */
bool same_secret(const void *a, const void *b, size_t n);
