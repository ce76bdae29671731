/* home.c: the settings folder and the store. */
#include "cli/home.h"
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

bool home_store(char out[PATH_MAX], const char *given, struct err *e)
{
    const char *home = getenv("HOME");
    const struct passwd *user = home && *home ? NULL : getpwuid(getuid());
    int n;

    if (user)
        home = user->pw_dir;
    if (given)
        n = snprintf(out, PATH_MAX, "%s", given);
    else if (home && *home)
        n = snprintf(out, PATH_MAX, "%s/.local/share/pith", home);
    else
        return err_set(e, ERR_CONFIG, "invalid_store: this user has no HOME; say --store DIR");
    if (n >= PATH_MAX)
        return err_set(e, ERR_CONFIG, "invalid_store: the path of the store is too long");
    return true;
}
