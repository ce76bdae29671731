/* banner.c: what a server that was started by hand says.
 *
 * Every command here is made to be pasted as it stands. The token is not in
 * them: `pith token` is, with the path and settings folder of this server where
 * a bare `pith` would not find them. */
#include "cli/banner.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/log.h"

/* Each on a line of its own: the log writes lines whole or not at all. */
static void say_lines(const char *text)
{
    char line[PATH_MAX + 512];

    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        log_line(line);
    }
}

/* A word as a shell takes it. */
static void put_word(struct buf *b, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789/._+-";

    if (word[strspn(word, plain)] == '\0') {
        buf_adds(b, word);
        return;
    }
    buf_addc(b, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_adds(b, "'\\''");
        else
            buf_addc(b, *word);
    buf_addc(b, '\'');
}

/* $(pith token), as it works in whatever folder it is pasted. */
static void put_token(struct buf *b, const struct house *h)
{
    const char *own = getenv("PITH_HOME");
    char self[PATH_MAX], home[PATH_MAX];
    ssize_t n = strchr(h->self, '/') ? readlink("/proc/self/exe", self, sizeof self - 1) : 0;

    self[n > 0 ? n : 0] = '\0';
    buf_adds(b, "$(");
    if (own && *own) {
        buf_adds(b, "PITH_HOME=");
        put_word(b, realpath(own, home) ? home : own);
        buf_addc(b, ' ');
    }
    put_word(b, n > 0 ? self : "pith");
    buf_adds(b, " token)");
}

static void put_clients_locked(struct buf *b, const char *url, const char *token)
{
    buf_addf(b, "  Claude Code   claude mcp add -t http pith %s -H \"Authorization: Bearer %s\"\n",
             url, token);
    buf_addf(b,
             "  Codex         export PITH_TOKEN=%s, and in ~/.codex/config.toml:\n"
             "                  [mcp_servers.pith]\n"
             "                  url = \"%s\"\n"
             "                  bearer_token_env_var = \"PITH_TOKEN\"\n",
             token, url);
    buf_addf(b,
             "  Gemini CLI    the same PITH_TOKEN, and in ~/.gemini/settings.json:\n"
             "                  {\"mcpServers\":{\"pith\":{\"httpUrl\":\"%s\",\n"
             "                    \"headers\":{\"Authorization\":\"Bearer $PITH_TOKEN\"}}}}\n",
             url);
}

static void put_clients_open(struct buf *b, const char *url)
{
    buf_addf(b, "  Claude Code   claude mcp add -t http pith %s\n", url);
    buf_addf(b, "  Codex         codex mcp add pith --url %s\n", url);
    buf_addf(b, "  Gemini CLI    gemini mcp add -t http pith %s\n", url);
}

/* One call that every profile but pruner has, and pruner's own. */
static const char *trial(const struct profile *p)
{
    if (p->answer == ANSWER_PRUNER)
        return "{\"name\":\"health\",\"arguments\":{}}";
    return "{\"name\":\"bash\",\"arguments\":{\"cmd\":\"uname -a\"}}";
}

static void put_trial(struct buf *b, const struct house *h, const char *url, const char *token)
{
    buf_addf(b, "\nTry it\n  curl -s %s ", url);
    if (strcmp(h->set.text[OPT_HOST], "none") == 0)
        buf_addf(b, "--unix-socket %s ", h->set.text[OPT_SOCKET]);
    if (token)
        buf_addf(b, "-H \"Authorization: Bearer %s\" ", token);
    buf_addf(b,
             "-H 'Content-Type: application/json' -d "
             "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":%s}'\n",
             trial(h->profile));
}

/* Where it is, as a client is told; without TCP, for curl at the socket. */
static void make_url(char url[128], const struct settings *set, int port)
{
    const char *host = set->text[OPT_HOST];
    bool v6 = strchr(host, ':') != NULL;

    if (port)
        snprintf(url, 128, "http%s://%s%s%s:%d/mcp", set->text[OPT_TLS_CERT] ? "s" : "",
                 v6 ? "[" : "", host, v6 ? "]" : "", port);
    else
        snprintf(url, 128, "http://localhost/mcp");
}

static void put_where(struct buf *b, const struct house *h, int port, const char *url)
{
    const char *socket = h->set.text[OPT_SOCKET];

    buf_addf(b, "pith " PITH_VERSION " serves %s at ", h->site.root.path);
    if (port)
        buf_addf(b, "%s%s", url, socket ? " and " : "");
    if (socket)
        buf_addf(b, "the socket %s", socket);
    buf_addf(b, " (profile %s)\n", h->profile->name);
}

/* A door at a socket alone is for programs that were told of it. */
static void put_clients(struct buf *b, const char *url, const char *token)
{
    if (!token)
        buf_adds(b, "\nIt asks for no token: any program of this machine may call it.\n");
    buf_adds(b, "\nAdd it to\n");
    if (token)
        put_clients_locked(b, url, token);
    else
        put_clients_open(b, url);
}

void banner_say(const struct house *h, int port, bool locked)
{
    struct buf b, token;
    char url[128];

    make_url(url, &h->set, port);
    buf_init(&b, 1 << 18);
    buf_init(&token, 1 << 16);
    put_token(&token, h);
    put_where(&b, h, port, url);
    if (port)
        put_clients(&b, url, locked ? token.data : NULL);
    put_trial(&b, h, url, port && locked ? token.data : NULL);
    buf_adds(&b, "\nCtrl-C stops it.");
    say_lines(b.data);
    buf_done(&token);
    buf_done(&b);
}
