/* door_prune.h: POST /prune: the engine for programs without MCP. */
#pragma once
#include "mcp/door_http.h"

void door_prune(struct door_http *d, struct http_req *r, const char *principal);
