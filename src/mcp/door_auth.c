/* door_auth.c: 401, 403, or a principal. */
#include "mcp/door_auth.h"
#include "call/principal.h"

/* RFC 6750: an error is only said where a token was sent. */
static bool refuse_unknown(struct http_req *r, struct str header)
{
    if (auth_bearer(header).p)
        http_reply_error(r, 401, "unauthorized",
                         "WWW-Authenticate: Bearer realm=\"pith\", error=\"invalid_token\"\r\n",
                         "that is not a token of this server; 'pith token' shows the one to send "
                         "as Authorization: Bearer");
    else
        http_reply_error(r, 401, "unauthorized", "WWW-Authenticate: Bearer realm=\"pith\"\r\n",
                         "a token is needed here; 'pith token' shows the one to send as "
                         "Authorization: Bearer");
    return false;
}

static bool refuse_profile(struct http_req *r, const struct auth_token *t)
{
    http_reply_error(r, 403, "forbidden",
                     "WWW-Authenticate: Bearer realm=\"pith\", error=\"insufficient_scope\"\r\n",
                     "token '%s' is for profile %s: it opens /mcp and /mcp/%s", t->name,
                     t->profile->name, t->profile->name);
    return false;
}

/* The token of a request that needs one, NULL: it has been refused. */
static const struct auth_token *find_token(struct door_http *d, struct http_req *r)
{
    struct str header = http_header(r, "authorization");
    const struct auth_token *t = auth_check(d->auth, header);

    if (!t)
        refuse_unknown(r, header);
    return t;
}

bool door_allows(struct door_http *d, struct http_req *r, enum door_need need,
                 const char **principal, const struct profile **profile)
{
    const struct auth_token *t = NULL;

    if (r->peer.unix_socket) {
        *principal = principal_user(r->peer.uid);
    } else if (!d->auth) {
        *principal = principal_local();
    } else if (need == NEED_NOTHING) {
        *principal = principal_loopback();
    } else {
        t = find_token(d, r);
        if (!t)
            return false;
        *principal = t->name;
    }
    if (t && t->profile && *profile && *profile != t->profile)
        return refuse_profile(r, t);
    if (!*profile)
        *profile = t && t->profile ? t->profile : d->profile;
    return true;
}
