/* tls.c: OpenSSL behind one small header.
 *
 * Linked, OpenSSL costs every start 1.5 ms and 1.7 MB, also those that never
 * see TLS; so it is loaded when the first certificate is.
 *
 * OpenSSL reads and writes through a BIO of our own. Reading is recv, with
 * read-ahead: one system call brings all that is there. Writing only appends
 * to `records`: a write of OpenSSL's own would raise SIGPIPE and send a record
 * at a time. Small pieces are put together first, so that an answer's head and
 * body are one record. */
#include "wire/tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/mem.h"

enum {
    RECORD = 16 << 10,          /* the most that one record holds */
    RECORDS_KEEP = 4 * RECORD,  /* of the buffer, after an answer */
    RECORDS_MOST = INT_MAX / 2, /* no answer gets there */
};

#define TLS_FUNCTIONS(X)                                                                           \
    X(BIO_clear_flags)                                                                             \
    X(BIO_get_data)                                                                                \
    X(BIO_meth_new)                                                                                \
    X(BIO_meth_set_ctrl)                                                                           \
    X(BIO_meth_set_read)                                                                           \
    X(BIO_meth_set_write)                                                                          \
    X(BIO_new)                                                                                     \
    X(BIO_set_data)                                                                                \
    X(BIO_set_flags)                                                                               \
    X(BIO_set_init)                                                                                \
    X(ERR_clear_error)                                                                             \
    X(ERR_peek_last_error)                                                                         \
    X(ERR_reason_error_string)                                                                     \
    X(SSL_CTX_check_private_key)                                                                   \
    X(SSL_CTX_ctrl)                                                                                \
    X(SSL_CTX_free)                                                                                \
    X(SSL_CTX_new)                                                                                 \
    X(SSL_CTX_set_alpn_select_cb)                                                                  \
    X(SSL_CTX_set_cipher_list)                                                                     \
    X(SSL_CTX_set_ciphersuites)                                                                    \
    X(SSL_CTX_set_default_passwd_cb)                                                               \
    X(SSL_CTX_set_options)                                                                         \
    X(SSL_CTX_use_PrivateKey_file)                                                                 \
    X(SSL_CTX_use_certificate_chain_file)                                                          \
    X(SSL_free)                                                                                    \
    X(SSL_has_pending)                                                                             \
    X(SSL_is_init_finished)                                                                        \
    X(SSL_new)                                                                                     \
    X(SSL_read)                                                                                    \
    X(SSL_set_accept_state)                                                                        \
    X(SSL_set_bio)                                                                                 \
    X(SSL_shutdown)                                                                                \
    X(SSL_write)                                                                                   \
    X(TLS_server_method)

/* AES with 128 bits first: as safe for this, and a quarter faster on small
 * records. A peer without AES in hardware puts ChaCha first, and gets it. */
#define SUITES_13 "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define SUITES_12 "ECDHE+AES128+AESGCM:ECDHE+AESGCM:ECDHE+CHACHA20"

static struct {
    void *library; /* libssl; libcrypto comes with it */
    BIO_METHOD *bio;
#define X(name) __typeof__(name) *name;
    TLS_FUNCTIONS(X)
#undef X
} lib;

struct tls_context {
    SSL_CTX *ssl;
};

struct tls {
    SSL *ssl;
    int fd;
    bool dry;    /* the socket had no more for the last read */
    bool failed; /* OpenSSL wants to hear no more of it */
};

static struct buf records = { .max = RECORDS_MOST };

/* The BIO. */

static int bio_read(BIO *b, char *p, int n)
{
    struct tls *t = lib.BIO_get_data(b);
    ssize_t got;

    lib.BIO_clear_flags(b, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    do
        got = recv(t->fd, p, (size_t)n, 0);
    while (got < 0 && errno == EINTR);
    t->dry = got < 0 && errno == EAGAIN;
    if (t->dry)
        lib.BIO_set_flags(b, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
    return (int)got;
}

static int bio_write(BIO *b, const char *p, int n)
{
    (void)b;
    return buf_add(&records, p, (size_t)n) ? n : -1;
}

static long bio_ctrl(BIO *b, int what, long n, void *p)
{
    (void)b, (void)n, (void)p;
    return what == BIO_CTRL_FLUSH;
}

/* Loading. */

static bool make_bio(void)
{
    lib.bio = lib.BIO_meth_new(BIO_TYPE_SOURCE_SINK | 127, "pith");
    return lib.bio && lib.BIO_meth_set_read(lib.bio, bio_read) &&
           lib.BIO_meth_set_write(lib.bio, bio_write) && lib.BIO_meth_set_ctrl(lib.bio, bio_ctrl);
}

static bool load(struct err *e)
{
    if (lib.library)
        return true;
    lib.library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!lib.library)
        return err_set(e, ERR_CONFIG, "TLS needs libssl.so.3, which is not installed");
#define X(name)                                                                                    \
    *(void **)&lib.name = dlsym(lib.library, #name);                                               \
    if (!lib.name)                                                                                 \
        goto fail;
    TLS_FUNCTIONS(X)
#undef X
    if (make_bio())
        return true;

fail:
    dlclose(lib.library);
    lib.library = NULL;
    return err_set(e, ERR_CONFIG, "TLS needs libssl.so.3; the one here cannot be used");
}

/* Contexts. */

/* A key with a pass phrase would ask for it at the terminal. */
static int no_password(char *p, int size, int writing, void *arg)
{
    (void)p, (void)size, (void)writing, (void)arg;
    return -1;
}

/* A peer that offers protocols, and not this one, is told so and refused. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned in_len, void *arg)
{
    (void)ssl, (void)arg;
    for (unsigned i = 0; i < in_len; i += 1u + in[i])
        if (in[i] == 8 && in_len - i > 8 && memcmp(in + i + 1, "http/1.1", 8) == 0) {
            *out = in + i + 1;
            *out_len = 8;
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Session tickets carry their state themselves; a cache would only grow. */
static bool set_rules(SSL_CTX *x)
{
    lib.SSL_CTX_set_options(x, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    lib.SSL_CTX_ctrl(x, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY, NULL);
    lib.SSL_CTX_ctrl(x, SSL_CTRL_SET_READ_AHEAD, 1, NULL);
    lib.SSL_CTX_ctrl(x, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
    lib.SSL_CTX_set_default_passwd_cb(x, no_password);
    lib.SSL_CTX_set_alpn_select_cb(x, choose_protocol, NULL);
    return lib.SSL_CTX_ctrl(x, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL) == 1 &&
           lib.SSL_CTX_set_ciphersuites(x, SUITES_13) == 1 &&
           lib.SSL_CTX_set_cipher_list(x, SUITES_12) == 1;
}

/* OpenSSL's own words for a file that is missing are hard to read. */
static bool readable(const char *flag, const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_set(e, ERR_CONFIG, "cannot read %s '%s': %s", flag, path, strerror(errno));
    close(fd);
    return true;
}

static bool bad_file(const char *flag, const char *path, struct err *e)
{
    const char *why = lib.ERR_reason_error_string(lib.ERR_peek_last_error());

    return err_set(e, ERR_CONFIG, "%s '%s' cannot be used: %s", flag, path,
                   why ? why : "not PEM of the right kind");
}

static bool take_files(SSL_CTX *x, const char *cert, const char *key, struct err *e)
{
    if (!readable("--tls-cert", cert, e) || !readable("--tls-key", key, e))
        return false;
    if (lib.SSL_CTX_use_certificate_chain_file(x, cert) != 1)
        return bad_file("--tls-cert", cert, e);
    if (lib.SSL_CTX_use_PrivateKey_file(x, key, SSL_FILETYPE_PEM) != 1 ||
        lib.SSL_CTX_check_private_key(x) != 1)
        return bad_file("--tls-key", key, e);
    return true;
}

struct tls_context *tls_context_new(const char *cert, const char *key, struct err *e)
{
    struct tls_context *x;

    if (!load(e))
        return NULL;
    x = xcalloc(1, sizeof *x);
    lib.ERR_clear_error();
    x->ssl = lib.SSL_CTX_new(lib.TLS_server_method());
    if (!x->ssl || !set_rules(x->ssl)) {
        err_set(e, ERR_CONFIG, "TLS cannot be set up with the libssl.so.3 that is here");
        goto fail;
    }
    if (!take_files(x->ssl, cert, key, e))
        goto fail;
    return x;

fail:
    tls_context_free(x);
    return NULL;
}

void tls_context_free(struct tls_context *x)
{
    if (x)
        lib.SSL_CTX_free(x->ssl);
    free(x);
}

/* Sessions. */

struct tls *tls_new(struct tls_context *x, int fd)
{
    struct tls *t = xcalloc(1, sizeof *t);
    BIO *bio = NULL;

    t->fd = fd;
    t->ssl = lib.SSL_new(x->ssl);
    if (t->ssl)
        bio = lib.BIO_new(lib.bio);
    if (!bio) {
        tls_free(t);
        return NULL;
    }
    lib.BIO_set_data(bio, t);
    lib.BIO_set_init(bio, 1);
    lib.SSL_set_bio(t->ssl, bio, bio);
    lib.SSL_set_accept_state(t->ssl);
    return t;
}

void tls_free(struct tls *t)
{
    if (t)
        lib.SSL_free(t->ssl);
    free(t);
}

/* Errors lie in a queue of the thread's, libcurl's among them, and to ask it
 * properly it must be emptied before every call. We need not ask: whether a
 * read only lacks bytes our BIO knows. So it is emptied when we made it full. */
static void fail(struct tls *t)
{
    t->failed = true;
    lib.ERR_clear_error();
}

ssize_t tls_read(struct tls *t, void *p, size_t n)
{
    int got;

    if (t->failed)
        return 0;
    t->dry = false;
    got = lib.SSL_read(t->ssl, p, n < INT_MAX ? (int)n : INT_MAX);
    if (got > 0)
        return got;
    if (t->dry)
        return -1;
    fail(t);
    return 0;
}

bool tls_waits(const struct tls *t)
{
    return lib.SSL_has_pending(t->ssl);
}

bool tls_ready(const struct tls *t)
{
    return lib.SSL_is_init_finished(t->ssl);
}

static bool write_record(struct tls *t, const char *p, size_t n)
{
    if (!t->failed && n > 0 && lib.SSL_write(t->ssl, p, (int)n) != (int)n)
        fail(t);
    return !t->failed;
}

bool tls_write(struct tls *t, const struct iovec *v, int n)
{
    static char piece[RECORD];
    size_t len = 0;

    for (int i = 0; i < n; i++) {
        const char *p = v[i].iov_base;
        size_t left = v[i].iov_len;

        while (left) {
            size_t some = left < sizeof piece - len ? left : sizeof piece - len;

            memcpy(piece + len, p, some);
            len += some;
            p += some;
            left -= some;
            if (len == sizeof piece) {
                if (!write_record(t, piece, len))
                    return false;
                len = 0;
            }
        }
    }
    return write_record(t, piece, len);
}

void tls_goodbye(struct tls *t)
{
    if (!t->failed && tls_ready(t))
        lib.SSL_shutdown(t->ssl);
    fail(t);
}

struct str tls_records(void)
{
    return buf_str(&records);
}

void tls_records_sent(void)
{
    if (records.cap > RECORDS_KEEP) {
        buf_done(&records);
        buf_init(&records, RECORDS_MOST);
    } else {
        buf_clear(&records);
    }
}
