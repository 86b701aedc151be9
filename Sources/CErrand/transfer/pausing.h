/* How a response is paused inside libcurl, and what ends the pause.
   loop/pauses.c decides when. */
#ifndef ERRAND_TRANSFER_PAUSING_H
#define ERRAND_TRANSFER_PAUSING_H

#include "transfer/slot.h"

/* Pauses from within the write callback. libcurl keeps the bytes that it gave,
   and gives them again.
   Returns: the return value for the write callback. */
size_t errand__hold_back(errand__slot *slot);

/* Stops both directions of a transfer, or ends that. Where the response alone
   is paused, libcurl would read on (ERRAND__CURL_READS_ON_WHILE_SENDING). */
void errand__slot_rest(errand__slot *slot, bool resting);

/* Sets a limit of one byte a second, above which libcurl asks for no socket. It
   counts from the next time that libcurl looks at the transfer. */
void errand__slot_limit_speed(errand__slot *slot, bool limited);

/* Whether libcurl has, or will have, bytes of the request to send. */
bool errand__has_more_to_send(const errand__slot *slot);

/* Clears the pause of the attempt before. */
void errand__slot_unpause(errand__slot *slot);

#endif
