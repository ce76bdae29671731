/* args.h: arguments checked against a row (call.h has the handler's side). */
#pragma once
#include "call/call.h"

/* Is this field part of the tool in answers of that form? */
bool field_shown(const struct field *f, enum answer answer);

/* Is the tool's schema the one to use in answers of that form? */
bool schema_shown(const struct tool *t, enum answer answer);

/* The tool's field of that name, NULL if it has none. */
const struct field *field_find(const struct tool *t, const char *name);

/* May no caller set this variable? What is inherited is cleaned of the same
 * names, except LD_LIBRARY_PATH. */
bool env_forbidden(struct str name);

/* "120-180", "120" or "120-" as numbers from 1 on; *to is 0 for "to the end". For
 * parts of long lines a line may be followed by a character, from 1 on:
 * "7:200-9:80", or "7:200-400" within one. */
bool lines_parse(struct str s, size_t *from, size_t *to);

/* The characters of such a range: first of its first line, last of its last; 0
 * where none is named. */
void lines_chars(struct str s, size_t *first, size_t *last);
