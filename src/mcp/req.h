/* req.h: one message being handled, and the ways to answer it. Private to mcp/. */
#pragma once
#include "call/render.h"
#include "mcp/mcp.h"

enum { MAX_REPLY = 1 << 24 };

struct req {
    struct mcp *mcp;
    const struct mcp_in *in;
    struct rpc_msg msg;
    struct era era;
    struct arena a;
    unsigned can;            /* enum client_can; of the request (stateless) or the client */
    enum say_level say_from; /* the same */
};

/* --- reply.c --- */

void send_error(struct req *r, int code, const char *message, struct str data, bool malformed);

/* -32602 with data {"field_errors":[…]}, as seed 000 asks; tool NULL: none. */
void send_field_errors(struct req *r, const char *tool, const struct field_error *errors,
                       size_t count);
void send_field_error(struct req *r, const char *field, const char *message);

void no_method(struct req *r);

/* Open a result in b; the caller adds members and hands it to send_result. */
struct json_out open_result(struct req *r, struct buf *b);
void send_result(struct req *r, struct buf *b, struct json_out *o);

/* {} */
void send_empty(struct req *r);

/* Members that every result of the era has, and those of its _meta. */
struct str era_members(const struct req *r);
struct str era_meta(struct req *r);

/* ttlMs and cacheScope, in the stateless era only. */
void put_cache(struct req *r, struct json_out *o);

void put_server_info(struct json_out *o, const struct profile *p);

/* {"jsonrpc":"2.0","method":…,"params":…} */
void put_notification(struct buf *b, const char *method, struct str params);

/* A warn line: what a request had wrong. */
void log_invalid(const char *tool, struct str errors);

/* --- methods, one file each subject --- */

void do_initialize(struct req *r);
void do_discover(struct req *r);
void do_ping(struct req *r);
void do_health(struct req *r);
void do_set_level(struct req *r);

void do_tools_list(struct req *r);
void do_prompts_list(struct req *r);
void do_resources_list(struct req *r);
void do_templates_list(struct req *r);
void do_complete(struct req *r);

void do_tools_call(struct req *r);
void do_prompts_get(struct req *r);
void do_resources_read(struct req *r);
void do_cancelled(struct req *r);

void do_subscribe(struct req *r);
void do_unsubscribe(struct req *r);
void do_listen(struct req *r);

/* An answer of the client to a question of ours. */
void take_answer(struct req *r);
