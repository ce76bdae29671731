/* state.h: what an input_required answer lets the client carry for us.
 *
 * A requestState holds the answers that came so far, so that nothing is kept
 * here between two requests. It is signed, ends after ten minutes, is good for
 * one use, and is tied to who asked for what: principal, profile, method and
 * parameters. Whatever is wrong with one, it is refused with the same words. */
#pragma once
#include "mcp/mcp.h"

struct state_bind {
    unsigned char digest[32];
};

struct state_bind state_bind(const char *principal, const char *profile, struct str method,
                             struct json params);

/* The answers of a request: those in the state it carries (empty: none) and
 * the new ones (an object or none), which win, as one object in the arena. */
bool state_open(struct mcp *m, const struct state_bind *bind, struct str state, struct json fresh,
                struct arena *a, struct str *answers, struct err *e);

/* A state that carries the answers (an object, or empty) to the next request. */
struct str state_seal(struct mcp *m, const struct state_bind *bind, struct str answers,
                      struct arena *a);

void states_free(struct states *s); /* NULL is fine */
