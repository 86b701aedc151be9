/*
 * The work that the transfers of a loop leave for the rest of the loop's turn.
 *
 * libcurl's callbacks run inside calls of libcurl, so they only arm deadlines,
 * put transfers on lists and write records here. The loop acts on these
 * afterwards.
 *
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
  uint64_t now_ms;     /* when the present round began; the clock of uv_now */
  errand__list review; /* transfers whose pause may have to change */
  errand__list flush;  /* transfers with a chunk or credit to report */
  errand__records records;
  /* errand__shard_hold of the loop; called when the pause of a slot changes */
  void (*hold)(struct errand__slot *slot);
  errand__wheel wheel;
} errand__agenda;

/* Has the loop look at the transfer's pause before its turn ends. Nothing is
   done before the transfer has a connection: libcurl would refuse the pause, or
   forget it. on_ready of sockets.c reviews the transfer then. */
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
