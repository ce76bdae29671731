/* log.h: events, one line each.
 *
 * JSON: {"ts":…,"level":…,"event":…,"request_id":…,"data":{…}}. Text: the
 * same for eyes. Writing never blocks and never fails: a line that the reader
 * does not take in time waits in a bounded buffer, then lines are dropped and
 * the count is reported (`log.dropped`) once the reader is back.
 * Rooms below call/ do not log; they fill an err. */
#pragma once
#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Where lines go, in which form, and from which level on. */
void log_open(int fd, bool json, enum log_level min);

/* data is a JSON object already written, or empty; request_id may be NULL. */
void log_event(enum log_level level, const char *event, const char *request_id, struct str data);

/* Would this level be written? Lets a caller save the work of making data. */
bool log_wants(enum log_level level);

/* A line as it is (the banner of text mode, say), through the same buffer. */
void log_line(const char *text);

/* "warn" to LOG_WARN; LOG_INFO for a word that is no level. */
enum log_level log_level_of(const char *word);

/* fn is called when bytes begin to wait, so that somebody flushes later. */
void log_on_pending(void (*fn)(void));

/* Bytes waiting for the reader; log_flush tries again. */
size_t log_pending(void);
void log_flush(void);
