#include "support/loan.h"

#include <stdlib.h>
#include <string.h>

typedef struct loan {
  _Atomic uint64_t *released;
  size_t length;
  uint8_t bytes[];
} loan;

static void on_release(void *context) {
  loan *given = context;
  _Atomic uint64_t *released = given->released;
  memset(given->bytes, 0xee, given->length);
  free(given);
  /* Last: whoever sees the count may end the test. */
  atomic_fetch_add(released, 1);
}

errand_status test_lend(errand_group *group, uint64_t id, errand_bytes bytes,
                        _Atomic uint64_t *released) {
  loan *given = malloc(sizeof *given + bytes.length);
  if (!given)
    abort(); /* cmocka's asserts belong to the main thread */
  given->released = released;
  given->length = bytes.length;
  if (bytes.length > 0)
    memcpy(given->bytes, bytes.data, bytes.length);
  return errand_upload_lend(
      group, id, (errand_bytes){given->bytes, bytes.length}, on_release, given);
}
