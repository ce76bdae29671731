/* door_auth.h: who may pass a door, and as whom.
 *
 * A door that needs a token asks for it unless the server has none (--no-auth,
 * jeeves-mcp-pruner) or the peer came over a unix socket. */
#pragma once
#include "mcp/door_http.h"

enum door_need { NEED_NOTHING, NEED_TOKEN };

/* May this request pass? *profile is the one that its path names, NULL where it
 * names none (/mcp, /sse …), and becomes the one to serve: the path's, or the
 * token's, or the active one. *principal becomes who asks; it lives as long as
 * the program. False: it has answered 401 or 403 itself. */
bool door_allows(struct door_http *d, struct http_req *r, enum door_need need,
                 const char **principal, const struct profile **profile);
