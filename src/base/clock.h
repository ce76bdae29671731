/* clock.h: how late it is. */
#pragma once
#include <stdint.h>

/* Milliseconds of the monotonic clock. */
uint64_t clock_ms(void);

/* The wall clock as 2026-01-31T12:00:00.000Z; out has 32 bytes of room. */
void clock_iso(char out[32]);
