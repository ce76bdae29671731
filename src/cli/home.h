/* home.h: the settings folder. */
#pragma once
#include <limits.h>
#include "base/err.h"

/* $PITH_HOME, else ~/.config/pith; nothing is made. False with *e set (CONFIG)
 * where neither is known. */
bool home_dir(char out[PATH_MAX], struct err *e);
