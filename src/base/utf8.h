/* utf8.h: is it UTF-8, make it UTF-8, cut it without breaking a character.
 *
 * Strict as Unicode asks: no overlong forms, no surrogates, nothing above
 * U+10FFFF. */
#pragma once
#include "base/buf.h"

/* Length of the longest prefix of s that is whole, valid UTF-8. */
size_t utf8_valid(struct str s);

/* Length of the character that s (not empty) starts with; where that is not
 * valid, minus the length of the maximal part to replace or skip. */
int utf8_next(struct str s);

/* Largest cut <= n that does not split a character of the valid text s. */
size_t utf8_cut(struct str s, size_t n);

/* Append s to out with each maximal invalid part replaced by U+FFFD, as
 * browsers do. Gives the number of bytes of s that were replaced. */
size_t utf8_repair(struct buf *out, struct str s);

/* How many characters (code points) the valid text s has. */
size_t utf8_count(struct str s);

/* Encode one code point at out (4 bytes of room); gives its length. */
int utf8_put(char *out, unsigned cp);
