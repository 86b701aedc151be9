/* The end of requests that wait for a host which cannot be reached. */
#ifndef ERRAND_LOOP_UNREACHABLE_H
#define ERRAND_LOOP_UNREACHABLE_H

#include "loop/origin.h"

/* A started transfer ended before it had a connection. */
void errand__origin_failed(errand__loop *loop, errand__origin *origin,
                           const errand__transfer *transfer,
                           const errand_record *record);

/* Ends the requests that wait for hosts which cannot be reached.
   Returns: whether any ended. */
bool errand__unreachable_run(errand__loop *loop);

#endif
