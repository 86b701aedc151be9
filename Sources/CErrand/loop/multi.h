/*
 * libcurl's multi handles: what they ask of the loop by their socket and timer
 * callbacks, and the calls that run them.
 */
#ifndef ERRAND_LOOP_MULTI_H
#define ERRAND_LOOP_MULTI_H

#include "loop/shard.h"

struct errand__slot;

/* The multi handle of a shard that keeps connections for `limit` requests.
   Returns: NULL: out of memory, or of descriptors (errno). */
CURLM *errand__multi_create(errand__shard *shard, uint32_t limit);

/* libcurl's interest in the connection of a slot in use, or its pause, has
   changed: what libcurl must not read while it is paused is not told to it
   (ERRAND__CURL_LISTENS_WHILE_PAUSED). */
void errand__shard_hold(struct errand__slot *slot);

/* Tells libcurl of a socket event. */
void errand__shard_socket(errand__shard *shard, int fd, unsigned directions);

/* Runs the shards whose timer is due. Returns: whether there were any. */
bool errand__shards_kick(errand__loop *loop);

/* Marks shards whose timer has come. Returns: the earliest of the others,
   ERRAND__WHEEL_NEVER where there is none. */
uint64_t errand__shards_timer(errand__loop *loop);

/* Asks libcurl for a timer that it forgot to set. */
void errand__shard_check_timer(errand__shard *shard, uint64_t now_ms);

#endif
