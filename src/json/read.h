/* read.h: a strict JSON reader.
 *
 * Parsing makes a tape of nodes over the unchanged bytes: nothing is copied
 * until somebody asks for a text. RFC 8259 exactly: UTF-8 and numbers are
 * checked, nothing may follow the value but white space, no BOM. Depth at most
 * 512. Numbers stay as written, so a large id comes back digit for digit, and
 * any value can be forwarded as the slice it is.
 * An object with a repeated key is taken (the last value wins) and the
 * document is marked. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

enum { JSON_MAX_DEPTH = 512 };

enum json_type { JSON_NONE, JSON_NULL, JSON_BOOL, JSON_NUM, JSON_STR, JSON_ARR, JSON_OBJ };

struct json_node; /* private to read.c */

/* One parsed text. Borrows the text, which must outlive it. */
struct json_doc {
    struct str text;
    struct json_node *nodes; /* in the arena given to json_parse */
    size_t count;
    bool duplicate_keys; /* some object in it repeats a key */
    bool too_deep;       /* why the parse failed */
    size_t error_at;     /* byte offset where it failed */
};

/* A value inside a document; {0} is "no such value" and every function here
 * takes it (its type is JSON_NONE), so look-ups chain without tests. */
struct json {
    const struct json_doc *doc;
    size_t at;
};

/* Parse text. Gives the root, or false with *e set to PARSE. */
bool json_parse(struct json_doc *d, struct arena *a, struct str text, struct err *e);
struct json json_root(const struct json_doc *d);

enum json_type json_type(struct json v);

/* Member of an object by its unescaped key; none if absent or not an object. */
struct json json_get(struct json obj, const char *key);

/* Number of elements or members. */
size_t json_count(struct json v);

/* Iterate: for (v = json_first(x); json_type(v); v = json_next(v)). For objects
 * v is the member's value and json_key(v) its key as text. */
struct json json_first(struct json v);
struct json json_next(struct json v);
struct str json_key(struct json v, struct arena *a);

/* The bytes of the value as written, without surrounding white space. */
struct str json_raw(struct json v);

/* Unescaped text of a string: a slice of the document where nothing is
 * escaped, else made in the arena. Lone surrogates become U+FFFD. The text may
 * hold NULs and is not NUL-terminated. {NULL,0} when v is not a string. */
struct str json_str(struct json v, struct arena *a);

bool json_is_true(struct json v); /* the literal true */

/* An integer: digits, or a number such as 5.0 or 1e3 whose value is whole and
 * fits. Gives false for anything else. */
bool json_int(struct json v, long long *out);
bool json_double(struct json v, double *out);
