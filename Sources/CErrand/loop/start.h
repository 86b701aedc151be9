/* The start of a transfer: from waiting to inside libcurl. */
#ifndef ERRAND_LOOP_START_H
#define ERRAND_LOOP_START_H

#include "loop/loop.h"

/* Gives a transfer to libcurl. Where that fails the transfer ends at once. */
void errand__transfer_start(errand__loop *loop, errand__transfer *transfer);

/* Gives a transfer to libcurl once more, after there was no descriptor for
   that. The transfer may end. */
void errand__transfer_enter(errand__loop *loop, errand__transfer *transfer);

/* The transfer has left libcurl. */
void errand__text_left(errand__loop *loop, const errand__transfer *transfer);

#endif
