/* log.c: rules for lines of tool output.
 *
 * Most lines of a log say nothing, so the look at the letters is saved for
 * those whose words already said something (SAW_SEV) or whose first sign is
 * one that tools use. */
#include "scan/log.h"

#include "scan/kinds.h"

enum { ASK_LINES = 4096 };

/* ---- In front of what a line says ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A time or date at p: digits with - : . / T Z + between; gives its length. */
static size_t stamp(const char *p, size_t n)
{
    size_t i, digits = 0, signs = 0, dots = 0;

    for (i = 0; i < n; i++) {
        if (is_digit(p[i])) {
            digits++;
        } else if (p[i] >= '+' && p[i] <= ':') { /* + , - . / and : */
            signs++;
            dots += p[i] == '.';
        } else if (!(digits && (p[i] == 'T' || p[i] == 'Z')))
            break;
    }
    if (i < n && p[i] != ' ' && p[i] != '\t' && p[i] != ']' && p[i] != '\033')
        return 0;
    return digits >= 4 && signs >= 2 && (dots < signs || digits >= 8) && dots < 3 ? i : 0;
}

static bool is_month(const char *p, size_t n)
{
    static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    size_t k;

    if (n < 4 || p[3] != ' ')
        return false;
    for (k = 0; k < 36; k += 3)
        if (memcmp(p, MONTHS + k, 3) == 0)
            return true;
    return false;
}

/* "[2024-05-02 09:04:48]", "[Thu May 02 09:04:48 2024]", "[   12.345678]": a time,
 * and up to the level in "[09:04:48 ERR]"; gives its length. */
static size_t bracket(const char *p, size_t n)
{
    size_t i, digits = 0, letters = 0, signs = 0, dots = 0;

    for (i = 1; i < n && i < 40 && p[i] != ']'; i++) {
        if (is_digit(p[i])) {
            digits++;
        } else if (p[i] >= '+' && p[i] <= ':') {
            signs++;
            dots += p[i] == '.';
        } else if (is_word_byte((unsigned char)p[i])) {
            if (digits >= 6 && p[i - 1] == ' ')
                break;
            letters++;
        } else if (p[i] != ' ') {
            return 0;
        }
    }
    if (i == n || i == 40 || digits < 6 || letters > 6 || signs + dots < 2)
        return 0;
    return p[i] == ']' ? i + 1 : i;
}

/* One piece of prefix at p; 0: none. */
static size_t piece(const char *p, size_t n, bool *time)
{
    size_t k, i = 0;

    if (*p == ' ' || *p == '\t')
        return 1;
    if (*p == '\033') {
        for (i = 1; i < n && !(p[i] >= '@' && p[i] <= '~' && p[i] != '['); i++)
            ;
        return i < n ? i + 1 : n;
    }
    if (*p == '[' && (k = bracket(p, n)) != 0) {
        *time = true;
        return k;
    }
    if (is_month(p, n)) {
        for (i = 4; i < n && p[i] == ' '; i++)
            ;
        if (i == n || !is_digit(p[i]))
            return 0;
        for (; i < n && is_digit(p[i]); i++)
            ;
        *time = true;
        return i;
    }
    if (is_digit(*p) && (k = stamp(p, n)) != 0) {
        *time = true;
        return k;
    }
    return 0;
}

size_t log_prefix(struct str line, bool *time)
{
    const char *tab;
    size_t at = 0, k;
    int i;

    *time = false;
    for (i = 0; i < 2 && line.n - at > 20; i++) {
        tab = memchr(line.p + at, '\t', line.n - at < 60 ? line.n - at : 60);
        if (!tab || (size_t)(tab - line.p) + 20 > line.n ||
            !(memchr(tab, 'T', 20) || memchr(tab + 1, '\t', line.n - (size_t)(tab + 1 - line.p))))
            break;
        at = (size_t)(tab - line.p) + 1;
    }
    if (at && at < line.n && !is_digit(line.p[at]) && (unsigned char)line.p[at] != 0xef)
        at = 0;
    if (at && at + 3 < line.n && memcmp(line.p + at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    for (i = 0; i < 40 && at < line.n; i++) {
        k = piece(line.p + at, line.n - at, time);
        if (!k)
            break;
        at += k;
    }
    return at;
}

/* ---- Failure ---- */

static bool all_upper(const char *p, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (p[i] < 'A' || p[i] > 'Z')
            return false;
    return n > 1;
}

static bool word_is(const char *p, size_t n, const char *want)
{
    size_t i;

    for (i = 0; i < n; i++)
        if ((p[i] | 32) != want[i])
            return false;
    return !want[n];
}

static bool one_of(const char *p, size_t n, const char *const *list)
{
    for (; *list; list++)
        if (**list == (p[0] | 32) && word_is(p, n, *list))
            return true;
    return false;
}

static bool ends(const char *p, size_t n, const char *tail)
{
    size_t k = strlen(tail);

    return n > k && memcmp(p + n - k, tail, k) == 0;
}

/* "0 errors", "no errors", "errors: 0", "errors=0": the opposite. */
static bool is_zero(struct str h, size_t at, size_t n)
{
    size_t i = at, j = at + n;

    while (i && (h.p[i - 1] == ' ' || h.p[i - 1] == '\t'))
        i--;
    if (i && h.p[i - 1] == '0' && (i == 1 || !is_digit(h.p[i - 2])))
        return true;
    if (i > 6 && memcmp(h.p + i - 7, "0 tests", 7) == 0 && (i == 7 || !is_digit(h.p[i - 8])))
        return true;
    if (i > 1 && (h.p[i - 2] | 32) == 'n' && (h.p[i - 1] | 32) == 'o')
        return true;
    while (j < h.n && (h.p[j] == ':' || h.p[j] == '=' || h.p[j] == ' '))
        j++;
    return j > at + n && j < h.n && h.p[j] == '0' && (j + 1 == h.n || !is_digit(h.p[j + 1]));
}

/* "error[E0308]", "error TS2322", "level=error", "\"error\"", and "Error from …" at
 * the start: the name of a level, not a word of a sentence. */
static bool is_level(struct str h, size_t at, size_t n)
{
    const char *p = h.p + at;
    size_t i = at + n, k;

    if (i < h.n && h.p[i] == '[')
        return true;
    if (at && h.p[at - 1] == '=')
        return true;
    if (at && h.p[at - 1] == '"' && i < h.n && h.p[i] == '"')
        return true;
    if (i + 1 >= h.n || h.p[i] != ' ')
        return false;
    for (k = ++i; k < h.n && h.p[k] >= 'A' && h.p[k] <= 'Z'; k++)
        ;
    if (k > i && k < i + 5 && k < h.n && is_digit(h.p[k]))
        return true;
    return !at && (p[0] == 'E' || k > i);
}

/* What the word of n letters at `at` says. */
static uint32_t word_says(struct str h, size_t at, size_t n)
{
    static const char *const ERRORS[] = { "error",  "errors",  "err",      "fail",
                                          "failed", "failure", "failures", "critical",
                                          "crit",   "severe",  "emerg",    NULL };
    static const char *const ALWAYS[] = { "fatal",     "panicked",   "panic",
                                          "traceback", "segfault",   "segmentation",
                                          "aborted",   "unresolved", NULL };
    const char *p = h.p + at;
    char after = at + n < h.n ? h.p[at + n] : ' ';

    if ((p[n - 1] == 'r' && ends(p, n, "Error")) || (p[n - 1] == 'n' && ends(p, n, "Exception")))
        return L_EXC | L_SEV | (after == ':' || at < 4 || at + n == h.n ? L_STRONG : 0);
    if (n < 3 || n > 12 || !strchr("aefcpstu", p[0] | 32))
        return 0;
    if (one_of(p, n, ALWAYS))
        return L_SEV | (is_zero(h, at, n) ? L_ZERO : L_STRONG) |
               (word_is(p, n, "traceback") ? L_TRACE : 0);
    if (one_of(p, n, ERRORS)) {
        if (is_zero(h, at, n))
            return L_ZERO;
        if (all_upper(p, n) || after == ':' || after == '!' || (at && h.p[at - 1] == '[') ||
            (at > 1 && h.p[at - 2] == ':' && h.p[at - 1] == ' ') || is_level(h, at, n))
            return L_SEV | L_STRONG;
        return L_SEV;
    }
    if (word_is(p, n, "caused"))
        return str_starts((struct str){ p, h.n - at }, "Caused by") ? L_STRONG | L_EXC : 0;
    return 0;
}

/* "failures=2", "Failures: 1", and not 0. */
static bool counts(struct str h, const char *name)
{
    size_t n = strlen(name);
    const char *p = memmem(h.p, h.n < 80 ? h.n : 80, name, n);

    return p && p + n < h.p + h.n && p[n] >= '1' && p[n] <= '9';
}

/* "3 failed", "2 passed", "5 errors". */
static uint32_t summary(struct str h)
{
    size_t i, j;

    for (i = 0; i + 5 < h.n && i < 160; i++) {
        if (!is_digit(h.p[i]) || (i && is_word_byte((unsigned char)h.p[i - 1])))
            continue;
        for (j = i; j < h.n && is_digit(h.p[j]); j++)
            ;
        if (j + 5 < h.n && h.p[j] == ' ' && (h.p[i] != '0' || j > i + 1) &&
            (memcmp(h.p + j + 1, "fail", 4) == 0 || memcmp(h.p + j + 1, "erro", 4) == 0))
            return L_SUMMARY;
        i = j;
    }
    return counts(h, "ailures=") || counts(h, "rrors=") || counts(h, "ailures: ") ||
                   counts(h, "rrors: ")
               ? L_SUMMARY
               : 0;
}

static uint32_t exit_status(struct str h)
{
    const char *p = memmem(h.p, h.n, "exit", 4), *end = h.p + h.n;

    if (!p)
        p = memmem(h.p, h.n, "Exit", 4);
    if (!p)
        return 0;
    for (p += 4; p < end && !is_digit(*p); p++)
        if (end - p > 40 || *p == '.')
            return 0;
    return p < end && (*p != '0' || (p + 1 < end && is_digit(p[1]))) ? L_EXIT | L_SEV : 0;
}

static uint32_t says(struct str h, uint32_t sevs)
{
    uint32_t log = 0;
    size_t i = 0, j;

    while (i < h.n && i < 600) {
        if (!is_word_byte((unsigned char)h.p[i]) || is_digit(h.p[i])) {
            i++;
            continue;
        }
        for (j = i; j < h.n && is_word_byte((unsigned char)h.p[j]); j++)
            ;
        if (j - i < 40)
            log |= word_says(h, i, j - i);
        i = j;
    }
    log |= summary(h);
    if (log & L_SUMMARY)
        log &= ~(uint32_t)L_ZERO;
    if (sevs && !(log & L_ZERO))
        log |= L_SEV;
    return log;
}

/* ---- Other signs ---- */

static uint32_t word_signs(const struct text *t, size_t i, bool *exits)
{
    uint32_t log = 0;
    size_t k, end = t->lines[i + 1].words;

    for (k = t->lines[i].words; k < end; k++) {
        switch (t->words[t->places[k]].sev) {
        case SEV_WARN:
            log |= L_WARN;
            break;
        case SEV_OK:
            log |= L_OK;
            break;
        case SEV_WANT:
            log |= L_WANT;
            break;
        case SEV_TRACE:
            log |= L_TRACE;
            break;
        case SEV_EXIT:
            *exits = true;
            break;
        case SEV_DULL:
            if (k < t->lines[i].words + 2)
                log |= L_DULL;
            break;
        default:
            break;
        }
    }
    return log;
}

static bool is_rule(struct str h)
{
    size_t i;

    for (i = 1; i < h.n; i++)
        if (h.p[i] != h.p[0])
            return false;
    return h.n >= 5;
}

/* "12 | code", "> 12 | code", "   |   ^^^", "   ~~~^~~", pytest's ">       code". */
static bool is_caret(struct str h)
{
    size_t i = 0;

    if (str_starts(h, ">    "))
        return true;
    while (i < h.n && (is_digit(h.p[i]) || h.p[i] == ' ' || (h.p[i] == '>' && !i)))
        i++;
    if (i < h.n && h.p[i] == '|' && (i + 1 == h.n || h.p[i + 1] == ' '))
        return true;
    for (i = 0; i < h.n; i++)
        if (!strchr("^~ -|", h.p[i]))
            return false;
    return h.n && memchr(h.p, '^', h.n);
}

static bool is_frame(const struct line *l, struct str h)
{
    if (str_starts(h, "at ") && (l->saw & (SAW_PAREN | SAW_PATH_LINE)))
        return true;
    if (str_starts(h, "File \"") || str_starts(h, "from ") || str_starts(h, "goroutine "))
        return l->indent > 0 || h.p[0] != 'f';
    if (h.n > 2 && h.p[0] == '#' && is_digit(h.p[1]))
        return true;
    return l->indent && l->saw & SAW_PATH_LINE && l->tokens < 40;
}

static bool is_hex(struct str h, size_t from)
{
    size_t i;

    for (i = from; i < h.n && (is_digit(h.p[i]) || ((h.p[i] | 32) >= 'a' && (h.p[i] | 32) <= 'f'));
         i++)
        ;
    return i - from >= 7 && (i == h.n || h.p[i] == ' ');
}

static uint32_t entry(const struct line *l, struct str h)
{
    switch (h.n ? h.p[0] : 0) {
    case 'c':
        return str_starts(h, "commit ") && !l->indent && is_hex(h, 7) ? L_ENTRY : 0;
    case 'd':
        return str_starts(h, "diff --git") || str_starts(h, "diff -") ? L_ENTRY : 0;
    case '#':
        return str_starts(h, "##[group]") ? L_ENTRY | L_GROUP : str_starts(h, "##[") ? L_GROUP : 0;
    case ':':
        return str_starts(h, "::group")      ? L_ENTRY | L_GROUP
               : str_starts(h, "::endgroup") ? L_GROUP
                                             : 0;
    case '=':
    case '_':
    case '-':
        if (is_rule(h))
            return L_RULE | (h.p[0] == '=' ? L_ENTRY : 0);
        if (str_starts(h, "--- FAIL") || str_starts(h, "--- PASS") || str_starts(h, "--- SKIP") ||
            str_starts(h, "=== RUN") || str_starts(h, "==== "))
            return L_ENTRY;
        return str_starts(h, "_____") || str_starts(h, "=====") || str_starts(h, "-----") ? L_ENTRY
                                                                                          : 0;
    case '@':
        return str_starts(h, "@@ ") ? L_HUNK : 0;
    default:
        return 0;
    }
}

/* Past "path:12:" or "path-12-", as grep writes; 0 where there is none. */
static size_t grep_prefix(struct str h)
{
    size_t i, j;

    for (i = 1; i + 2 < h.n && i < 300; i++) {
        if (h.p[i] == ' ' || h.p[i] == '\t')
            return 0;
        if (h.p[i] != ':' || !is_digit(h.p[i + 1]))
            continue;
        for (j = i + 1; j < h.n && is_digit(h.p[j]); j++)
            ;
        return j < h.n && h.p[j] == ':' ? j + 1 : 0;
    }
    return 0;
}

/* " error: …", " warning: …" behind "path:12:": a diagnostic. */
static bool says_level(struct str h, size_t at)
{
    struct str s = { h.p + at, h.n - at };

    return str_starts(s, " error") || str_starts(s, " warning") || str_starts(s, " note");
}

static size_t words_in(struct str h, size_t n)
{
    size_t i, count = 0;

    for (i = 0; i < n; i++)
        count +=
            is_word_byte((unsigned char)h.p[i]) && (!i || !is_word_byte((unsigned char)h.p[i - 1]));
    return count;
}

/* The words behind "path:12:" define something: by a keyword, or as C does it,
 * at the margin, with a "(" and no ";" at the end. */
static bool defines(const struct text *t, size_t i, struct str h)
{
    const struct line *l = &t->lines[i];
    const struct word *w;
    size_t skip = grep_prefix(h), k, end = t->lines[i + 1].words, names = 0;
    bool modified = false;

    if (skip && (skip == h.n || is_digit(h.p[skip]) || says_level(h, skip)))
        return false;
    /* the keyword comes first, or behind modifiers and one name: pub(crate) fn */
    for (k = l->words + words_in(h, skip); k < end && names < 2; k++) {
        w = &t->words[t->places[k]];
        if (w->kw == KW_CTRL || w->kw == KW_RETURN || w->kw == KW_THROW)
            return false;
        if ((w->kw == KW_DEF || (w->kw == KW_TYPE && w->len > 4)) && (modified || !names))
            return true;
        modified |= w->kw == KW_MOD;
        names += !w->kw && t->places[k] && !is_digit(t->bytes.p[w->at]);
    }
    if (modified && l->saw & SAW_CALL && (l->last == '{' || l->last == ')'))
        return true;
    if (!skip || !(l->saw & SAW_CALL) || l->last == ';' || !is_word_byte((unsigned char)h.p[skip]))
        return false;
    /* "int pop(": a type, a name and its parameters */
    for (k = skip; k < h.n && h.p[k] != '(' && h.p[k] != ' '; k++)
        ;
    return k + 1 < h.n && h.p[k] == ' ' &&
           (is_word_byte((unsigned char)h.p[k + 1]) || h.p[k + 1] == '*');
}

/* What stands behind "path:12:": how deep it is indented, is it a comment? */
static void inner(struct line *l, struct str h)
{
    size_t at = grep_prefix(h), n = 0;
    struct str s;

    if (!at)
        return;
    for (; at < h.n && (h.p[at] == ' ' || h.p[at] == '\t'); at++)
        n += h.p[at] == '\t' ? 4 : 1;
    l->depth = (uint8_t)(n > 32 ? 8 : n / 4);
    s = (struct str){ h.p + at, h.n - at };
    if (str_starts(s, "//") || str_starts(s, "/*") || str_starts(s, "* ") || str_starts(s, "# ") ||
        str_starts(s, "-- ") || str_starts(s, "\"\"\""))
        l->kind |= K_COMMENT;
}

/* "make: *** ", "make[2]: *** ". */
static bool is_make(struct str h)
{
    size_t i = 4;

    if (!str_starts(h, "make"))
        return false;
    if (i < h.n && h.p[i] == '[')
        while (i < h.n && h.p[i++] != ']')
            ;
    return str_starts((struct str){ h.p + i, h.n - i }, ": *** ");
}

/* "sh: 1: foo: not found". */
static bool is_not_found(struct str h)
{
    static const char END[] = "not found";
    size_t n = sizeof END - 1;

    return h.n > n + 2 && memcmp(h.p + h.n - n, END, n) == 0 && memchr(h.p, ':', h.n - n);
}

/* The marks that tools put in front of what failed. */
static bool is_verdict(struct str h, bool time)
{
    switch (h.n > 1 ? h.p[0] : 0) {
    case 'E':
        return (h.p[1] == ' ' || str_starts(h, "E: ")) && !time;
    case '*':
        return str_starts(h, "*** ");
    case 'm':
        return is_make(h);
    case 'n':
        return str_starts(h, "not ok ") || str_starts(h, "npm error ");
    case 'C':
        return str_starts(h, "CMake Error");
    case '#':
        return str_starts(h, "##[error]");
    case 'F':
        return str_starts(h, "FAIL ");
    case '\xe2':
        return str_starts(h, "\xe2\x9c\x97") || str_starts(h, "\xe2\x9c\x95") ||
               str_starts(h, "\xe2\x9c\x96") || str_starts(h, "\xe2\x97\x8f ");
    default:
        return false;
    }
}

/* "--- a/x.c", "+++ /dev/null": which file, not what was changed. */
static bool is_file_of_diff(struct str h)
{
    return h.n > 5 && (str_starts(h, "--- ") || str_starts(h, "+++ ")) &&
           (h.p[5] == '/' || str_starts((struct str){ h.p + 4, h.n - 4 }, "/dev/null"));
}

static uint32_t log_of(struct text *t, size_t i)
{
    struct line *l = &t->lines[i];
    struct str s = line_str(t, i), h;
    uint32_t log = 0;
    bool time, exits = false;
    size_t skip;

    if (!l->first)
        return 0;
    skip = log_prefix(s, &time);
    h = (struct str){ s.p + skip, s.n - skip };
    if (time)
        log |= L_TIME;
    if (l->saw & SAW_SEV) {
        log |= word_signs(t, i, &exits);
        if (l->sevs || log & L_TRACE)
            log |= says(h, l->sevs);
        if (exits)
            log |= exit_status((struct str){ h.p, h.n < 400 ? h.n : 400 });
    }
    log |= entry(l, h);
    if (is_verdict(h, time)) {
        log |= L_STRONG | L_SEV;
        log &= ~(uint32_t)L_OK;
    }
    if (l->saw & SAW_SEV && is_not_found(h))
        log |= L_SEV;
    if (l->saw & SAW_PATH_LINE && !time)
        log |= L_PATH;
    if (!l->indent && h.n && !(log & L_ENTRY)) {
        if (is_file_of_diff(h))
            ;
        else if (h.p[0] == '+')
            log |= L_PLUS;
        else if (h.p[0] == '-')
            log |= L_MINUS;
    }
    if ((l->indent || l->saw & (SAW_PATH_LINE | SAW_PAREN | SAW_QUOTE) || l->first == '#' ||
         l->first == 'g') &&
        is_frame(l, h))
        log |= L_FRAME;
    if ((l->saw & SAW_BAR || l->first == '>' || t->lines[i + 1].words == l->words) && is_caret(h))
        log |= L_CARET;
    if (l->saw & SAW_PATH_LINE || !time) {
        if (defines(t, i, h))
            log |= L_DEF;
        if (l->saw & SAW_PATH_LINE)
            inner(l, h);
    }
    return log;
}

/* Below the head of an entry: fields, then the title, the first line of text. */
static void mark_title(struct text *t, size_t head)
{
    size_t i;

    for (i = head + 1; i < t->count && i < head + 8; i++) {
        if (t->lines[i].log & L_ENTRY || !t->lines[i].first)
            continue;
        if (!t->lines[i].indent && t->lines[i].saw & SAW_COLON) {
            t->lines[i].log |= L_FIELD;
            continue;
        }
        t->lines[i].log |= L_TITLE;
        return;
    }
}

/* The few kinds that lines of a log have too. */
static void mark_kind(struct text *t, size_t i)
{
    struct line *l = &t->lines[i];

    if (!l->first)
        l->kind |= K_BLANK;
    else if (t->lines[i + 1].words == l->words)
        l->kind |= K_PUNCT;
    if (l->first && (!i || !t->lines[i - 1].first))
        l->kind |= K_STARTS;
}

bool text_logs(struct text *t, const struct late *late)
{
    size_t i;

    for (i = 0; i < t->count; i++) {
        if (i % ASK_LINES == 0 && is_late(late))
            return false;
        t->lines[i].log = log_of(t, i);
        mark_kind(t, i);
    }
    for (i = 0; i < t->count; i++)
        if (t->lines[i].log & L_ENTRY && t->bytes.p[t->lines[i].head] == 'c')
            mark_title(t, i);
    return true;
}
