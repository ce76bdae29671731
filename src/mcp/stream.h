/* stream.h: server-sent events to one reader, who may go and come back.
 *
 * A kept stream numbers its events ("7-12": the stream's number, then the
 * event's) and keeps them within a ceiling. When its connection goes, by the
 * peer's doing or because the peer reads too slowly, it waits for the window;
 * a reader who comes back with the last number it saw gets what followed.
 * A stream that is not kept is lost with its connection.
 * A comment goes out now and then, so that nobody takes silence for an end. */
#pragma once
#include "loop/loop.h"
#include "wire/http.h"

struct stream;

struct stream_opts {
    struct loop *loop;
    bool keep;
    unsigned number;       /* of a kept one, within its session */
    bool prime;            /* begin with an empty event that has a number */
    unsigned window_ms;    /* how long a kept one waits for its reader */
    unsigned heartbeat_ms; /* between comments */

    /* Called once, from the loop: nobody reads it, and nobody will. Free it there or later. */
    void (*lost)(void *arg);
    void *arg;
};

/* A stream without a reader; the window does not run yet. */
struct stream *stream_new(const struct stream_opts *o);

/* Undo it; the connection is closed. NULL is fine; `lost` is not called. */
void stream_free(struct stream *s);

/* r reads from now on (a reader before it is let go): the head with further
 * header lines, then whatever was not sent to anybody. */
void stream_attach(struct stream *s, struct http_req *r, const char *headers);

/* The same for a reader who has seen the event `last`: all that followed. False
 * when that is not kept any more; nothing was sent then. */
bool stream_resume(struct stream *s, struct http_req *r, unsigned long last, const char *headers);

/* One message (JSON) as an event. Without a reader a kept stream keeps it. */
void stream_send(struct stream *s, struct str message);

/* An event with a name, to the reader at hand. */
void stream_event(struct stream *s, const char *name, struct str data);

/* Close the connection; the reader is told when to come back. */
void stream_let_go(struct stream *s);

/* All is said. The connection ends; a kept stream can still be resumed for the
 * window, then it is lost. One that is not kept is lost on the next turn. */
void stream_end(struct stream *s);

bool stream_has_reader(const struct stream *s);
bool stream_has_ended(const struct stream *s);
