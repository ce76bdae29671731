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

/* "read it with lines "FROM-TO"" with the numbers put in. */
static void add_hint(struct buf *b, const char *more, size_t from, size_t to)
{
    for (const char *p = more; *p;) {
        if (strncmp(p, "FROM", 4) == 0) {
            buf_addf(b, "%zu", from);
            p += 4;
        } else if (strncmp(p, "TO", 2) == 0) {
            buf_addf(b, "%zu", to);
            p += 2;
        } else {
            buf_addc(b, *p++);
        }
    }
}

static void add_marker(struct buf *b, const struct cut *k, bool in_line, size_t chars,
                       const char *more)
{
    if (in_line)
        buf_addf(b, "[... %zu characters left out, in lines %zu-%zu", chars, k->from, k->to);
    else if (k->from == k->to)
        buf_addf(b, "[... line %zu left out, %zu characters", k->from, chars);
    else
        buf_addf(b, "[... lines %zu-%zu left out (%zu lines, %zu characters)", k->from, k->to,
                 k->to - k->from + 1, chars);
    if (more) {
        buf_adds(b, ": ");
        add_hint(b, more, k->from, k->to);
    }
    buf_adds(b, " ...]\n");
}

struct cut cut_text(struct arena *a, struct str text, size_t max, size_t first_line,
                    const char *more)
{
    struct cut k = { .text = text };
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
    buf_init(&b, text.n + 2 * MARKER);
    buf_add(&b, text.p, head);
    if (head > 0 && text.p[head - 1] != '\n')
        buf_addc(&b, '\n');
    add_marker(&b, &k, in_line, utf8_count((struct str){ text.p + head, tail - head }), more);
    buf_add(&b, text.p + tail, text.n - tail);
    k.text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return k;
}
