/* principal.h: who asks, and so who owns what is kept.
 *
 *     local:<uid>   stdio, a unix socket (the peer's), a server without tokens
 *     loopback      a door of the loopback address that asks for no token
 *     ci            a token's name ([a-z0-9_-]{1,32}), over HTTP
 *
 * A principal is a text that lives as long as the program, one per name: it
 * may be kept anywhere, and two are the same when their pointers are. */
#pragma once
#include "base/str.h"

enum { PRINCIPAL_NAME_MAX = 32 };

/* A user of this machine; ours. */
const char *principal_user(unsigned uid);
const char *principal_local(void);
const char *principal_loopback(void);

/* The one of that token name. */
const char *principal_named(const char *name);

/* May a token be called so? Not like one of the two above. */
bool principal_name_ok(struct str name);
