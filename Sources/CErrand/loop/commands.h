/* What comes in through a loop's submission queue. */
#ifndef ERRAND_LOOP_COMMANDS_H
#define ERRAND_LOOP_COMMANDS_H

#include "loop/loop.h"

struct errand__shard;
struct errand__transfer;

/* Carries out all that is queued. Returns: whether there was anything. */
bool errand__commands_run(errand__loop *loop);

/* Closes the queue; what was left in it is ended or dropped. */
void errand__commands_close(errand__loop *loop);

/* Whether a transfer that has begun uses the connection, as far as libcurl has
   said. */
bool errand__socket_is_used(const errand__loop *loop,
                            const struct errand__shard *shard, int fd);

/* A connection died while nobody listened to it. An upload that had nothing
   to send is paused, and libcurl would not notice.
   Returns: whether a transfer uses it. */
bool errand__socket_hung_up(errand__loop *loop,
                            const struct errand__shard *shard, int fd);

/* A socket of the transfer did not connect, and libcurl tries the next address
   when it looks at the transfer again. It does so in this turn. */
void errand__loop_look_again(errand__loop *loop, struct errand__transfer *t);

/* Brings libcurl's pause in line for all on the review list.
   Returns: whether there were any. */
bool errand__review_run(errand__loop *loop);

#endif
