/* The meaning of an errno for the caller. */
#ifndef ERRAND_BASE_OPEN_ERROR_H
#define ERRAND_BASE_OPEN_ERROR_H

#include <errno.h>
#include <stdbool.h>

#include "include/errand_status.h"

/* Whether the process (EMFILE) or the system (ENFILE) has no descriptor left.
 */
static inline bool errand__lacks_descriptors(int error) {
  return error == EMFILE || error == ENFILE;
}

/* The errno of a failed open() for reading.
   Returns: FILE_UNREADABLE, OUT_OF_DESCRIPTORS. */
static inline errand_status errand__open_error(int error) {
  return errand__lacks_descriptors(error) ? ERRAND_OUT_OF_DESCRIPTORS
                                          : ERRAND_FILE_UNREADABLE;
}

#endif
