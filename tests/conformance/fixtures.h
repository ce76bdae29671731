/* fixtures.h: the rows that the official conformance suites ask for.
 *
 * The suites of @modelcontextprotocol/conformance test a protocol, so they
 * bring a list of tools, prompts and resources that a server must have for
 * them. Those are here, made of the same rows as the product's and linked only
 * into pith-conformance. Names and arguments are the suites'; what an answer
 * says beyond the checked parts is ours. */
#pragma once
#include "call/call.h"
#include "call/resource.h"

/* JSON as a C string, without backslashes. */
#define JSON(...) #__VA_ARGS__

/* Base64 of a PNG of one red pixel, and of a WAV of eight silent samples. */
#define PIXEL                                                                                      \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
#define SILENCE "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="

/* Each ends with a row without a name. */
extern const struct tool content_tools[], working_tools[], asking_tools[], extra_tools[];
extern const struct tool fixture_prompts[];
extern const struct resource fixture_resources[];

/* Of rows without arguments. */
extern const struct field no_fields[];

/* End the call with this object as its result. */
void answer(struct call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the call with one text. */
void answer_text(struct call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text as it stands between the quotes of a JSON string. In the arena. */
const char *escaped(struct call *c, struct str text);

/* Go on with `then` in ms milliseconds, unless the call is cancelled: that ends it. */
void go_on(struct call *c, unsigned ms, void (*then)(struct call *c));

/* Has every ask its answer, an object? Otherwise the call was ended. */
bool answers_fine(struct call *c);
