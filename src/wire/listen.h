/* listen.h: sockets to wait at, and who came.
 *
 * A TCP address, or a unix socket that only its owner can open. Each function
 * fills *e with words for the person who chose the flag. */
#pragma once
#include <sys/types.h>
#include "wire/http.h"

/* Listen on an address; unless `any`, on a loopback address only. Gives the
 * descriptor, or -1 with *e set. Port 0 takes a free one. */
int listen_tcp(const char *host, int port, bool any, struct err *e);
int listen_port(int fd);

/* The file of a unix socket, known by its inode: at the end another server's
 * may stand in its place. */
struct listen_file {
    char *path; /* NULL: none */
    dev_t dev;
    ino_t ino;
};

/* Listen on a unix socket, mode 0600. One that a dead server left is replaced;
 * a live one, or a file of another kind, is an error. */
int listen_unix(const char *path, struct listen_file *f, struct err *e);

/* Undo: remove the file. */
void listen_file_done(struct listen_file *f);

/* Take the next connection and say whose it is. Gives -1 with errno. */
int listen_accept(int fd, struct http_peer *who);
