/* cut.h: a long text as its head and tail, by whole lines.
 *
 * Pure: text in, text out. The gap is one marker line with the numbers of the
 * lines left out, how many, and how to get them. */
#pragma once
#include "base/arena.h"

struct cut {
    struct str text;    /* what is left, marker included */
    size_t lines_total; /* of the original */
    size_t from, to;    /* lines left out (original numbers), 0: none */
};

/* Cut the UTF-8 text to at most `max` characters. first_line is the number of
 * its first line, of which `skipped` characters are not there; `more` says how to
 * get the rest, with FROM and TO standing for line numbers, "7:200" where it is
 * cut inside a line (NULL: nothing). A text that fits is given back as it is. */
struct cut cut_text(struct arena *a, struct str text, size_t max, size_t first_line, size_t skipped,
                    const char *more);

/* The text from that character of its first line to that one of its last, as
 * lines_chars gives them. */
struct str cut_chars(struct str text, size_t first, size_t last);

/* Lines of a text; a last one without newline counts. */
size_t cut_lines(struct str text);
