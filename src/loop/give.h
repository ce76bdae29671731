/* give.h: descriptors handed from one process to another.
 *
 * Private to this room: from pith to its warden and to keepers. A packet is one
 * byte with its descriptors. */
#pragma once
#include <stdbool.h>

/* Send them; they stay the caller's. Never blocks; false with errno. */
bool give_send(int sock, const int *give, int count);

enum give_result { GIVE_TAKEN, GIVE_NOTHING, GIVE_GONE };

/* Take one packet if there is one. TAKEN: all `count` came and are the caller's
 * now. NOTHING: no packet, or one without them (one that lost some since we had
 * no room is dropped). GONE: nobody is there any more. Never blocks. */
enum give_result give_take(int sock, int *give, int count);
