/* prune.c: how fast the pruning engine is, alone, on one core.
 *
 *     prune LOG CODE     two texts of some MB; prints rows of `make bench`
 *
 * The best of several passes counts: machines are noisy, and only slower. */
#include "prune/prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "tokens/tokens.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct buf file_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct buf b;
    size_t n;

    buf_init(&b, 1 << 30);
    if (!f) {
        perror(path);
        exit(1);
    }
    while ((n = fread(buf_room(&b, 1 << 16), 1, 1 << 16, f)) > 0)
        b.len += n;
    fclose(f);
    return b;
}

/* Seconds for one pass over text, the best of `passes`. */
static double once(struct str text, enum prune_source source, int passes)
{
    struct prune_opts o = { .source = source, .max_ratio = 0.9 };
    double best = 1e9, t;
    struct arena a = { 0 };
    struct prune p;

    while (passes--) {
        t = now();
        prune_text(&p, &a, text, STR("why did the connection time out while reading the header"),
                   &o);
        t = now() - t;
        arena_done(&a);
        if (t < best)
            best = t;
    }
    return best;
}

/* The first lines of text, as many as fit in n bytes. */
static struct str first(struct str text, size_t n)
{
    if (n > text.n)
        n = text.n;
    while (n && text.p[n - 1] != '\n')
        n--;
    return (struct str){ text.p, n };
}

static struct str hundred(struct str text)
{
    size_t i, lines = 0;

    for (i = 0; i < text.n && lines < 100; i++)
        lines += text.p[i] == '\n';
    return (struct str){ text.p, i };
}

static void at_least(const char *what, double rate, double least)
{
    printf("| %-48s | %10.4g %-4s | %15s | %7s | >= %-5g | %s |\n", what, rate, "MB/s", "", "",
           least, rate >= least ? "ok" : "NOT");
}

static void speed(const char *what, struct str text, enum prune_source source, double least)
{
    at_least(what, (double)text.n / 1e6 / once(text, source, 9), least);
}

static void most(const char *what, double got, const char *unit, double limit)
{
    printf("| %-48s | %10.4g %-4s | %15s | %7s | <= %-5g | %s |\n", what, got, unit, "", "", limit,
           got <= limit ? "ok" : "NOT");
}

/* Counting the tokens of all of it. */
static void counting(const char *what, struct str text)
{
    double best = 1e9, t;
    size_t n = 0;
    int i;

    for (i = 0; i < 9; i++) {
        t = now();
        n += tokens_count(text);
        t = now() - t;
        if (t < best)
            best = t;
    }
    at_least(what, n ? (double)text.n / 1e6 / best : 0, 100);
}

/* Ten times as much text: how many times longer than its tenths on average? */
static void growth(const char *what, struct str text, enum prune_source source)
{
    double tenths = 0, all;
    struct str part;
    size_t at = 0;
    int i;

    text = first(text, 10000000);
    all = once(text, source, 5);
    for (i = 0; i < 10; i++) {
        part = first((struct str){ text.p + at, text.n - at }, text.n / 10);
        at += part.n;
        tenths += once(part, source, 5);
    }
    most(what, 10 * all / tenths, "", 11);
}

int main(int argc, char **argv)
{
    struct buf log, code;

    if (argc != 3)
        return fprintf(stderr, "usage: prune LOG CODE\n"), 2;
    log = file_read(argv[1]);
    code = file_read(argv[2]);
    speed("pruning engine, logs", first(buf_str(&log), 4000000), PRUNE_LOGS, 60);
    speed("pruning engine, code", first(buf_str(&code), 4000000), PRUNE_CODE, 20);
    counting("counting tokens, logs", first(buf_str(&log), 4000000));
    counting("counting tokens, code", first(buf_str(&code), 4000000));
    most("pruning 100 lines of code", once(hundred(buf_str(&code)), PRUNE_CODE, 200) * 1e3, "ms",
         0.2);
    growth("pruning 10 MB against 1 MB of it, code", buf_str(&code), PRUNE_CODE);
    growth("pruning 10 MB against 1 MB of it, logs", buf_str(&log), PRUNE_LOGS);
    buf_done(&log);
    buf_done(&code);
    return 0;
}
