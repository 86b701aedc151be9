/* A rich request of the core: fields joined for each request anew, and the four
   deadlines, each by its own clock. */
#ifndef BENCH_CORE_RICH_H
#define BENCH_CORE_RICH_H

#include "CErrand.h"

/* Returns: the fields, for free() once the request is submitted; NULL: out of
   memory. */
char *core_rich_set(errand_request *item);

#endif
