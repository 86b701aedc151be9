#include "transfer/records.h"

#include <string.h>

#include "base/mem.h"

bool errand__records_reserve(errand__records *records, size_t extra) {
  size_t needed = records->count + records->live + extra;
  if (needed <= records->capacity)
    return true;
  size_t capacity = records->capacity ? records->capacity * 2 : 64;
  while (capacity < needed)
    capacity *= 2;
  errand_record *list = errand__realloc(records->list, capacity * sizeof *list);
  if (!list)
    return false;
  records->list = list;
  records->capacity = capacity;
  return true;
}

errand_record *errand__records_add(errand__records *records, uint64_t id,
                                   uint64_t tag) {
  errand_record *record = &records->list[records->count++];
  memset(record, 0, sizeof *record);
  record->id = id;
  record->tag = tag;
  return record;
}
