/* keywords.c: words that mean something in many languages and many logs.
 *
 * One list for all languages. A word that is a keyword in one and a name in
 * another ("use", "from", "type") only counts where the line looks like it, and
 * scan/kinds.c decides that. */
#include "scan/words.h"

#include <stdlib.h>

struct row {
    const char *word;
    uint8_t what;
};

/* Both lists in the order of strcmp. */
static const struct row KEYWORDS[] = {
    { "ALTER", KW_SQL },
    { "BEGIN", KW_END },
    { "CREATE", KW_SQL },
    { "DELETE", KW_SQL },
    { "DROP", KW_SQL },
    { "END", KW_END },
    { "INSERT", KW_SQL },
    { "SELECT", KW_SQL },
    { "UPDATE", KW_SQL },
    { "abstract", KW_MOD },
    { "alias", KW_VAR },
    { "alter", KW_SQL },
    { "annotation", KW_TYPE },
    { "assert", KW_THROW },
    { "async", KW_MOD },
    { "await", KW_MOD },
    { "break", KW_RETURN },
    { "case", KW_CTRL },
    { "catch", KW_CTRL },
    { "class", KW_TYPE },
    { "companion", KW_MOD },
    { "const", KW_VAR },
    { "constexpr", KW_MOD },
    { "constructor", KW_DEF },
    { "continue", KW_RETURN },
    { "create", KW_SQL },
    { "data", KW_MOD },
    { "declare", KW_MOD },
    { "def", KW_DEF },
    { "default", KW_MOD },
    { "defer", KW_CTRL },
    { "define", KW_DEF },
    { "defmodule", KW_TYPE },
    { "defp", KW_DEF },
    { "defun", KW_DEF },
    { "delegate", KW_DEF },
    { "do", KW_CTRL },
    { "done", KW_END },
    { "elif", KW_CTRL },
    { "else", KW_CTRL },
    { "elsif", KW_CTRL },
    { "end", KW_END },
    { "endif", KW_END },
    { "enum", KW_TYPE },
    { "esac", KW_END },
    { "except", KW_CTRL },
    { "explicit", KW_MOD },
    { "export", KW_MOD },
    { "extension", KW_TYPE },
    { "extern", KW_MOD },
    { "fi", KW_END },
    { "final", KW_MOD },
    { "finally", KW_CTRL },
    { "fn", KW_DEF },
    { "for", KW_CTRL },
    { "foreach", KW_CTRL },
    { "from", KW_IMPORT },
    { "fun", KW_DEF },
    { "func", KW_DEF },
    { "function", KW_DEF },
    { "guard", KW_CTRL },
    { "if", KW_CTRL },
    { "impl", KW_TYPE },
    { "import", KW_IMPORT },
    { "include", KW_IMPORT },
    { "include_once", KW_IMPORT },
    { "inline", KW_MOD },
    { "interface", KW_TYPE },
    { "internal", KW_MOD },
    { "let", KW_VAR },
    { "local", KW_VAR },
    { "loop", KW_CTRL },
    { "macro_rules", KW_DEF },
    { "match", KW_CTRL },
    { "mod", KW_TYPE },
    { "module", KW_TYPE },
    { "mutating", KW_MOD },
    { "namespace", KW_TYPE },
    { "native", KW_MOD },
    { "object", KW_TYPE },
    { "open", KW_MOD },
    { "operator", KW_DEF },
    { "override", KW_MOD },
    { "package", KW_IMPORT },
    { "panic", KW_THROW },
    { "partial", KW_MOD },
    { "private", KW_MOD },
    { "proc", KW_DEF },
    { "protected", KW_MOD },
    { "protocol", KW_TYPE },
    { "pub", KW_MOD },
    { "public", KW_MOD },
    { "raise", KW_THROW },
    { "readonly", KW_MOD },
    { "record", KW_TYPE },
    { "require", KW_IMPORT },
    { "require_once", KW_IMPORT },
    { "require_relative", KW_IMPORT },
    { "rescue", KW_CTRL },
    { "return", KW_RETURN },
    { "sealed", KW_MOD },
    { "select", KW_SQL },
    { "source", KW_IMPORT },
    { "static", KW_MOD },
    { "struct", KW_TYPE },
    { "sub", KW_DEF },
    { "suspend", KW_MOD },
    { "switch", KW_CTRL },
    { "synchronized", KW_MOD },
    { "template", KW_MOD },
    { "throw", KW_THROW },
    { "throws", KW_MOD },
    { "trait", KW_TYPE },
    { "try", KW_CTRL },
    { "type", KW_TYPE },
    { "typedef", KW_TYPE },
    { "union", KW_TYPE },
    { "unless", KW_CTRL },
    { "unsafe", KW_MOD },
    { "until", KW_CTRL },
    { "use", KW_IMPORT },
    { "using", KW_IMPORT },
    { "val", KW_VAR },
    { "var", KW_VAR },
    { "virtual", KW_MOD },
    { "volatile", KW_MOD },
    { "when", KW_CTRL },
    { "while", KW_CTRL },
    { "with", KW_CTRL },
    { "yield", KW_RETURN },
};

/* In lower case. */
static const struct row SEVERITIES[] = {
    { "abort", SEV_FAIL },        { "aborted", SEV_FAIL },     { "aborting", SEV_FAIL },
    { "actual", SEV_WANT },       { "already", SEV_DULL },     { "backtrace", SEV_TRACE },
    { "broken", SEV_FAIL },       { "building", SEV_DULL },    { "cannot", SEV_FAIL },
    { "caused", SEV_EXC },        { "collecting", SEV_DULL },  { "compiling", SEV_DULL },
    { "conflict", SEV_FAIL },     { "copyright", SEV_RIGHTS }, { "crash", SEV_FAIL },
    { "crashed", SEV_FAIL },      { "critical", SEV_FAIL },    { "denied", SEV_FAIL },
    { "deprecated", SEV_TODO },   { "deprecation", SEV_WARN }, { "done", SEV_OK },
    { "downloaded", SEV_DULL },   { "downloading", SEV_DULL }, { "emerg", SEV_FAIL },
    { "err", SEV_FAIL },          { "error", SEV_FAIL },       { "errors", SEV_FAIL },
    { "exception", SEV_EXC },     { "exit", SEV_EXIT },        { "exited", SEV_EXIT },
    { "expected", SEV_WANT },     { "fail", SEV_FAIL },        { "failed", SEV_FAIL },
    { "failing", SEV_FAIL },      { "fails", SEV_FAIL },       { "failure", SEV_FAIL },
    { "failures", SEV_FAIL },     { "fatal", SEV_FAIL },       { "fetched", SEV_DULL },
    { "fetching", SEV_DULL },     { "fixme", SEV_TODO },       { "found", SEV_DULL },
    { "get", SEV_DULL },          { "got", SEV_WANT },         { "hack", SEV_TODO },
    { "hit", SEV_DULL },          { "illegal", SEV_FAIL },     { "info", SEV_DULL },
    { "installing", SEV_DULL },   { "invalid", SEV_FAIL },     { "killed", SEV_FAIL },
    { "licence", SEV_RIGHTS },    { "license", SEV_RIGHTS },   { "licensed", SEV_RIGHTS },
    { "missing", SEV_FAIL },      { "notice", SEV_DULL },      { "ok", SEV_OK },
    { "oom", SEV_FAIL },          { "panic", SEV_FAIL },       { "panicked", SEV_FAIL },
    { "pass", SEV_OK },           { "passed", SEV_OK },        { "passing", SEV_OK },
    { "preparing", SEV_DULL },    { "received", SEV_WANT },    { "refused", SEV_FAIL },
    { "reject", SEV_FAIL },       { "rejected", SEV_FAIL },    { "segfault", SEV_FAIL },
    { "segmentation", SEV_FAIL }, { "selecting", SEV_DULL },   { "setting", SEV_DULL },
    { "severe", SEV_FAIL },       { "skipped", SEV_OK },       { "stacktrace", SEV_TRACE },
    { "succeeded", SEV_OK },      { "success", SEV_OK },       { "successful", SEV_OK },
    { "successfully", SEV_OK },   { "timeout", SEV_FAIL },     { "todo", SEV_TODO },
    { "traceback", SEV_TRACE },   { "unable", SEV_FAIL },      { "undefined", SEV_FAIL },
    { "unexpected", SEV_FAIL },   { "unpacking", SEV_DULL },   { "unreachable", SEV_FAIL },
    { "unrecognized", SEV_FAIL }, { "unresolved", SEV_FAIL },  { "unsupported", SEV_FAIL },
    { "warn", SEV_WARN },         { "warning", SEV_WARN },     { "warnings", SEV_WARN },
    { "warranty", SEV_RIGHTS },   { "xxx", SEV_TODO },
};

static int by_word(const void *key, const void *row)
{
    return strcmp(key, ((const struct row *)row)->word);
}

static bool ends(struct str w, const char *tail)
{
    size_t n = strlen(tail);

    return w.n > n && memcmp(w.p + w.n - n, tail, n) == 0;
}

void word_class(struct str w, uint8_t *kw, uint8_t *sev)
{
    const struct row *r;
    char s[24];
    size_t i;

    *kw = *sev = 0;
    if (ends(w, "Error") || ends(w, "Exception") || ends(w, "Fault") || ends(w, "Failure"))
        *sev = SEV_EXC;
    if (w.n < 2 || w.n >= sizeof s)
        return;
    memcpy(s, w.p, w.n);
    s[w.n] = '\0';
    if (strpbrk(s, "0123456789"))
        return;
    r = bsearch(s, KEYWORDS, sizeof KEYWORDS / sizeof *KEYWORDS, sizeof *KEYWORDS, by_word);
    if (r)
        *kw = r->what;
    for (i = 0; s[i]; i++)
        if (s[i] >= 'A' && s[i] <= 'Z')
            s[i] = (char)(s[i] | 32);
    r = bsearch(s, SEVERITIES, sizeof SEVERITIES / sizeof *SEVERITIES, sizeof *SEVERITIES, by_word);
    if (r)
        *sev = r->what;
}
