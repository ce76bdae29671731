/* background.c: a table of stems with a four-bit fingerprint and a four-bit
 * logarithm in each byte; a stem that is not there reads as unknown, one in
 * some hundred as something common. */
#include "prune/background.h"

#include <data/prune_background.h>

static float look(const unsigned char *table, uint32_t stem)
{
    unsigned char c = table[stem & (BACKGROUND_SLOTS - 1)];

    return c && (c >> 4) == (stem >> 28) ? (float)(c & 15) : 0;
}

float background_text(uint32_t stem)
{
    return look(BACKGROUND_TEXT, stem);
}

float background_goal(uint32_t stem)
{
    return look(BACKGROUND_GOAL, stem);
}
