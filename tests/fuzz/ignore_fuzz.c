/* ignore_fuzz.c: any rules on any path: a verdict, in bounds, and the same one
 * twice. The input is the path, a NUL, then the rules. */
#include <stdint.h>
#include <stdlib.h>
#include "tools/ignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    struct str path, rules;
    struct ignore *ig;
    enum ignore_verdict file;

    if (!nul || nul == data)
        return 0;
    path = (struct str){ (const char *)data, (size_t)(nul - data) };
    rules = (struct str){ (const char *)nul + 1, size - path.n - 1 };
    ig = ignore_new(rules);
    file = ignore_match(ig, path, false);
    /* Any rule that speaks of a file speaks of a folder of that name too. */
    if (file != ignore_match(ig, path, false) ||
        (file != IGNORE_SILENT && ignore_match(ig, path, true) == IGNORE_SILENT))
        abort();
    ignore_free(ig);
    return 0;
}
