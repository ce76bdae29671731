/* table.h: every tool of our own. */
#pragma once
#include "call/tool.h"

extern const struct tool tool_read, tool_bash, tool_grep, tool_health, tool_prune_text,
    tool_recover_text;

/* Behind POST /prune; in no listing. */
extern const struct tool tool_prune_service;

/* In the order of listings; ends with NULL. */
extern const struct tool *const tool_table[];
