/* house.c: settings become the place where calls happen. */
#include "cli/house.h"
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/mem.h"
#include "call/args.h"
#include "cli/home.h"
#include "loop/child.h"
#include "store/store.h"

extern char **environ;

enum { SETTLE_MS = 1000 };

/* A shell must not be steered by what it inherits, nor see our own settings:
 * they may hold a key. LD_LIBRARY_PATH stays, programs may need it. */
static bool inherited(const char *pair)
{
    struct str name = { pair, strcspn(pair, "=") };

    return str_is(name, "LD_LIBRARY_PATH") || (!env_forbidden(name) && !str_starts(name, "PITH_") &&
                                               !str_is(name, "JEEVES_PRUNER_ENDPOINT"));
}

static char **make_env(void)
{
    size_t n = 0, kept = 0;
    char **env;

    while (environ[n])
        n++;
    env = xcalloc(n + 1, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (inherited(environ[i]))
            env[kept++] = environ[i];
    return env;
}

/* rg in our PATH, or NULL. */
static char *find_rg(void)
{
    const char *path = getenv("PATH"), *p;
    char full[4096];

    for (p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p; p += *p == ':') {
        size_t n = strcspn(p, ":");

        snprintf(full, sizeof full, "%.*s/rg", (int)n, p);
        if (n > 0 && access(full, X_OK) == 0)
            return xstrdup(full);
        p += n;
    }
    return NULL;
}

static bool choose_search(struct house *h, struct err *e)
{
    const char *how = h->set.text[OPT_SEARCH];

    if (strcmp(how, "builtin") != 0)
        h->rg = find_rg();
    if (strcmp(how, "rg") == 0 && !h->rg)
        return err_set(e, ERR_CONFIG,
                       "invalid_search: there is no rg in PATH; install ripgrep or use "
                       "--search builtin");
    h->site.rg = h->rg;
    return true;
}

static bool choose_profile(struct house *h, struct err *e)
{
    const char *name = h->set.text[OPT_PROFILE];

    struct buf names;

    h->profile = profile_find(h->registry, str_of(h->as_jeeves ? "jeeves" : name));
    if (h->profile)
        return true;
    buf_init(&names, 4096);
    profile_names(h->registry, &names);
    err_set(e, ERR_CONFIG, "invalid_profile: there is no profile '%s'; there is %s", name,
            names.data);
    buf_done(&names);
    return false;
}

/* jeeves-mcp-pruner has no pruner unless it is told of one, as its seed says. */
static void choose_pruner(struct house *h)
{
    const char *how = h->set.text[OPT_PRUNER];
    bool unset = h->as_jeeves && !h->set.given[OPT_PRUNER];

    h->site.pruner = unset || strcmp(how, "off") == 0 ? PRUNER_OFF
                     : strcmp(how, "builtin") == 0    ? PRUNER_BUILTIN
                                                      : PRUNER_REMOTE;
    h->site.pruner_url = how;
}

static bool open_store(struct house *h, struct err *e)
{
    char dir[PATH_MAX];

    if (!home_store(dir, h->set.text[OPT_STORE], e))
        return false;
    h->site.store = store_new(&(struct store_opts){ .loop = h->loop, .dir = dir });
    return true;
}

bool house_open(struct house *h, struct err *e)
{
    struct err why;

    signal(SIGPIPE, SIG_IGN);
    if (!choose_profile(h, e) || !choose_search(h, e))
        return false;
    if (!root_open(&h->site.root, h->set.text[OPT_ROOT], h->profile->confined, &why))
        return err_set(e, ERR_CONFIG, "invalid_root_dir: %s", why.msg);
    h->loop = loop_new(e);
    if (!h->loop)
        return false;
    h->env = make_env();
    h->site.loop = h->loop;
    h->site.env = (const char *const *)h->env;
    choose_pruner(h);
    h->site.pruner_timeout_ms = (unsigned)h->set.num[OPT_PRUNER_TIMEOUT];
    h->site.max_prune_input = (size_t)h->set.num[OPT_MAX_PRUNE_INPUT];
    h->site.max_input_chars = (size_t)h->set.num[OPT_MAX_INPUT_CHARS];
    h->site.heuristic = strcmp(h->set.text[OPT_SCORER], "heuristic") == 0;
    h->site.keep_ms = (uint64_t)h->set.num[OPT_KEEP] * 1000;
    return open_store(h, e);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

void house_settle(struct house *h)
{
    struct timer *limit;

    if (h->site.busy == 0)
        return;
    h->site.idle = stop;
    h->site.idle_arg = h->loop;
    limit = timer_start(h->loop, SETTLE_MS, stop, h->loop);
    loop_run(h->loop);
    if (h->site.busy == 0) /* else the timer fired, and is over */
        timer_cancel(limit);
}

void house_close(struct house *h)
{
    if (h->loop) {
        store_free(h->site.store);
        child_stop_all(h->loop);
        loop_free(h->loop);
    }
    root_done(&h->site.root);
    free(h->env);
    free(h->rg);
}
