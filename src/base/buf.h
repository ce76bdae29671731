/* buf.h: a growing byte buffer with a ceiling.
 *
 * Every buffer fed from outside is opened with a ceiling. An append that would
 * pass it leaves the buffer as it was, sets `full` and gives false; later
 * appends fail too, so a writer may check once at the end.
 * `data` is always NUL-terminated once anything was appended. */
#pragma once
#include "base/str.h"

struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max; /* ceiling of len */
    bool full;  /* an append was refused */
};

void buf_init(struct buf *b, size_t max);

/* Undo buf_init. NULL and zeroed are fine. */
void buf_done(struct buf *b);

/* Make it empty, keep the memory, clear `full`. */
void buf_clear(struct buf *b);

bool buf_add(struct buf *b, const void *p, size_t n);
bool buf_adds(struct buf *b, const char *s);
bool buf_addc(struct buf *b, char c);
bool buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Room for n more bytes at data + len; NULL past the ceiling. Advance len
 * yourself by what was written (the NUL is then the next append's care). */
char *buf_room(struct buf *b, size_t n);

/* Drop the first n bytes. */
void buf_drop(struct buf *b, size_t n);

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){ b->data ? b->data : "", b->len };
}
