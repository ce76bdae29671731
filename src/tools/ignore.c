/* ignore.c: gitignore rules as segments between slashes.
 *
 * A rule without a slash before its end matches a name at any depth: it gets a
 * leading "**" segment. Both levels, segments against names and characters in
 * a segment, are matched greedily with a step back to the last star only,
 * which is enough for stars and keeps hostile patterns cheap. */
#include "tools/ignore.h"

#include <stdint.h>
#include <stdlib.h>
#include "base/mem.h"

struct rule {
    struct str glob; /* without '!', leading and trailing slash; in ignore.text */
    bool keep, folder_only, anywhere;
};

struct ignore {
    char *text;
    struct rule *rules;
    size_t count, cap;
};

/* --- one segment --- */

static bool in_posix_class(struct str name, unsigned char c)
{
    static const struct {
        const char *name, *chars; /* pairs of bounds */
    } classes[] = {
        { "alnum", "09AZaz" },  { "alpha", "AZaz" },   { "digit", "09" },
        { "lower", "az" },      { "upper", "AZ" },     { "space", "\t\r  " },
        { "xdigit", "09AFaf" }, { "blank", "\t\t  " }, { "punct", "!/:@[`{~" },
    };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const char *p = classes[i].chars;

        if (!str_is(name, classes[i].name))
            continue;
        for (; *p; p += 2)
            if (c >= (unsigned char)p[0] && c <= (unsigned char)p[1])
                return true;
    }
    return false;
}

/* The member of a class at *p, an escape undone. */
static unsigned char class_char(struct str g, size_t *p)
{
    if (g.p[*p] == '\\' && *p + 1 < g.n)
        ++*p;
    return (unsigned char)g.p[(*p)++];
}

/* Match c against the class that g starts with ("[a-z]"). Gives the length of
 * the class, 0 where it has no end: then it matches nothing. */
static size_t match_class(struct str g, unsigned char c, bool *matches)
{
    size_t p = 1, first;
    bool negated = g.n > 1 && (g.p[1] == '!' || g.p[1] == '^'), in = false;

    p += negated;
    for (first = p; p < g.n && (g.p[p] != ']' || p == first);) {
        const char *end;
        unsigned char lo, hi;

        if (g.n - p > 3 && g.p[p] == '[' && g.p[p + 1] == ':' &&
            (end = memmem(g.p + p + 2, g.n - p - 2, ":]", 2))) {
            in |= in_posix_class((struct str){ g.p + p + 2, (size_t)(end - g.p) - p - 2 }, c);
            p = (size_t)(end - g.p) + 2;
            continue;
        }
        lo = hi = class_char(g, &p);
        if (p + 1 < g.n && g.p[p] == '-' && g.p[p + 1] != ']') {
            p++;
            hi = class_char(g, &p);
        }
        in |= c >= lo && c <= hi;
    }
    *matches = in != negated;
    return p < g.n ? p + 1 : 0;
}

/* Match c against the one-character pattern that g starts with; gives its
 * length, 0 for no match. */
static size_t match_char(struct str g, unsigned char c)
{
    bool matches;
    size_t n;

    switch (g.p[0]) {
    case '?':
        return 1;
    case '[':
        n = match_class(g, c, &matches);
        return n && matches ? n : 0;
    case '\\':
        if (g.n == 1) /* nothing to escape: git says that this matches nothing */
            return 0;
        return (unsigned char)g.p[1] == c ? 2 : 0;
    default:
        return (unsigned char)g.p[0] == c;
    }
}

static bool match_name(struct str glob, struct str name)
{
    size_t g = 0, i = 0, star = SIZE_MAX, resume = 0, n;

    while (i < name.n) {
        if (g < glob.n && glob.p[g] == '*') {
            star = ++g;
            resume = i;
        } else if (g < glob.n && (n = match_char((struct str){ glob.p + g, glob.n - g },
                                                 (unsigned char)name.p[i]))) {
            g += n;
            i++;
        } else if (star != SIZE_MAX) {
            g = star;
            i = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.n && glob.p[g] == '*')
        g++;
    return g == glob.n;
}

/* --- segments --- */

static struct str segment(struct str s, size_t at)
{
    const char *slash = memchr(s.p + at, '/', s.n - at);

    return (struct str){ s.p + at, slash ? (size_t)(slash - s.p) - at : s.n - at };
}

/* at + 1 past the end means: no segment left. */
static bool match_path(struct str glob, struct str path, bool anywhere)
{
    size_t g = 0, i = 0, star = anywhere ? 0 : SIZE_MAX, resume = 0;
    struct str seg, name;

    while (i <= path.n) {
        name = segment(path, i);
        if (g <= glob.n) {
            seg = segment(glob, g);
            if (str_is(seg, "**")) {
                if (g + 2 == glob.n) /* at the end: everything inside */
                    return true;
                star = g += 3;
                resume = i;
                continue;
            }
            if (match_name(seg, name)) {
                g += seg.n + 1;
                i += name.n + 1;
                continue;
            }
        }
        if (star == SIZE_MAX)
            return false;
        g = star;
        resume += segment(path, resume).n + 1;
        i = resume;
    }
    return g > glob.n;
}

/* --- rules --- */

/* Trailing spaces go, unless escaped. */
static struct str trim(struct str line)
{
    size_t slashes;

    if (line.n > 0 && line.p[line.n - 1] == '\r')
        line.n--;
    while (line.n > 0 && line.p[line.n - 1] == ' ') {
        for (slashes = 0; slashes + 1 < line.n && line.p[line.n - 2 - slashes] == '\\'; slashes++)
            ;
        if (slashes % 2 == 1)
            break;
        line.n--;
    }
    return line;
}

static void add_rule(struct ignore *ig, struct str line)
{
    struct rule r = { 0 };

    line = trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return;
    if (line.p[0] == '!') {
        r.keep = true;
        line.p++;
        line.n--;
    }
    if (line.n > 0 && line.p[line.n - 1] == '/') {
        r.folder_only = true;
        line.n--;
    }
    r.anywhere = line.n > 0 && !memchr(line.p, '/', line.n);
    if (line.n > 0 && line.p[0] == '/') {
        line.p++;
        line.n--;
    }
    if (line.n == 0)
        return;
    r.glob = line;
    if (ig->count == ig->cap) {
        ig->cap = ig->cap ? 2 * ig->cap : 16;
        ig->rules = xrealloc(ig->rules, ig->cap * sizeof *ig->rules);
    }
    ig->rules[ig->count++] = r;
}

struct ignore *ignore_new(struct str text)
{
    struct ignore *ig = xcalloc(1, sizeof *ig);
    size_t i = 0, n;
    const char *nl;

    ig->text = xmalloc(text.n + 1);
    memcpy(ig->text, text.p, text.n);
    if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        i = 3;
    for (; i < text.n; i += n + 1) {
        nl = memchr(ig->text + i, '\n', text.n - i);
        n = nl ? (size_t)(nl - ig->text) - i : text.n - i;
        add_rule(ig, (struct str){ ig->text + i, n });
    }
    if (ig->count > 0)
        return ig;
    ignore_free(ig);
    return NULL;
}

void ignore_free(struct ignore *ig)
{
    if (!ig)
        return;
    free(ig->rules);
    free(ig->text);
    free(ig);
}

enum ignore_verdict ignore_match(const struct ignore *ig, struct str path, bool folder)
{
    const struct rule *r;

    for (size_t i = ig ? ig->count : 0; i > 0; i--) {
        r = &ig->rules[i - 1];
        if (r->folder_only && !folder)
            continue;
        if (match_path(r->glob, path, r->anywhere))
            return r->keep ? IGNORE_KEEP : IGNORE_SKIP;
    }
    return IGNORE_SILENT;
}
