/* split.h: the pieces that a text is cut into before tokens are looked for. */
#pragma once

/* The end of the piece that starts at p (p < end), in valid UTF-8. */
const char *split_next(const char *p, const char *end);
