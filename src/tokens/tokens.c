/* tokens.c: pieces, and of each: a token, or several. */
#include "tokens/tokens.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "tokens/merge.h"
#include "tokens/split.h"
#include "tokens/table.h"

static size_t count_valid(const char *p, const char *end)
{
    size_t count = 0;

    while (p < end) {
        const char *next = split_next(p, end);
        size_t n = (size_t)(next - p);

        count += table_rank(p, n, end) != NO_RANK ? 1 : merge_count(p, n, end);
        p = next;
    }
    return count;
}

static size_t count_repaired(struct str text)
{
    struct buf b;
    size_t count;

    buf_init(&b, text.n * 3 + 8);
    utf8_repair(&b, text);
    count = count_valid(b.data, b.data + b.len);
    buf_done(&b);
    return count;
}

size_t tokens_count(struct str text)
{
    if (text.n == 0)
        return 0;
    if (utf8_valid(text) != text.n)
        return count_repaired(text);
    return count_valid(text.p, text.p + text.n);
}
