/* orphans.h: kill what hangs below this process.
 *
 * For keepers and the warden, both subreapers: whatever loses its parent below
 * them becomes their child, so killing children, and again those that come up
 * in their place, leaves nothing. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/* Send SIGKILL to each child of this process, with its process group, except
 * those `spare` (NULL: none) says true for. Gives how many were sent one.
 * Reaping is the caller's. */
int orphans_kill(bool (*spare)(void *arg, pid_t pid), void *arg);
