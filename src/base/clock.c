/* clock.c: the monotonic clock for deadlines, the wall clock for log lines. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void clock_iso(char out[32])
{
    struct timespec t;
    struct tm tm;
    size_t n;

    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, 32 - n, ".%03dZ", (int)(t.tv_nsec / 1000000));
}
