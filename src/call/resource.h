/* resource.h: the row that a resource is.
 *
 * What can be read by its URI. The row inside has its name, text and handler,
 * as a tool's has; for a template its fields are the {variables}, filled in
 * from the URI that was asked for. A handler ends with call_json and members
 * of the result: "contents":[…].
 * A prompt needs no more than a tool's row: its fields are its arguments, and
 * its handler ends with call_json too: "messages":[…]. */
#pragma once
#include "call/tool.h"

struct resource {
    struct tool row;
    const char *uri; /* exact, or a template: note://{id}/text */
    bool template;
    const char *mime;
};
