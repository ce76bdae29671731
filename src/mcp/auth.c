/* auth.c: the tokens file, read, changed and compared with.
 *
 * How tokens are compared: each stands in a slot of SECRET_MAX bytes, filled up
 * with zeros, its length in one byte more. What was sent is put into such a
 * slot too, and then every slot is compared over its whole length, whether one
 * before it was right or not. So the time depends on how many tokens there are
 * and on the length of what was sent, which the sender knows, and on nothing
 * of ours.
 *
 * Changes happen under a lock on the folder (`flock`), read anew first, so that
 * two `pith token` at once lose nothing. The first token is made without
 * counting on that: file_make lets one of many win, wherever the folder is. */
#include "mcp/auth.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "call/principal.h"

enum {
    FILE_CEILING = 64 << 10,
    SECRET_MIN = 16, /* shorter ones can be guessed */
    SECRET_MAX = 127,
    RANDOM_BYTES = 32,
};

struct slot {
    char text[SECRET_MAX + 1]; /* filled up with zeros, so NUL-terminated too */
    unsigned char n;
};

struct entry {
    struct auth_token token;
    struct slot slot;
};

struct list {
    struct entry *entries;
    size_t count;
};

struct auth {
    const struct registry *registry;
    char *dir, *path;
    struct list tokens;
    void (*revoked)(void *arg, const char *principal);
    void *arg;
};

static void fill(struct slot *s, struct str secret)
{
    memset(s, 0, sizeof *s);
    memcpy(s->text, secret.p, secret.n);
    s->n = (unsigned char)secret.n;
}

/* --- the file's lines --- */

static bool secret_ok(struct str s)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-._~+/=";

    for (size_t i = 0; i < s.n; i++)
        if (!memchr(letters, s.p[i], sizeof letters - 1))
            return false;
    return s.n >= SECRET_MIN && s.n <= SECRET_MAX;
}

static struct entry *find(const struct list *l, struct str name)
{
    for (size_t i = 0; i < l->count; i++)
        if (str_is(name, l->entries[i].token.name))
            return &l->entries[i];
    return NULL;
}

static struct entry *add(struct list *l, struct str name)
{
    char text[PRINCIPAL_NAME_MAX + 1];
    struct entry *x;

    snprintf(text, sizeof text, "%.*s", (int)name.n, name.p);
    l->entries = xrealloc(l->entries, (l->count + 1) * sizeof *l->entries);
    x = &l->entries[l->count++];
    memset(x, 0, sizeof *x);
    x->token.name = principal_named(text);
    return x;
}

static struct str next_word(struct str *line)
{
    struct str word;

    while (line->n > 0 && (*line->p == ' ' || *line->p == '\t'))
        line->p++, line->n--;
    word = (struct str){ line->p, 0 };
    while (line->n > 0 && *line->p != ' ' && *line->p != '\t')
        line->p++, line->n--, word.n++;
    return word;
}

static bool has_secret(const struct list *l, const struct slot *s)
{
    for (size_t i = 0; i < l->count; i++)
        if (memcmp(&l->entries[i].slot, s, sizeof *s) == 0)
            return true;
    return false;
}

/* Gives NULL, or what is wrong with it; never any of its words. */
static const char *read_line(const struct registry *r, struct list *l, struct str line)
{
    struct str name = next_word(&line), secret = next_word(&line), profile = next_word(&line);
    const struct profile *p = NULL;
    struct entry *x;
    struct slot s;

    if (name.n == 0)
        return NULL;
    if (secret.n == 0 || next_word(&line).n > 0)
        return "is not 'name token [profile]'";
    if (!principal_name_ok(name))
        return "has a name that is not 1 to 32 of a-z 0-9 _ - (nor local, loopback)";
    if (!secret_ok(secret))
        return "has a token that is not 16 to 127 of A-Z a-z 0-9 - . _ ~ + / =";
    if (profile.n > 0 && !(p = profile_find(r, profile)))
        return "names a profile that is not there";
    fill(&s, secret);
    if (find(l, name) || has_secret(l, &s))
        return "has a name or a token that an earlier line has";
    x = add(l, name);
    x->token.profile = p;
    x->slot = s;
    return NULL;
}

static bool read_lines(struct auth *a, struct str text, struct list *l, struct err *e)
{
    for (unsigned no = 1; text.n > 0; no++) {
        const char *end = memchr(text.p, '\n', text.n), *wrong;
        struct str line = { text.p, end ? (size_t)(end - text.p) : text.n };

        wrong = read_line(a->registry, l, line);
        if (wrong)
            return err_set(e, ERR_CONFIG, "invalid_tokens: line %u %s; the file is %s", no, wrong,
                           a->path);
        text.p += line.n + (end != NULL);
        text.n -= line.n + (end != NULL);
    }
    if (l->count == 0)
        return err_set(e, ERR_CONFIG,
                       "invalid_tokens: no token in it; once it is removed a new one is made: %s",
                       a->path);
    return true;
}

/* --- the file --- */

static bool rights_ok(struct auth *a, int fd, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFIG, "invalid_tokens: not a regular file: %s", a->path);
    if (st.st_mode & 077)
        return err_set(e, ERR_CONFIG, "invalid_tokens: others may read it; chmod 600 %s", a->path);
    if (st.st_size > FILE_CEILING)
        return err_set(e, ERR_CONFIG, "invalid_tokens: over %d bytes: %s", FILE_CEILING, a->path);
    return true;
}

static bool read_all(int fd, struct buf *b)
{
    for (;;) {
        char *p = buf_room(b, 4096);
        ssize_t n = p ? read(fd, p, 4096) : -1;

        if (n < 0 && p && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        b->len += (size_t)n;
    }
}

static bool same_entry(const struct entry *a, const struct entry *b)
{
    return a->token.profile == b->token.profile && memcmp(&a->slot, &b->slot, sizeof a->slot) == 0;
}

/* Takes the new ones. */
static void change(struct auth *a, struct list l)
{
    struct list old = a->tokens;

    a->tokens = l;
    for (size_t i = 0; i < old.count; i++) {
        const struct entry *now = find(&a->tokens, str_of(old.entries[i].token.name));

        if (a->revoked && !(now && same_entry(now, &old.entries[i])))
            a->revoked(a->arg, old.entries[i].token.name);
    }
    free(old.entries);
}

/* The tokens on disk take the place of those in memory, if all is well with
 * them. A file that is not there is no failure: *missing. Non-blocking, so that
 * a FIFO of that name cannot hold us up. */
static bool load(struct auth *a, bool *missing, struct err *e)
{
    int fd = open(a->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct list l = { 0 };
    struct buf b;
    bool ok;

    *missing = fd < 0 && errno == ENOENT;
    if (fd < 0)
        return *missing || err_set(e, ERR_CONFIG, "invalid_tokens: cannot open: %s: %s",
                                   strerror(errno), a->path);
    buf_init(&b, FILE_CEILING + 4096);
    ok = rights_ok(a, fd, e);
    if (ok && !read_all(fd, &b))
        ok = err_set(e, ERR_IO, "invalid_tokens: cannot read: %s", a->path);
    ok = ok && read_lines(a, buf_str(&b), &l, e);
    buf_done(&b);
    close(fd);
    if (ok)
        change(a, l);
    else
        free(l.entries);
    return ok;
}

static void write_lines(const struct list *l, struct buf *b)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct auth_token *t = &l->entries[i].token;

        buf_addf(b, "%s %s%s%s\n", t->name, l->entries[i].slot.text, t->profile ? " " : "",
                 t->profile ? t->profile->name : "");
    }
}

static void new_secret(struct entry *x)
{
    unsigned char bytes[RANDOM_BYTES];
    struct buf b;

    while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        ; /* interrupted: so few bytes come whole otherwise */
    buf_init(&b, SECRET_MAX);
    buf_adds(&b, "pith_");
    base64_add(&b, bytes, sizeof bytes);
    fill(&x->slot, buf_str(&b));
    buf_done(&b);
}

/* Somebody may have been quicker: then theirs holds, and is read. */
static bool make_first(struct auth *a, struct err *e)
{
    struct list l = { 0 };
    struct buf b;
    bool made, ok;

    buf_init(&b, FILE_CEILING);
    new_secret(add(&l, STR("default")));
    write_lines(&l, &b);
    ok = file_make(a->path, 0600, buf_str(&b), &made, e);
    buf_done(&b);
    free(l.entries);
    return ok;
}

bool auth_reload(struct auth *a, struct err *e)
{
    bool missing;

    if (!load(a, &missing, e))
        return false;
    if (!missing)
        return true;
    if (!make_first(a, e) || !load(a, &missing, e))
        return false;
    return !missing || err_set(e, ERR_IO, "invalid_tokens: removed as it was made: %s", a->path);
}

void auth_on_revoked(struct auth *a, void (*fn)(void *arg, const char *principal), void *arg)
{
    a->revoked = fn;
    a->arg = arg;
}

/* Who may write the folder may put tokens of his own there. */
static bool folder_ok(const char *dir, struct err *e)
{
    struct stat st;

    if (!file_make_dir(dir, 0700, e))
        return false;
    if (stat(dir, &st) == 0 && !(st.st_mode & 022))
        return true;
    return err_set(e, ERR_CONFIG, "invalid_home: others may write there; chmod 700 %s", dir);
}

struct auth *auth_open(const char *dir, const struct registry *r, struct err *e)
{
    struct auth *a = xcalloc(1, sizeof *a);
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/tokens", dir) >= (int)sizeof path) {
        err_set(e, ERR_CONFIG, "invalid_home: the path of the settings folder is too long");
        goto fail;
    }
    a->registry = r;
    a->dir = xstrdup(dir);
    a->path = xstrdup(path);
    if (!folder_ok(dir, e) || !auth_reload(a, e))
        goto fail;
    return a;

fail:
    auth_free(a);
    return NULL;
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    free(a->tokens.entries);
    free(a->dir);
    free(a->path);
    free(a);
}

/* --- checking --- */

struct str auth_bearer(struct str header)
{
    if (header.n < 7 || strncasecmp(header.p, "Bearer", 6) != 0 || header.p[6] != ' ')
        return (struct str){ 0 };
    header.p += 6;
    header.n -= 6;
    while (header.n > 0 && *header.p == ' ')
        header.p++, header.n--;
    return header;
}

const struct auth_token *auth_check(const struct auth *a, struct str header)
{
    struct str sent = auth_bearer(header);
    const struct list *l = &a->tokens;
    struct slot s;
    size_t found = 0; /* 1 is the first */

    if (sent.n == 0 || sent.n > SECRET_MAX) /* no token of anybody's is so long */
        return NULL;
    fill(&s, sent);
    for (size_t i = 0; i < l->count; i++)
        found |= (i + 1) * same_secret(&s, &l->entries[i].slot, sizeof s);
    return found ? &l->entries[found - 1].token : NULL;
}

/* --- keeping --- */

const struct auth_token *auth_find(const struct auth *a, const char *name)
{
    const struct entry *x = find(&a->tokens, str_of(name));

    return x ? &x->token : NULL;
}

const char *auth_secret(const struct auth *a, const char *name)
{
    const struct entry *x = find(&a->tokens, str_of(name));

    return x ? x->slot.text : NULL;
}

void auth_names(const struct auth *a, struct buf *out)
{
    for (size_t i = 0; i < a->tokens.count; i++)
        buf_addf(out, "%s%s", i ? ", " : "", a->tokens.entries[i].token.name);
}

/* Give the lock to close(). -1 with *e set. */
static int lock(struct auth *a, struct err *e)
{
    int fd = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    while (fd >= 0 && flock(fd, LOCK_EX) != 0) {
        if (errno == EINTR)
            continue;
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        err_set(e, ERR_IO, "cannot lock: %s: %s", strerror(errno), a->dir);
    return fd;
}

static bool save(struct auth *a, struct err *e)
{
    struct buf b;
    bool ok;

    buf_init(&b, FILE_CEILING);
    write_lines(&a->tokens, &b);
    ok = b.full ? err_set(e, ERR_CONFIG, "invalid_tokens: too many for one file: %s", a->path)
                : file_replace(a->path, 0600, buf_str(&b), e);
    buf_done(&b);
    return ok;
}

bool auth_put(struct auth *a, const char *name, const struct profile *profile, struct err *e)
{
    struct entry *x;
    bool ok;
    int fd;

    if (!principal_name_ok(str_of(name)))
        return err_set(e, ERR_CONFIG,
                       "invalid_name: a token's name is 1 to 32 of a-z 0-9 _ -, and not local or "
                       "loopback");
    fd = lock(a, e);
    if (fd < 0)
        return false;
    ok = auth_reload(a, e);
    if (ok) {
        x = find(&a->tokens, str_of(name));
        if (!x)
            x = add(&a->tokens, str_of(name));
        x->token.profile = profile;
        new_secret(x);
        ok = save(a, e);
    }
    close(fd);
    return ok;
}

static bool drop(struct auth *a, const char *name, struct err *e)
{
    struct list *l = &a->tokens;
    struct entry *x = find(l, str_of(name));

    if (!x)
        return err_set(e, ERR_MISSING, "there is no token '%.40s'", name);
    if (l->count == 1)
        return err_set(e, ERR_CONFIG, "'%.40s' is the last token; --rotate gives it a new secret",
                       name);
    memmove(x, x + 1, (size_t)(l->entries + l->count - x - 1) * sizeof *x);
    l->count--;
    return save(a, e);
}

bool auth_remove(struct auth *a, const char *name, struct err *e)
{
    int fd = lock(a, e);
    bool ok;

    if (fd < 0)
        return false;
    ok = auth_reload(a, e) && drop(a, name, e);
    close(fd);
    return ok;
}
