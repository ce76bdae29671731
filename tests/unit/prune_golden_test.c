/* prune_golden_test.c: the texts of tests/prune, pruned as written there. */
#include "prune/prune.h"

#include <glob.h>
#include <stdlib.h>

#include "test.h"

static struct buf slurp(const char *stem, const char *end)
{
    char path[300];
    struct buf b;
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "%s.%s", stem, end);
    buf_init(&b, 1 << 22);
    f = fopen(path, "rb");
    while (f && (n = fread(buf_room(&b, 1 << 14), 1, 1 << 14, f)) > 0)
        b.len += n;
    if (f)
        fclose(f);
    buf_adds(&b, "");
    return b;
}

static void render(struct buf *out, const struct prune *p, struct str text)
{
    size_t i, g = 0;

    for (i = 1; i <= p->lines; i++) {
        if (g < p->gap_count && p->gaps[g].from == i) {
            buf_addf(out, "… %zu-%zu %s\n", i, p->gaps[g].to, p->gaps[g].why);
            i = p->gaps[g++].to;
            continue;
        }
        buf_addf(out, "%zu│ ", i);
        buf_add(out, text.p + p->at[i - 1], p->at[i] - p->at[i - 1]);
    }
}

static const char *stem_now;

static void pair(void)
{
    struct buf in = slurp(stem_now, "in"), goal = slurp(stem_now, "goal");
    struct buf want = slurp(stem_now, "want"), got;
    char source[8] = "", path[300];
    struct prune_opts o = { 0 };
    struct arena a = { 0 };
    const char *nl;
    struct prune p;
    FILE *f;

    CHECK(sscanf(goal.data, "%7s %lf", source, &o.max_ratio) == 2);
    nl = strchr(goal.data, '\n');
    o.marker_cost = 3;
    o.source = source[0] == 'c' ? PRUNE_CODE : source[0] == 'l' ? PRUNE_LOGS : PRUNE_DOCS;
    prune_text(&p, &a, buf_str(&in), str_of(nl ? nl + 1 : ""), &o);
    buf_init(&got, 1 << 22);
    render(&got, &p, buf_str(&in));
    if (getenv("PRUNE_WRITE")) {
        snprintf(path, sizeof path, "%s.want", stem_now);
        f = fopen(path, "wb");
        CHECK(f && fwrite(got.data, 1, got.len, f) == got.len);
        if (f)
            fclose(f);
    } else {
        CHECK_STR(got.data, want.data);
    }
    buf_done(&in);
    buf_done(&goal);
    buf_done(&want);
    buf_done(&got);
    arena_done(&a);
}

int main(void)
{
    char sentence[400];
    glob_t g;
    size_t i;

    if (glob("tests/prune/*.in", 0, NULL, &g) != 0)
        return printf("not ok - tests/prune has pairs (run from the top folder)\n"), 1;
    for (i = 0; i < g.gl_pathc; i++) {
        g.gl_pathv[i][strlen(g.gl_pathv[i]) - 3] = '\0';
        stem_now = g.gl_pathv[i];
        snprintf(sentence, sizeof sentence, "%s is pruned as written", stem_now);
        TEST(sentence, pair);
    }
    globfree(&g);
    return test_end();
}
