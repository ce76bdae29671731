/* call.h: one call of one tool, from checked arguments to the answer.
 *
 * Owns an arena in which everything the call makes lives; it is dropped once
 * the answer is out, so a tool never frees memory. A handler answers exactly
 * once, now or later. A call can be cancelled at any point: the flag is set,
 * on_cancel is called if the handler left one, and the handler still ends the
 * call (its answer is then thrown away).
 * Loop thread only, except inside call_work's first function, where the
 * worker owns the call and looks at call_cancelled. */
#pragma once
#include <stdatomic.h>
#include "call/result.h"
#include "call/root.h"
#include "call/tool.h"
#include "json/read.h"
#include "loop/loop.h"

enum pruner_mode { PRUNER_OFF, PRUNER_REMOTE, PRUNER_BUILTIN };

/* What calls share: where they take place. Made once, by main. */
struct site {
    struct loop *loop;
    struct root root;
    const char *rg;         /* path of ripgrep, NULL: the walker of our own */
    const char *const *env; /* what commands inherit, already sanitised */
    enum pruner_mode pruner;
    const char *pruner_url;
    unsigned pruner_timeout_ms;
    size_t max_prune_input;  /* bytes, of a remote pruner and of profile jeeves */
    bool heuristic;          /* the engine without what it learned */
    size_t max_input_chars;  /* prune_text */
    struct store *store;     /* opened when first used */
    uint64_t keep_ms;        /* how long what was cut can be had */
    unsigned long calls;     /* made so far; request ids come from it */
    unsigned busy;           /* calls under way */
    void (*idle)(void *arg); /* called when busy falls to 0, if set */
    void *idle_arg;
};

struct arg; /* args.c */

/* How grave a message to the client is: syslog's words, as MCP has them. */
enum say_level {
    SAY_DEBUG,
    SAY_INFO,
    SAY_NOTICE,
    SAY_WARNING,
    SAY_ERROR,
    SAY_CRITICAL,
    SAY_ALERT,
    SAY_EMERGENCY,
    SAY_NOTHING /* above all of them: the client wants none */
};

/* "warning" to SAY_WARNING; SAY_NOTHING for a word that is none of them. */
enum say_level say_level_of(struct str word);

/* What the client said it can be asked for. */
enum client_can {
    CLIENT_SAMPLES = 1,
    CLIENT_ELICITS = 2, /* forms */
    CLIENT_ELICITS_URL = 4,
    CLIENT_HAS_ROOTS = 8
};

/* A question to the client: roots/list, sampling/createMessage,
 * elicitation/create, or ping: is it there? */
struct ask {
    const char *key; /* names it within the call */
    const char *method;
    struct str params; /* a JSON object */

    struct json answer; /* its result, in the call's arena; none: err says why */
    struct err err;
};

/* Who the call works for, while it works. mcp/ fills it in; without one
 * (`pith call`) nobody listens. */
struct peer {
    /* A notification that belongs to this call; params is a JSON object. */
    void (*notify)(struct call *c, const char *method, struct str params);
    /* Get answers for c->asks; call_answered on a later turn or now. In the
     * stateless era the call may instead end with "input_required", and its
     * handler starts again when the client comes back. */
    void (*ask)(struct call *c);
    /* The call was cancelled: no answers are wanted any more. */
    void (*unask)(struct call *c);
    /* Close the stream of this call now; the client comes back for the rest. */
    void (*let_go)(struct call *c);
    /* Tell all clients who want to hear of it; NULL: nobody can be told. */
    void (*changed)(struct call *c, const char *method, struct str params);
};

struct field_error {
    const char *field, *message;
};

struct call {
    struct arena a;
    struct site *site;
    const struct root *root;
    const struct tool *tool;
    enum answer answer;
    char request_id[32];
    const char *principal; /* who asks; lives as long as the call */
    struct arg *args;      /* one per field */
    struct str arguments;  /* of a row with a schema: the object as it came */
    struct str uri;        /* of a resource: what was asked for */

    struct result result;
    struct err err; /* set: the tool failed */
    int exit_code;  /* goes with err; -1: none */
    uint64_t started_ms, duration_ms;

    atomic_bool cancelled;
    void (*on_cancel)(struct call *c); /* the handler's, while something is under way */
    void *op;                          /* the handler's operation under way */

    /* The message around the result object, so that a large answer is written
     * once: `before` {members, content…} `after`. members end with a comma;
     * meta is members of the result's _meta, without one. */
    struct str before, members, meta, after;

    /* Called once with the finished message; the call is freed right after.
     * Not called for a cancelled call: then `dropped` is. */
    void (*reply)(void *arg, struct call *c, struct str message);
    void (*dropped)(void *arg, struct call *c);
    void *reply_arg;

    const struct peer *peer;
    void *peer_arg;
    struct str progress_token; /* as written; empty: no progress wanted */
    double progress;           /* said last; it may only grow */
    enum say_level say_from;   /* the client wants to hear from here on */
    unsigned can;              /* enum client_can */
    struct ask *asks;          /* under way */
    size_t ask_count;
    void (*on_answers)(struct call *c);

    struct str json;  /* call_json */
    struct str cache; /* members behind it, with a comma before: the era's caching hints */
    int refused;      /* call_refuse: its code */
    struct str refused_data;

    struct finish *finish; /* finish.c, while the answer is being made */
};

/* A new call of the tool; nothing is checked yet. */
struct call *call_new(struct site *s, const struct tool *t, const struct root *root,
                      enum answer answer);

/* Check arguments (an object, or none) against the row, once, into the arena.
 * On failure gives false and all failing fields together. Copies. */
bool call_args(struct call *c, struct json arguments, const struct field_error **errors,
               size_t *count);

/* Undo call_new, for a call that never started. */
void call_free(struct call *c);

/* Start the handler. Afterwards the call frees itself. */
void call_start(struct call *c);

/* Ask it to stop; no reply will come, `dropped` will. Twice is fine. */
void call_cancel(struct call *c);
static inline bool call_cancelled(const struct call *c)
{
    return atomic_load_explicit(&c->cancelled, memory_order_relaxed);
}

/* --- for handlers --- */

/* Arguments by field name; the row's default where absent. Texts are
 * NUL-terminated too. arg_has: was it given? */
bool arg_has(const struct call *c, const char *name);
struct str arg_str(const struct call *c, const char *name);
long arg_int(const struct call *c, const char *name);
bool arg_bool(const struct call *c, const char *name);
const struct str *arg_strs(const struct call *c, const char *name, size_t *count);
/* F_MAP as NAME=value texts. */
const char *const *arg_map(const struct call *c, const char *name, size_t *count);

/* Run `run` on a worker, then `after` on the loop thread, always both: a
 * cancelled call is ended by its handler too, since only the handler knows what
 * it holds open. */
void call_work(struct call *c, void (*run)(struct call *c), void (*after)(struct call *c));

/* Tell the client how far it is; total 0: not known. Nothing is sent where no
 * progress was asked for, or it did not grow. */
void call_progress(struct call *c, double progress, double total, const char *message);

/* A message for the client's log; data is a JSON value. */
void call_say(struct call *c, enum say_level level, const char *logger, struct str data);

/* Ask the client, then `then` with an answer or an err in each ask (which must
 * live in the arena). A handler that asks must be ready to start again from
 * the top: answers it had before are then there at once. */
void call_ask(struct call *c, struct ask *asks, size_t count, void (*then)(struct call *c));

/* Did the client say that it answers this? Asking for what it did not declare
 * ends in an err, or in a refused call. */
bool call_can_ask(const struct call *c, const char *method);

/* For peers: every ask has its answer or err. */
void call_answered(struct call *c);

/* Close the call's stream; the client comes back for the rest (SEP-1699). */
void call_let_go(struct call *c);

/* What the call did changed a list or a resource: a notification for everybody
 * who subscribed to such, e.g. "notifications/tools/list_changed" with {}. */
void call_changed(struct call *c, const char *method, struct str params);

/* End with members of the result object, already written; nothing is cut or
 * pruned. For prompts, resources and what comes ready-made. */
void call_json(struct call *c, struct str members);

/* End with a JSON-RPC error instead of a result: the request was wrong, and
 * only the handler could know. The message is c->err's; data is JSON or empty. */
void call_refuse(struct call *c, int code, struct str data);

/* The end, exactly once; the call may be gone when this returns. call_fail: c->err says why; parts
 * already there go along (a failing command's output). */
void call_done(struct call *c);
void call_fail(struct call *c);
