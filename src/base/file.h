/* file.h: files written whole or not at all.
 *
 * The text goes to a temporary file in the same folder, is fsynced, and then
 * takes its name in one step: whoever opens the name meets the old text or the
 * new one, never half of it, whenever the power goes. Small files only: they
 * are written at once. May block on the disk. */
#pragma once
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"

/* Give path this text and mode, whatever it was before. */
bool file_replace(const char *path, mode_t mode, struct str text, struct err *e);

/* The same unless path exists: that is no failure, *made says which it was. Of
 * several who try at once exactly one makes it. */
bool file_make(const char *path, mode_t mode, struct str text, bool *made, struct err *e);

/* Make a folder, and those above it that are missing; one that is there stays
 * as it is. */
bool file_make_dir(const char *path, mode_t mode, struct err *e);
