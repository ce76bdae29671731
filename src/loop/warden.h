/* warden.h: what pith and its warden say to each other.
 *
 * Private to this room. Both ends are the same binary, so structs travel as
 * they are. A new keeper is asked for by one packet of six descriptors to the
 * warden; all the rest goes over the keeper's control socket, the last of
 * them: a byte from pith means "kill it", and so does the socket's closing; one
 * record from the keeper means that all is over. If the record says that the
 * keeper waits, the next command may be sent there, as a packet of the first
 * five. A byte that comes while it waits was meant for the last command. */
#pragma once
#include <stdint.h>

#define WARDEN_NAME "pith-warden" /* argv[0] of the warden */

enum { WARDEN_FD = 3 }; /* where the warden finds its socket */

/* The descriptors of a packet, in this order. */
enum { GIVE_REQUEST, GIVE_IN, GIVE_OUT, GIVE_ERR, GIVE_CWD, GIVE_CTL, GIVE_COUNT };

/* The request, in a memfd since it may have megabytes: this, then argc + envc
 * strings, each with its NUL. */
struct warden_request {
    uint32_t argc, envc;
};

enum warden_kind {
    WARDEN_ENDED,   /* status is what waitpid gave */
    WARDEN_NO_FORK, /* error is errno, here and in the next two */
    WARDEN_NO_CWD,
    WARDEN_NO_EXEC,
    WARDEN_NOT_RUN, /* told to stop before it was started */
    WARDEN_ALONE    /* the warden died, so the keeper killed the command */
};

struct warden_record {
    int32_t kind, status, error;
    int32_t waits; /* the keeper is there for another command */
};
