/* give.c: descriptors handed from one process to another. */
#include "loop/give.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "loop/warden.h"

union room {
    char bytes[CMSG_SPACE(GIVE_COUNT * sizeof(int))];
    struct cmsghdr align;
};

bool give_send(int sock, const int *give, int count)
{
    size_t size = (size_t)count * sizeof(int);
    union room u = { 0 };
    char b = 'c';
    struct iovec iov = { &b, 1 };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.bytes, .msg_controllen = CMSG_SPACE(size)
    };
    struct cmsghdr *c = &u.align;

    assert(count <= GIVE_COUNT);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(c), give, size);
    return sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

enum give_result give_take(int sock, int *give, int count)
{
    union room u;
    char b;
    struct iovec iov = { &b, 1 };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.bytes, .msg_controllen = sizeof u.bytes
    };
    int got[GIVE_COUNT], n = 0;
    struct cmsghdr *c;
    ssize_t len = recvmsg(sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return GIVE_NOTHING;
    if (len <= 0)
        return GIVE_GONE;
    c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(got, CMSG_DATA(c), (size_t)n * sizeof(int));
    }
    if (n == count) {
        memcpy(give, got, (size_t)n * sizeof(int));
        return GIVE_TAKEN;
    }
    for (int i = 0; i < n; i++)
        close(got[i]);
    return GIVE_NOTHING;
}
