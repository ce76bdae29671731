/* door_stdio.h: MCP over a pair of descriptors, one message a line. */
#pragma once
#include "mcp/mcp.h"

struct door_stdio;

/* Serve the profile; `end` is called once, when the peer has said its last and
 * every call it waits for is answered (or it no longer listens). */
struct door_stdio *door_stdio_open(struct mcp *m, const struct profile *p, int in, int out,
                                   size_t max_line, loop_fn *end, void *arg, struct err *e);

/* Cancel what is under way, hand over what is written, close. */
void door_stdio_free(struct door_stdio *d);
