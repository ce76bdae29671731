/* remote_pruner.h: pruning by another service, as seed 000 writes it.
 *
 * POST {request_id, tool, focus_question, input, input_bytes,
 * max_output_bytes?}; a 200 with {output, output_bytes} is the answer.
 * Everything else is a failure with a code: timeout, http_error,
 * invalid_response. The caller then keeps the raw text. */
#pragma once
#include "call/call.h"

struct remote_prune;

struct remote_answer {
    struct str output; /* in the call's arena */
    struct err err;    /* set: it failed */
    uint64_t duration_ms;
};

/* Ask for one text. `done` comes once, on a later turn. */
struct remote_prune *remote_prune(struct call *c, struct str question, struct str input,
                                  long max_output,
                                  void (*done)(struct call *c, const struct remote_answer *a));

/* `done` will not come. */
void remote_prune_cancel(struct remote_prune *p);
