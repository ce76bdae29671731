/* err.h: what went wrong, as a code and a sentence.
 *
 * Fallible functions return bool or a pointer and take `struct err *e` last.
 * The message names the thing and the way out. The word is what contracts put
 * in `error.code`; the number is the JSON-RPC code where one is needed. */
#pragma once
#include <stdbool.h>

/* X(name, word, JSON-RPC number) */
#define ERR_CODES(X)                                                                               \
    X(NONE, "ok", 0)                                                                               \
    X(PARSE, "parse_error", -32700)                                                                \
    X(REQUEST, "invalid_request", -32600)                                                          \
    X(METHOD, "method_not_found", -32601)                                                          \
    X(PARAMS, "invalid_params", -32602)                                                            \
    X(INTERNAL, "internal_error", -32603)                                                          \
    X(HEADERS, "header_mismatch", -32020)                                                          \
    X(CAPABILITY, "missing_client_capability", -32021)                                             \
    X(VERSION, "unsupported_version", -32022)                                                      \
    X(CLIENT, "client_error", -32603)                                                              \
    X(UNKNOWN_ID, "prune_id_not_found", -32004)                                                    \
    X(RANGE, "invalid_range", -32005)                                                              \
    X(NO_RECOVERY, "recovery_unavailable", -32006)                                                 \
    X(MISSING, "not_found", -32602)                                                                \
    X(DENIED, "permission_denied", -32603)                                                         \
    X(PATH, "invalid_path", -32602)                                                                \
    X(CWD, "invalid_cwd", -32602)                                                                  \
    X(IO, "io_error", -32603)                                                                      \
    X(TIMEOUT, "timeout", -32603)                                                                  \
    X(SPAWN, "spawn_error", -32603)                                                                \
    X(NONZERO, "nonzero_exit", -32603)                                                             \
    X(RG, "rg_error", -32603)                                                                      \
    X(HTTP, "http_error", -32603)                                                                  \
    X(RESPONSE, "invalid_response", -32603)                                                        \
    X(TOO_LARGE, "too_large", -32603)                                                              \
    X(CANCELLED, "cancelled", -32603)                                                              \
    X(DISABLED, "TOOL_DISABLED", -32602)                                                           \
    X(CONFIG, "config_invalid", -32603)

enum err_code {
#define X(name, word, number) ERR_##name,
    ERR_CODES(X)
#undef X
};

struct err {
    enum err_code code;
    char msg[240];
};

/* Fill e (NULL is fine) and give false. A long message is cut. */
bool err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

const char *err_word(enum err_code code);
int err_number(enum err_code code);
