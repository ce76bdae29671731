/* auth_test.c: tokens: made once, kept to ourselves, told apart. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "call/principal.h"
#include "mcp/auth.h"
#include "mcp/door_auth.h"
#include "test.h"

static char base[64], dir[128];
static struct err err;
static const struct registry registry = { .profiles = profile_table };

/* A settings folder of its own for each test; nothing is made yet. */
static const char *fresh(const char *name)
{
    snprintf(dir, sizeof dir, "%s/%s/pith", base, name);
    return dir;
}

static const char *file(void)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/tokens", dir);
    return path;
}

static void put(const char *text, mode_t mode)
{
    char cmd[300];
    int fd;

    snprintf(cmd, sizeof cmd, "mkdir -p -m 700 %s", dir);
    CHECK(system(cmd) == 0);
    fd = open(file(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, mode) == 0);
    close(fd);
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static int files(void)
{
    DIR *d = opendir(dir);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

/* Name of the token that "Bearer <secret>" is, or "". */
static const char *whose(const struct auth *a, const char *secret)
{
    const struct auth_token *t;
    char header[400];

    snprintf(header, sizeof header, "Bearer %s", secret);
    t = auth_check(a, str_of(header));
    return t ? t->name : "";
}

static void first(void)
{
    struct auth *a = auth_open(fresh("first"), &registry, &err), *b;
    const char *s = a ? auth_secret(a, "default") : NULL;

    CHECK(s && strncmp(s, "pith_", 5) == 0 && strlen(s) == 48);
    CHECK(mode_of(file()) == 0600 && mode_of(dir) == 0700 && files() == 1);
    CHECK_STR(whose(a, s), "default");
    b = auth_open(dir, &registry, &err);
    CHECK_STR(auth_secret(b, "default"), s);
    auth_free(a);
    auth_free(b);
    auth_free(NULL);
}

/* Each tells what it ended with: all must have the same, and it stands in the
 * file. */
static void race(void)
{
    enum { MANY = 16, ROUNDS = 10 };

    for (int round = 0; round < ROUNDS; round++) {
        int go[2], told[2], same = 0;
        char name[16], got[64], want[64] = "";
        struct auth *a;

        snprintf(name, sizeof name, "race%d", round);
        fresh(name);
        CHECK(pipe(go) == 0 && pipe(told) == 0);
        for (int i = 0; i < MANY; i++)
            if (fork() == 0) {
                close(go[1]);
                (void)!read(go[0], got, 1); /* until all are there */
                memset(got, 0, sizeof got);
                a = auth_open(dir, &registry, &err);
                snprintf(got, sizeof got, "%.60s", a ? auth_secret(a, "default") : err.msg);
                auth_free(a);
                _exit(write(told[1], got, sizeof got) != sizeof got);
            }
        close(go[0]);
        close(go[1]);
        close(told[1]);
        while (read(told[0], got, sizeof got) == sizeof got) {
            if (!*want)
                strcpy(want, got);
            same += strcmp(got, want) == 0;
        }
        close(told[0]);
        while (wait(NULL) > 0)
            ;
        CHECK(same == MANY && files() == 1);
        a = auth_open(dir, &registry, &err);
        CHECK_STR(a ? auth_secret(a, "default") : err.msg, want);
        auth_free(a);
    }
}

/* Nobody's token is lost when many are made at once. */
static void many_at_once(void)
{
    enum { MANY = 12 };
    char name[16];
    struct auth *a;

    fresh("many");
    for (int i = 0; i < MANY; i++)
        if (fork() == 0) {
            snprintf(name, sizeof name, "t%d", i);
            a = auth_open(dir, &registry, &err);
            _exit(!a || !auth_put(a, name, NULL, &err));
        }
    while (wait(NULL) > 0)
        ;
    a = auth_open(dir, &registry, &err);
    CHECK(a && auth_find(a, "default"));
    for (int i = 0; a && i < MANY; i++) {
        snprintf(name, sizeof name, "t%d", i);
        CHECK(auth_find(a, name));
    }
    auth_free(a);
}

static void rights(void)
{
    static const mode_t bad[] = { 0644, 0640, 0604, 0620, 0602, 0610, 0666, 0660 };
    struct auth *a;

    fresh("rights");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("default 0123456789abcdef\n", bad[i]);
        CHECK(!auth_open(dir, &registry, &err));
        CHECK(err.code == ERR_CONFIG && strstr(err.msg, "chmod 600") && strstr(err.msg, file()));
    }
    put("default 0123456789abcdef\n", 0400);
    a = auth_open(dir, &registry, &err);
    CHECK(a != NULL);
    auth_free(a);
    CHECK(chmod(dir, 0720) == 0);
    CHECK(!auth_open(dir, &registry, &err) && strstr(err.msg, "chmod 700"));
    CHECK(chmod(dir, 0755) == 0);
    a = auth_open(dir, &registry, &err);
    CHECK(a != NULL);
    auth_free(a);
    CHECK(unlink(file()) == 0 && mkfifo(file(), 0600) == 0);
    CHECK(!auth_open(dir, &registry, &err) && strstr(err.msg, "regular"));
}

static void broken_lines(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "default\n", "line 1 is not" },
        { "default SECRETSECRETSECRET pruner more\n", "line 1 is not" },
        { "default SECRETSECRETSECRET\n\n\nci\n", "line 4 is not" },
        { "Default SECRETSECRETSECRET\n", "line 1 has a name" },
        { "local:0 SECRETSECRETSECRET\n", "line 1 has a name" },
        { "local SECRETSECRETSECRET\n", "line 1 has a name" },
        { "loopback SECRETSECRETSECRET\n", "line 1 has a name" },
        { "a23456789012345678901234567890123 SECRETSECRETSECRET\n", "line 1 has a name" },
        { "ci SECRETSECRETSEC\n", "line 1 has a token" },
        { "ci SECRETSECRETSECRET\"\n", "line 1 has a token" },
        { "ci SECRETSECRETSECRET\r\n", "line 1 has a token" },
        { "ci SECRETSECRETSECRET nosuch\n", "line 1 names a profile" },
        { "ci SECRETSECRETSECRET\nci SECRETSECRETSECRET2\n", "line 2 has a name or a token" },
        { "ci SECRETSECRETSECRET\ncd SECRETSECRETSECRET\n", "line 2 has a name or a token" },
        { "", "no token" },
        { "\n \n", "no token" },
    };

    fresh("broken");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put(rows[i].text, 0600);
        CHECK(!auth_open(dir, &registry, &err));
        CHECK(err.code == ERR_CONFIG && strstr(err.msg, file()));
        if (!strstr(err.msg, rows[i].says))
            CHECK_STR(err.msg, rows[i].says);
        CHECK(!strstr(err.msg, "SECRET"));
    }
}

/* The longest token, 127 letters, and one more. */
static void lengths(void)
{
    char text[300], longest[128], longer[129];
    struct auth *a;

    memset(longest, 'x', 127);
    memset(longer, 'x', 128);
    longest[127] = longer[128] = '\0';
    fresh("lengths");
    snprintf(text, sizeof text, "a %s\nb xxxxxxxxxxxxxxxx\nc xxxxxxxxxxxxxxxxx", longest);
    put(text, 0600);
    a = auth_open(dir, &registry, &err);
    CHECK_STR(whose(a, longest), "a");
    CHECK_STR(whose(a, "xxxxxxxxxxxxxxxx"), "b");
    CHECK_STR(whose(a, "xxxxxxxxxxxxxxxxx"), "c");
    CHECK_STR(whose(a, "xxxxxxxxxxxxxxxxxx"), "");
    CHECK_STR(whose(a, "xxxxxxxxxxxxxxx"), "");
    CHECK_STR(whose(a, longer), "");
    CHECK(!auth_check(a, (struct str){ "Bearer xxxxxxxxxxxxxxxx\0", 24 }));
    auth_free(a);
    snprintf(text, sizeof text, "a %s\n", longer);
    put(text, 0600);
    CHECK(!auth_open(dir, &registry, &err));
}

static void headers(void)
{
    struct auth *a;

    fresh("headers");
    put("default 0123456789abcdef\nci  fedcba9876543210\tpruner\n", 0600);
    a = auth_open(dir, &registry, &err);
    CHECK(auth_check(a, STR("Bearer 0123456789abcdef")) == auth_find(a, "default"));
    CHECK(auth_check(a, STR("bearer 0123456789abcdef")) == auth_find(a, "default"));
    CHECK(auth_check(a, STR("BEARER   fedcba9876543210")) == auth_find(a, "ci"));
    CHECK(auth_find(a, "ci")->profile == profile_find(&registry, STR("pruner")));
    CHECK(!auth_find(a, "default")->profile && !auth_find(a, "none"));
    CHECK(!auth_check(a, (struct str){ 0 }));
    CHECK(!auth_check(a, STR("")));
    CHECK(!auth_check(a, STR("Bearer")));
    CHECK(!auth_check(a, STR("Bearer ")));
    CHECK(!auth_check(a, STR("Bearer   ")));
    CHECK(!auth_check(a, STR("0123456789abcdef")));
    CHECK(!auth_check(a, STR("Bearer0123456789abcdef")));
    CHECK(!auth_check(a, STR("Bearer\t0123456789abcdef")));
    CHECK(!auth_check(a, STR("Basic 0123456789abcdef")));
    CHECK(!auth_check(a, STR("Bearer 0123456789abcdef ")));
    CHECK(!auth_check(a, STR("Bearer 0123456789abcdeg")));
    CHECK(!auth_check(a, STR("Bearer 1123456789abcdef")));
    CHECK(!auth_check(a, STR("Bearer 0123456789ABCDEF")));
    CHECK(!auth_check(a, STR("Bearer 0123456789abcdef fedcba9876543210")));
    auth_free(a);
}

static void rotation(void)
{
    const struct profile *pruner = profile_find(&registry, STR("pruner"));
    struct auth *server = auth_open(fresh("rotation"), &registry, &err),
                *hand = auth_open(dir, &registry, &err);
    char old[128];

    snprintf(old, sizeof old, "%s", auth_secret(server, "default"));
    CHECK(auth_put(hand, "default", NULL, &err) && auth_put(hand, "ci", pruner, &err));
    CHECK(mode_of(file()) == 0600 && files() == 1);
    CHECK_STR(whose(hand, old), "");
    CHECK_STR(whose(server, old), "default"); /* until it reads again */
    CHECK(auth_reload(server, &err));
    CHECK_STR(whose(server, old), "");
    CHECK_STR(whose(server, auth_secret(hand, "default")), "default");
    CHECK_STR(whose(server, auth_secret(hand, "ci")), "ci");
    CHECK(auth_find(server, "ci")->profile == pruner);

    snprintf(old, sizeof old, "%s", auth_secret(server, "ci"));
    CHECK(auth_remove(hand, "default", &err));
    CHECK(!auth_remove(hand, "default", &err) && err.code == ERR_MISSING);
    CHECK(!auth_remove(hand, "ci", &err) && strstr(err.msg, "last"));
    CHECK(auth_reload(server, &err) && !auth_find(server, "default"));
    CHECK_STR(whose(server, old), "ci");

    put("nonsense\n", 0600);
    CHECK(!auth_reload(server, &err));
    CHECK_STR(whose(server, old), "ci"); /* what it had stays good */
    CHECK(!auth_put(hand, "other", NULL, &err));
    CHECK(unlink(file()) == 0 && auth_reload(server, &err));
    CHECK_STR(whose(server, old), "");
    CHECK(auth_secret(server, "default") != NULL);
    CHECK(!auth_put(hand, "loopback", NULL, &err) && !auth_put(hand, "", NULL, &err));
    auth_free(server);
    auth_free(hand);
}

static void note(void *arg, const char *principal)
{
    buf_addf(arg, "%s ", principal);
}

/* Whoever holds something open with a token learns that it is no longer good. */
static void revoked(void)
{
    struct auth *a;
    struct buf b;

    buf_init(&b, 1000);
    fresh("revoked");
    put("a 0123456789abcdef\nb 1123456789abcdef\nc 2123456789abcdef\nd 3123456789abcdef\n", 0600);
    a = auth_open(dir, &registry, &err);
    auth_on_revoked(a, note, &b);
    CHECK(auth_reload(a, &err));
    CHECK_STR(buf_str(&b).p, "");
    put("nonsense\n", 0600);
    CHECK(!auth_reload(a, &err));
    CHECK_STR(buf_str(&b).p, "");
    put("d 3123456789abcdef pruner\na 0123456789abcdef\nc 2123456789abcdeg\ne 4123456789abcdef\n",
        0600);
    CHECK(auth_reload(a, &err));
    CHECK_STR(buf_str(&b).p, "b c d ");
    auth_free(a);
    buf_done(&b);
}

static void principals(void)
{
    char local[32];

    snprintf(local, sizeof local, "local:%u", (unsigned)getuid());
    CHECK_STR(principal_local(), local);
    CHECK_STR(principal_loopback(), "loopback");
    CHECK(principal_named("ci") == principal_named("ci"));
    CHECK(principal_named("ci") != principal_named("cd"));
    CHECK(principal_name_ok(STR("a-z_09")) && !principal_name_ok(STR("a b")));
    CHECK(!principal_name_ok(STR("local:0")) && !principal_name_ok(STR("loopback")));
    CHECK(!principal_name_ok((struct str){ "a\0b", 3 }));
}

/* As whom a request passes; refusals answer and are transcripts' business. */
static void doors(void)
{
    const struct profile *focus = profile_find(&registry, STR("focus")),
                         *pruner = profile_find(&registry, STR("pruner"));
    struct auth *a;
    struct http_header ours = { STR("Authorization"), STR("Bearer 0123456789abcdef") };
    struct http_header bound = { STR("authorization"), STR("bearer fedcba9876543210") };
    struct http_req r = { .headers = &ours, .header_count = 1, .peer.loopback = true };
    struct door_http d = { .profile = focus };
    const struct profile *p = NULL;
    const char *who = NULL;

    fresh("doors");
    put("default 0123456789abcdef\nci fedcba9876543210 pruner\n", 0600);
    a = auth_open(dir, &registry, &err);
    d.auth = a;
    CHECK(door_allows(&d, &r, NEED_TOKEN, &who, &p) && p == focus);
    CHECK_STR(who, "default");
    p = pruner;
    CHECK(door_allows(&d, &r, NEED_TOKEN, &who, &p) && p == pruner);
    r.headers = &bound;
    CHECK(door_allows(&d, &r, NEED_TOKEN, &who, &p) && p == pruner);
    p = NULL;
    CHECK(door_allows(&d, &r, NEED_TOKEN, &who, &p) && p == pruner);
    CHECK(who == principal_named("ci"));
    r.header_count = 0;
    p = pruner;
    CHECK(door_allows(&d, &r, NEED_NOTHING, &who, &p) && p == pruner);
    CHECK(who == principal_loopback());
    r.peer = (struct http_peer){ .unix_socket = true, .uid = 12345, .loopback = true };
    p = NULL;
    CHECK(door_allows(&d, &r, NEED_TOKEN, &who, &p) && p == focus);
    CHECK_STR(who, "local:12345");
    r.peer.unix_socket = false;
    d.auth = NULL;
    CHECK(door_allows(&d, &r, NEED_TOKEN, &who, &p) && who == principal_local());
    CHECK(door_allows(&d, &r, NEED_NOTHING, &who, &p) && who == principal_local());
    auth_free(a);
}

int main(void)
{
    char rm[128];

    strcpy(base, "/tmp/auth_test.XXXXXX");
    CHECK(mkdtemp(base) != NULL);
    TEST("the first token is made, 0600 in a folder of 0700, and found again", first);
    TEST("many servers that start at once end with one token", race);
    TEST("many tokens made at once are all kept", many_at_once);
    TEST("a file or folder open to others is refused and says chmod", rights);
    TEST("a broken line is named, its words are not", broken_lines);
    TEST("tokens of every length are told apart", lengths);
    TEST("Bearer in any case, and nothing else, opens", headers);
    TEST("a rotated token holds after a reload, and a broken file changes nothing", rotation);
    TEST("a reload names the tokens that are no longer good", revoked);
    TEST("principals have their names, and tokens may not take them", principals);
    TEST("each door lets in the right principal with the right profile", doors);
    snprintf(rm, sizeof rm, "rm -rf %s", base);
    return test_end() | (system(rm) != 0);
}
