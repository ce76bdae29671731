/* registry.h: which rows are shown, where and how.
 *
 * The registry is every row there is; main.c makes it. A profile is a named
 * view of it: which rows, the form of their answers, whether they are confined
 * to the root, and the server's identity. It is chosen by path, flag or token,
 * never by connection. Rows come as they are: nothing here knows a given tool. */
#pragma once
#include "base/arena.h"
#include "call/resource.h"

struct profile {
    const char *name;
    enum answer answer;
    bool confined;                /* tools see only what is below the root */
    bool sessions;                /* HTTP sessions, streams, list changes: all but jeeves */
    const char *server;           /* serverInfo.name */
    const char *instructions;     /* for the model, NULL: none */
    const char *const *tools;     /* names, NULL-ended, in listing order */
    const char *const *prompts;   /* the same; NULL: no such methods */
    const char *const *resources; /* the same */
    unsigned page;                /* most rows of one answer to a list; 0: 100 */
    unsigned short port;          /* default of `serve` */
};

/* Each list ends with NULL, profiles with one without a name. */
struct registry {
    const struct tool *const *tools;
    const struct tool *const *prompts;
    const struct resource *const *resources;
    const struct profile *profiles;
};

/* The product's own profiles. */
extern const struct profile profile_table[];

/* By name; NULL if there is none. An empty name gives the first. */
const struct profile *profile_find(const struct registry *r, struct str name);

/* "default, focus, …" for messages. */
void profile_names(const struct registry *r, struct buf *out);

/* The profile's row of that name, NULL: not in this profile. */
const struct tool *registry_find(const struct registry *r, const struct profile *p,
                                 struct str name);
const struct tool *registry_prompt(const struct registry *r, const struct profile *p,
                                   struct str name);

/* The profile's resource for a URI. For a template *vars is given a JSON object
 * with the variables, in the arena; else "{}". */
const struct resource *registry_resource(const struct registry *r, const struct profile *p,
                                         struct str uri, struct arena *a, struct str *vars);

enum listing { LIST_TOOLS, LIST_PROMPTS, LIST_RESOURCES, LIST_TEMPLATES };

/* One page of a list as an array, from row `from` on (0: the start). Gives the
 * row where the next page starts, 0 when this was the last. */
size_t registry_list(const struct registry *r, const struct profile *p, enum listing what,
                     size_t from, struct json_out *o);

/* How many rows that list has. */
size_t registry_count(const struct registry *r, const struct profile *p, enum listing what);

/* docs/TOOLS.md. */
void registry_markdown(const struct registry *r, struct buf *out);

/* Help of one tool for a terminal: its text and arguments. */
void registry_help(const struct tool *t, enum answer answer, struct buf *out);
