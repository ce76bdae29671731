/* The server behind TLS; http_play.h says how it is run. The client is OpenSSL
 * as everybody uses it, and the certificates are made here. */
#include "http_play.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include "base/mem.h"

static char dir[] = "/tmp/pith-tls-XXXXXX";
static char cert[100], key[100], other_key[100];

/* The server: /echo, /big?N, /peer, /reload, /stream (three events, then open
 * until /end), /state. */

static struct http_req *open_stream;
static int gone_count;

static void on_gone(struct http_req *r)
{
    (void)r;
    open_stream = NULL;
    gone_count++;
}

static void reply_big(struct http_req *r)
{
    size_t n = strtoul(r->query.p, NULL, 10);
    char *big = xmalloc(n + 1);

    for (size_t i = 0; i < n; i++)
        big[i] = (char)('a' + i % 26);
    http_reply(r, 200, "text/plain", NULL, (struct str){ big, n });
    free(big);
}

static void handler(void *arg, struct http_req *r)
{
    struct err e = { 0 };
    char text[100];

    (void)arg;
    if (str_is(r->path, "/big")) {
        reply_big(r);
    } else if (str_is(r->path, "/peer")) {
        snprintf(text, sizeof text, "unix %d tls %d loopback %d", r->peer.unix_socket, r->peer.tls,
                 r->peer.loopback);
        http_reply(r, 200, "text/plain", NULL, str_of(text));
    } else if (str_is(r->path, "/reload")) {
        bool ok = http_tls_reload(server, &e);

        http_reply(r, 200, "text/plain", NULL, ok ? STR("reloaded") : str_of(e.msg));
    } else if (str_is(r->path, "/state")) {
        snprintf(text, sizeof text, "gone %d busy %u", gone_count, http_busy(server));
        http_reply(r, 200, "text/plain", NULL, str_of(text));
    } else if (str_is(r->path, "/stream")) {
        open_stream = r;
        r->gone = on_gone;
        http_stream(r, "text/event-stream", NULL);
        for (int i = 0; i < 3; i++)
            http_stream_send(r, STR("data: x\n\n"));
    } else if (str_is(r->path, "/end")) {
        http_stream_end(open_stream);
        http_reply(r, 200, NULL, NULL, (struct str){ 0 });
    } else {
        http_reply(r, 200, "text/plain", NULL, r->body);
    }
}

static struct http_opts defaults(void)
{
    return (struct http_opts){ .host = "127.0.0.1",
                               .tls_cert = cert,
                               .tls_key = key,
                               .max_header = 4096,
                               .max_body = 20 << 20,
                               .max_conns = 20,
                               .request_ms = 400,
                               .idle_ms = 1500,
                               .handler = handler };
}

/* Certificates. */

static void write_key(const char *path, EVP_PKEY *k)
{
    FILE *f = fopen(path, "w");

    CHECK(f && PEM_write_PrivateKey(f, k, NULL, NULL, 0, NULL, NULL) == 1);
    fclose(f);
}

/* Self-signed, for localhost, with this number. */
static void make_files(long serial)
{
    EVP_PKEY *k = EVP_EC_gen("P-256"), *other = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);
    FILE *f = fopen(cert, "w");

    ASN1_INTEGER_set(X509_get_serialNumber(x), serial);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1,
                               0);
    X509_set_issuer_name(x, name);
    X509_gmtime_adj(X509_getm_notBefore(x), 0);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, k);
    X509_sign(x, k, EVP_sha256());
    CHECK(f && PEM_write_X509(f, x) == 1);
    fclose(f);
    write_key(key, k);
    write_key(other_key, other);
    X509_free(x);
    EVP_PKEY_free(k);
    EVP_PKEY_free(other);
}

static void put_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* The client. */

static SSL_CTX *client;

static SSL *tls_dial(void)
{
    SSL *s = SSL_new(client);

    SSL_set_fd(s, dial());
    if (SSL_connect(s) != 1) {
        close(SSL_get_fd(s));
        SSL_free(s);
        return NULL;
    }
    return s;
}

static void tls_hang_up(SSL *s)
{
    int fd = SSL_get_fd(s);

    SSL_shutdown(s);
    SSL_free(s);
    close(fd);
}

static void tls_say(SSL *s, const char *text)
{
    SSL_write(s, text, (int)strlen(text));
}

/* As hear(), by TLS. */
static struct answer tls_hear(SSL *s)
{
    struct answer a = { 0 };
    size_t n = 0, got = 0;
    char piece[65536];
    const char *length;

    while (n < sizeof a.head - 1 && !strstr(a.head, "\r\n\r\n"))
        if (SSL_read(s, a.head + n++, 1) <= 0)
            return (struct answer){ 0 };
    sscanf(a.head, "HTTP/1.1 %d ", &a.status);
    length = strstr(a.head, "\r\nContent-Length: ");
    a.length = length ? strtoul(length + 18, NULL, 10) : 0;
    while (got < a.length) {
        size_t want = a.length - got < sizeof piece ? a.length - got : sizeof piece;
        int more = SSL_read(s, piece, (int)want);

        if (more <= 0)
            return (struct answer){ .status = -1 };
        for (int i = 0; i < more; i++, got++) {
            if (got < sizeof a.body - 1)
                a.body[got] = piece[i];
            else if (piece[i] != 'a' + (char)(got % 26) && piece[i] != 'z')
                return (struct answer){ .status = -2 };
        }
    }
    return a;
}

static struct answer tls_ask(SSL *s, const char *request)
{
    tls_say(s, request);
    return tls_hear(s);
}

static bool tls_closes(SSL *s)
{
    char c;

    return SSL_read(s, &c, 1) <= 0 && SSL_get_shutdown(s) & SSL_RECEIVED_SHUTDOWN;
}

static struct answer one(const char *request)
{
    SSL *s = tls_dial();
    struct answer a = { .status = -1 };

    if (s) {
        a = tls_ask(s, request);
        tls_hang_up(s);
    }
    return a;
}

static void wait_for(const char *want)
{
    struct answer a;

    for (int i = 0; i < 100; i++) {
        a = one(GET("/state"));
        if (strcmp(a.body, want) == 0)
            break;
        nap(10);
    }
    CHECK_STR(a.body, want);
}

static long serial_seen(void)
{
    SSL *s = tls_dial();
    X509 *x = s ? SSL_get1_peer_certificate(s) : NULL;
    long serial = x ? ASN1_INTEGER_get(X509_get_serialNumber(x)) : -1;

    X509_free(x);
    if (s)
        tls_hang_up(s);
    return serial;
}

/* Tests. */

static void requests(void)
{
    struct answer a;
    SSL *s;

    start(defaults());
    s = tls_dial();
    CHECK(s);
    CHECK_STR(SSL_get_version(s), "TLSv1.3");
    a = tls_ask(s, GET("/peer"));
    CHECK_STR(a.body, "unix 0 tls 1 loopback 1");
    a = tls_ask(s, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
    CHECK_STR(a.body, "hi");
    tls_say(s, GET("/peer") GET("/big?70000") GET("/peer")); /* pipelined, in one record */
    a = tls_hear(s);
    CHECK_STR(a.body, "unix 0 tls 1 loopback 1");
    CHECK(tls_hear(s).length == 70000);
    CHECK(tls_hear(s).status == 200);
    a = tls_ask(s, "GET /echo HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    CHECK(a.status == 403 && tls_closes(s));
    tls_hang_up(s);
    stop();
}

/* Bodies of many records both ways, read late. */
static void large(void)
{
    enum { BIG = 10 << 20 };
    char head[100], *body = xmalloc(BIG);
    struct answer a;
    SSL *s;

    for (int i = 0; i < BIG; i++)
        body[i] = (char)('a' + i % 26);
    start(defaults());
    s = tls_dial();
    snprintf(head, sizeof head,
             "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", BIG);
    tls_say(s, head);
    CHECK(SSL_write(s, body, BIG) == BIG);
    nap(50);
    a = tls_hear(s);
    CHECK(a.status == 200 && a.length == BIG);
    a = tls_ask(s, GET("/big?15000000"));
    CHECK(a.status == 200 && a.length == 15000000);
    tls_say(s, GET("/big?15000000"));
    nap(30);
    close(SSL_get_fd(s)); /* unread: the server must not mind */
    SSL_free(s);
    wait_for("gone 0 busy 1");
    stop();
    free(body);
}

/* Any cut of the bytes is fine, and the deadline is one for all of them. */
static void by_byte(void)
{
    static const char request[] = GET("/peer");
    SSL *s;

    start(defaults());
    s = tls_dial();
    for (size_t i = 0; i < sizeof request - 1; i++)
        CHECK(SSL_write(s, request + i, 1) == 1);
    CHECK(tls_hear(s).status == 200);
    tls_say(s, "GET /peer HT");
    CHECK(tls_hear(s).status == 408);
    CHECK(tls_closes(s));
    tls_hang_up(s);
    stop();
}

static void streams(void)
{
    static const char want[] =
        "9\r\ndata: x\n\n\r\n9\r\ndata: x\n\n\r\n9\r\ndata: x\n\n\r\n0\r\n\r\n";
    char got[200] = "";
    struct answer a;
    size_t n = 0;
    SSL *s;

    start(defaults());
    s = tls_dial();
    a = tls_ask(s, GET("/stream"));
    CHECK(a.status == 200 && strstr(a.head, "Transfer-Encoding: chunked"));
    nap(500);
    CHECK(one(GET("/end")).status == 200);
    while (n < strlen(want)) {
        int more = SSL_read(s, got + n, (int)(strlen(want) - n));

        if (more <= 0)
            break;
        n += (size_t)more;
    }
    CHECK_STR(got, want);
    CHECK(tls_ask(s, GET("/stream")).status == 200);
    tls_hang_up(s);
    wait_for("gone 1 busy 1");
    stop();
}

static void versions(void)
{
    static const unsigned char h2[] = "\x02h2", both[] = "\x02h2\x08http/1.1",
                               odd[] = "\x08http/1.2";
    const unsigned char *chosen;
    unsigned n;
    SSL *s;

    start(defaults());
    SSL_CTX_set_max_proto_version(client, TLS1_2_VERSION);
    s = tls_dial();
    CHECK(s && tls_ask(s, GET("/peer")).status == 200);
    CHECK_STR(SSL_get_version(s), "TLSv1.2");
    CHECK(SSL_renegotiate(s) != 1 || SSL_do_handshake(s) != 1 ||
          tls_ask(s, GET("/peer")).status != 200);
    tls_hang_up(s);
    SSL_CTX_set_min_proto_version(client, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(client, TLS1_1_VERSION);
    SSL_CTX_set_cipher_list(client, "ALL:@SECLEVEL=0");
    CHECK(!tls_dial());
    SSL_CTX_set_max_proto_version(client, 0);

    SSL_CTX_set_alpn_protos(client, both, sizeof both - 1);
    s = tls_dial();
    SSL_get0_alpn_selected(s, &chosen, &n);
    CHECK(n == 8 && memcmp(chosen, "http/1.1", 8) == 0);
    tls_hang_up(s);
    SSL_CTX_set_alpn_protos(client, h2, sizeof h2 - 1);
    CHECK(!tls_dial());
    SSL_CTX_set_alpn_protos(client, odd, sizeof odd - 1);
    CHECK(!tls_dial());
    SSL_CTX_set_alpn_protos(client, NULL, 0);
    stop();
}

/* Whatever else comes is dropped: a plain request, rubbish, silence, half a
 * handshake. Others are served meanwhile. */
static void half_way(void)
{
    static const char rubbish[] = "\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03 and so on";
    char waste[512];
    int plain, silent, half, odd;
    SSL *s;

    start(defaults());
    plain = dial();
    say_all(plain, GET("/peer"));
    silent = dial();
    half = dial();
    say(half, (struct str){ rubbish, 11 }, 1); /* 16 KB are to come */
    odd = dial();
    say(odd, (struct str){ "\0\1\2\3\4\5\6\7", 8 }, 8);
    s = tls_dial();
    CHECK(s && tls_ask(s, GET("/peer")).status == 200);
    while (recv(plain, waste, sizeof waste, 0) > 0)
        CHECK(memmem(waste, sizeof waste, "HTTP/1", 6) == NULL);
    while (recv(odd, waste, sizeof waste, 0) > 0)
        ;
    CHECK(closes(silent)); /* after request_ms, long before idle_ms */
    CHECK(recv(half, waste, sizeof waste, 0) <= 0);
    CHECK(tls_ask(s, GET("/peer")).status == 200); /* its idle_ms counts from the handshake */
    tls_hang_up(s);
    close(plain);
    close(silent);
    close(half);
    close(odd);
    wait_for("gone 0 busy 1");
    stop();
}

static void quiet_after_handshake(void)
{
    SSL *s;

    start(defaults());
    s = tls_dial();
    nap(600); /* more than request_ms */
    CHECK(tls_ask(s, GET("/peer")).status == 200);
    tls_hang_up(s);
    stop();
}

static void freed_half_way(void)
{
    int half;
    SSL *s, *idle;

    start(defaults());
    half = dial();
    say(half, (struct str){ "\x16\x03\x01\x40\x00\x01", 6 }, 6);
    idle = tls_dial();
    s = tls_dial();
    CHECK(tls_ask(s, GET("/stream")).status == 200);
    stop();
    close(half);
    tls_hang_up(idle);
    tls_hang_up(s);
}

static void reloading(void)
{
    struct answer a;
    SSL *s;

    make_files(1);
    start(defaults());
    s = tls_dial();
    CHECK(serial_seen() == 1);
    make_files(2);
    CHECK(serial_seen() == 1);
    a = tls_ask(s, GET("/reload"));
    CHECK_STR(a.body, "reloaded");
    CHECK(serial_seen() == 2);
    CHECK(tls_ask(s, GET("/peer")).status == 200); /* with what it has */

    put_file(cert, "not a certificate\n");
    a = tls_ask(s, GET("/reload"));
    CHECK(strstr(a.body, "--tls-cert") && strstr(a.body, "cannot be used"));
    CHECK(serial_seen() == 2);
    unlink(cert);
    a = tls_ask(s, GET("/reload"));
    CHECK(strstr(a.body, "cannot read --tls-cert") && strstr(a.body, "No such file"));
    CHECK(serial_seen() == 2);
    make_files(3);
    rename(other_key, key);
    a = tls_ask(s, GET("/reload"));
    CHECK(strstr(a.body, "--tls-key") && strstr(a.body, "mismatch"));
    CHECK(serial_seen() == 2);
    make_files(4);
    a = tls_ask(s, GET("/reload"));
    CHECK_STR(a.body, "reloaded");
    CHECK(serial_seen() == 4);
    tls_hang_up(s);
    stop();
}

static void expect_refusal(struct http_opts o, const char *why)
{
    struct err e = { 0 };

    loop = loop_new(&e);
    CHECK(!http_listen(loop, &o, &e));
    if (!strstr(e.msg, why))
        printf("# said: %s\n", e.msg);
    CHECK(strstr(e.msg, why));
    loop_free(loop);
}

static void bad_files(void)
{
    static const char locked[] =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBAx"
        "\n-----END ENCRYPTED PRIVATE KEY-----\n";
    struct http_opts o = defaults();

    o.tls_key = NULL;
    expect_refusal(o, "go together");
    o.tls_key = "/nowhere";
    expect_refusal(o, "cannot read --tls-key '/nowhere'");
    o.tls_key = other_key;
    expect_refusal(o, "--tls-key");
    put_file(other_key, locked);
    expect_refusal(o, "--tls-key");
    o.tls_key = key;
    o.tls_cert = key;
    expect_refusal(o, "--tls-cert");
    o.tls_cert = "/";
    expect_refusal(o, "--tls-cert");
}

/* Over the ceiling nobody shakes hands: closed at once. */
static void too_many(void)
{
    struct http_opts o = defaults();
    SSL *s;

    o.max_conns = 1;
    start(o);
    s = tls_dial();
    CHECK(s && tls_ask(s, GET("/peer")).status == 200);
    CHECK(!tls_dial());
    CHECK(tls_ask(s, GET("/peer")).status == 200);
    tls_hang_up(s);
    stop();
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(dir))
        return 1;
    snprintf(cert, sizeof cert, "%s/cert.pem", dir);
    snprintf(key, sizeof key, "%s/key.pem", dir);
    snprintf(other_key, sizeof other_key, "%s/other.pem", dir);
    client = SSL_CTX_new(TLS_client_method());
    make_files(1);
    TEST("requests go through TLS as they do without", requests);
    TEST("bodies of many records go both ways", large);
    TEST("a request may come byte by byte, in its time", by_byte);
    TEST("a stream goes through TLS, and its peer may leave", streams);
    TEST("TLS 1.2 and 1.3 are spoken, and HTTP/1.1 alone", versions);
    TEST("who does not finish a handshake is dropped", half_way);
    TEST("after the handshake a peer may take its time", quiet_after_handshake);
    TEST("a server can be freed in the middle of handshakes", freed_half_way);
    TEST("certificates are read anew, and bad ones change nothing", reloading);
    TEST("a server does not start with files that it cannot use", bad_files);
    TEST("connections over the ceiling are closed before the handshake", too_many);
    SSL_CTX_free(client);
    unlink(cert);
    unlink(key);
    unlink(other_key);
    rmdir(dir);
    return test_end();
}
