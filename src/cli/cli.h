/* cli.h: the commands.
 *
 * Each has one file and one row in cli.c's table. A command gives the exit
 * status: 0 fine, 1 it failed, 2 it was asked wrongly. */
#pragma once
#include "cli/house.h"

/* The program: finds the command and runs it. */
int cli_main(int argc, char **argv, const struct registry *registry);

/* argv holds what is not a flag. */
int cmd_serve(struct house *h, int argc, char **argv);
int cmd_stdio(struct house *h, int argc, char **argv);
int cmd_call(struct house *h, int argc, char **argv);
int cmd_tools(struct house *h, int argc, char **argv);
int cmd_token(struct house *h, int argc, char **argv);
int cmd_store(struct house *h, int argc, char **argv);
int cmd_prune(struct house *h, int argc, char **argv);
int cmd_recover(struct house *h, int argc, char **argv);

/* Say why on stderr, as "pith: …". Gives status. */
int cli_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Write all of it to stdout. False if that cannot be, which it then says. */
bool cli_print(struct str text);

/* The tool of that name, shown or not; NULL: none. */
const struct tool *cli_tool(const struct tool *const *tools, const char *name);

/* While l runs, lines that the log's reader did not take are tried again. NULL
 * ends it. */
void cli_flush_log(struct loop *l);
