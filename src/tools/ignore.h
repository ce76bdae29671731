/* ignore.h: the rules of one .gitignore file.
 *
 * As gitignore(5) has them: comments, negation, folders only, anchored rules,
 * *, ?, classes, ** between slashes, escapes. The last rule that matches
 * decides. Braces are ordinary characters, as for git (rg expands them).
 * Matching takes time in the product of the lengths, never more: a rule comes
 * from whoever wrote the tree.
 * Pure: knows no files. How the rules of nested folders combine is the
 * walker's to say (grep_walk.c). */
#pragma once
#include "base/str.h"

struct ignore;

enum ignore_verdict {
    IGNORE_SILENT, /* no rule speaks of it */
    IGNORE_SKIP,
    IGNORE_KEEP /* a negated rule */
};

/* Parse the text of a .gitignore. NULL if it holds no rule. Copies. */
struct ignore *ignore_new(struct str text);
void ignore_free(struct ignore *ig); /* NULL is fine */

/* What the rules say of path, relative to the .gitignore's folder, without a
 * leading "./". Looks at the path itself, not at the folders above it. NULL
 * rules are silent. */
enum ignore_verdict ignore_match(const struct ignore *ig, struct str path, bool folder);
