/* split.c: the pattern of o200k_base, by hand.
 *
 *     [^\r\n\p{L}\p{N}]? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]* [\p{Ll}\p{Lm}\p{Lo}\p{M}]+
 * ('s|'t|'re|...)? | [^\r\n\p{L}\p{N}]? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+ [\p{Ll}\p{Lm}\p{Lo}\p{M}]*
 * ('s|'t|'re|...)? | \p{N}{1,3} | [ ]?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * A regular expression library would try these one after the other and step
 * back; here each kind of first character knows which of them can match, and
 * what stepping back would come to: a word without small letters ends behind
 * the last character that is both (other letters, marks), or, where there is
 * none, at the end of its capitals. No character is looked at more than a few
 * times, whatever the text. */
#include "tokens/split.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The classes of data/unicode.bin, in its order. MARK and LETTER are capital and
 * small at once; MARK is no letter where the pattern says \p{L}. WIDE, in
 * `narrow`: look in the other table. */
enum class { OTHER, CAPITAL, SMALL, LETTER, MARK, NUMBER, SPACE, NEWLINE, END, WIDE };

#define IS(class, set) (1u << (class) & (set))
enum {
    UPPER = 1 << CAPITAL | 1 << LETTER | 1 << MARK,
    LOWER = 1 << SMALL | 1 << LETTER | 1 << MARK,
    BOTH = 1 << LETTER | 1 << MARK,
    WHITE = 1 << SPACE | 1 << NEWLINE,
    SIGNS = 1 << OTHER | 1 << MARK, /* [^\s\p{L}\p{N}] */
};

extern const struct {
    uint8_t index[0x110000 / 128];
    uint8_t block[256][64]; /* a class in four bits */
} split_unicode;            /* data.S */

static const uint8_t narrow[256] = {
    ['\t'] = SPACE,  ['\n'] = NEWLINE, ['\v'] = SPACE,  ['\f'] = SPACE,       ['\r'] = NEWLINE,
    [' '] = SPACE,   ['0'] = NUMBER,   ['1'] = NUMBER,  ['2'] = NUMBER,       ['3'] = NUMBER,
    ['4'] = NUMBER,  ['5'] = NUMBER,   ['6'] = NUMBER,  ['7'] = NUMBER,       ['8'] = NUMBER,
    ['9'] = NUMBER,  ['A'] = CAPITAL,  ['B'] = CAPITAL, ['C'] = CAPITAL,      ['D'] = CAPITAL,
    ['E'] = CAPITAL, ['F'] = CAPITAL,  ['G'] = CAPITAL, ['H'] = CAPITAL,      ['I'] = CAPITAL,
    ['J'] = CAPITAL, ['K'] = CAPITAL,  ['L'] = CAPITAL, ['M'] = CAPITAL,      ['N'] = CAPITAL,
    ['O'] = CAPITAL, ['P'] = CAPITAL,  ['Q'] = CAPITAL, ['R'] = CAPITAL,      ['S'] = CAPITAL,
    ['T'] = CAPITAL, ['U'] = CAPITAL,  ['V'] = CAPITAL, ['W'] = CAPITAL,      ['X'] = CAPITAL,
    ['Y'] = CAPITAL, ['Z'] = CAPITAL,  ['a'] = SMALL,   ['b'] = SMALL,        ['c'] = SMALL,
    ['d'] = SMALL,   ['e'] = SMALL,    ['f'] = SMALL,   ['g'] = SMALL,        ['h'] = SMALL,
    ['i'] = SMALL,   ['j'] = SMALL,    ['k'] = SMALL,   ['l'] = SMALL,        ['m'] = SMALL,
    ['n'] = SMALL,   ['o'] = SMALL,    ['p'] = SMALL,   ['q'] = SMALL,        ['r'] = SMALL,
    ['s'] = SMALL,   ['t'] = SMALL,    ['u'] = SMALL,   ['v'] = SMALL,        ['w'] = SMALL,
    ['x'] = SMALL,   ['y'] = SMALL,    ['z'] = SMALL,   [128 ... 255] = WIDE,
};

/* Beyond ASCII. The text is valid, so the bytes are there. */
static enum class class_of_wide(const char *p) {
    const unsigned char *u = (const unsigned char *)p; uint32_t c;

    if (u[0] < 0xe0) c = (u[0] & 31u) << 6 | (u[1] & 63u);
    else if (u[0] < 0xf0) c = (u[0] & 15u) << 12 | (u[1] & 63u) << 6 | (u[2] & 63u);
    else c = (u[0] & 7u) << 18 | (u[1] & 63u) << 12 | (u[2] & 63u) << 6 | (u[3] & 63u);
    return split_unicode.block[split_unicode.index[c >> 7]][(c & 127) >> 1] >> (4 * (c & 1)) & 15;
}

static inline enum class class_of(const char *p, const char *end) {
    uint8_t c;

    if (p == end) return END;
    c = narrow[(unsigned char)*p];
    return c == WIDE ? class_of_wide(p) : (enum class)c;
}

/* Behind the character at p, which is not the end. */
static inline const char *after(const char *p)
{
    unsigned char c = (unsigned char)*p;

    return p + (c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4);
}

/* The end of the a to z that p starts with, eight at a time: of each byte the
 * highest bit says whether it is none of them. */
static inline const char *small_run(const char *p, const char *end)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t w, low, others;

    for (; end - p >= 8; p += 8) {
        memcpy(&w, p, 8);
        low = w & each * 127;
        others = (~(low + each * (128 - 'a')) | (low + each * (127 - 'z')) | w) & each * 128;
        if (others)
            return p + __builtin_ctzll(others) / 8;
    }
    while (p < end && *p >= 'a' && *p <= 'z')
        p++;
    return p;
}

/* The end of the characters of a set that p starts with. */
static inline const char *run(const char *p, const char *end, unsigned set)
{
    for (;;) {
        while (p < end && IS(narrow[(unsigned char)*p], set))
            p++;
        if (p == end || (unsigned char)*p < 128 || !IS(class_of_wide(p), set))
            return p;
        p = after(p);
    }
}

/* p, or behind the 's, 't, 're, 've, 'm, 'll, 'd that stands there. */
static const char *contraction(const char *p, const char *end)
{
    char a, b;

    if (p == end || *p != '\'' || end - p < 2)
        return p;
    a = (char)(p[1] | 32);
    if ((p[1] & 0x80) == 0 && (a == 's' || a == 't' || a == 'm' || a == 'd'))
        return p + 2;
    if (end - p < 3 || (p[1] & 0x80) || (p[2] & 0x80))
        return p;
    b = (char)(p[2] | 32);
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
        return p + 3;
    return p;
}

/* The word at p. Without a small letter or one that counts as both, *strict is
 * false: the pattern's second line, which comes after others. NULL: no word. */
static const char *word(const char *p, const char *end, bool *strict)
{
    const char *start = p, *both = NULL;
    enum class c;

    *strict = true;
    while (IS(c = class_of(p, end), UPPER)) {
        p = after(p);
        if (IS(c, BOTH))
            both = p;
    }
    if (c == SMALL) {
        p = small_run(p, end);
        return p < end && (*p & 0x80) ? run(p, end, LOWER) : p;
    }
    if (both)
        return both;
    *strict = false;
    return p > start ? p : NULL;
}

static const char *numbers(const char *p, const char *end)
{
    for (int i = 0; i < 3 && class_of(p, end) == NUMBER; i++)
        p = after(p);
    return p;
}

static const char *signs(const char *p, const char *end)
{
    p = run(p, end, SIGNS);
    while (p < end && (*p == '\r' || *p == '\n' || *p == '/'))
        p++;
    return p;
}

/* White space up to its last newline; else all of it but the last character,
 * which belongs to what follows; a single one is a piece of its own. */
static const char *white(const char *p, const char *end)
{
    const char *start = p, *newline = NULL, *last = p;
    enum class c;

    while (IS(c = class_of(p, end), WHITE)) {
        last = p;
        p = after(p);
        if (c == NEWLINE)
            newline = p;
    }
    if (newline)
        return newline;
    return p == end || last == start ? p : last;
}

const char *split_next(const char *p, const char *end)
{
    const char *next = after(p), *to;
    enum class first = class_of(p, end);
    bool strict;

    switch (first) {
    case CAPITAL:
    case SMALL:
    case LETTER:
        to = word(p, end, &strict);
        return contraction(to ? to : next, end);
    case NUMBER:
        return numbers(p, end);
    case NEWLINE:
        return white(p, end);
    default: /* one of these may stand before a word and belong to it */
        to = word(next, end, &strict);
        if (to && !strict && first == MARK)
            to = NULL; /* the mark alone is a word of the first line */
        if (to)
            return contraction(to, end);
        if (first == MARK)
            return contraction(next, end);
        if (first == OTHER)
            return signs(p, end);
        if (*p == ' ' && IS(class_of(next, end), SIGNS))
            return signs(next, end);
        return white(p, end);
    }
}
