/* auth.h: the tokens that open the HTTP doors.
 *
 * They stand in the file `tokens` of the settings folder, one a line:
 *
 *     name token [profile]
 *
 * The name is the principal of those who bring the token; with a profile it
 * opens that one only. The first, `default`, is made when there is no file.
 * The file has mode 0600: one that others may read is refused, and so is a
 * folder that others may write.
 * A token is in no message of ours, in no log line, and is not looked for in a
 * query string. Which door needs one is door_auth.h's. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "registry/registry.h"

struct auth; /* opaque */

struct auth_token {
    const char *name;              /* a principal: lives as long as the program */
    const struct profile *profile; /* the only one it opens; NULL: any */
};

/* Read the tokens of the settings folder, making the folder (0700) and a first
 * token where there is none. Two who start at the same moment end with one
 * token. The registry has the profiles that lines may name. NULL with *e set
 * (CONFIG: the file or its rights are wrong). */
struct auth *auth_open(const char *dir, const struct registry *r, struct err *e);

/* Undo auth_open. NULL is fine. */
void auth_free(struct auth *a);

/* Read the file again. On failure gives false and the old tokens stay. Tokens
 * that auth_check gave before are gone; their names and profiles are not. */
bool auth_reload(struct auth *a, struct err *e);

/* fn is told the name of every token that a reload takes away, or gives another
 * secret or profile: what it opened and still holds open should close. */
void auth_on_revoked(struct auth *a, void (*fn)(void *arg, const char *principal), void *arg);

/* What is sent as "Bearer x" (the scheme in any case), { NULL, 0 } if the
 * header has none. */
struct str auth_bearer(struct str header);

/* The token in the value of an Authorization header, NULL: none of ours. Takes
 * the same time for every wrong one. */
const struct auth_token *auth_check(const struct auth *a, struct str header);

/* --- for who keeps the tokens: `pith token` --- */

/* By name; NULL: there is none. auth_secret gives the token itself. */
const struct auth_token *auth_find(const struct auth *a, const char *name);
const char *auth_secret(const struct auth *a, const char *name);

/* "default, ci" for messages. */
void auth_names(const struct auth *a, struct buf *out);

/* A token of this name and profile (NULL: any), with a new secret even if there
 * was one. False with *e set: a name that no token may have, or the disk. */
bool auth_put(struct auth *a, const char *name, const struct profile *profile, struct err *e);

/* Remove it. The last one stays: a server without tokens is not for a slip of
 * the hand to make. */
bool auth_remove(struct auth *a, const char *name, struct err *e);
