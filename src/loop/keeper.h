/* keeper.h: the process that answers for one command.
 *
 * Forked by the warden, it starts the command in a session of its own, waits
 * for it or for the word to kill it, kills and reaps all that is left, and
 * only then reports. When nothing is left it waits for another command, one at
 * a time: forking and reaping a keeper costs as much as a small command. */
#pragma once
#include <stdbool.h>
#include <stdnoreturn.h>
#include <sys/types.h>

/* Be the keeper of the command described by the five descriptors (warden.h),
 * then of those that come over its control socket, until that closes. `sigs` is
 * a signalfd of SIGCHLD and SIGTERM, with all signals blocked. Ends the
 * process: with 0 when nothing is left, 1 when something would not die. */
noreturn void keeper_run(int *give, int sigs, pid_t warden);

/* Put one record on a control socket. Nobody there is fine. */
void keeper_report(int ctl, int kind, int status, int error);

/* Empty a signalfd. */
void keeper_clear(int sigs);
