/* post.h: a POST that carries a message, and where its answer goes.
 *
 * The answer is one JSON object, unless something has to be said before it, or
 * it takes longer than a heartbeat: then it becomes a stream of events, where
 * the client takes one. In a session such a stream can be left and resumed;
 * elsewhere a request ends with its connection. */
#pragma once
#include "mcp/door_http.h"

/* Handle the request's body as a message of the profile. session NULL: none.
 * plain: JSON-RPC without MCP's statuses and headers (/rpc). */
void post_message(struct door_http *d, struct http_req *r, const struct profile *p,
                  const char *principal, struct session *session, bool plain);

/* Cancel what has lost its connection and waits for another. */
void posts_close(struct door_http *d);

/* Is it a JSON body, by its header? If not, it was refused. */
bool post_is_json(struct http_req *r);
