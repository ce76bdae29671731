/* tls.h: the server's side of TLS, for one connection at a time.
 *
 * A context is a certificate and its key; a session is one connection's. A
 * session reads from its socket by itself; what it has to send it leaves in
 * one buffer for all, and the caller sends that after every call:
 *
 *     n = tls_read(t, p, room); send(fd, tls_records()); tls_records_sent();
 *
 * So an answer is encrypted whole and goes out in one system call, and an idle
 * session holds no buffers. TLS 1.2 and 1.3, ALPN http/1.1; no client
 * certificates, no renegotiation, no compression. OpenSSL is loaded with the
 * first context. From the loop thread only. */
#pragma once
#include <sys/types.h>
#include <sys/uio.h>
#include "base/err.h"
#include "base/str.h"

struct tls_context;
struct tls;

/* From PEM files: the chain, leaf first, and the key. Gives a context, or NULL
 * with *e set, which names --tls-cert or --tls-key. */
struct tls_context *tls_context_new(const char *cert, const char *key, struct err *e);

/* Undo; sessions under way keep what they need. NULL is fine. */
void tls_context_free(struct tls_context *x);

/* A session on a connected socket, which stays the caller's. NULL: no memory. */
struct tls *tls_new(struct tls_context *x, int fd);
void tls_free(struct tls *t); /* NULL is fine */

/* As recv: how many bytes; 0 at the end, proper or not; -1 when nothing more is
 * here now. Shakes hands on the way. */
ssize_t tls_read(struct tls *t, void *p, size_t n);

/* Does something lie here that the socket will not tell of any more? */
bool tls_waits(const struct tls *t);

/* Is the handshake over? */
bool tls_ready(const struct tls *t);

/* Encrypt; false if the session has failed. */
bool tls_write(struct tls *t, const struct iovec *v, int n);

/* Say that nothing more will come. */
void tls_goodbye(struct tls *t);

/* What is to be sent now. */
struct str tls_records(void);
void tls_records_sent(void);
