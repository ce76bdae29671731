/* arena.h: memory that is dropped all at once.
 *
 * A call keeps everything it makes in one arena, so a tool never frees.
 * Zero-initialised is a valid empty arena. Not for sharing between threads:
 * whoever owns the call owns its arena. */
#pragma once
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head; /* block being filled */
    size_t bytes;             /* total handed out */
};

/* n bytes, 16-aligned, not cleared. */
void *arena_alloc(struct arena *a, size_t n);

/* The same, cleared. */
void *arena_zalloc(struct arena *a, size_t n);

/* A NUL-terminated copy. */
char *arena_strdup(struct arena *a, const char *s);
struct str arena_str(struct arena *a, struct str s);

/* A formatted, NUL-terminated text. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Takes p, n bytes from malloc: freed with the rest. For an array that had to
 * grow before its size was known. */
void arena_adopt(struct arena *a, void *p, size_t n);

/* Drop everything; the arena is empty and usable again. */
void arena_done(struct arena *a);
