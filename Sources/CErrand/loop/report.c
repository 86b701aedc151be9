#include "loop/report.h"

#include "loop/finish.h"
#include "transfer/payload.h"
#include "transfer/source.h"

bool errand__report(errand__loop *loop, errand__transfer *t) {
  if (t->response.payload && errand__head_was_sent(t)) {
    if (!errand__records_reserve(&loop->agenda.records, 1))
      return false;
    errand_record *record =
        errand__records_add(&loop->agenda.records, t->id, t->tag);
    record->kind = ERRAND_RECORD_CHUNK;
    record->payload = t->response.payload;
    record->bytes_received = errand_payload_body(record->payload).length;
    t->response.payload = NULL;
  }
  if (t->upload.source) {
    if (!errand__records_reserve(&loop->agenda.records, 1))
      return false;
    uint64_t credit = errand__source_take_credit(t->upload.source);
    if (credit > 0) {
      errand_record *record =
          errand__records_add(&loop->agenda.records, t->id, t->tag);
      record->kind = ERRAND_RECORD_UPLOAD_CREDIT;
      record->bytes_sent = credit;
    }
  }
  return true;
}

bool errand__report_event(errand__loop *loop, const errand__transfer *t,
                          errand_record_kind kind) {
  if (!errand__records_reserve(&loop->agenda.records, 1))
    return false;
  errand_record *record =
      errand__records_add(&loop->agenda.records, t->id, t->tag);
  record->kind = (int32_t) kind;
  if (kind == ERRAND_RECORD_STARTED)
    record->timings.queue = (t->started_ns - t->submitted_ns) / 1000;
  return true;
}

void errand__report_all(errand__loop *loop) {
  errand__list *l;
  while ((l = errand__list_pop(&loop->agenda.flush)) != NULL) {
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
  loop->shared->init.on_records(loop->shared->init.context, records, count);
}

bool errand__deliver(errand__loop *loop) {
  size_t count = loop->agenda.records.count;
  if (count == 0)
    return false;
  loop->agenda.records.count = 0;
  hand_over(loop, loop->agenda.records.list, count);
  return true;
}

void errand__deliver_refusal(errand__loop *loop, errand__transfer *t,
                             errand_status status) {
  errand_record record = {.id = t->id,
                          .tag = t->tag,
                          .kind = ERRAND_RECORD_COMPLETION,
                          .status = status};
  errand__queued_remove(loop->shared, t->priority);
  errand__transfer_free(t);
  hand_over(loop, &record, 1);
}
