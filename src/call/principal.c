/* principal.c: who asks.
 *
 * Names are kept in a list that only grows: there are as many as there were
 * tokens and users, and those are few. Loop thread only. */
#include "call/principal.h"
#include <stdio.h>
#include <unistd.h>
#include "base/mem.h"

struct named {
    struct named *next;
    char *name;
};

const char *principal_named(const char *name)
{
    static struct named *all;
    struct named *p;

    for (p = all; p; p = p->next)
        if (strcmp(p->name, name) == 0)
            return p->name;
    p = xcalloc(1, sizeof *p);
    p->name = xstrdup(name);
    p->next = all;
    all = p;
    return p->name;
}

const char *principal_user(unsigned uid)
{
    char text[32];

    snprintf(text, sizeof text, "local:%u", uid);
    return principal_named(text);
}

const char *principal_local(void)
{
    static const char *ours;

    if (!ours)
        ours = principal_user(getuid());
    return ours;
}

const char *principal_loopback(void)
{
    return principal_named("loopback");
}

/* "local:" has a letter that names do not have; "local" and "loopback" are
 * kept free so that nobody mistakes one for the other. */
bool principal_name_ok(struct str name)
{
    if (name.n < 1 || name.n > PRINCIPAL_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", name.p[i]) || !name.p[i])
            return false;
    return !str_is(name, "local") && !str_is(name, "loopback");
}
