/* options.c: the master copy of the options. */
#include "cli/options.h"
#include <stdio.h>
#include <stdlib.h>
#include "wire/http_client.h"

enum option_type { O_TEXT, O_INT, O_FLAG, O_CHOICE, O_PRUNER };

struct row {
    const char *name, *arg;
    enum option_type type;
    unsigned commands;
    const char *def;
    long min, max;
    const char *choices; /* O_CHOICE: words between spaces */
    const char *env;
    const char *env2; /* seed 001's name for it; the first wins */
    const char *bad;  /* name of the failure */
    const char *text;
};

enum { SERVERS = FOR_SERVE | FOR_STDIO, RUNNING = FOR_SERVE | FOR_STDIO | FOR_CALL };

/* Defaults that depend on the profile (port, log format) are the command's. */
static const struct row rows[OPT_COUNT] = {
    [OPT_HOST] = { "host", "IP", O_TEXT, FOR_SERVE, "127.0.0.1", .env = "JEEVES_MCP_PRUNER_HOST",
                   .env2 = "MCP_PRUNER_HOST", .bad = "invalid_host",
                   .text = "address to listen on, loopback only; none: --socket alone" },
    [OPT_PORT] = { "port", "N", O_INT, FOR_SERVE, NULL, 0, 65535, .env = "JEEVES_MCP_PRUNER_PORT",
                   .env2 = "MCP_PRUNER_PORT", .bad = "invalid_port",
                   .text = "port; 0 takes a free one (7717; pruner 8006; jeeves 0)" },
    [OPT_SOCKET] = { "socket", "PATH", O_TEXT, FOR_SERVE, NULL, .bad = "invalid_socket",
                     .text = "also listen at a unix socket, for this user alone" },
    [OPT_ALLOW_HOST] = { "allow-host", "NAMES", O_TEXT, FOR_SERVE, NULL, .bad = "invalid_host",
                         .text = "further names of this server, between commas" },
    [OPT_TLS_CERT] = { "tls-cert", "FILE", O_TEXT, FOR_SERVE, NULL, .bad = "invalid_tls_cert",
                       .text = "serve https: certificate chain, PEM (SIGHUP reads it anew)" },
    [OPT_TLS_KEY] = { "tls-key", "FILE", O_TEXT, FOR_SERVE, NULL, .bad = "invalid_tls_key",
                      .text = "the certificate's key, PEM" },
    [OPT_ROOT] = { "root", "DIR", O_TEXT, RUNNING, ".", .env = "JEEVES_MCP_PRUNER_ROOT_DIR",
                   .bad = "invalid_root_dir", .text = "the folder that tools work in" },
    [OPT_PROFILE] = { "profile", "NAME", O_TEXT, RUNNING, NULL, .bad = "invalid_profile",
                      .text = "which tools, in which form: default, focus, jeeves, pruner" },
    [OPT_STORE] = { "store", "DIR", O_TEXT, RUNNING | FOR_PRUNE | FOR_RECOVER | FOR_STORE, NULL,
                    .bad = "invalid_store",
                    .text = "where what was cut is kept (~/.local/share/pith)" },
    [OPT_NO_AUTH] = { "no-auth", NULL, O_FLAG, FOR_SERVE, NULL, .bad = "invalid_flag",
                      .text = "no token, loopback only; only the active profile is served" },
    [OPT_LOG_FORMAT] = { "log-format", "FORM", O_CHOICE, SERVERS, NULL, .choices = "json text",
                         .bad = "invalid_log_format",
                         .text = "json or text (a terminal's default)" },
    [OPT_LOG_LEVEL] = { "log-level", "LEVEL", O_CHOICE, SERVERS, NULL,
                        .choices = "debug info warn error", .bad = "invalid_log_level",
                        .text = "from which level on events are written" },
    [OPT_PRUNER] = { "pruner", "HOW", O_PRUNER, RUNNING, "builtin", .env = "JEEVES_PRUNER_ENDPOINT",
                     .bad = "invalid_pruner_endpoint",
                     .text = "who prunes to a focus question: builtin, off or a URL" },
    [OPT_PRUNER_TIMEOUT] = { "pruner-timeout-ms", "N", O_INT, RUNNING, "2000", 100, 30000,
                             .env = "JEEVES_PRUNER_TIMEOUT_MS", .bad = "invalid_timeout_ms",
                             .text = "how long the pruner may take" },
    [OPT_MAX_PRUNE_INPUT] = { "max-prune-input-bytes", "N", O_INT, RUNNING, "262144", 1024, 2097152,
                              .env = "JEEVES_MCP_PRUNER_MAX_PRUNE_INPUT_BYTES",
                              .bad = "invalid_max_prune_input_bytes",
                              .text = "longer outputs are not sent to the pruner" },
    [OPT_SCORER] = { "scorer", "WHICH", O_CHOICE, RUNNING | FOR_PRUNE, "learned",
                     .choices = "learned heuristic", .bad = "invalid_scorer",
                     .text = "how the builtin pruner scores lines" },
    [OPT_MAX_INPUT_CHARS] = { "max-input-chars", "N", O_INT, RUNNING, "2000000", 1, 100000000,
                              .env = "MCP_PRUNER_MAX_INPUT_CHARS", .bad = "invalid_max_input_chars",
                              .text = "longer texts come back whole from prune_text" },
    [OPT_KEEP] = { "keep-s", "N", O_INT, RUNNING | FOR_PRUNE, "86400", 1, 31536000,
                   .env = "MCP_PRUNER_PRUNE_ID_TTL_S", .bad = "invalid_keep_s",
                   .text = "how long what was cut can be had by its id" },
    [OPT_SEARCH] = { "search", "HOW", O_CHOICE, RUNNING, "auto", .choices = "auto rg builtin",
                     .bad = "invalid_search", .text = "grep by ripgrep or by our own walker" },
    [OPT_MAX_BODY] = { "max-body", "BYTES", O_INT, SERVERS, "16777216", 1024, 1073741824,
                       .bad = "invalid_max_body", .text = "largest message taken" },
    [OPT_MAX_CONNECTIONS] = { "max-connections", "N", O_INT, FOR_SERVE, "1024", 1, 100000,
                              .bad = "invalid_max_connections", .text = "more get 503" },
    [OPT_MAX_SESSIONS] = { "max-sessions", "N", O_INT, FOR_SERVE, "10000", 1, 1000000,
                           .bad = "invalid_max_sessions",
                           .text = "beyond it the one idle longest ends" },
    [OPT_SESSION_IDLE] = { "session-idle-s", "N", O_INT, FOR_SERVE, "1800", 1, 604800,
                           .bad = "invalid_session_idle_s",
                           .text = "a session that nobody uses ends after this" },
    [OPT_RESUME_WINDOW] = { "resume-window-s", "N", O_INT, FOR_SERVE, "60", 1, 3600,
                            .bad = "invalid_resume_window_s",
                            .text = "how long a lost stream of a session can be resumed" },
    [OPT_HEARTBEAT] = { "heartbeat-s", "N", O_INT, FOR_SERVE, "15", 1, 3600,
                        .bad = "invalid_heartbeat_s", .text = "between signs of life on a stream" },
    [OPT_ASK_TIMEOUT] = { "ask-timeout-s", "N", O_INT, SERVERS, "300", 1, 86400,
                          .bad = "invalid_ask_timeout_s",
                          .text = "how long a client may take to answer a question" },
    [OPT_MARKDOWN] = { "markdown", NULL, O_FLAG, FOR_TOOLS, NULL, .bad = "invalid_flag",
                       .text = "as docs/TOOLS.md" },
    [OPT_JSON] = { "json", NULL, O_FLAG, FOR_CALL | FOR_PRUNE, NULL, .bad = "invalid_flag",
                   .text = "the whole result as JSON" },
    [OPT_NAME] = { "name", "NAME", O_TEXT, FOR_TOKEN, "default", .bad = "invalid_name",
                   .text = "which token; one that is not there yet is made" },
    [OPT_FOR] = { "for", "PROFILE", O_TEXT, FOR_TOKEN, NULL, .bad = "invalid_profile",
                  .text = "a token that opens only this profile" },
    [OPT_ROTATE] = { "rotate", NULL, O_FLAG, FOR_TOKEN, NULL, .bad = "invalid_flag",
                     .text = "give it a new secret and show that" },
    [OPT_ALL] = { "all", NULL, O_FLAG, FOR_STORE, NULL, .bad = "invalid_flag",
                  .text = "purge everything, not only what is over" },
    [OPT_REMOVE] = { "remove", NULL, O_FLAG, FOR_TOKEN, NULL, .bad = "invalid_flag",
                     .text = "remove it" },
    [OPT_GOAL] = { "goal", "TEXT", O_TEXT, FOR_PRUNE, NULL, .bad = "invalid_goal",
                   .text = "the question that the kept lines answer" },
    [OPT_SOURCE] = { "source", "KIND", O_CHOICE, FOR_PRUNE, NULL, .choices = "code logs docs",
                     .bad = "invalid_source",
                     .text = "code, logs or docs; seen from the text itself" },
    [OPT_RATIO] = { "ratio", "R", O_TEXT, FOR_PRUNE, NULL, .bad = "invalid_ratio",
                    .text = "at most this share of the lines goes, 0 to 1" },
    [OPT_TOKENS] = { "tokens", "N", O_INT, FOR_PRUNE, NULL, 1, 100000000, .bad = "invalid_tokens",
                     .text = "so many stay (a quarter, at most 4000; short texts whole)" },
    [OPT_EXPLAIN] = { "explain", NULL, O_FLAG, FOR_PRUNE, NULL, .bad = "invalid_flag",
                      .text = "every line with its score and why, '-' before those that go" },
    [OPT_NO_NUMBERS] = { "no-numbers", NULL, O_FLAG, FOR_PRUNE, NULL, .bad = "invalid_flag",
                         .text = "lines without their numbers" },
    [OPT_COLOR] = { "color", "WHEN", O_CHOICE, FOR_PRUNE, "auto", .choices = "auto always never",
                    .bad = "invalid_color",
                    .text = "always, never, or on a terminal unless $NO_COLOR is set" },
};

static bool bad(const struct row *r, const char *where, const char *value, struct err *e)
{
    if (r->type == O_INT)
        return err_set(e, ERR_CONFIG, "%s: %s must be an integer from %ld to %ld, not '%s'", r->bad,
                       where, r->min, r->max, value);
    if (r->type == O_CHOICE)
        return err_set(e, ERR_CONFIG, "%s: %s must be one of: %s; not '%s'", r->bad, where,
                       r->choices, value);
    return err_set(e, ERR_CONFIG,
                   "%s: %s must be 'builtin', 'off' or an absolute http: or https: URL, not '%s'",
                   r->bad, where, value);
}

static bool is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);

    for (const char *p = choices; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && strncmp(p, value, n) == 0)
            return true;
    return false;
}

/* `where` is the flag or variable the value came from, for the message. */
static bool take(struct settings *s, enum option i, const char *value, const char *where,
                 struct err *e)
{
    const struct row *r = &rows[i];
    char *end;

    switch (r->type) {
    case O_INT:
        s->num[i] = strtol(value, &end, 10);
        if (*value < '0' || *value > '9' || *end || s->num[i] < r->min || s->num[i] > r->max)
            return bad(r, where, value, e);
        break;
    case O_CHOICE:
        if (!is_choice(r->choices, value))
            return bad(r, where, value, e);
        break;
    case O_PRUNER:
        if (strcmp(value, "off") != 0 && strcmp(value, "builtin") != 0 && !http_url_ok(value))
            return bad(r, where, value, e);
        break;
    case O_FLAG:
        s->num[i] = 1;
        break;
    case O_TEXT:
        break;
    }
    s->text[i] = value;
    return true;
}

static bool read_defaults(struct settings *s, unsigned command, struct err *e)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        const char *name = rows[i].env, *value = name ? getenv(name) : NULL;

        if (!(rows[i].commands & command))
            continue;
        if ((!value || !*value) && rows[i].env2) {
            name = rows[i].env2;
            value = getenv(name);
        }
        if (value && *value) {
            if (!take(s, (enum option)i, value, name, e))
                return false;
            s->given[i] = true;
        } else if (rows[i].def && !take(s, (enum option)i, rows[i].def, rows[i].name, e)) {
            return false;
        }
    }
    return true;
}

static int find_row(const char *flag, size_t n, unsigned command)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if ((rows[i].commands & command) && strlen(rows[i].name) == n &&
            strncmp(rows[i].name, flag, n) == 0)
            return i;
    return -1;
}

/* One flag at argv[*at]; moves *at past its value. */
static bool read_flag(struct settings *s, unsigned command, int argc, char **argv, int *at,
                      struct err *e)
{
    const char *flag = argv[*at] + 2, *value = NULL;
    size_t n = strcspn(flag, "=");
    char where[40];
    int i = find_row(flag, n, command);

    if (i < 0)
        return err_set(e, ERR_CONFIG, "unknown_option: '%s'; --help shows those there are",
                       argv[*at]);
    snprintf(where, sizeof where, "--%s", rows[i].name);
    if (rows[i].type == O_FLAG) {
        if (flag[n])
            return err_set(e, ERR_CONFIG, "%s: %s takes no value", rows[i].bad, where);
        value = "1";
    } else if (flag[n]) {
        value = flag + n + 1;
    } else if (*at + 1 < argc) {
        value = argv[++*at];
    } else {
        return err_set(e, ERR_CONFIG, "%s: %s needs a value", rows[i].bad, where);
    }
    s->given[i] = true;
    return take(s, (enum option)i, value, where, e);
}

bool options_read(struct settings *s, unsigned command, int *argc, char **argv, struct err *e)
{
    bool rest = false; /* of a command that is not ours */
    int kept = 0;

    memset(s, 0, sizeof *s);
    if (!read_defaults(s, command, e))
        return false;
    for (int at = 0; at < *argc; at++) {
        rest = rest || strcmp(argv[at], "--") == 0;
        if (!rest && strncmp(argv[at], "--", 2) == 0) {
            if (!read_flag(s, command, *argc, argv, &at, e))
                return false;
        } else {
            argv[kept++] = argv[at];
        }
    }
    if (kept < *argc)
        argv[kept] = NULL;
    *argc = kept;
    return true;
}

void options_help(unsigned command, struct buf *out)
{
    char left[48];

    for (int i = 0; i < OPT_COUNT; i++) {
        const struct row *r = &rows[i];

        if (!(r->commands & command))
            continue;
        snprintf(left, sizeof left, "--%s %s", r->name, r->arg ? r->arg : "");
        buf_addf(out, "  %-28s %s", left, r->text);
        if (r->def && r->type != O_FLAG)
            buf_addf(out, " [%s]", r->def);
        if (r->env)
            buf_addf(out, "\n  %-28s ($%s%s%s)", "", r->env, r->env2 ? ", $" : "",
                     r->env2 ? r->env2 : "");
        buf_addc(out, '\n');
    }
}
