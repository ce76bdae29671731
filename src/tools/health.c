/* health.c: is the pruner there, and what can it do (seed 001 §4.3). */
#include "base/clock.h"
#include "call/call.h"
#include "tools/health.h"
#include "tools/table.h"

void health_facts(struct result *r)
{
    char now[32];

    clock_iso(now);
    result_str(r, "status", STR("healthy"));
    result_str(r, "server", STR("mcp-pruner"));
    result_str(r, "version", STR(PITH_VERSION));
    result_json(r, "capabilities",
                STR("[\"prune_text\",\"recover_text\",\"annotations\",\"markers\"]"));
    result_str(r, "timestamp", str_of(now));
}

static void run(struct call *c)
{
    health_facts(&c->result);
    result_status(&c->result, "healthy");
    call_done(c);
}

static const struct field fields[] = { { 0 } };

static const struct tool_noun nouns[] = { { "pruner", "health" }, { 0 } };

const struct tool tool_health = {
    .name = "health",
    .category = CAT_PRUNE,
    .effects = READS,
    .text = "Status and capabilities of the pruner.",
    .fields = fields,
    .nouns = nouns,
    .run = run,
};
