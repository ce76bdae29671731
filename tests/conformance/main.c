/* main.c: pith with the fixtures of the conformance suites.
 *
 * The same objects as the product, its tools and its profiles, and three
 * profiles more: `conformance` has the fixtures and nothing else; `talk`, for
 * our own transcripts, has rows of extra.c and the product's as well; `pages`
 * lists two rows at a time. Built by `make test`, never installed. */
#include "fixtures.h"
#include <assert.h>
#include "cli/cli.h"
#include "loop/child.h"
#include "tools/table.h"

enum { MAX_ROWS = 100, MAX_PROFILES = 20 };

static const struct tool *tools[MAX_ROWS], *prompts[MAX_ROWS];
static const struct resource *resources[MAX_ROWS];
static struct profile profiles[MAX_PROFILES];
static const struct registry registry = { tools, prompts, resources, profiles };

static const char *tool_names[MAX_ROWS], *prompt_names[MAX_ROWS], *resource_names[MAX_ROWS];
static const char *extra_names[MAX_ROWS], *talk_names[MAX_ROWS];

/* Rows and their names behind those already there. */
static void add_rows(const struct tool *rows, const struct tool **to, const char **names)
{
    size_t at = 0, name = 0;

    while (to[at])
        at++;
    while (names[name])
        name++;
    for (; rows->name; rows++) {
        assert(at + 1 < MAX_ROWS);
        to[at++] = rows;
        names[name++] = rows->name;
    }
}

static void add_resources(void)
{
    for (size_t i = 0; fixture_resources[i].row.name; i++) {
        assert(i + 1 < MAX_ROWS);
        resources[i] = &fixture_resources[i];
        resource_names[i] = fixture_resources[i].row.name;
    }
}

static void add_profiles(void)
{
    size_t n = 0;

    for (; profile_table[n].name; n++) {
        assert(n + 4 < MAX_PROFILES);
        profiles[n] = profile_table[n];
    }
    profiles[n] = (struct profile){
        .name = "conformance",
        .answer = ANSWER_PLAIN,
        .sessions = true,
        .server = "pith",
        .instructions = "Fixtures of the MCP conformance suites.",
        .tools = tool_names,
        .prompts = prompt_names,
        .resources = resource_names,
    };
    profiles[n + 1] = profiles[n + 2] = profiles[n];
    profiles[n + 1].name = "talk";
    profiles[n + 1].tools = talk_names;
    profiles[n + 2].name = "pages";
    profiles[n + 2].tools = extra_names;
    profiles[n + 2].page = 2;
}

/* Everything there is. */
static void name_all(const char **names)
{
    for (size_t i = 0; tools[i]; i++)
        names[i] = tools[i]->name;
}

int main(int argc, char **argv)
{
    int status;

    if (warden_main(argc, argv, &status))
        return status;
    for (size_t i = 0; tool_table[i]; i++)
        tools[i] = tool_table[i];
    add_rows(content_tools, tools, tool_names);
    add_rows(working_tools, tools, tool_names);
    add_rows(asking_tools, tools, tool_names);
    add_rows(extra_tools, tools, extra_names);
    name_all(talk_names);
    add_rows(fixture_prompts, prompts, prompt_names);
    add_resources();
    add_profiles();
    return cli_main(argc, argv, &registry);
}
