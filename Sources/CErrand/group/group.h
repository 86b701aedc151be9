/* A group's own state. */
#ifndef ERRAND_GROUP_GROUP_H
#define ERRAND_GROUP_GROUP_H

#include "loop/loop.h"

struct errand_group {
  errand__shared shared;                      /* with its loops */
  _Alignas(64) errand__counter next_sequence; /* submitters */
  errand__counter refused; /* ids whose requests a loop refused */
  errand__loop loops[];    /* shared.loop_count of them */
};

#endif
