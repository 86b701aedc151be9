/* How a response is paused inside libcurl, and what ends the pause.
   loop/pauses.c decides when. */
#ifndef ERRAND_TRANSFER_PAUSING_H
#define ERRAND_TRANSFER_PAUSING_H

#include "transfer/slot.h"

/* Pauses from within the write callback. libcurl keeps the bytes that it
   passed, and passes them again later.
   Returns: the return value for the write callback. */
size_t errand__hold_back(errand__slot *slot);

/* Stops both directions of a transfer, or lets them run again. If only the
   response were paused, libcurl would read on
   (ERRAND__CURL_READS_ON_WHILE_SENDING). */
void errand__slot_rest(errand__slot *slot, bool resting);

/* Sets or removes a limit of one byte a second. Above the limit libcurl does
   not ask for the socket. The limit takes effect when libcurl next looks at the
   transfer. */
void errand__slot_limit_speed(errand__slot *slot, bool limited);

/* Whether libcurl has, or will have, bytes of the request to send. */
bool errand__has_more_to_send(const errand__slot *slot);

/* Clears the pause that the previous attempt left on the handle. */
void errand__slot_unpause(errand__slot *slot);

#endif
