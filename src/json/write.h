/* write.h: JSON out, into a bounded buffer.
 *
 * The writer places commas; the caller keeps begin and end in balance. Text
 * must be valid UTF-8 (repair it first: base/utf8.h). Reaching the buffer's
 * ceiling sets buf.full; check it once, at the end. */
#pragma once
#include "base/buf.h"

struct json_out {
    struct buf *b;
    bool comma; /* the next value or key needs one before it */
};

static inline struct json_out json_out(struct buf *b)
{
    return (struct json_out){ b, false };
}

void json_obj(struct json_out *o);
void json_obj_end(struct json_out *o);
void json_arr(struct json_out *o);
void json_arr_end(struct json_out *o);
void json_put_key(struct json_out *o, const char *key);

void json_put_str(struct json_out *o, struct str s);
void json_put_strz(struct json_out *o, const char *s);
void json_put_int(struct json_out *o, long long v);
void json_put_bool(struct json_out *o, bool v);
void json_put_null(struct json_out *o);
void json_put_raw(struct json_out *o, struct str json); /* a value already written */

/* Key and value in one. */
void json_kv_str(struct json_out *o, const char *key, struct str s);
void json_kv_strz(struct json_out *o, const char *key, const char *s);
void json_kv_int(struct json_out *o, const char *key, long long v);
void json_kv_bool(struct json_out *o, const char *key, bool v);
void json_kv_raw(struct json_out *o, const char *key, struct str json);

/* The escaped text without quotes, for a caller that builds a string in
 * several pieces. */
void json_escape(struct buf *b, struct str s);
