/* text.h: small things that several tools say alike. */
#pragma once
#include "base/arena.h"

/* What is kept beyond a ceiling of bytes, so that a cut there is noticed, and
 * no character is judged by its first half. */
enum { TEXT_SLACK = 4 };

/* s without a character that the ceiling cut through at its end. */
struct str text_whole(struct str s);

/* "1 line", "1,234 lines", "3 matches". */
const char *text_count(struct arena *a, unsigned long long n, const char *one, const char *many);
