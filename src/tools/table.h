/* table.h: every tool of our own. */
#pragma once
#include "call/tool.h"

extern const struct tool tool_read, tool_bash, tool_grep, tool_health;

/* In the order of listings; ends with NULL. */
extern const struct tool *const tool_table[];
