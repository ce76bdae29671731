/* stem.c: a light stemmer for English and for identifiers.
 *
 * Not Porter's: identifiers are short and cut words anyway ("cfg", "idx"), so a
 * few suffixes in a fixed order and a table of what programmers abbreviate do
 * better than many careful rules. The result need not be a word; it only has
 * to be the same for words that belong together. */
#include "scan/stem.h"

#include <stdlib.h>

/* What is written for what; in the order of strcmp. The right side is a stem
 * already, or becomes one by the suffix rules. */
static const char *const SHORT[][2] = {
    { "addr", "address" },
    { "admin", "administrator" },
    { "alloc", "allocate" },
    { "app", "application" },
    { "apps", "application" },
    { "arg", "argument" },
    { "args", "argument" },
    { "arr", "array" },
    { "async", "asynchronous" },
    { "attr", "attribute" },
    { "attrs", "attribute" },
    { "auth", "authentic" },
    { "auto", "automatic" },
    { "bg", "background" },
    { "bool", "boolean" },
    { "btn", "button" },
    { "buf", "buffer" },
    { "calc", "calculate" },
    { "cb", "callback" },
    { "cert", "certificate" },
    { "cfg", "config" },
    { "char", "character" },
    { "chars", "character" },
    { "cls", "class" },
    { "cmd", "command" },
    { "cmds", "command" },
    { "cmp", "compare" },
    { "col", "column" },
    { "cols", "column" },
    { "conf", "config" },
    { "configuration", "config" },
    { "configure", "config" },
    { "configured", "config" },
    { "conn", "connect" },
    { "coord", "coordinate" },
    { "cpy", "copy" },
    { "ctrl", "control" },
    { "ctx", "context" },
    { "cur", "current" },
    { "curr", "current" },
    { "db", "database" },
    { "decl", "declare" },
    { "def", "define" },
    { "del", "delete" },
    { "dep", "depend" },
    { "deps", "depend" },
    { "desc", "description" },
    { "dest", "destination" },
    { "diff", "difference" },
    { "dir", "directory" },
    { "dirs", "directory" },
    { "doc", "document" },
    { "docs", "document" },
    { "dst", "destination" },
    { "elem", "element" },
    { "env", "environment" },
    { "eq", "equal" },
    { "err", "error" },
    { "errs", "error" },
    { "eval", "evaluate" },
    { "exc", "exception" },
    { "exec", "execute" },
    { "expr", "expression" },
    { "ext", "extension" },
    { "fd", "descriptor" },
    { "fmt", "format" },
    { "fn", "function" },
    { "freq", "frequency" },
    { "func", "function" },
    { "funcs", "function" },
    { "gen", "generate" },
    { "hdr", "header" },
    { "hex", "hexadecimal" },
    { "idx", "index" },
    { "img", "image" },
    { "impl", "implement" },
    { "info", "information" },
    { "init", "initial" },
    { "ins", "insert" },
    { "int", "integer" },
    { "ints", "integer" },
    { "iter", "iterate" },
    { "len", "length" },
    { "lib", "library" },
    { "libs", "library" },
    { "loc", "location" },
    { "max", "maximum" },
    { "mem", "memory" },
    { "min", "minimum" },
    { "mod", "module" },
    { "msg", "message" },
    { "msgs", "message" },
    { "mul", "multiply" },
    { "num", "number" },
    { "nums", "number" },
    { "obj", "object" },
    { "objs", "object" },
    { "op", "operate" },
    { "ops", "operate" },
    { "opt", "option" },
    { "opts", "option" },
    { "orig", "original" },
    { "param", "parameter" },
    { "params", "parameter" },
    { "perf", "performance" },
    { "perm", "permission" },
    { "pkg", "package" },
    { "pos", "position" },
    { "pred", "predicate" },
    { "pref", "preference" },
    { "prev", "previous" },
    { "proc", "process" },
    { "prop", "property" },
    { "props", "property" },
    { "ptr", "pointer" },
    { "pwd", "password" },
    { "qty", "quantity" },
    { "rand", "random" },
    { "recv", "receive" },
    { "ref", "reference" },
    { "refs", "reference" },
    { "regex", "regexp" },
    { "repo", "repository" },
    { "req", "request" },
    { "resp", "response" },
    { "ret", "return" },
    { "sel", "select" },
    { "sep", "separate" },
    { "seq", "sequence" },
    { "spec", "specific" },
    { "src", "source" },
    { "stat", "status" },
    { "stmt", "statement" },
    { "str", "string" },
    { "strs", "string" },
    { "sub", "subtract" },
    { "sync", "synchronous" },
    { "sys", "system" },
    { "temp", "temporary" },
    { "tmp", "temporary" },
    { "tok", "token" },
    { "usr", "user" },
    { "util", "utility" },
    { "utils", "utility" },
    { "val", "value" },
    { "vals", "value" },
    { "var", "variable" },
    { "vars", "variable" },
    { "vec", "vector" },
    { "ver", "version" },
    { "win", "window" },
};

/* Taken off the end, the first that fits and leaves `left` letters. */
static const struct suffix {
    const char *text;
    unsigned char n, left;
    const char *instead;
} SUFFIXES[] = {
    { "izations", 8, 3, "" }, { "ization", 7, 3, "" }, { "isation", 7, 3, "" },
    { "ational", 7, 3, "" },  { "fulness", 7, 3, "" }, { "ations", 6, 3, "" },
    { "ation", 5, 3, "" },    { "izing", 5, 3, "" },   { "ising", 5, 3, "" },
    { "izers", 5, 3, "" },    { "ments", 5, 3, "" },   { "ities", 5, 3, "" },
    { "izer", 4, 3, "" },     { "ized", 4, 3, "" },    { "ised", 4, 3, "" },
    { "izes", 4, 3, "" },     { "ment", 4, 3, "" },    { "able", 4, 3, "" },
    { "ible", 4, 3, "" },     { "ness", 4, 3, "" },    { "ated", 4, 3, "" },
    { "ates", 4, 3, "" },     { "ator", 4, 3, "" },    { "ions", 4, 3, "" },
    { "ings", 4, 3, "" },     { "ing", 3, 3, "" },     { "ion", 3, 3, "" },
    { "ive", 3, 4, "" },      { "ize", 3, 3, "" },     { "ise", 3, 4, "" },
    { "ate", 3, 3, "" },      { "ity", 3, 4, "" },     { "ers", 3, 3, "" },
    { "ors", 3, 4, "" },      { "ies", 3, 2, "y" },    { "ied", 3, 2, "y" },
    { "ed", 2, 3, "" },       { "er", 2, 3, "" },      { "or", 2, 4, "" },
    { "al", 2, 4, "" },       { "ly", 2, 3, "" },      { "es", 2, 3, "" },
};

uint32_t stem_exact(const char *p, size_t n)
{
    uint32_t h = 2166136261u;
    size_t i;

    for (i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 16777619u;
    return h ^ h >> 15;
}

static int by_short(const void *key, const void *row)
{
    const struct str *k = key;
    const char *word = *(const char *const *)row;
    int c = strncmp(k->p, word, k->n);

    return c ? c : (word[k->n] ? -1 : 0);
}

static bool has_vowel(const char *p, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (strchr("aeiouy", p[i]))
            return true;
    return false;
}

/* One suffix off; gives the new length. */
static size_t strip(char *w, size_t n)
{
    const struct suffix *s;
    size_t i, left;

    for (i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++) {
        s = &SUFFIXES[i];
        if (s->text[s->n - 1] != w[n - 1] || n < (size_t)s->n + s->left ||
            memcmp(w + n - s->n, s->text, s->n) != 0 || !has_vowel(w, n - s->n))
            continue;
        left = n - s->n;
        memcpy(w + left, s->instead, strlen(s->instead));
        return left + strlen(s->instead);
    }
    return n;
}

uint32_t stem_of(const char *p, size_t n)
{
    struct str key = { p, n };
    const char *const *full;
    char w[STEM_MAX + 4];

    if (n > STEM_MAX || n < 2)
        return stem_exact(p, n);
    full = n <= 6 || (n <= 13 && p[0] == 'c')
               ? bsearch(&key, SHORT, sizeof SHORT / sizeof *SHORT, sizeof *SHORT, by_short)
               : NULL;
    if (full) {
        n = strlen(full[1]);
        memcpy(w, full[1], n);
    } else {
        memcpy(w, p, n);
    }
    if (n > 3 && w[n - 1] == 's' && w[n - 2] != 's' && w[n - 2] != 'u' && w[n - 2] != 'i' &&
        !(n > 4 && w[n - 2] == 'e' && w[n - 3] == 'i'))
        n--;
    n = strip(w, n);
    if (n > 3 && w[n - 1] == 'e')
        n--;
    if (n > 3 && w[n - 1] == w[n - 2] && !strchr("aeiouls", w[n - 1]))
        n--;
    if (n > 3 && w[n - 1] == 'y')
        w[n - 1] = 'i';
    return stem_exact(w, n);
}
