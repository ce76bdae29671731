/* door_sse.h: the HTTP+SSE transport of 2024-11-05, for old clients.
 *
 * GET /sse opens a stream whose first event, `endpoint`, says where to POST:
 * /messages?sessionId=…; every answer comes on the stream. The session ends
 * with the stream. */
#pragma once
#include "mcp/door_http.h"

void door_sse_open(struct door_http *d, struct http_req *r, const struct profile *p,
                   const char *principal);
void door_sse_post(struct door_http *d, struct http_req *r, const struct profile *p,
                   const char *principal);
