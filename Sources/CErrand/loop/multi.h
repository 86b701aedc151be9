/*
 * libcurl's multi handles: their socket and timer callbacks, and the calls that
 * run them.
 */
#ifndef ERRAND_LOOP_MULTI_H
#define ERRAND_LOOP_MULTI_H

#include "loop/shard.h"

struct errand__slot;

/* Makes the multi handle of a shard that keeps connections for `limit`
   requests.
   Returns: NULL: out of memory, or of descriptors (errno). */
CURLM *errand__multi_create(errand__shard *shard, uint32_t limit);

/* The pause of a slot in use has changed, or libcurl's interest in its
   connection. Keeps libcurl from reading the connection while it must not
   (ERRAND__CURL_LISTENS_WHILE_PAUSED). */
void errand__shard_hold(struct errand__slot *slot);

/* Tells libcurl of a socket event. */
void errand__shard_socket(errand__shard *shard, int fd, unsigned directions);

/* Runs the shards whose timer is due. Returns: whether there were any. */
bool errand__shards_kick(errand__loop *loop);

/* Marks the shards whose timer is due.
   Returns: the earliest time of the others, ERRAND__WHEEL_NEVER if there is
   none. */
uint64_t errand__shards_timer(errand__loop *loop);

/* Sets the timer that libcurl wants, in case libcurl has not asked for it. */
void errand__shard_check_timer(errand__shard *shard, uint64_t now_ms);

/* Makes libcurl go on with connections in shutdown that it does not watch. */
void errand__shard_end_shutdowns(errand__shard *shard);

#endif
