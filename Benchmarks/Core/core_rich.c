#include "core_rich.h"
#include "support/rich_fields.h"

#include <stdlib.h>
#include <string.h>

char *core_rich_set(errand_request *item) {
  size_t length = 0, used = 0;
  char *fields;
  for (size_t i = 0; i < BENCH_RICH_FIELDS; i++)
    length += strlen(bench_rich_fields[i]) + 2;
  fields = malloc(length);
  if (fields == NULL)
    return NULL;
  for (size_t i = 0; i < BENCH_RICH_FIELDS; i++) {
    size_t size = strlen(bench_rich_fields[i]);
    memcpy(fields + used, bench_rich_fields[i], size);
    memcpy(fields + used + size, "\r\n", 2);
    used += size + 2;
  }
  item->headers = (errand_bytes){(const uint8_t *) fields, length};
  item->timeout_connect = 10000;
  item->timeout_first_byte = 30000;
  item->timeout_idle = 60000;
  item->timeout_total = 60000;
  return fields;
}
