/* home.c: the settings folder. */
#include "cli/home.h"
#include <stdio.h>
#include <stdlib.h>

bool home_dir(char out[PATH_MAX], struct err *e)
{
    const char *own = getenv("PITH_HOME"), *user = getenv("HOME");
    bool has_own = own && *own;
    int n;

    if (!has_own && !(user && *user))
        return err_set(e, ERR_CONFIG, "invalid_home: neither PITH_HOME nor HOME is set");
    n = snprintf(out, PATH_MAX, "%s%s", has_own ? own : user, has_own ? "" : "/.config/pith");
    return n < PATH_MAX || err_set(e, ERR_CONFIG, "invalid_home: the path is too long");
}
