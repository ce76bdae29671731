/* root.h: the folder tools work in, and files below it by descriptor.
 *
 * A confined root is a wall: a path is opened with openat2(RESOLVE_BENEATH)
 * from the root's descriptor, so neither "..", nor a symlink, nor a race with
 * somebody who swaps a folder for a symlink leads out. Symlinks that stay
 * inside, absolute ones too, are followed: where RESOLVE_BENEATH refuses
 * (EXDEV), a walk of our own with O_NOFOLLOW, re-rooted at each link, decides.
 * What another program is to open (a shell's cwd, rg's folder) is handed over
 * as a descriptor, never as a path checked earlier.
 * An unconfined root only resolves relative paths. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

struct root {
    int fd;
    int marks;  /* /proc/self/fd, by which a marked place is opened */
    char *path; /* absolute, symlinks resolved */
    bool confined;
    bool local; /* on a local file system: what is cached is opened without waiting */
};

/* Open dir as a root. */
bool root_open(struct root *r, const char *dir, bool confined, struct err *e);
void root_done(struct root *r);

/* Does the text of the path stay inside? Looks at the string alone ("..",
 * absolute elsewhere), touches nothing. Gives NULL if fine, else the reason. */
const char *root_refuses(const struct root *r, struct str path);

/* The path relative to the root, normalised ("." for the root itself), where
 * it lies inside; else as it is, absolute. For showing. */
char *root_relative(const struct root *r, struct arena *a, struct str path);

enum root_want { ROOT_FILE, ROOT_DIR, ROOT_ANY };

/* Open for reading what path names. Never blocks on a FIFO or wakes a device:
 * looks first (O_PATH), opens only regular files and folders. Gives an
 * O_CLOEXEC descriptor, or -1 with *e set: PATH (leads outside, or not the
 * wanted kind: the message says what it is), MISSING, DENIED, IO. ROOT_ANY
 * takes a regular file or a folder. May block on disk: worker threads only,
 * except for what is known to be quick. */
int root_open_path(const struct root *r, struct str path, enum root_want want, struct err *e);

/* As root_open_path, behind the same wall, but never waiting, so the loop thread
 * may call it: gives a descriptor only if every name on the way is in the
 * kernel's cache and all lies on the root's own local file system. -1 says
 * nothing about the path: a worker has to look. */
int root_open_cached(const struct root *r, struct str path, enum root_want want);
