/* registry.h: which rows are shown, where and how.
 *
 * A profile is a named view of the rows: which of them, the form of their
 * answers, whether they are confined to the root, and the server's identity.
 * It is chosen by path or flag, never by connection. A tool is a row; the
 * registry knows rows, not tools. */
#pragma once
#include "call/tool.h"
#include "json/write.h"

struct profile {
    const char *name;
    enum answer answer;
    bool confined;            /* tools see only what is below the root */
    bool list_changed;        /* announced capability */
    const char *server;       /* serverInfo.name */
    const char *instructions; /* for the model, NULL: none */
    const char *const *tools; /* names, NULL-ended, in listing order */
    unsigned short port;      /* default of `serve` */
};

/* By name; NULL if there is none. An empty name gives the default. */
const struct profile *profile_find(struct str name);

/* "default, focus, …" for messages. */
const char *profile_names(void);

/* The profile's tool of that name, NULL: not in this profile. */
const struct tool *registry_find(const struct tool *const *table, const struct profile *p,
                                 struct str name);

/* The tools array of tools/list. */
void registry_list(const struct tool *const *table, const struct profile *p, struct json_out *o);

/* docs/TOOLS.md. */
void registry_markdown(const struct tool *const *table, struct buf *out);

/* Help of one tool for a terminal: its text and arguments. */
void registry_help(const struct tool *t, enum answer answer, struct buf *out);
