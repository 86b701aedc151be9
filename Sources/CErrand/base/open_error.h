/* What a failed open() of a file that is to be read means. */
#ifndef ERRAND_BASE_OPEN_ERROR_H
#define ERRAND_BASE_OPEN_ERROR_H

#include <errno.h>

#include "include/errand_status.h"

/* `error`: errno. Returns: FILE_UNREADABLE, OUT_OF_DESCRIPTORS. */
static inline errand_status errand__open_error(int error) {
  return error == EMFILE || error == ENFILE ? ERRAND_OUT_OF_DESCRIPTORS
                                            : ERRAND_FILE_UNREADABLE;
}

#endif
