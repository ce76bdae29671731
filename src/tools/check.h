/* check.h: arguments of a row that brings its own schema.
 *
 * Seed 001's schemas are exact, nested and closed; fields of call/tool.h say
 * less. What is wrong is refused with -32602 and all field_errors together. */
#pragma once
#include "call/call.h"

struct check_field {
    const char *name;
    enum json_type type;              /* JSON_NONE: may be missing, and the row looks at it */
    double min, max;                  /* JSON_NUM, where max is not 0 */
    bool integer;                     /* JSON_NUM */
    const char *words;                /* JSON_STR: one of these, between spaces */
    const struct check_field *inside; /* JSON_OBJ; JSON_ARR, whose members are such objects */
};

/* All fields are there, of their types and in their ranges, and no others. The
 * list ends with a row without a name. False: the call has been refused. */
bool check_object(struct call *c, struct str text, const struct check_field *fields,
                  struct json_doc *d);
