/* trees.c: a tile of lines, turned by a quarter and asked tree by tree. */
#include "prune/trees.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Column k, line i is row i, feature k. */
static void turn(int8_t column[F_ROOM][TILE], int8_t row[TILE][F_ROOM])
{
    size_t i, k;
#ifdef __SSE2__
    __m128i in[16], out[16];
    size_t j, round;

    /* Shuffled four times like two halves of a deck, 16 by 16 bytes are turned. */
    for (i = 0; i < TILE; i += 16)
        for (k = 0; k < F_ROOM; k += 16) {
            for (j = 0; j < 16; j++)
                in[j] = _mm_loadu_si128((const __m128i *)&row[i + j][k]);
            for (round = 0; round < 4; round++) {
                for (j = 0; j < 8; j++) {
                    out[2 * j] = _mm_unpacklo_epi8(in[j], in[j + 8]);
                    out[2 * j + 1] = _mm_unpackhi_epi8(in[j], in[j + 8]);
                }
                memcpy(in, out, sizeof in);
            }
            for (j = 0; j < 16; j++)
                _mm_storeu_si128((__m128i *)&column[k + j][i], in[j]);
        }
#else
    for (i = 0; i < TILE; i++)
        for (k = 0; k < F_ROOM; k++)
            column[k][i] = row[i][k];
#endif
}

static void ask(uint8_t *restrict leaf, int8_t column[F_ROOM][TILE], const struct line_tree *t)
{
    const int8_t *a = column[t->feature[0]], *b = column[t->feature[1]];
    const int8_t *c = column[t->feature[2]], *d = column[t->feature[3]];
    size_t i;

    for (i = 0; i < TILE; i++)
        leaf[i] = (uint8_t)((a[i] > t->above[0] ? 1 : 0) | (b[i] > t->above[1] ? 2 : 0) |
                            (c[i] > t->above[2] ? 4 : 0) | (d[i] > t->above[3] ? 8 : 0));
}

void trees_add(int32_t sum[TILE], int8_t row[TILE][F_ROOM], enum text_part part)
{
    enum { AT_ONCE = 5 }; /* fewer sums to load and store */
    const struct line_tree *t = LINE_TREES[part], *end = t + TREES;
    int8_t column[F_ROOM][TILE];
    uint8_t leaf[AT_ONCE][TILE];
    size_t i, k;

    _Static_assert(TREES % AT_ONCE == 0, "whole groups of trees");
    turn(column, row);
    for (; t < end; t += AT_ONCE) {
        for (k = 0; k < AT_ONCE; k++)
            ask(leaf[k], column, t + k);
        for (i = 0; i < TILE; i++)
            sum[i] += t[0].leaf[leaf[0][i]] + t[1].leaf[leaf[1][i]] + t[2].leaf[leaf[2][i]] +
                      t[3].leaf[leaf[3][i]] + t[4].leaf[leaf[4][i]];
    }
}
