/* write.c: JSON text, escaped as little as RFC 8259 allows.
 *
 * Quote, backslash and the control characters below U+0020 are escaped and
 * nothing else: U+007F, U+2028 and all that is not ASCII go out as they are.
 * A string is escaped in pieces that go into the buffer whole; most bytes need
 * no escape and are copied sixteen at a time.
 * Does not check the order of calls; that is the caller's. */
#include "json/write.h"

#include <stdio.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Bytes of text escaped at a time, each of which may become six. */
enum { PIECE = 512, LONGEST = 6, STEP = 16 };

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

#ifdef __SSE2__
/* Copy sixteen bytes; gives how many of them, from the first, are plain. What
 * lies behind them at `to` will be overwritten. */
static size_t copy_step(char *to, const char *from)
{
    __m128i x = _mm_loadu_si128((const __m128i *)from);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    int mask = _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));

    _mm_storeu_si128((__m128i *)to, x);
    return mask ? (size_t)__builtin_ctz((unsigned)mask) : STEP;
}
#else
static size_t copy_step(char *to, const char *from)
{
    size_t i;

    for (i = 0; i < STEP && is_plain((unsigned char)from[i]); i++)
        to[i] = from[i];
    return i;
}
#endif

static char *put_escape(char *to, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char two[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
    };

    *to++ = '\\';
    if (c >= 0x20) {
        *to++ = (char)c;
    } else if (two[c]) {
        *to++ = two[c];
    } else {
        memcpy(to, "u00", 3);
        to[3] = hex[c >> 4];
        to[4] = hex[c & 15];
        to += 5;
    }
    return to;
}

/* Escape n <= PIECE bytes. Gives the end of what was written. */
static char *escape_piece(char *to, const char *p, size_t n)
{
    const char *end = p + n;
    size_t k;

    while (p < end) {
        if (end - p >= STEP) {
            k = copy_step(to, p);
            to += k;
            p += k;
            if (k == STEP)
                continue;
        } else if (is_plain((unsigned char)*p)) {
            *to++ = *p++;
            continue;
        }
        to = put_escape(to, (unsigned char)*p++);
    }
    return to;
}

/* Straight into the buffer where there is room for the worst; near the ceiling
 * aside, so that what fits still goes in. */
static bool escape_into(struct buf *b, const char *p, size_t n)
{
    char aside[PIECE * LONGEST + STEP];
    char *room = b->max - b->len > sizeof aside ? buf_room(b, sizeof aside) : NULL;

    if (!room)
        return buf_add(b, aside, (size_t)(escape_piece(aside, p, n) - aside));
    b->len += (size_t)(escape_piece(room, p, n) - room);
    b->data[b->len] = '\0';
    return true;
}

void json_escape(struct buf *b, struct str s)
{
    size_t n;

    for (; s.n; s.p += n, s.n -= n) {
        n = s.n < PIECE ? s.n : PIECE;
        if (!escape_into(b, s.p, n))
            return;
    }
}

/* Before every key and value: the comma that the last one asked for. */
static void lead(struct json_out *o, bool comma_after)
{
    if (o->comma)
        buf_addc(o->b, ',');
    o->comma = comma_after;
}

void json_obj(struct json_out *o)
{
    lead(o, false);
    buf_addc(o->b, '{');
}

void json_obj_end(struct json_out *o)
{
    buf_addc(o->b, '}');
    o->comma = true;
}

void json_arr(struct json_out *o)
{
    lead(o, false);
    buf_addc(o->b, '[');
}

void json_arr_end(struct json_out *o)
{
    buf_addc(o->b, ']');
    o->comma = true;
}

void json_put_key(struct json_out *o, const char *key)
{
    json_put_strz(o, key);
    buf_addc(o->b, ':');
    o->comma = false;
}

void json_put_str(struct json_out *o, struct str s)
{
    lead(o, true);
    buf_addc(o->b, '"');
    json_escape(o->b, s);
    buf_addc(o->b, '"');
}

void json_put_strz(struct json_out *o, const char *s)
{
    json_put_str(o, str_of(s));
}

void json_put_int(struct json_out *o, long long v)
{
    lead(o, true);
    buf_addf(o->b, "%lld", v);
}

void json_put_bool(struct json_out *o, bool v)
{
    lead(o, true);
    buf_adds(o->b, v ? "true" : "false");
}

void json_put_null(struct json_out *o)
{
    lead(o, true);
    buf_adds(o->b, "null");
}

void json_put_raw(struct json_out *o, struct str json)
{
    lead(o, true);
    buf_add(o->b, json.p, json.n);
}

void json_kv_str(struct json_out *o, const char *key, struct str s)
{
    json_put_key(o, key);
    json_put_str(o, s);
}

void json_kv_strz(struct json_out *o, const char *key, const char *s)
{
    json_put_key(o, key);
    json_put_strz(o, s);
}

void json_kv_int(struct json_out *o, const char *key, long long v)
{
    json_put_key(o, key);
    json_put_int(o, v);
}

void json_kv_bool(struct json_out *o, const char *key, bool v)
{
    json_put_key(o, key);
    json_put_bool(o, v);
}

void json_kv_raw(struct json_out *o, const char *key, struct str json)
{
    json_put_key(o, key);
    json_put_raw(o, json);
}
