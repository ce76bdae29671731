/* read.c: the tape.
 *
 * One pass over the bytes makes one node of 16 bytes for every key and value,
 * in the order of the text: a container is followed by its content, a value in
 * an object is preceded by its key. `next` leads from a value to its sibling,
 * so a subtree is skipped in one step; zero ends the chain, since node 0 is the
 * root and nobody's sibling.
 *
 * Nesting is a stack of frames in the parser and not recursion: depth costs no
 * C stack. A short text's nodes are made on the C stack and copied into the
 * arena; a long one's grow on the heap, where the kernel can move pages without
 * copying them, and the arena then takes that memory over.
 *
 * Keys are compared when an object closes. Beyond a few members that is a hash
 * table under a random key, so that nobody can prepare collisions.
 *
 * Not here: writing, changing a document, numbers beyond long long and double
 * (json_raw has their digits). */
#include "json/read.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/key.h"

enum { FIRST_NODES = 128, PAIRWISE_KEYS = 16 };

enum {
    MEMBER = 1,  /* the node before this value is its key */
    ESCAPED = 2, /* the string holds a backslash */
    FILLED = 4,  /* the container is not empty */
};

struct json_node {
    uint32_t at; /* first byte of the value */
    uint32_t end;
    uint32_t next; /* node of the next value in the same container, or 0 */
    uint8_t type;
    uint8_t flags;
};

_Static_assert(sizeof(struct json_node) == 16, "a tape of 16 bytes a node");

/* An open container. */
struct frame {
    uint32_t node;
    uint32_t last;    /* node of the last value in it, or 0 */
    uint32_t members; /* values so far, of an object */
};

struct parser {
    struct json_doc *d;
    struct err *e;
    const char *text;
    const char *p;
    const char *end;
    struct json_node *nodes;
    size_t count;
    size_t cap;
    int depth;
    struct frame stack[JSON_MAX_DEPTH];
    struct json_node first[FIRST_NODES];
};

enum step { BAD, WANT_VALUE, HAVE_VALUE, DONE };

/* ---- Errors ---- */

static enum step bad(struct parser *ps, const char *at, const char *what)
{
    ps->d->error_at = (size_t)(at - ps->text);
    err_set(ps->e, ERR_PARSE, "not JSON: %s at byte %zu", what, ps->d->error_at);
    return BAD;
}

/* The byte at p is not what the grammar wants there. */
static enum step unexpected(struct parser *ps)
{
    char what[32];
    unsigned char c;

    if (ps->p == ps->end)
        return bad(ps, ps->p, ps->text == ps->end ? "an empty text" : "unexpected end");
    c = (unsigned char)*ps->p;
    snprintf(what, sizeof what, c > ' ' && c < 0x7f ? "unexpected '%c'" : "unexpected byte 0x%02x",
             c);
    return bad(ps, ps->p, what);
}

static enum step too_deep(struct parser *ps)
{
    ps->d->too_deep = true;
    ps->d->error_at = (size_t)(ps->p - ps->text);
    err_set(ps->e, ERR_PARSE, "JSON nested deeper than %d at byte %zu", JSON_MAX_DEPTH,
            ps->d->error_at);
    return BAD;
}

/* ---- Bytes ---- */

static void skip_space(struct parser *ps)
{
    while (ps->p < ps->end && (*ps->p == ' ' || *ps->p == '\n' || *ps->p == '\r' || *ps->p == '\t'))
        ps->p++;
}

/* Is c next? Then step over it. */
static bool take(struct parser *ps, char c)
{
    if (ps->p == ps->end || *ps->p != c)
        return false;
    ps->p++;
    return true;
}

static bool is_digit(const struct parser *ps)
{
    return ps->p < ps->end && *ps->p >= '0' && *ps->p <= '9';
}

static bool take_digits(struct parser *ps)
{
    if (!is_digit(ps))
        return false;
    while (is_digit(ps))
        ps->p++;
    return true;
}

/* Past the ASCII characters that mean nothing special inside a string. A byte
 * from 0x80 up is negative as a signed one, so one comparison finds it and the
 * control characters. */
static const char *skip_plain(const char *p, const char *end)
{
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i odd = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20));
        __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
        __m128i slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
        int mask = _mm_movemask_epi8(_mm_or_si128(odd, _mm_or_si128(quote, slash)));

        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
#endif
    while (p < end && (signed char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* ---- Nodes ---- */

static void nodes_grow(struct parser *ps)
{
    struct json_node *more;

    if (ps->nodes == ps->first) {
        more = xmalloc(2 * sizeof ps->first);
        memcpy(more, ps->first, sizeof ps->first);
    } else {
        more = xrealloc(ps->nodes, 2 * ps->cap * sizeof *more);
    }
    ps->nodes = more;
    ps->cap *= 2;
}

/* A node of this type that begins at p. */
static struct json_node *node_add(struct parser *ps, enum json_type type)
{
    struct json_node *n;

    if (ps->count == ps->cap)
        nodes_grow(ps);
    n = &ps->nodes[ps->count++];
    *n = (struct json_node){ .at = (uint32_t)(ps->p - ps->text), .type = (uint8_t)type };
    return n;
}

/* The same for a value, hung into the container that is open. */
static struct json_node *value_add(struct parser *ps, enum json_type type)
{
    struct json_node *n = node_add(ps, type);
    struct frame *f;

    if (ps->depth == 0)
        return n;
    f = &ps->stack[ps->depth - 1];
    if (ps->nodes[f->node].type == JSON_OBJ) {
        n->flags = MEMBER;
        f->members++;
    }
    if (f->last)
        ps->nodes[f->last].next = (uint32_t)(n - ps->nodes);
    f->last = (uint32_t)(n - ps->nodes);
    return n;
}

static enum step value_end(struct parser *ps, struct json_node *n)
{
    n->end = (uint32_t)(ps->p - ps->text);
    return HAVE_VALUE;
}

/* ---- Scalars ---- */

/* At the backslash. A surrogate without its other half is taken: RFC 8259's
 * grammar allows it, and json_str makes it U+FFFD. */
static bool take_escape(struct parser *ps)
{
    const char *at = ps->p++;
    int i;

    if (ps->p == ps->end)
        return unexpected(ps) != BAD;
    if (*ps->p != 'u') {
        if (!memchr("\"\\/bfnrt", *ps->p, 8))
            return bad(ps, at, "unknown escape") != BAD;
        ps->p++;
        return true;
    }
    ps->p++;
    for (i = 0; i < 4; i++, ps->p++)
        if (ps->p == ps->end || key_hex(*ps->p) < 0)
            return bad(ps, at, "\\u without four hex digits") != BAD;
    return true;
}

/* At a byte from 0x80 up: it and the like that follow, as in text that is not
 * written in ASCII. */
static bool take_wide(struct parser *ps)
{
    int k;

    do {
        k = utf8_next((struct str){ ps->p, (size_t)(ps->end - ps->p) });
        if (k < 0)
            return bad(ps, ps->p, "invalid UTF-8") != BAD;
        ps->p += k;
    } while (ps->p < ps->end && *ps->p & 0x80);
    return true;
}

/* At the opening quote; n is the string's node. */
static enum step take_string(struct parser *ps, struct json_node *n)
{
    for (ps->p++;;) {
        ps->p = skip_plain(ps->p, ps->end);
        if (take(ps, '"'))
            return value_end(ps, n);
        if (ps->p == ps->end)
            return bad(ps, ps->text + n->at, "a string without end");
        if (*ps->p == '\\') {
            n->flags |= ESCAPED;
            if (!take_escape(ps))
                return BAD;
            continue;
        }
        if (!(*ps->p & 0x80))
            return bad(ps, ps->p, "a control character in a string");
        if (!take_wide(ps))
            return BAD;
    }
}

static enum step take_number(struct parser *ps)
{
    struct json_node *n = value_add(ps, JSON_NUM);

    take(ps, '-');
    if (!take(ps, '0') && !take_digits(ps))
        return unexpected(ps);
    if (take(ps, '.') && !take_digits(ps))
        return unexpected(ps);
    if (take(ps, 'e') || take(ps, 'E')) {
        if (!take(ps, '+'))
            take(ps, '-');
        if (!take_digits(ps))
            return unexpected(ps);
    }
    return value_end(ps, n);
}

static enum step take_word(struct parser *ps, enum json_type type, struct str word)
{
    struct json_node *n = value_add(ps, type);

    if (!str_starts((struct str){ ps->p, (size_t)(ps->end - ps->p) }, word.p))
        return bad(ps, ps->p, "an unknown word");
    ps->p += word.n;
    return value_end(ps, n);
}

/* ---- Keys ---- */

static struct key node_key(const char *text, const struct json_node *n)
{
    return (struct key){ { text + n->at + 1, n->end - n->at - 2 }, n->flags & ESCAPED };
}

/* The key of the value at node i. */
static struct key key_of(const struct parser *ps, uint32_t i)
{
    return node_key(ps->text, &ps->nodes[i - 1]);
}

static uint64_t random_point(void)
{
    uint64_t r;

    if (getrandom(&r, sizeof r, GRND_NONBLOCK) != sizeof r)
        r = clock_ms() * 0x9e3779b97f4a7c15u ^ (uintptr_t)&r;
    return r >> 4;
}

/* Many members: a table of value nodes, at most half full. */
static bool repeats_many(const struct parser *ps, uint32_t first, size_t members)
{
    uint64_t r = random_point();
    size_t size = 64, slot;
    uint32_t *table, i;

    while (size < 2 * members)
        size *= 2;
    table = xcalloc(size, sizeof *table);
    for (i = first; i; i = ps->nodes[i].next) {
        struct key k = key_of(ps, i);

        for (slot = key_hash(k, r) & (size - 1); table[slot]; slot = (slot + 1) & (size - 1))
            if (key_eq(k, key_of(ps, table[slot])))
                goto out;
        table[slot] = i;
    }
out:
    free(table);
    return i != 0;
}

/* Few members: a bit for the length and the ends of each key seen so far.
 * Mostly the bits differ, and only where they do not is a key compared with
 * all before it. What ends an escaped key has is not plain to see: then the
 * table. */
static bool repeats_few(const struct parser *ps, uint32_t first)
{
    uint64_t seen = 0, bit;
    uint32_t i, j;

    for (i = first; i; i = ps->nodes[i].next) {
        struct key k = key_of(ps, i);
        const unsigned char *p = (const unsigned char *)k.raw.p;

        if (k.escaped)
            return repeats_many(ps, first, PAIRWISE_KEYS);
        bit = k.raw.n ? (uint64_t)1 << ((p[0] * 7 + p[k.raw.n - 1] * 31 + k.raw.n) & 63) : 1;
        if (seen & bit)
            for (j = first; j != i; j = ps->nodes[j].next)
                if (key_eq(k, key_of(ps, j)))
                    return true;
        seen |= bit;
    }
    return false;
}

/* ---- Containers ---- */

/* At a key: the key and its colon. */
static enum step take_key(struct parser *ps)
{
    skip_space(ps);
    if (ps->p == ps->end || *ps->p != '"')
        return unexpected(ps);
    if (take_string(ps, node_add(ps, JSON_STR)) == BAD)
        return BAD;
    skip_space(ps);
    return take(ps, ':') ? WANT_VALUE : unexpected(ps);
}

/* At the bracket that closes the innermost container. */
static enum step close_container(struct parser *ps)
{
    struct frame *f = &ps->stack[--ps->depth];
    uint32_t first = f->node + 2;

    ps->p++;
    if (f->members > 1 && !ps->d->duplicate_keys)
        ps->d->duplicate_keys = f->members <= PAIRWISE_KEYS ? repeats_few(ps, first)
                                                            : repeats_many(ps, first, f->members);
    return value_end(ps, &ps->nodes[f->node]);
}

/* At the bracket that opens one. */
static enum step open_container(struct parser *ps, enum json_type type)
{
    struct json_node *n;

    if (ps->depth == JSON_MAX_DEPTH)
        return too_deep(ps);
    n = value_add(ps, type);
    ps->stack[ps->depth++] = (struct frame){ .node = (uint32_t)(n - ps->nodes) };
    ps->p++;
    skip_space(ps);
    if (ps->p < ps->end && *ps->p == (type == JSON_OBJ ? '}' : ']'))
        return close_container(ps);
    n->flags |= FILLED;
    return type == JSON_OBJ ? take_key(ps) : WANT_VALUE;
}

static enum step take_value(struct parser *ps)
{
    skip_space(ps);
    if (ps->p == ps->end)
        return unexpected(ps);
    switch (*ps->p) {
    case '"':
        return take_string(ps, value_add(ps, JSON_STR));
    case '{':
        return open_container(ps, JSON_OBJ);
    case '[':
        return open_container(ps, JSON_ARR);
    case 't':
        return take_word(ps, JSON_BOOL, STR("true"));
    case 'f':
        return take_word(ps, JSON_BOOL, STR("false"));
    case 'n':
        return take_word(ps, JSON_NULL, STR("null"));
    default:
        return *ps->p == '-' || is_digit(ps) ? take_number(ps) : unexpected(ps);
    }
}

/* After a value: a comma, the end of its container, or the end of the text. */
static enum step take_rest(struct parser *ps)
{
    bool object;

    skip_space(ps);
    if (ps->depth == 0)
        return ps->p == ps->end ? DONE : unexpected(ps);
    object = ps->nodes[ps->stack[ps->depth - 1].node].type == JSON_OBJ;
    if (take(ps, ','))
        return object ? take_key(ps) : WANT_VALUE;
    if (ps->p < ps->end && *ps->p == (object ? '}' : ']'))
        return close_container(ps);
    return unexpected(ps);
}

/* Hand the nodes to the document. */
static void keep_nodes(struct parser *ps, struct arena *a)
{
    size_t size = ps->count * sizeof *ps->nodes;

    if (ps->nodes == ps->first) {
        ps->d->nodes = memcpy(arena_alloc(a, size), ps->first, size);
    } else {
        ps->d->nodes = xrealloc(ps->nodes, size);
        arena_adopt(a, ps->d->nodes, size);
    }
    ps->d->count = ps->count;
}

bool json_parse(struct json_doc *d, struct arena *a, struct str text, struct err *e)
{
    enum step step = WANT_VALUE;
    struct parser ps;

    if (!text.p)
        text.p = "";
    *d = (struct json_doc){ .text = text };
    if (text.n > UINT32_MAX)
        return err_set(e, ERR_PARSE, "JSON of more than 4 GB is not read");
    ps.d = d;
    ps.e = e;
    ps.p = ps.text = text.p;
    ps.end = text.p + text.n;
    ps.nodes = ps.first;
    ps.count = 0;
    ps.cap = FIRST_NODES;
    ps.depth = 0;
    while (step == WANT_VALUE || step == HAVE_VALUE)
        step = step == WANT_VALUE ? take_value(&ps) : take_rest(&ps);
    if (step == DONE)
        keep_nodes(&ps, a);
    else if (ps.nodes != ps.first)
        free(ps.nodes);
    return step == DONE;
}

/* ---- Looking at it ---- */

static const struct json_node *node_of(struct json v)
{
    return v.doc && v.at < v.doc->count ? &v.doc->nodes[v.at] : NULL;
}

static struct str node_raw(const struct json_doc *d, const struct json_node *n)
{
    return (struct str){ d->text.p + n->at, n->end - n->at };
}

struct json json_root(const struct json_doc *d)
{
    return (struct json){ d->count ? d : NULL, 0 };
}

enum json_type json_type(struct json v)
{
    const struct json_node *n = node_of(v);

    return n ? (enum json_type)n->type : JSON_NONE;
}

struct json json_get(struct json obj, const char *key)
{
    struct key want = { str_of(key), false };
    struct json v, found = { 0 };

    if (json_type(obj) != JSON_OBJ)
        return found;
    for (v = json_first(obj); json_type(v); v = json_next(v)) {
        if (!key_eq(node_key(v.doc->text.p, &v.doc->nodes[v.at - 1]), want))
            continue;
        found = v;
        if (!v.doc->duplicate_keys)
            break;
    }
    return found;
}

size_t json_count(struct json v)
{
    size_t n = 0;

    for (v = json_first(v); json_type(v); v = json_next(v))
        n++;
    return n;
}

struct json json_first(struct json v)
{
    const struct json_node *n = node_of(v);

    if (!n || !(n->flags & FILLED))
        return (struct json){ 0 };
    return (struct json){ v.doc, v.at + (n->type == JSON_OBJ ? 2 : 1) };
}

struct json json_next(struct json v)
{
    const struct json_node *n = node_of(v);

    if (!n || !n->next)
        return (struct json){ 0 };
    return (struct json){ v.doc, n->next };
}

struct str json_key(struct json v, struct arena *a)
{
    const struct json_node *n = node_of(v);

    if (!n || !(n->flags & MEMBER))
        return (struct str){ 0 };
    return json_str((struct json){ v.doc, v.at - 1 }, a);
}

struct str json_raw(struct json v)
{
    const struct json_node *n = node_of(v);

    return n ? node_raw(v.doc, n) : (struct str){ 0 };
}

/* Unescaping never makes a text longer, so the room of the raw one is enough. */
struct str json_str(struct json v, struct arena *a)
{
    const struct json_node *n = node_of(v);
    const char *p, *end, *slash;
    char *out, *to;

    if (!n || n->type != JSON_STR)
        return (struct str){ 0 };
    p = v.doc->text.p + n->at + 1;
    end = v.doc->text.p + n->end - 1;
    if (!(n->flags & ESCAPED))
        return (struct str){ p, (size_t)(end - p) };
    out = to = arena_alloc(a, (size_t)(end - p) + 4);
    while ((slash = memchr(p, '\\', (size_t)(end - p)))) {
        memcpy(to, p, (size_t)(slash - p));
        to += slash - p;
        p = slash;
        to += key_unescape(&p, to);
    }
    memcpy(to, p, (size_t)(end - p));
    to += end - p;
    return (struct str){ out, (size_t)(to - out) };
}

bool json_is_true(struct json v)
{
    return json_type(v) == JSON_BOOL && json_raw(v).n == 4;
}

/* ---- Numbers ---- */

/* A decimal number as digits * 10^exp, with no zero at the end of the digits. */
struct decimal {
    unsigned long long digits;
    long long exp;
};

static bool digit_add(struct decimal *d, unsigned digit)
{
    return !__builtin_mul_overflow(d->digits, 10, &d->digits) &&
           !__builtin_add_overflow(d->digits, digit, &d->digits);
}

/* The exponent, held at a size that no text of 4 GB can outweigh. */
static long long exponent(const char *p, const char *end)
{
    bool minus = p < end && *p == '-';
    long long v = 0;

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end; p++)
        if (v < 1000000000000)
            v = v * 10 + (*p - '0');
    return minus ? -v : v;
}

/* Split the number (without sign). False when its digits, the zeros at the
 * end left out, are more than a long long has. */
static bool decimal(struct decimal *d, const char *p, const char *end)
{
    long long zeros = 0, fraction = 0;
    bool point = false;

    *d = (struct decimal){ 0 };
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        fraction += point;
        zeros++;
        if (*p == '0')
            continue;
        for (; zeros > 1 && d->digits; zeros--)
            if (!digit_add(d, 0))
                return false;
        if (!digit_add(d, (unsigned)(*p - '0')))
            return false;
        zeros = 0;
    }
    d->exp = zeros - fraction + (p < end ? exponent(p + 1, end) : 0);
    return true;
}

bool json_int(struct json v, long long *out)
{
    struct str s = json_raw(v);
    struct decimal d;
    bool minus;

    if (json_type(v) != JSON_NUM)
        return false;
    minus = s.p[0] == '-';
    if (!decimal(&d, s.p + minus, s.p + s.n))
        return false;
    if (d.digits && d.exp < 0)
        return false;
    for (; d.digits && d.exp > 0; d.exp--)
        if (!digit_add(&d, 0))
            return false;
    if (d.digits > (unsigned long long)LLONG_MAX + minus)
        return false;
    *out = minus ? (long long)-d.digits : (long long)d.digits;
    return true;
}

/* strtod wants a NUL, which the document does not have. The locale is "C":
 * nobody calls setlocale. */
bool json_double(struct json v, double *out)
{
    struct str s = json_raw(v);
    char small[64], *z = small;
    double x;

    if (json_type(v) != JSON_NUM)
        return false;
    if (s.n >= sizeof small)
        z = xmalloc(s.n + 1);
    memcpy(z, s.p, s.n);
    z[s.n] = '\0';
    x = strtod(z, NULL);
    if (z != small)
        free(z);
    if (isinf(x))
        return false;
    *out = x;
    return true;
}
