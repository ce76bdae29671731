/* input.h: a whole text from a file, stdin or a command, up to a ceiling.
 *
 * What is longer and cannot be read again (a pipe, a command's output) is not
 * lost: it goes to stdout as it is, from its first byte to its last. */
#pragma once
#include "base/buf.h"

enum { INPUT_MAX = 64 << 20 };

struct input {
    struct buf text;
    int status;   /* to exit with: the command's own, or of a failure */
    bool through; /* it was too long and is printed already */
};

/* NULL and "-" are stdin. False: it failed and that was said. */
bool input_file(struct input *in, const char *path);

/* Run a command, stdout and stderr as one; our stdin is its, but for a terminal,
 * on which nobody would see what it asks. Its end is in->status, 128+n for
 * signal n; SIGINT, SIGTERM and SIGHUP to us end it and everything below it,
 * and what it wrote until then is the text. False: it could not be run, as a
 * shell would say it (127 not found, 126). */
bool input_command(struct input *in, char **argv);

/* Undo both. */
void input_done(struct input *in);
