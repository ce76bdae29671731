/* stem.h: words that mean the same, made the same.
 *
 * A stem is a 32-bit hash: "parsing", "parser" and "parsed" share one, and so
 * do "cfg" and "configuration". Two words meet by chance once in four billion,
 * which is rarer than a wrong stem. */
#pragma once
#include <stdint.h>
#include "base/str.h"

/* The longest word whose letters are looked at. */
enum { STEM_MAX = 40 };

/* The hash of a word of lower-case letters and digits, as it is written. */
uint32_t stem_exact(const char *p, size_t n);

/* The hash of its stem, abbreviations written out. */
uint32_t stem_of(const char *p, size_t n);
