/* main.c: wires the rooms.
 *
 * The same binary is the program, the warden of its children (loop/warden.c)
 * and, under the name jeeves-mcp-pruner, seed 000's command. */
#include "cli/cli.h"
#include "loop/child.h"
#include "tools/table.h"

static const struct tool *const no_prompts[] = { NULL };
static const struct resource *const no_resources[] = { NULL };

static const struct registry registry = { tool_table, no_prompts, no_resources, profile_table };

int main(int argc, char **argv)
{
    int status;

    if (warden_main(argc, argv, &status))
        return status;
    return cli_main(argc, argv, &registry);
}
