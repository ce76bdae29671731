/* kept.h: the store for commands that have nothing else to do: they wait.
 *
 * Texts are those of local:<uid>, as over stdio: what an agent was told of, its
 * owner finds here, and the other way round. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "cli/options.h"

/* Keep text as --store and --keep-s say; its id, once it is committed. */
bool kept_put(const struct settings *set, struct str text, char id[40], struct err *e);

/* The text of that id, into out. e: MISSING names the causes, IO says why the
 * store cannot be read. */
bool kept_get(const struct settings *set, const char *id, struct buf *out, struct err *e);
