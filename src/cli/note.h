/* note.h: a sign of life on the terminal while something takes its time.
 *
 * One line on stderr, once a second has passed, written over itself each
 * second after and wiped at the end. Says nothing where stderr is no terminal:
 * a log has no use for it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct note {
    const char *what; /* "reading" */
    uint64_t start, next;
    bool on, shown;
};

void note_start(struct note *n, const char *what);

/* Milliseconds until it has something to say, for poll and timers; -1: never. */
int note_wait(const struct note *n);

/* Say it, if it is time. bytes: how far it got, 0: not known. */
void note_tick(struct note *n, size_t bytes);

/* Wipe it. */
void note_end(struct note *n);
