/* goal.c: reading the question.
 *
 * The weights by hand are only an input of the learned term weights
 * (prune/terms.h) and the whole truth for the heuristic scorer. */
#include "prune/goal.h"

#include <stdlib.h>

#include "scan/stem.h"

enum { LONGEST_GOAL = 32 * 1024 };

/* In the order of strcmp. */
static const char *const STOP[] = {
    "a",       "aber",    "about",   "all",     "also",   "am",       "an",    "and",  "any",
    "are",     "as",      "at",      "au",      "auf",    "aus",      "aux",   "avec", "be",
    "because", "been",    "bei",     "beim",    "being",  "between",  "but",   "by",   "can",
    "cette",   "could",   "dans",    "das",     "der",    "did",      "do",    "does", "doing",
    "done",    "ein",     "eine",    "einem",   "einen",  "einer",    "elle",  "est",  "et",
    "for",     "from",    "für",     "get",     "gets",   "had",      "has",   "have", "he",
    "here",    "how",     "i",       "ich",     "if",     "il",       "ils",   "im",   "in",
    "instead", "into",    "is",      "ist",     "it",     "its",      "just",  "kann", "la",
    "le",      "les",     "let",     "like",    "ll",     "m",        "mais",  "may",  "me",
    "might",   "more",    "most",    "must",    "my",     "nach",     "nicht", "no",   "not",
    "now",     "oder",    "of",      "off",     "on",     "one",      "only",  "or",   "our",
    "out",     "over",    "où",      "pas",     "please", "pourquoi", "quand", "que",  "quel",
    "quelle",  "quelles", "quels",   "qui",     "re",     "s",        "same",  "see",  "she",
    "should",  "sind",    "so",      "some",    "sont",   "such",     "t",     "than", "that",
    "the",     "their",   "them",    "then",    "there",  "these",    "they",  "this", "those",
    "through", "to",      "too",     "un",      "und",    "under",    "une",   "up",   "us",
    "ve",      "very",    "via",     "vom",     "von",    "wann",     "warum", "was",  "we",
    "welche",  "welchen", "welcher", "welches", "wenn",   "wer",      "were",  "what", "when",
    "where",   "which",   "while",   "who",     "why",    "wie",      "will",  "wird", "with",
    "within",  "without", "wo",      "would",   "wurde",  "you",      "your",  "zu",   "zum",
    "zur",
};

static const char *const GENERIC[] = {
    "add",     "added",     "adds",    "allow",     "avoid",    "behavior",    "bug",
    "bugfix",  "call",      "case",    "cases",     "change",   "changed",     "changes",
    "check",   "chore",     "class",   "clean",     "cleanup",  "code",        "commit",
    "correct", "correctly", "current", "currently", "describe", "description", "different",
    "doc",     "docs",      "ensure",  "error",     "example",  "expected",    "fail",
    "failed",  "fails",     "feat",    "feature",   "file",     "files",       "find",
    "fix",     "fixed",     "fixes",   "function",  "handle",   "implement",   "improve",
    "issue",   "make",      "makes",   "method",    "minor",    "missing",     "need",
    "new",     "note",      "options", "problem",   "properly", "pull",        "refactor",
    "remove",  "removed",   "request", "return",    "returns",  "run",         "set",
    "show",    "simplify",  "support", "test",      "tests",    "try",         "type",
    "unused",  "update",    "updated", "use",       "used",     "user",        "uses",
    "using",   "value",     "version", "way",       "work",     "working",     "works",
    "wrong",
};

/* Headings of issue templates, without signs, in lower case. */
static const char *const TEMPLATE[] = {
    "actual",
    "additional context",
    "bug description",
    "bug report",
    "checklist",
    "code of conduct",
    "describe the",
    "description",
    "environment",
    "expected",
    "how to reproduce",
    "is your feature",
    "motivation",
    "os",
    "platform",
    "possible solution",
    "proposed",
    "reproduc",
    "screenshots",
    "setup",
    "steps",
    "system",
    "the problem",
    "to reproduce",
    "version",
    "what did you",
    "what happened",
    "what version",
    "what you",
    "which version",
};

static const char *const TRAILERS[] = {
    "signed-off-by",
    "co-authored-by",
    "reviewed-by",
    "acked-by",
    "tested-by",
    "reported-by",
    "change-id",
    "git-svn-id",
    "cherry picked",
    "(cherry picked",
    "cc:",
    "differential revision",
    "pull request resolved",
    "reviewed at",
    "fixes #",
    "closes #",
    "close #",
    "refs #",
    "see #",
    "pr-url",
    "piperorigin-revid",
};

struct place {
    float weight;
    bool title, fenced, quoted;
    char last_text[STEM_MAX];
    size_t last_n;
    int before;   /* the last term that can be a name, or -1 */
    bool wanting; /* "definition of", "which file implements": the next one is the name */
};

static int by_text(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

#define HAS(list, word) bsearch(word, list, sizeof list / sizeof *list, sizeof *list, by_text)

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool starts_any(struct str s, const char *const *list, size_t n)
{
    size_t i, k;

    for (i = 0; i < n; i++) {
        for (k = 0; list[i][k] && k < s.n && lower(s.p[k]) == list[i][k]; k++)
            ;
        if (!list[i][k])
            return true;
    }
    return false;
}

static struct str trimmed(struct str s)
{
    while (s.n && strchr(" \t\r*#>-_", s.p[0]))
        s.p++, s.n--;
    while (s.n && strchr(" \t\r*:", s.p[s.n - 1]))
        s.n--;
    return s;
}

/* ---- Terms ---- */

static struct goal_term *term(struct goal *g, uint32_t hash, bool exact)
{
    size_t i;

    for (i = 0; i < g->count; i++)
        if (g->terms[i].hash == hash && g->terms[i].exact == exact)
            return &g->terms[i];
    if (g->count == GOAL_TERMS)
        return NULL;
    g->terms[g->count] = (struct goal_term){ .hash = hash, .exact = exact };
    g->terms[g->count].at = (uint16_t)g->count;
    return &g->terms[g->count++];
}

static void add(struct goal *g, uint32_t hash, struct str w, const struct place *pl, float weight,
                bool ident, bool exact)
{
    struct goal_term *t = term(g, hash, exact);

    if (!t)
        return;
    if (weight > t->weight)
        t->weight = weight;
    if (!t->count) {
        t->word = w;
        t->len = (uint8_t)(w.n < 255 ? w.n : 255);
    }
    t->count++;
    t->title |= pl->title;
    t->ident |= ident;
    t->quoted |= pl->quoted;
    t->fenced |= pl->fenced;
    t->number |= w.n && w.p[0] >= '0' && w.p[0] <= '9';
}

static bool asks_definition(const char *w)
{
    return strncmp(w, "defin", 5) == 0 || strncmp(w, "declar", 6) == 0 ||
           strncmp(w, "implement", 9) == 0;
}

/* The name that a question for a definition is about stands right before or
 * behind the word that asks: "is X defined", "the definition of function X". It
 * is no generic word then, whatever it is elsewhere. */
static void seek(struct goal *g, struct place *pl, const char *w, int term)
{
    static const char *const NOUNS[] = { "class",    "constant", "enum",  "field",   "file",
                                         "function", "line",     "macro", "method",  "module",
                                         "struct",   "symbol",   "type",  "variable" };

    if (asks_definition(w)) {
        if (pl->before >= 0)
            g->terms[pl->before].sought = true;
        pl->wanting = pl->before < 0;
        pl->before = -1;
    } else if (term >= 0 && !HAS(NOUNS, w)) {
        if (pl->wanting)
            g->terms[term].sought = true;
        pl->wanting = false;
        pl->before = term;
    }
}

static void intent(struct goal *g, const char *w)
{
    static const char *const FAIL[] = { "abbruch",
                                        "absturz",
                                        "break",
                                        "bricht",
                                        "broke",
                                        "broken",
                                        "casse",
                                        "cassé",
                                        "cause",
                                        "caused",
                                        "crash",
                                        "crashed",
                                        "crashes",
                                        "erreur",
                                        "erreurs",
                                        "error",
                                        "errors",
                                        "exception",
                                        "exit",
                                        "fail",
                                        "failed",
                                        "failing",
                                        "fails",
                                        "failure",
                                        "failures",
                                        "falla",
                                        "falló",
                                        "fehler",
                                        "fehlern",
                                        "fehlers",
                                        "fehlgeschlagen",
                                        "fehlgeschlagene",
                                        "gescheitert",
                                        "panne",
                                        "plante",
                                        "planté",
                                        "problème",
                                        "problèmes",
                                        "red",
                                        "reject",
                                        "rejected",
                                        "root",
                                        "scheitert",
                                        "schief",
                                        "schlug",
                                        "stop",
                                        "stopped",
                                        "unsuccessful",
                                        "ursache",
                                        "wrong",
                                        "Échec",
                                        "Échecs",
                                        "échec",
                                        "échecs",
                                        "échoue",
                                        "échouent",
                                        "échoué",
                                        "échoués" };

    if (HAS(FAIL, w))
        g->intents |= INTENT_FAIL;
    if (asks_definition(w))
        g->intents |= INTENT_DEF;
    if (strncmp(w, "warn", 4) == 0 || strncmp(w, "deprecat", 8) == 0)
        g->intents |= INTENT_WARN;
    if (strncmp(w, "commit", 6) == 0)
        g->intents |= INTENT_COMMIT;
}

static void join(struct goal *g, struct place *pl, const char *w, size_t n)
{
    char both[2 * STEM_MAX];

    if (pl->last_n && g->join_count < GOAL_JOINS && n <= STEM_MAX && pl->last_n + n >= 6) {
        memcpy(both, pl->last_text, pl->last_n);
        memcpy(both + pl->last_n, w, n);
        g->joins[g->join_count++] = stem_exact(both, pl->last_n + n);
    }
    pl->last_n = n <= STEM_MAX ? n : 0;
    memcpy(pl->last_text, w, pl->last_n);
}

/* A word of the goal with its parts. */
static void word(struct goal *g, struct place *pl, struct str w)
{
    uint32_t stems[WORD_PARTS], joined;
    size_t n, i, digits = 0;
    char small[STEM_MAX + 1];
    float weight = pl->weight;
    bool generic, ident;
    struct goal_term *t;

    for (i = 0; i < w.n && i < STEM_MAX; i++) {
        small[i] = lower(w.p[i]);
        digits += w.p[i] >= '0' && w.p[i] <= '9';
    }
    small[i] = '\0';
    if (pl->title)
        intent(g, small);
    if (HAS(STOP, small) && !pl->quoted && !(w.n == 1 && pl->fenced)) {
        pl->last_n = 0;
        return;
    }
    join(g, pl, small, i);
    if (digits && w.n <= STEM_MAX && g->keep_count < GOAL_TERMS)
        g->keep[g->keep_count++] = stem_exact(small, w.n);
    if (w.n < 2 && w.p[0] != '-' && !pl->quoted)
        return;
    if (w.p[0] == '-') {
        add(g, stem_exact(w.p, w.n), w, pl, weight * 1.25f, true, false);
        return;
    }
    n = word_split(w, stems, &joined);
    ident = n > 1 || pl->quoted;
    generic = HAS(GENERIC, small) != NULL;
    weight *= ident ? 1.25f : generic ? 0.4f : 1;
    if (n > 1)
        add(g, joined, w, pl, weight, true, true);
    for (i = 0; i < n; i++)
        add(g, stems[i], w, pl, n > 1 ? weight * 0.8f : weight, ident, false);
    t = n > 1 ? term(g, joined, true) : n ? term(g, stems[0], false) : NULL;
    if (t && generic && n == 1)
        t->generic = true;
    if (pl->title)
        seek(g, pl, small, t ? (int)(t - g->terms) : -1);
}

/* ---- Lines ---- */

static bool is_option(struct str s, size_t i)
{
    return s.p[i] == '-' && i + 1 < s.n && is_word_byte((unsigned char)s.p[i + 1]) &&
           (i + 2 == s.n || !is_word_byte((unsigned char)s.p[i + 2])) &&
           (!i || strchr(" \t[(,|'\"`", s.p[i - 1]));
}

static bool ends_sentence(struct str s, size_t i)
{
    return strchr(";?!", s.p[i]) || (s.p[i] == '.' && i + 1 < s.n && s.p[i + 1] == ' ');
}

static void read_words(struct goal *g, struct place *pl, struct str s)
{
    char quote = 0;
    size_t i = 0, j, url = 0;

    while (i < s.n) {
        if (s.n - i > 8 &&
            (memcmp(s.p + i, "http://", 7) == 0 || memcmp(s.p + i, "https:/", 7) == 0))
            for (url = i; url < s.n && s.p[url] != ' ' && s.p[url] != ')'; url++)
                ;
        if (url > i) {
            i = url;
            continue;
        }
        if ((s.p[i] == '`' || s.p[i] == '"') && (!quote || quote == s.p[i])) {
            quote = quote ? 0 : s.p[i];
            i++;
            continue;
        }
        if (!is_word_byte((unsigned char)s.p[i]) && !is_option(s, i)) {
            if (s.p[i] != ' ' && s.p[i] != '-')
                pl->last_n = 0;
            if (ends_sentence(s, i))
                pl->before = -1;
            i++;
            continue;
        }
        for (j = i + 1; j < s.n && is_word_byte((unsigned char)s.p[j]); j++)
            ;
        pl->quoted = quote && memchr(s.p + j, quote, s.n - j);
        word(g, pl, (struct str){ s.p + i, j - i });
        i = j;
    }
}

/* ---- Literals ---- */

static bool is_hash(struct str s)
{
    size_t i, digits = 0;

    for (i = 0; i < s.n; i++) {
        digits += s.p[i] >= '0' && s.p[i] <= '9';
        if (!strchr("0123456789abcdef", s.p[i]))
            return false;
    }
    return s.n >= 7 && digits;
}

/* A name with signs or digits in it is meant to the letter: versions, paths,
 * addresses, hashes. */
static bool is_literal(struct str s)
{
    size_t i, digits = 0, signs = 0;

    for (i = 0; i < s.n; i++) {
        digits += s.p[i] >= '0' && s.p[i] <= '9';
        signs += strchr("./:-#@=", s.p[i]) != NULL;
    }
    return s.n > 3 && s.n < 200 &&
           ((signs && (digits || memchr(s.p, '/', s.n) || memchr(s.p, '.', s.n))) || is_hash(s));
}

static void read_literals(struct goal *g, struct str s)
{
    static const char EDGE[] = "`\"'()[]{}<>,;:.!?*";
    size_t i = 0, j;
    struct str t;

    while (i < s.n && g->literal_count < GOAL_LITERALS) {
        for (j = i; j < s.n && s.p[j] != ' ' && s.p[j] != '\t'; j++)
            ;
        for (t = (struct str){ s.p + i, j - i }; t.n && strchr(EDGE, t.p[0]); t.p++, t.n--)
            ;
        while (t.n && strchr(EDGE, t.p[t.n - 1]))
            t.n--;
        if (is_literal(t))
            g->literals[g->literal_count++] = t;
        i = j + 1;
    }
}

void goal_read(struct goal *g, struct str text)
{
    struct place pl = { 0 };
    size_t at = 0, lines = 0, n, i;
    bool title = false, comment = false;
    const char *nl;
    struct str s, t;

    *g = (struct goal){ 0 };
    if (text.n > LONGEST_GOAL)
        text.n = LONGEST_GOAL;
    for (; at < text.n; at += n + 1) {
        nl = memchr(text.p + at, '\n', text.n - at);
        n = nl ? (size_t)(nl - text.p) - at : text.n - at;
        s = (struct str){ text.p + at, n };
        t = trimmed(s);
        pl.last_n = 0;
        if (!t.n)
            continue;
        if (str_starts(t, "``") || str_starts(t, "~~~")) {
            pl.fenced = !pl.fenced;
            continue;
        }
        if (memmem(s.p, s.n, "<!--", 4))
            comment = true;
        if (comment) {
            comment = !memmem(s.p, s.n, "-->", 3);
            continue;
        }
        if (starts_any(t, TRAILERS, sizeof TRAILERS / sizeof *TRAILERS))
            continue;
        lines++;
        pl.title = !title;
        pl.before = -1;
        pl.wanting = false;
        pl.weight = !title ? 1 : lines < 6 ? 0.55f : lines < 20 ? 0.3f : 0.2f;
        if (pl.fenced)
            pl.weight *= 0.6f;
        if (title && t.n < 60 && starts_any(t, TEMPLATE, sizeof TEMPLATE / sizeof *TEMPLATE))
            pl.weight *= 0.25f;
        title = true;
        read_words(g, &pl, s);
        if (pl.title)
            read_literals(g, s);
    }
    for (i = 0; i < g->count; i++)
        if (g->terms[i].sought) {
            g->terms[i].generic = false;
            g->terms[i].weight = g->terms[i].weight > 1 ? g->terms[i].weight : 1;
        }
}
