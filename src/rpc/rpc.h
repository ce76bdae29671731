/* rpc.h: JSON-RPC 2.0 messages.
 *
 * Bytes to a message and the frame around an answer. Knows ids, kinds and
 * codes; does not know transports or methods. Ids are kept as they were
 * written, so the largest number comes back digit for digit. */
#pragma once
#include "json/read.h"
#include "json/write.h"

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

struct rpc_msg {
    enum rpc_kind kind;
    struct str id; /* as written, "null" until a valid one was seen */
    struct str method;
    struct json params; /* none, or an object or array */
    struct json_doc doc;
};

/* Parse one message; text and arena must outlive it. Gives false with *e set
 * (PARSE: not JSON or too deep; REQUEST: not a message); m->id is then what an
 * error answer should carry. */
bool rpc_parse(struct rpc_msg *m, struct arena *a, struct str text, struct err *e);

/* {"jsonrpc":"2.0","id":ID,"error":{"code":…,"message":…,"data":…}}; data is
 * JSON already written, or empty. */
void rpc_error(struct buf *out, struct str id, int code, const char *message, struct str data);

/* Before and after a result object. */
void rpc_result_open(struct buf *out, struct str id);
void rpc_result_close(struct buf *out);
