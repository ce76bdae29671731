/* token.c: the tokens, for people.
 *
 * stdout has the token alone, so that "$(pith token)" works; what else there is
 * to say goes to stderr. A running server knows of a change once it reads the
 * file again. */
#include "cli/cli.h"
#include <stdio.h>
#include "cli/home.h"
#include "mcp/auth.h"

static const char reread[] = "a running server takes the change on SIGHUP (kill -HUP PID) or when "
                             "it is started again";

static int show(const struct auth *a, const char *name)
{
    struct buf b;
    bool ok;

    buf_init(&b, 1024);
    buf_addf(&b, "%s\n", auth_secret(a, name));
    ok = cli_print(buf_str(&b));
    buf_done(&b);
    return ok ? 0 : 1;
}

static int no_token(const struct auth *a, const char *name)
{
    struct buf b;
    int status;

    buf_init(&b, 1 << 16);
    auth_names(a, &b);
    status =
        cli_fail(1, "there is no token '%s'; there is %s; --name makes a new one", name, b.data);
    buf_done(&b);
    return status;
}

static int other_profile(const struct auth_token *t)
{
    return cli_fail(1, "token '%s' is for %s; --rotate with --for changes that", t->name,
                    t->profile ? t->profile->name : "every profile");
}

static int put(struct auth *a, const char *name, const struct profile *p, const char *what)
{
    struct err e;

    if (!auth_put(a, name, p, &e))
        return cli_fail(e.code == ERR_CONFIG ? 2 : 1, "%s", e.msg);
    cli_fail(0, "token '%s' %s%s%s; %s", name, what, p ? ", for profile " : "", p ? p->name : "",
             reread);
    return show(a, name);
}

static int take_away(struct auth *a, const char *name)
{
    struct err e;

    if (!auth_find(a, name))
        return no_token(a, name);
    if (!auth_remove(a, name, &e))
        return cli_fail(1, "%s", e.msg);
    return cli_fail(0, "token '%s' is removed; %s", name, reread);
}

/* --for is what it should be; without it a rotated token keeps its profile. */
static int act(struct auth *a, const struct settings *set, const struct profile *p)
{
    const char *name = set->text[OPT_NAME];
    const struct auth_token *t = auth_find(a, name);

    if (set->num[OPT_REMOVE])
        return take_away(a, name);
    if (!t && !set->given[OPT_NAME])
        return no_token(a, name);
    if (!t)
        return put(a, name, p, "is new");
    if (set->num[OPT_ROTATE])
        return put(a, name, p ? p : t->profile, "has a new secret");
    if (p && p != t->profile)
        return other_profile(t);
    return show(a, name);
}

static int no_profile(const struct registry *r, const char *name)
{
    struct buf b;
    int status;

    buf_init(&b, 1 << 16);
    profile_names(r, &b);
    status = cli_fail(2, "there is no profile '%s'; there is %s", name, b.data);
    buf_done(&b);
    return status;
}

int cmd_token(struct house *h, int argc, char **argv)
{
    const char *profile = h->set.text[OPT_FOR];
    const struct profile *p = profile ? profile_find(h->registry, str_of(profile)) : NULL;
    char dir[PATH_MAX];
    struct auth *a;
    struct err e;
    int status;

    if (argc > 0)
        return cli_fail(2, "token takes flags only, not '%s'", argv[0]);
    if (profile && !p)
        return no_profile(h->registry, profile);
    if (!home_dir(dir, &e) || !(a = auth_open(dir, h->registry, &e)))
        return cli_fail(e.code == ERR_CONFIG ? 2 : 1, "%s", e.msg);
    status = act(a, &h->set, p);
    auth_free(a);
    return status;
}
