/* table.c: the list, and nothing else. A new tool is a file and a line here. */
#include "tools/table.h"

#include <stddef.h>

const struct tool *const tool_table[] = {
    &tool_read, &tool_bash, &tool_grep, &tool_prune_text, &tool_recover_text, &tool_health, NULL,
};
