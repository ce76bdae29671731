/* tool.h: the row that a tool is.
 *
 * A tool is one file and one const row. From the row come its schema, the
 * checks of its arguments, its annotations, the flags of `pith call`, and
 * docs/TOOLS.md. Nothing else names a tool. */
#pragma once
#include <stdbool.h>
#include "json/write.h"

struct call;

enum category { CAT_FILE, CAT_SHELL, CAT_SEARCH, CAT_PRUNE };

/* What a tool does to the world, for annotations. None of them: it only reads. */
enum effects {
    READS = 0,
    WRITES = 1,   /* may change files or state */
    DESTROYS = 2, /* ... and what was there may be gone */
    OUTSIDE = 4   /* may reach beyond this machine */
};

/* The form of an answer, a property of the profile (docs/DESIGN.md). */
enum answer { ANSWER_PLAIN, ANSWER_JEEVES, ANSWER_PRUNER };

enum field_type {
    F_STR,
    F_INT,
    F_BOOL,
    F_STRS, /* array of strings */
    F_MAP   /* object whose values are strings */
};

/* Rules beyond type and range. */
enum field_rule {
    FIELD_NONBLANK = 1, /* empty after trimming counts as empty */
    FIELD_PATH = 2,     /* each text is a path; under the root where confined */
    FIELD_ENV = 4,      /* names and values are environment variables */
    FIELD_ARG = 8,      /* ends up in an argv: no NUL */
    FIELD_LINES = 16    /* a range of lines: "120-180", "120" or "120-" */
};

struct field {
    const char *name;
    enum field_type type;
    bool required;
    long min, max;       /* F_INT: range; F_STR: characters; F_STRS, F_MAP: how many */
    long def;            /* F_INT, F_BOOL: value when absent (F_INT 0: none) */
    const char *def_str; /* F_STR: value when absent, NULL: none */
    const char *only;    /* F_STR: the one value allowed */
    unsigned rules;      /* enum field_rule */
    unsigned answers;    /* bits 1 << enum answer that take it; 0: all */
    const char *header;  /* HTTP of 2026-07-28 repeats it as Mcp-Param-<header>; NULL: not */
    const char *text;
};

/* Another way to reach the tool, once tools are listed by noun: noun + action. */
struct tool_noun {
    const char *noun, *action;
};

struct tool {
    const char *name;
    const char *alias; /* another name it answers to, in no listing; NULL: none */
    enum category category;
    enum effects effects;
    const char *text;              /* for the model; one or two sentences */
    const struct field *fields;    /* ends with a row without a name */
    const struct tool_noun *nouns; /* ends with a row without a noun; may be NULL */
    bool may_be_long;              /* answers may pass a client's usual ceiling */
    bool always_load;              /* never to hide behind a client's tool search */
    bool asks;                     /* may ask the client while it runs (call_ask) */

    /* Instead of fields (then an empty list): the input schema as JSON. Nothing is
     * checked; the handler looks at call->arguments. */
    const char *schema;
    unsigned schema_answers; /* bits 1 << enum answer that it is for; 0: all */

    /* Values for a field as somebody types it, NULL: none are known. */
    void (*complete)(const char *field, struct str typed, struct json_out *values);

    /* Answers exactly once, now or later: call_done or call_fail. */
    void (*run)(struct call *c);
};
