/* note.c: a sign of life. */
#include "cli/note.h"
#include <stdio.h>
#include <unistd.h>
#include "base/clock.h"

enum { EVERY_MS = 1000, WIDTH = 60 };

void note_start(struct note *n, const char *what)
{
    *n = (struct note){ .what = what, .start = clock_ms(), .on = isatty(2) };
    n->next = n->start + EVERY_MS;
}

int note_wait(const struct note *n)
{
    uint64_t now = clock_ms();

    if (!n->on)
        return -1;
    return n->next > now ? (int)(n->next - now) : 0;
}

void note_tick(struct note *n, size_t bytes)
{
    uint64_t now;
    char text[WIDTH + 1];
    int len;

    if (!n->on || (now = clock_ms()) < n->next)
        return;
    len = snprintf(text, sizeof text, "pith: %.30s, %llu s", n->what,
                   (unsigned long long)(now - n->start) / 1000);
    if (bytes && len > 0 && len < WIDTH)
        snprintf(text + len, sizeof text - (size_t)len, ", %.1f MB", (double)bytes / 1e6);
    dprintf(2, "\r%-*s", WIDTH, text);
    n->shown = true;
    n->next = now + EVERY_MS;
}

void note_end(struct note *n)
{
    if (n->shown)
        dprintf(2, "\r%*s\r", WIDTH, "");
    n->on = n->shown = false;
}
