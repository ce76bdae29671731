/* home.h: the settings folder. */
#pragma once
#include <limits.h>
#include "base/err.h"

/* $PITH_HOME, else ~/.config/pith; nothing is made. False with *e set (CONFIG)
 * where neither is known. */
bool home_dir(char out[PATH_MAX], struct err *e);

/* Where what was cut is kept: `given`, or ~/.local/share/pith where it is NULL. */
bool home_store(char out[PATH_MAX], const char *given, struct err *e);
