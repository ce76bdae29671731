/* options.h: every setting of every command, one row each.
 *
 * A row has the flag, its type, range, default, environment variable and text;
 * --help comes from the rows. Flags win over the environment, the environment
 * over defaults. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

/* In the order of --help. */
enum option {
    OPT_GOAL,
    OPT_SOURCE,
    OPT_RATIO,
    OPT_TOKENS,
    OPT_EXPLAIN,
    OPT_NO_NUMBERS,
    OPT_COLOR,
    OPT_HOST,
    OPT_PORT,
    OPT_SOCKET,
    OPT_ALLOW_HOST,
    OPT_TLS_CERT,
    OPT_TLS_KEY,
    OPT_ROOT,
    OPT_PROFILE,
    OPT_STORE,
    OPT_NO_AUTH,
    OPT_LOG_FORMAT,
    OPT_LOG_LEVEL,
    OPT_PRUNER,
    OPT_PRUNER_TIMEOUT,
    OPT_MAX_PRUNE_INPUT,
    OPT_SCORER,
    OPT_MAX_INPUT_CHARS,
    OPT_KEEP,
    OPT_SEARCH,
    OPT_MAX_BODY,
    OPT_MAX_CONNECTIONS,
    OPT_MAX_SESSIONS,
    OPT_SESSION_IDLE,
    OPT_RESUME_WINDOW,
    OPT_HEARTBEAT,
    OPT_ASK_TIMEOUT,
    OPT_MARKDOWN,
    OPT_JSON,
    OPT_NAME,
    OPT_FOR,
    OPT_ROTATE,
    OPT_REMOVE,
    OPT_ALL,
    OPT_COUNT
};

enum {
    FOR_SERVE = 1,
    FOR_STDIO = 2,
    FOR_CALL = 4,
    FOR_TOOLS = 8,
    FOR_TOKEN = 16,
    FOR_PRUNE = 32,
    FOR_RECOVER = 64,
    FOR_STORE = 128
};

struct settings {
    const char *text[OPT_COUNT]; /* NULL: neither given nor a default */
    long num[OPT_COUNT];         /* of integers and flags */
    bool given[OPT_COUNT];       /* by flag or environment */
};

/* Read environment and flags of a command (a FOR_ bit). What is not a flag is
 * left in argv (NULL-ended, as it came), *argc counts it; from "--" on nothing
 * is a flag. Gives false with *e set (CONFIG); the message starts with the name
 * of the failure: "invalid_port: …". */
bool options_read(struct settings *s, unsigned command, int *argc, char **argv, struct err *e);

/* The rows of a command, for --help. */
void options_help(unsigned command, struct buf *out);
