/* Connections that die, or get data, while libcurl does not listen to them. */
#ifndef ERRAND_LOOP_HANG_UP_H
#define ERRAND_LOOP_HANG_UP_H

#include "loop/loop.h"

struct errand__shard;

/* Whether a started transfer uses the connection, as far as libcurl has said.
 */
bool errand__socket_is_used(const errand__loop *loop,
                            const struct errand__shard *shard, int fd);

/* The connection died. libcurl does not notice that while the upload is paused
   because its source has nothing.
   Returns: whether a transfer uses the connection. */
bool errand__socket_hung_up(errand__loop *loop,
                            const struct errand__shard *shard, int fd);

#endif
