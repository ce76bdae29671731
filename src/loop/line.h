/* line.h: pith's end of the line to the warden.
 *
 * Starts the warden when it is first needed, and again should it have died. */
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

struct line {
    int sock; /* -1: no warden */
    pid_t pid;
};

#define LINE_NONE                                                                                  \
    {                                                                                              \
        .sock = -1                                                                                 \
    }

enum line_result { LINE_SENT, LINE_BUSY, LINE_FAILED };

/* Send the six descriptors of one command (warden.h). They stay the caller's.
 * BUSY: nothing was sent, try again a little later. Never blocks. */
enum line_result line_send(struct line *n, const int *give, struct err *e);

/* Collect a warden that has died. */
void line_check(struct line *n);

/* Let the warden go: it ends once its keepers have. Waits for that, at most
 * so long. */
void line_close(struct line *n, int ms);
