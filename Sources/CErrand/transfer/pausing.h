/* How a response is stopped inside libcurl, and what ends that. */
#ifndef ERRAND_TRANSFER_PAUSING_H
#define ERRAND_TRANSFER_PAUSING_H

#include "transfer/slot.h"

/* For the write callback, which was given `n` bytes. libcurl keeps them and
   gives them again.
   Returns: what the write callback returns. */
size_t errand__hold_back(errand__slot *slot, size_t n);

/* Bytes a second that libcurl may receive, 0: any number. libcurl obeys the
   next time that it looks at the transfer. */
void errand__slot_limit_speed(errand__slot *slot, curl_off_t speed);

/* Forgets the pause of the attempt before. */
void errand__slot_unpause(errand__slot *slot);

#endif
