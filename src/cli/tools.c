/* tools.c: the rows, for people. */
#include "cli/cli.h"
#include <stdio.h>

static void list(const struct tool *const *tools, struct buf *b)
{
    for (; *tools; tools++)
        buf_addf(b, "%-8s %s\n", (*tools)->name, (*tools)->text);
    buf_adds(b, "\n'pith tools TOOL' shows its arguments, 'pith call TOOL key=value' calls it.\n");
}

const struct tool *cli_tool(const struct tool *const *tools, const char *name)
{
    for (; *tools; tools++)
        if (strcmp((*tools)->name, name) == 0)
            return *tools;
    return NULL;
}

int cmd_tools(struct house *h, int argc, char **argv)
{
    const struct tool *t = argc > 0 ? cli_tool(h->registry->tools, argv[0]) : NULL;
    struct buf b;
    bool ok;

    if (argc > 0 && !t)
        return cli_fail(2, "there is no tool '%s'; 'pith tools' lists them", argv[0]);
    buf_init(&b, 1 << 20);
    if (t)
        registry_help(t, ANSWER_PLAIN, &b);
    else if (h->set.num[OPT_MARKDOWN])
        registry_markdown(h->registry, &b);
    else
        list(h->registry->tools, &b);
    ok = cli_print(buf_str(&b));
    buf_done(&b);
    return ok ? 0 : 1;
}
