/*
 * What the transfers of a loop leave for the rest of the loop's turn. libcurl's
 * callbacks must not call libcurl, so they arm deadlines, put transfers on
 * lists and write records here, and the loop acts on these afterwards.
 * Thread: the loop's, throughout.
 */
#ifndef ERRAND_TRANSFER_AGENDA_H
#define ERRAND_TRANSFER_AGENDA_H

#include "base/list.h"
#include "base/wheel.h"
#include "transfer/records.h"
#include "transfer/transfer.h"

struct errand__slot;

typedef struct errand__agenda {
  uint64_t now_ms;     /* when the round began; the clock of uv_now */
  errand__list review; /* transfers whose pause may have to change */
  errand__list flush;  /* transfers with a chunk or credit to report */
  errand__records records;
  /* The loop's errand__shard_hold: the slot's pause has changed. */
  void (*hold)(struct errand__slot *slot);
  errand__wheel wheel;
} errand__agenda;

/* Has the loop look at the transfer's pause before its turn ends. Before a
   transfer has a connection libcurl refuses to pause it, or forgets that it
   did: on_ready of sockets.c reviews such a transfer. */
static inline void errand__agenda_review(errand__agenda *agenda,
                                         errand__transfer *transfer) {
  if (transfer->in_review || transfer->phase < ERRAND__SENDING ||
      transfer->phase == ERRAND__FINISHED)
    return;
  transfer->in_review = true;
  errand__list_append(&agenda->review, &transfer->review_link);
}

/* Has the loop report the transfer's chunk or credit before its turn ends. */
static inline void errand__agenda_flush(errand__agenda *agenda,
                                        errand__transfer *transfer) {
  if (transfer->in_flush)
    return;
  transfer->in_flush = true;
  errand__list_append(&agenda->flush, &transfer->flush_link);
}

#endif
