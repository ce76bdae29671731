/* words.c: the one pass over the bytes.
 *
 * Words are kept in a table of open addressing and told apart by 32 bits of
 * hash and their length: two that meet by chance, once in a hundred texts of
 * 30,000 words, share a score, nothing worse.
 * Room for lines and places is guessed generously, since what is not touched
 * costs nothing; the other tables double. A word's stems, keyword and token
 * count are worked out when it is first seen; every later place costs one look
 * into the table. */
#include "scan/words.h"

#include "scan/stem.h"

enum { LONGEST = 4096 /* letters of a word that are compared */, ASK_EVERY = 1 << 16 };

const uint8_t BYTE_CLASS[256] = {
    ['\t'] = BYTE_SPACE,         ['\v'] = BYTE_SPACE,        ['\f'] = BYTE_SPACE,
    ['\r'] = BYTE_SPACE,         [' '] = BYTE_SPACE,         ['_'] = BYTE_UNDER,
    ['0' ... '9'] = BYTE_DIGIT,  ['A' ... 'Z'] = BYTE_UPPER, ['a' ... 'z'] = BYTE_LOWER,
    [0x80 ... 0xff] = BYTE_HIGH,
};

struct reader {
    struct text *t;
    struct arena *a;
    struct slot {
        uint32_t hash;
        uint32_t word; /* 0: free */
    } * table;
    size_t slots;
    size_t line_cap, word_cap, place_cap, stem_cap;
    size_t place_count, stem_count;
    const uint32_t *keep;
    size_t keep_count;
    /* of the line being read */
    struct line *l;
    unsigned signs;
    uint32_t word; /* the word just read, if the byte before is its end */
};

static void *grow(struct arena *a, const void *old, size_t *cap, size_t used, size_t size)
{
    void *p;

    *cap = *cap ? 2 * *cap : 256;
    p = arena_alloc(a, *cap * size);
    if (used)
        memcpy(p, old, used * size);
    return p;
}

/* ---- Words ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Where the part that starts at i ends: at an underscore, where capitals
 * begin, before the last capital of several, at a change to or from digits. */
static size_t part_end(struct str w, size_t i)
{
    size_t j = i + 1;
    int c = BYTE_CLASS[(unsigned char)w.p[i]], d;

    if (c == BYTE_UPPER && j < w.n && BYTE_CLASS[(unsigned char)w.p[j]] == BYTE_UPPER) {
        while (j < w.n && BYTE_CLASS[(unsigned char)w.p[j]] == BYTE_UPPER)
            j++;
        if (j < w.n && BYTE_CLASS[(unsigned char)w.p[j]] == BYTE_LOWER && j - i > 1 &&
            !(w.p[j] == 's' && (j + 1 == w.n || w.p[j + 1] == '_')))
            return j - 1;
        if (j < w.n && w.p[j] == 's')
            j++;
        return j;
    }
    if (c == BYTE_UPPER)
        c = BYTE_LOWER;
    for (; j < w.n; j++) {
        d = BYTE_CLASS[(unsigned char)w.p[j]];
        if (d == BYTE_UNDER || d == BYTE_UPPER || (d == BYTE_DIGIT) != (c == BYTE_DIGIT))
            break;
    }
    return j;
}

size_t word_split(struct str w, uint32_t stems[WORD_PARTS], uint32_t *joined)
{
    char part[STEM_MAX], all[2 * STEM_MAX];
    size_t n = 0, k, i = 0, j, total = 0;

    while (i < w.n && n < WORD_PARTS) {
        if (w.p[i] == '_') {
            i++;
            continue;
        }
        j = part_end(w, i);
        for (k = 0; i < j; i++) {
            if (k < sizeof part)
                part[k++] = lower(w.p[i]);
            if (total < sizeof all)
                all[total++] = lower(w.p[i]);
        }
        stems[n++] = stem_of(part, k);
    }
    *joined = stem_exact(all, total);
    return n;
}

/* Tokens as a model would count them, roughly: small words, capitals, three
 * digits, runs of underscores. */
static unsigned word_tokens(const char *p, size_t n)
{
    unsigned count = 0;
    size_t i = 0, j;
    int c;

    while (i < n && i < 400) {
        c = BYTE_CLASS[(unsigned char)p[i]];
        j = i + 1;
        if (c == BYTE_UPPER) {
            while (j < n && BYTE_CLASS[(unsigned char)p[j]] == BYTE_UPPER)
                j++;
            if (j < n && BYTE_CLASS[(unsigned char)p[j]] == BYTE_LOWER && j - i > 1) {
                j--;
            } else if (j < n && BYTE_CLASS[(unsigned char)p[j]] == BYTE_LOWER) {
                while (j < n && BYTE_CLASS[(unsigned char)p[j]] == BYTE_LOWER)
                    j++;
            }
        } else if (c == BYTE_DIGIT) {
            while (j < n && j < i + 3 && BYTE_CLASS[(unsigned char)p[j]] == BYTE_DIGIT)
                j++;
        } else if (c == BYTE_HIGH) {
            while (j < n && ((unsigned char)p[j] & 0xc0) == 0x80)
                j++;
        } else {
            while (j < n && BYTE_CLASS[(unsigned char)p[j]] == c)
                j++;
        }
        count++;
        i = j;
    }
    return count < 255 ? count : 255;
}

static uint32_t hash_of(const char *p, size_t n)
{
    uint64_t h = n * 0x9e3779b97f4a7c15u, x;

    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&x, p, 8);
        h = (h ^ x) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    x = 0;
    if (n >= 4) {
        uint32_t lo, hi;

        memcpy(&lo, p, 4);
        memcpy(&hi, p + n - 4, 4);
        x = (uint64_t)hi << 32 | lo;
    } else if (n) {
        x = (unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 |
            (uint64_t)(unsigned char)p[n - 1] << 16;
    }
    h = (h ^ x) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(h ^ h >> 32);
}

static void widen(struct reader *r)
{
    size_t i, k, n = 2 * r->slots;
    struct slot *table = arena_zalloc(r->a, n * sizeof *table);

    for (i = 0; i < r->slots; i++) {
        if (!r->table[i].word)
            continue;
        k = r->table[i].hash & (n - 1);
        while (table[k].word)
            k = (k + 1) & (n - 1);
        table[k] = r->table[i];
    }
    r->table = table;
    r->slots = n;
}

static uint32_t word_new(struct reader *r, const char *p, size_t n)
{
    struct text *t = r->t;
    struct word *w;

    if (t->word_count == r->word_cap)
        t->words = grow(r->a, t->words, &r->word_cap, t->word_count, sizeof *t->words);
    if (r->stem_count + WORD_PARTS > r->stem_cap)
        t->stems = grow(r->a, t->stems, &r->stem_cap, r->stem_count, sizeof *t->stems);
    w = &t->words[t->word_count];
    *w = (struct word){ .at = (uint32_t)(p - t->bytes.p), .len = (uint16_t)n };
    w->stems = (uint32_t)r->stem_count;
    if (p[0] == '-') {
        t->stems[r->stem_count] = w->hash = stem_exact(p, n);
        w->parts = 1;
        w->tokens = (uint8_t)n;
    } else {
        w->parts = (uint8_t)word_split((struct str){ p, n }, t->stems + r->stem_count, &w->hash);
        w->tokens = (uint8_t)word_tokens(p, n);
        word_class((struct str){ p, n }, &w->kw, &w->sev);
    }
    r->stem_count += w->parts;
    w->upper = BYTE_CLASS[(unsigned char)p[0]] == BYTE_UPPER;
    w->exact = w->parts > 1;
    return (uint32_t)t->word_count++;
}

static uint32_t word_find(struct reader *r, const char *p, size_t n)
{
    uint32_t h;
    size_t k;

    if (n > LONGEST)
        n = LONGEST;
    if (2 * r->t->word_count >= r->slots)
        widen(r);
    h = hash_of(p, n);
    for (k = h & (r->slots - 1); r->table[k].word; k = (k + 1) & (r->slots - 1))
        if (r->table[k].hash == h && r->t->words[r->table[k].word].len == n)
            return r->table[k].word;
    r->table[k] = (struct slot){ h, (uint32_t)r->t->word_count };
    return word_new(r, p, n);
}

/* Does somebody ask for just this number? */
static bool is_kept(const struct reader *r, const char *p, size_t n)
{
    char w[STEM_MAX];
    uint32_t h;
    size_t i;

    if (!r->keep_count || n > sizeof w)
        return false;
    for (i = 0; i < n; i++)
        w[i] = lower(p[i]);
    h = stem_exact(w, n);
    for (i = 0; i < r->keep_count; i++)
        if (r->keep[i] == h)
            return true;
    return false;
}

static inline void place(struct reader *r, uint32_t id)
{
    struct text *t = r->t;
    struct word *w = &t->words[id];
    uint32_t line = (uint32_t)t->count + 1;

    if (r->place_count == r->place_cap)
        t->places = grow(r->a, t->places, &r->place_cap, r->place_count, sizeof *t->places);
    t->places[r->place_count++] = id;
    w->count++;
    if (w->last != line) {
        w->last = line;
        w->lines++;
    }
}

/* ---- Lines ---- */

static void sign(struct reader *r, unsigned c)
{
    r->l->mask = (r->l->mask ^ c) * 0x01000193u;
    if (r->signs < 8)
        r->l->shape = (r->l->shape ^ c) * 0x01000193u;
    r->signs++;
}

static void add_tokens(struct line *l, unsigned n)
{
    n += l->tokens;
    l->tokens = (uint16_t)(n < 65535 ? n : 65535);
}

/* A word from p; gives its end. */
static const char *read_word(struct reader *r, const char *p, const char *end)
{
    const char *q = p;
    size_t digits = 0, n;
    unsigned c, all = 0;
    uint32_t id = 0;
    struct word *w;

    if (*q == '-')
        q++;
    for (; q < end && (c = BYTE_CLASS[(unsigned char)*q]) >= BYTE_LOWER; q++) {
        digits += c == BYTE_DIGIT;
        all |= c;
    }
    if (all & BYTE_HIGH && memmem(p, (size_t)(q - p), "\xe2\x9f\xa6", 3))
        r->l->saw |= SAW_MARK;
    n = (size_t)(q - p);
    r->l->digits = (uint16_t)(r->l->digits + (digits < 999 ? digits : 999));
    if (digits < 4 || (digits == 4 && n == 4) || is_kept(r, p, n))
        id = word_find(r, p, n);
    if (!id) {
        add_tokens(r->l, word_tokens(p, n));
        sign(r, '0');
        place(r, 0);
    } else {
        w = &r->t->words[id];
        add_tokens(r->l, w->tokens);
        if (w->sev) {
            r->l->saw |= SAW_SEV;
            if ((w->sev == SEV_FAIL || w->sev == SEV_EXC) && r->l->sevs < 255)
                r->l->sevs++;
        }
        r->l->mask = (r->l->mask ^ (digits ? '0' : w->hash)) * 0x85ebca6bu;
        if (r->signs < 8)
            r->l->shape = (r->l->shape ^ (digits == n ? '0' : 'a')) * 0x01000193u;
        r->signs++;
        place(r, id);
    }
    r->word = id + 1;
    return q;
}

/* Past an ANSI sequence that starts at p. */
static const char *skip_ansi(const char *p, const char *end)
{
    p++;
    if (p < end && *p == '[')
        for (p++; p < end && ((unsigned char)*p < 0x40 || (unsigned char)*p > 0x7e); p++)
            if (*p == '\n' || (unsigned char)*p > 0x7e)
                return p;
    return p < end && *p != '\n' && (unsigned char)*p < 0x80 ? p + 1 : p;
}

/* What a sign right behind `before` and before `after` tells of the line. */
static void look(struct line *l, char c, char before, char after, bool behind_word)
{
    switch (c) {
    case '(':
        l->saw |= behind_word ? SAW_CALL | SAW_PAREN : SAW_PAREN;
        break;
    case '=':
        if (after == '>')
            l->saw |= SAW_ARROW;
        else if (after != '=' && !strchr("=<>!~", before))
            l->saw |= SAW_ASSIGN;
        break;
    case '-':
        if (after == '>')
            l->saw |= SAW_ARROW;
        break;
    case '/':
        if (after == '*' && (before == ' ' || before == '\t' || before == '\n'))
            l->saw |= SAW_OPEN;
        else if (before == '*')
            l->saw = (uint16_t)((l->saw | SAW_CLOSE) & ~SAW_OPEN);
        break;
    case '|':
        l->saw |= SAW_BAR;
        break;
    case ':':
        if (behind_word && after >= '0' && after <= '9')
            l->saw |= SAW_PATH_LINE;
        else if (behind_word && (after == ' ' || after == '\n'))
            l->saw |= SAW_COLON;
        break;
    case '"':
    case '\'':
    case '`':
        l->saw |= SAW_QUOTE;
        if (before == c && after == c)
            l->saw ^= SAW_TRIPLE;
        break;
    default:
        break;
    }
}

/* "-x" that stands alone, as options do. */
static bool is_option(const char *p, const char *end, char before)
{
    return *p == '-' && end - p >= 2 && BYTE_CLASS[(unsigned char)p[1]] >= BYTE_LOWER &&
           BYTE_CLASS[(unsigned char)p[1]] <= BYTE_DIGIT &&
           (end - p == 2 || !is_word_byte((unsigned char)p[2])) && strchr(" \t[(,|'\"`/\n", before);
}

static const char *read_line(struct reader *r, const char *p, const char *end)
{
    struct line *l = r->l;
    char before = '\n';
    int c;

    for (; p < end && (*p == ' ' || *p == '\t'); p++)
        if (l->indent < 1000)
            l->indent = (uint16_t)(l->indent + (*p == '\t' ? 4 : 1));
    l->head = (uint32_t)(p - r->t->bytes.p);
    l->shape = l->indent;
    while (p < end && *p != '\n') {
        c = BYTE_CLASS[(unsigned char)*p];
        if (c == BYTE_SPACE) {
            before = *p++;
            r->word = 0;
            continue;
        }
        if (*p == '\033') {
            l->saw |= SAW_ANSI;
            p = skip_ansi(p, end);
            continue;
        }
        if (!l->first)
            l->first = (uint8_t)*p;
        if (c != BYTE_SIGN || is_option(p, end, before)) {
            p = read_word(r, p, end);
            before = p[-1];
        } else {
            look(l, *p, before, p + 1 < end ? p[1] : '\n', r->word != 0);
            sign(r, (unsigned char)*p);
            add_tokens(l, 1);
            r->word = 0;
            before = *p++;
        }
        l->last = (uint8_t)before;
    }
    return p < end ? p + 1 : p;
}

static bool read_lines(struct reader *r, const struct late *late)
{
    struct text *t = r->t;
    const char *p = t->bytes.p, *end = p + t->bytes.n;
    size_t ask = 0;

    for (;;) {
        if (t->count == r->line_cap)
            t->lines = grow(r->a, t->lines, &r->line_cap, t->count, sizeof *t->lines);
        r->l = &t->lines[t->count];
        *r->l = (struct line){ .at = (uint32_t)(p - t->bytes.p), .tokens = 1 };
        r->l->words = (uint32_t)r->place_count;
        r->signs = 0;
        r->word = 0;
        if (p == end)
            return true;
        p = read_line(r, p, end);
        t->count++;
        if ((size_t)(p - t->bytes.p) >= ask) {
            ask = (size_t)(p - t->bytes.p) + ASK_EVERY;
            if (is_late(late))
                return false;
        }
    }
}

bool text_read(struct text *t, struct arena *a, struct str bytes, const uint32_t *keep,
               size_t keep_count, const struct late *late)
{
    struct reader r = { .t = t, .a = a, .keep = keep, .keep_count = keep_count };
    size_t guess = bytes.n / 32 + 16;

    *t = (struct text){ .bytes = bytes.n ? bytes : STR("") };
    r.slots = 512;
    r.table = arena_zalloc(a, r.slots * sizeof *r.table);
    r.line_cap = guess < 64 ? 64 : guess;
    r.place_cap = bytes.n / 4 + 64;
    t->places = arena_alloc(a, r.place_cap * sizeof *t->places);
    t->lines = arena_alloc(a, r.line_cap * sizeof *t->lines);
    t->words = grow(a, NULL, &r.word_cap, 0, sizeof *t->words);
    t->words[0] = (struct word){ 0 };
    t->word_count = 1;
    return read_lines(&r, late);
}
