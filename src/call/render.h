/* render.h: a result as the object that MCP's tools/call gives. */
#pragma once
#include "call/call.h"

/* Append {members, "content":[…], …} in the form of c->answer. */
void render_result(struct call *c, struct buf *out);

/* Append {members, c->json, _meta}: a result that came ready-made. */
void render_ready(struct call *c, struct buf *out);

/* Append the result of a call whose arguments were refused: isError and all
 * field errors, so that a model can mend them. */
void render_field_errors(struct call *c, struct buf *out, const struct field_error *errors,
                         size_t count);

/* [{"field":…,"message":…},…] */
void render_errors_array(struct json_out *o, const struct field_error *errors, size_t count);
