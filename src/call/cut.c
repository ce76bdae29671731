/* cut.c: head and tail.
 *
 * Two thirds of the room go to the head: files and listings say what they are
 * at the top, and commands say how they ended at the bottom. A single line
 * that is longer than its share is cut inside the line, at a character. */
#include "call/cut.h"
#include <stdio.h>
#include "base/buf.h"
#include "base/utf8.h"

enum { MARKER = 300 };

size_t cut_lines(struct str text)
{
    size_t lines = 0;
    const char *p = text.p, *end = text.p + text.n, *nl;

    for (; p < end; p = nl + 1) {
        lines++;
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            break;
    }
    return lines;
}

/* Bytes of the longest prefix with at most n characters. */
static size_t head_bytes(struct str s, size_t n)
{
    size_t i = 0;

    for (size_t chars = 0; i < s.n && chars < n; chars++)
        do
            i++;
        while (i < s.n && (s.p[i] & 0xC0) == 0x80);
    return i;
}

/* Start of the longest suffix with at most n characters. */
static size_t tail_start(struct str s, size_t n)
{
    size_t i = s.n;

    for (size_t chars = 0; i > 0 && chars < n; chars++)
        do
            i--;
        while (i > 0 && (s.p[i] & 0xC0) == 0x80);
    return i;
}

/* Where the gap begins and ends; characters are 0 where it does so with a line. */
struct gap {
    size_t from, to, first, last;
};

/* "read it with lines "FROM-TO"" with the numbers put in. */
static void add_hint(struct buf *b, const char *more, const struct gap *g)
{
    for (const char *p = more; *p;) {
        if (strncmp(p, "FROM", 4) == 0) {
            buf_addf(b, "%zu", g->from);
            if (g->first)
                buf_addf(b, ":%zu", g->first);
            p += 4;
        } else if (strncmp(p, "TO", 2) == 0) {
            if (!g->last || g->from < g->to)
                buf_addf(b, "%zu", g->to);
            if (g->last)
                buf_addf(b, "%s%zu", g->from < g->to ? ":" : "", g->last);
            p += 2;
        } else {
            buf_addc(b, *p++);
        }
    }
}

static void add_marker(struct buf *b, const struct gap *g, size_t chars, const char *more)
{
    if (g->first && g->from == g->to)
        buf_addf(b, "[... %zu characters left out, in line %zu", chars, g->from);
    else if (g->first)
        buf_addf(b, "[... %zu characters left out, in lines %zu-%zu", chars, g->from, g->to);
    else if (g->from == g->to)
        buf_addf(b, "[... line %zu left out, %zu characters", g->from, chars);
    else
        buf_addf(b, "[... lines %zu-%zu left out (%zu lines, %zu characters)", g->from, g->to,
                 g->to - g->from + 1, chars);
    if (more) {
        buf_adds(b, ": ");
        add_hint(b, more, g);
    }
    buf_adds(b, " ...]\n");
}

/* Of the line that the byte at `at` is in, or ends. */
static size_t line_start(struct str text, size_t at)
{
    const char *nl = memrchr(text.p, '\n', at);

    return nl ? (size_t)(nl - text.p) + 1 : 0;
}

/* How many characters of its line stand before the byte at `at`. */
static size_t chars_before(struct str text, size_t at, size_t skipped)
{
    size_t start = line_start(text, at);

    return (start ? 0 : skipped) + utf8_count((struct str){ text.p + start, at - start });
}

struct cut cut_text(struct arena *a, struct str text, size_t max, size_t first_line, size_t skipped,
                    const char *more)
{
    struct cut k = { .text = text };
    struct gap g = { 0 };
    size_t room = max > 2 * MARKER ? max - MARKER : max / 2, head, tail;
    const char *nl;
    bool in_line = false;
    struct buf b;

    if (text.n <= max || utf8_count(text) <= max)
        return k;
    head = head_bytes(text, room * 2 / 3);
    tail = tail_start(text, room - room * 2 / 3);
    nl = memrchr(text.p, '\n', head);
    if (nl)
        head = (size_t)(nl - text.p) + 1;
    else
        in_line = true;
    nl = text.p[tail - 1] == '\n' ? text.p + tail - 1 : memchr(text.p + tail, '\n', text.n - tail);
    if (nl && nl + 1 < text.p + text.n)
        tail = (size_t)(nl - text.p) + 1;
    else
        in_line = true;

    k.lines_total = cut_lines(text);
    k.from = first_line + cut_lines((struct str){ text.p, head }) -
             (head > 0 && text.p[head - 1] != '\n');
    k.to = first_line + cut_lines((struct str){ text.p, tail }) - 1;
    g.from = k.from;
    g.to = k.to;
    if (in_line) {
        g.first = chars_before(text, head, skipped) + 1;
        g.last = chars_before(text, tail - (text.p[tail - 1] == '\n'), skipped);
        g.last += g.last == 0; /* an empty line is had by its first character, too */
    }
    buf_init(&b, text.n + 2 * MARKER);
    buf_add(&b, text.p, head);
    if (head > 0 && text.p[head - 1] != '\n')
        buf_addc(&b, '\n');
    add_marker(&b, &g, utf8_count((struct str){ text.p + head, tail - head }), more);
    buf_add(&b, text.p + tail, text.n - tail);
    k.text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return k;
}

struct str cut_chars(struct str text, size_t first, size_t last)
{
    size_t end = text.n, line = end, start;
    const char *nl;

    if (text.n == 0)
        return text;
    if (last > 0) {
        line -= text.p[line - 1] == '\n';
        start = line_start(text, line);
        end = start + head_bytes((struct str){ text.p + start, line - start }, last);
        if (end == line)
            end = text.n;
    }
    if (first > 1) {
        nl = memchr(text.p, '\n', end);
        start = head_bytes((struct str){ text.p, nl ? (size_t)(nl - text.p) : end }, first - 1);
        text.p += start;
        end -= start;
    }
    text.n = end;
    return text;
}
