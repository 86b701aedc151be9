/* How a response is paused inside libcurl, and what ends the pause.
   loop/pauses.c decides when. */
#ifndef ERRAND_TRANSFER_PAUSING_H
#define ERRAND_TRANSFER_PAUSING_H

#include "transfer/slot.h"

/* Pauses from within the write callback, which was given `n` bytes. libcurl
   keeps them and gives them again.
   Returns: the return value for the write callback. */
size_t errand__hold_back(errand__slot *slot, size_t n);

/* Sets how many bytes a second libcurl may receive; 0: any number. The limit
   counts from the next time that libcurl looks at the transfer. */
void errand__slot_limit_speed(errand__slot *slot, curl_off_t speed);

/* Clears the pause of the attempt before. */
void errand__slot_unpause(errand__slot *slot);

#endif
