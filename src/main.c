/* main.c: wires the rooms.
 *
 * The same binary is the program, the warden of its children (loop/warden.c)
 * and, under the name jeeves-mcp-pruner, seed 000's command. */
#include "cli/cli.h"
#include "loop/child.h"
#include "tools/table.h"

int main(int argc, char **argv)
{
    int status;

    if (warden_main(argc, argv, &status))
        return status;
    return cli_main(argc, argv, tool_table);
}
