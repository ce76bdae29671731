/* sha256_test.c: the standards' own examples, and base64 both ways. */
#include "test.h"
#include <stdio.h>
#include "base/base64.h"
#include "base/sha256.h"

static void hex(const unsigned char d[32], char out[65])
{
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", d[i]);
}

static void hash_is(struct str text, size_t step, const char *want)
{
    unsigned char d[32];
    struct sha256 s;
    char got[65];

    sha256_init(&s);
    for (size_t i = 0; i < text.n; i += step)
        sha256_add(&s, text.p + i, text.n - i < step ? text.n - i : step);
    sha256_end(&s, d);
    hex(d, got);
    CHECK(strcmp(got, want) == 0);
}

static void hashes_are_the_standards(void)
{
    static char a[1000000];

    memset(a, 'a', sizeof a);
    hash_is(STR(""), 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_is(STR("abc"), 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_is(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 7,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    hash_is((struct str){ a, sizeof a }, 4097,
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void hmac_is(struct str key, struct str text, const char *want)
{
    unsigned char d[32];
    char got[65];

    sha256_hmac(key, text, d);
    hex(d, got);
    CHECK(strcmp(got, want) == 0);
}

static void hmacs_are_rfc_4231s(void)
{
    char long_key[131];

    memset(long_key, 0xaa, sizeof long_key);
    hmac_is(STR("Jefe"), STR("what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    hmac_is((struct str){ long_key, sizeof long_key },
            STR("Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void base64_goes_both_ways(void)
{
    unsigned char bytes[70];
    struct buf text, back;

    for (size_t n = 0; n <= sizeof bytes; n++) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)(i * 37 + n);
        buf_init(&text, 1000);
        buf_init(&back, 1000);
        base64_add(&text, bytes, n);
        CHECK(base64_read(&back, buf_str(&text)));
        CHECK(back.len == n && (n == 0 || memcmp(back.data, bytes, n) == 0));
        buf_done(&text);
        buf_done(&back);
    }
}

static void base64_refuses_what_it_is_not(void)
{
    static const char *const bad[] = { "A", "AAAAA", "AA=A", "A===", "AB", "AA A", "AA\n", "AA*A" };
    struct buf b;

    buf_init(&b, 100);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!base64_read(&b, str_of(bad[i])));
    buf_clear(&b);
    CHECK(base64_read(&b, STR("SGVsbG8=")) && str_is(buf_str(&b), "Hello"));
    buf_clear(&b);
    CHECK(base64_read(&b, STR("_-8")) && b.len == 2);
    buf_clear(&b);
    CHECK(base64_read(&b, STR("/+8=")) && b.len == 2);
    buf_done(&b);
}

int main(void)
{
    TEST("hashes are the standard's own examples, however the text comes",
         hashes_are_the_standards);
    TEST("HMACs are those of RFC 4231", hmacs_are_rfc_4231s);
    TEST("base64 written is read back", base64_goes_both_ways);
    TEST("base64 takes both alphabets and refuses what is neither", base64_refuses_what_it_is_not);
    return test_end();
}
