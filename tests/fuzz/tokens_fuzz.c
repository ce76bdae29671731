/* tokens_fuzz.c: whatever bytes come in, a text has at most as many tokens as
 * bytes, the same number each time and after other texts, and so have its
 * lines. */
#include <stdint.h>
#include <stdlib.h>
#include "tokens/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data, *end = p + size, *next;
    size_t all = tokens_count((struct str){ p, size }), lines = 0;

    must(all <= size && (all > 0) == (size > 0));
    for (; p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t n;

        next = newline ? newline + 1 : end;
        n = tokens_count((struct str){ p, (size_t)(next - p) });
        must(n > 0 && n <= (size_t)(next - p));
        lines += n;
    }
    must(lines <= size);
    must(tokens_count((struct str){ (const char *)data, size }) == all);
    return 0;
}
