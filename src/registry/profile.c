/* profile.c: the named views. */
#include "registry/registry.h"

static const char *const focus_tools[] = { "read", "bash", "grep", NULL };
static const char *const jeeves_tools[] = { "read", "bash", "grep", NULL };
static const char *const pruner_tools[] = { "health", NULL };

static const char focus_help[] =
    "Files, shell and search below one folder. Give context_focus_question when you want only "
    "the part of a long output that answers a question. An answer that leaves lines out says "
    "which, and how to get them.";

static const struct profile profiles[] = {
    { "default", ANSWER_PLAIN, true, true, "pith", focus_help, focus_tools, 7717 },
    { "focus", ANSWER_PLAIN, true, true, "pith", focus_help, focus_tools, 7717 },
    { "jeeves", ANSWER_JEEVES, true, false, "@jeeves/mcp-pruner", NULL, jeeves_tools, 0 },
    { "pruner", ANSWER_PRUNER, false, true, "mcp-pruner", NULL, pruner_tools, 8006 },
    { 0 },
};

const struct profile *profile_find(struct str name)
{
    if (name.n == 0)
        return &profiles[0];
    for (const struct profile *p = profiles; p->name; p++)
        if (str_is(name, p->name))
            return p;
    return NULL;
}

const char *profile_names(void)
{
    return "default, focus, jeeves, pruner";
}

const struct tool *registry_find(const struct tool *const *table, const struct profile *p,
                                 struct str name)
{
    for (size_t i = 0; p->tools[i]; i++)
        if (str_is(name, p->tools[i]))
            for (; *table; table++)
                if (str_is(name, (*table)->name))
                    return *table;
    return NULL;
}
