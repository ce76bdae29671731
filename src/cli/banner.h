/* banner.h: what a server that was started by hand says. */
#pragma once
#include "cli/house.h"

/* Where it serves, how to add it to a client, and a line to try it with, into
 * the log. `locked`: it wants a token; the banner says how to get it, never
 * what it is. */
void banner_say(const struct house *h, int port, bool locked);
