/* house.h: what every running command needs: a loop, a site, a profile. */
#pragma once
#include "call/call.h"
#include "cli/options.h"
#include "registry/registry.h"

struct house {
    struct settings set;
    struct loop *loop;
    struct site site;
    const struct profile *profile;
    const struct registry *registry;
    const char *self; /* argv[0] */
    bool as_jeeves;   /* started under the name jeeves-mcp-pruner */
    char **env;       /* site.env's memory */
    char *rg;
};

/* From settings to a site ready for calls. False with *e set (CONFIG). */
bool house_open(struct house *h, struct err *e);

/* Run the loop until the calls under way, cancelled before, have ended: they
 * own memory and children. At most a second. */
void house_settle(struct house *h);

/* Undo it; children still running are killed. */
void house_close(struct house *h);
