/* stdio.h: newline-delimited messages over two descriptors.
 *
 * Our own buffers, never FILE*. Blank lines are ignored. A line over the
 * ceiling is skipped to its newline and reported. While the peer does not read
 * its answers and more than a few MB wait, we stop reading its requests.
 * Callbacks may send and close. The program must ignore SIGPIPE. */
#pragma once
#include "base/str.h"
#include "loop/loop.h"

struct stdio;

struct stdio_opts {
    int in, out; /* pipes, sockets, terminals or files */
    size_t max_line;
    void (*on_line)(void *arg, struct str line); /* without its newline (or CR LF) */
    void (*on_long)(void *arg);                  /* a line was over max_line */
    void (*on_end)(void *arg);                   /* end of input, or the peer takes no more; once */
    void *arg;
};

struct stdio *stdio_open(struct loop *l, const struct stdio_opts *o, struct err *e);

/* Send one message; adds the newline. Copies what cannot go out at once. */
void stdio_send(struct stdio *s, struct str message);

/* Bytes not yet taken by the peer. */
size_t stdio_pending(const struct stdio *s);

/* Try to hand over what is pending for at most ms, then undo stdio_open. */
void stdio_close(struct stdio *s, unsigned ms);
