/* state.c: sealing and opening request states.
 *
 * base64url( expiry 8 | number 8 | digest 32 | answers… | HMAC 32 ). The key is
 * made at start, so a restart voids what is under way: the client calls again.
 * Numbers count up, and a bit for each of the last million tells whether it was
 * used; an older one is refused like one whose time is over. */
#include "mcp/state.h"
#include <stdlib.h>
#include <sys/random.h>
#include "base/base64.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sha256.h"

enum { KEEP_MS = 600000, WINDOW = 1 << 20, HEAD = 48, MAC = 32, MAX_STATE = 1 << 20 };

struct states {
    unsigned char key[32];
    uint64_t last;                  /* number given */
    unsigned char used[WINDOW / 8]; /* a bit for each of the last numbers */
};

static struct states *states(struct mcp *m)
{
    if (!m->states) {
        m->states = xcalloc(1, sizeof *m->states);
        while (getrandom(m->states->key, sizeof m->states->key, 0) != sizeof m->states->key)
            ;
    }
    return m->states;
}

void states_free(struct states *s)
{
    free(s);
}

/* A value as its parts in order, so that white space does not count. */
static void add_value(struct sha256 *s, struct json v, struct arena *a, const char *skip)
{
    struct str text;

    switch (json_type(v)) {
    case JSON_OBJ:
    case JSON_ARR:
        sha256_add(s, json_type(v) == JSON_OBJ ? "{" : "[", 1);
        for (struct json x = json_first(v); json_type(x); x = json_next(x)) {
            if (json_type(v) == JSON_OBJ) {
                text = json_key(x, a);
                if (skip && (str_is(text, "_meta") || str_is(text, "requestState") ||
                             str_is(text, "inputResponses")))
                    continue;
                sha256_add(s, &text.n, sizeof text.n);
                sha256_add(s, text.p, text.n);
            }
            add_value(s, x, a, NULL);
        }
        sha256_add(s, "}", 1);
        break;
    case JSON_STR:
        text = json_str(v, a);
        sha256_add(s, "\"", 1);
        sha256_add(s, &text.n, sizeof text.n);
        sha256_add(s, text.p, text.n);
        break;
    default:
        text = json_raw(v);
        sha256_add(s, text.p, text.n);
        sha256_add(s, ",", 1);
        break;
    }
}

struct state_bind state_bind(const char *principal, const char *profile, struct str method,
                             struct json params)
{
    struct state_bind b = { { 0 } };
    struct arena a = { 0 };
    struct sha256 s;

    sha256_init(&s);
    sha256_add(&s, principal, strlen(principal) + 1);
    sha256_add(&s, profile, strlen(profile) + 1);
    sha256_add(&s, method.p, method.n);
    add_value(&s, params, &a, "what differs from one try to the next");
    sha256_end(&s, b.digest);
    arena_done(&a);
    return b;
}

/* --- used once --- */

static uint64_t give_number(struct states *s)
{
    uint64_t n = ++s->last;

    s->used[n % WINDOW / 8] &= (unsigned char)~(1u << n % 8);
    return n;
}

static bool use(struct states *s, uint64_t n)
{
    unsigned char *byte = &s->used[n % WINDOW / 8], bit = (unsigned char)(1u << n % 8);

    if (s->last - n >= WINDOW || (*byte & bit))
        return false;
    *byte |= bit;
    return true;
}

/* --- seal and open --- */

struct str state_seal(struct mcp *m, const struct state_bind *bind, struct str answers,
                      struct arena *a)
{
    struct states *s = states(m);
    uint64_t head[2] = { clock_ms() + KEEP_MS, give_number(s) };
    unsigned char mac[MAC];
    struct buf b, text;
    struct str out = { 0 };

    buf_init(&b, MAX_STATE);
    buf_init(&text, 2 * MAX_STATE);
    buf_add(&b, head, sizeof head);
    buf_add(&b, bind->digest, sizeof bind->digest);
    buf_add(&b, answers.p, answers.n);
    sha256_hmac((struct str){ (char *)s->key, sizeof s->key }, buf_str(&b), mac);
    buf_add(&b, mac, sizeof mac);
    base64_add(&text, b.data, b.len);
    if (!b.full)
        out = arena_str(a, buf_str(&text));
    buf_done(&b);
    buf_done(&text);
    return out;
}

/* The answers inside a state that is ours, unused, in time and for this
 * request. */
static bool unseal(struct mcp *m, const struct state_bind *bind, struct str text, struct buf *b,
                   struct str *answers)
{
    struct states *s = states(m);
    unsigned char mac[MAC];
    uint64_t head[2];

    if (!base64_read(b, text) || b->len < HEAD + MAC)
        return false;
    sha256_hmac((struct str){ (char *)s->key, sizeof s->key },
                (struct str){ b->data, b->len - MAC }, mac);
    if (!same_secret(mac, b->data + b->len - MAC, MAC))
        return false;
    memcpy(head, b->data, sizeof head);
    if (head[0] <= clock_ms() || !same_secret(bind->digest, b->data + 16, 32) || !use(s, head[1]))
        return false;
    *answers = (struct str){ b->data + HEAD, b->len - HEAD - MAC };
    return true;
}

/* Old answers without those that came again, then the new ones. */
static void merge(struct json old, struct json fresh, struct json_out *o, struct arena *a)
{
    struct json lists[2] = { old, fresh };

    json_obj(o);
    for (int i = 0; i < 2; i++) {
        for (struct json v = json_first(lists[i]); json_type(v); v = json_next(v)) {
            struct str key = json_key(v, a);
            char *name = arena_str(a, key).p ? arena_printf(a, "%.*s", (int)key.n, key.p) : "";

            if (i == 0 && json_type(json_get(fresh, name)))
                continue;
            json_kv_raw(o, name, json_raw(v));
        }
    }
    json_obj_end(o);
}

bool state_open(struct mcp *m, const struct state_bind *bind, struct str state, struct json fresh,
                struct arena *a, struct str *answers, struct err *e)
{
    struct json old = { 0 };
    struct json_doc d;
    struct buf b, all;
    struct json_out o = json_out(&all);
    bool ok = true;

    *answers = (struct str){ 0 };
    buf_init(&b, MAX_STATE);
    buf_init(&all, MAX_STATE);
    if (state.n) {
        struct str inside;

        ok = unseal(m, bind, state, &b, &inside);
        if (ok && inside.n && json_parse(&d, a, arena_str(a, inside), NULL))
            old = json_root(&d);
    }
    if (ok && (json_type(old) || json_type(fresh))) {
        merge(old, fresh, &o, a);
        ok = !all.full;
        *answers = arena_str(a, buf_str(&all));
    }
    buf_done(&b);
    buf_done(&all);
    if (ok)
        return true;
    return err_set(e, ERR_PARAMS,
                   "is not one of ours for this request, was used already or is too old; call "
                   "again without it");
}
