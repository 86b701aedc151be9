#include "loop/report.h"

#include <string.h>

#include "base/mem.h"
#include "group/group.h"
#include "loop/finish.h"
#include "transfer/payload.h"
#include "transfer/source.h"

bool errand__loop_reserve_records(errand__loop *loop, size_t extra) {
  size_t needed = loop->record_count + loop->live + extra;
  if (needed <= loop->record_capacity)
    return true;
  size_t capacity = loop->record_capacity ? loop->record_capacity * 2 : 64;
  while (capacity < needed)
    capacity *= 2;
  errand_record *records =
      errand__realloc(loop->records, capacity * sizeof *records);
  if (!records)
    return false;
  loop->records = records;
  loop->record_capacity = capacity;
  return true;
}

errand_record *errand__loop_add_record(errand__loop *loop, uint64_t id,
                                       uint64_t tag) {
  errand_record *record = &loop->records[loop->record_count++];
  memset(record, 0, sizeof *record);
  record->id = id;
  record->tag = tag;
  return record;
}

void errand__loop_flush_later(errand__loop *loop, errand__transfer *t) {
  if (t->in_flush)
    return;
  t->in_flush = true;
  errand__list_append(&loop->flush, &t->flush_link);
}

bool errand__report(errand__loop *loop, errand__transfer *t) {
  if (t->payload && t->head_sent) {
    if (!errand__loop_reserve_records(loop, 1))
      return false;
    errand_record *record = errand__loop_add_record(loop, t->id, t->tag);
    record->kind = ERRAND_RECORD_CHUNK;
    record->payload = t->payload;
    record->bytes_received = t->payload->body_length;
    t->payload = NULL;
  }
  if (t->source) {
    if (!errand__loop_reserve_records(loop, 1))
      return false;
    uint64_t credit = errand__source_take_credit(t->source);
    if (credit > 0) {
      errand_record *record = errand__loop_add_record(loop, t->id, t->tag);
      record->kind = ERRAND_RECORD_UPLOAD_CREDIT;
      record->bytes_sent = credit;
    }
  }
  return true;
}

bool errand__report_event(errand__loop *loop, const errand__transfer *t,
                          errand_record_kind kind) {
  if (!errand__loop_reserve_records(loop, 1))
    return false;
  errand_record *record = errand__loop_add_record(loop, t->id, t->tag);
  record->kind = (int32_t) kind;
  if (kind == ERRAND_RECORD_STARTED)
    record->timings.queue = (t->started_ns - t->submitted_ns) / 1000;
  return true;
}

void errand__report_all(errand__loop *loop) {
  errand__list *l;
  while ((l = errand__list_pop(&loop->flush)) != NULL) {
    errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, flush_link);
    t->in_flush = false;
    if (!errand__report(loop, t))
      errand__finish(loop, t, ERRAND_OUT_OF_MEMORY, CURLE_OK);
  }
}

static void hand_over(errand__loop *loop, errand_record *records,
                      size_t count) {
  uint64_t completed = 0;
  for (size_t i = 0; i < count; i++)
    completed += records[i].kind == ERRAND_RECORD_COMPLETION;
  errand__counter_bump(&loop->counters.completed, completed);
  errand__counter_bump(&loop->counters.batches, 1);
  errand__counter_sub(&loop->load, completed);
  loop->group->init.on_records(loop->group->init.context, records, count);
}

bool errand__deliver(errand__loop *loop) {
  size_t count = loop->record_count;
  if (count == 0)
    return false;
  loop->record_count = 0;
  hand_over(loop, loop->records, count);
  return true;
}

void errand__deliver_refusal(errand__loop *loop, errand__transfer *t,
                             errand_status status) {
  errand_record record = {.id = t->id,
                          .tag = t->tag,
                          .kind = ERRAND_RECORD_COMPLETION,
                          .status = status};
  errand__counter_sub(&loop->group->queued, 1);
  errand__transfer_free(t);
  hand_over(loop, &record, 1);
}
