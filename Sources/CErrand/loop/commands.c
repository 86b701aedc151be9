#include "loop/commands.h"

#include "loop/admission.h"
#include "loop/finish.h"
#include "loop/pauses.h"
#include "loop/report.h"
#include "loop/transfers.h"
#include "queue/command.h"
#include "transfer/deadline.h"
#include "transfer/source.h"

static void take_on(errand__loop *loop, errand__transfer *t) {
  const errand_group_init *init = &loop->shared->init;
  errand__limit_default(&t->limits.header_bytes, init->limit_header_bytes);
  errand__limit_default(&t->limits.header_count, init->limit_header_count);
  errand__limit_default(&t->limits.body_bytes, init->limit_body_bytes);
  errand__limit_default(&t->limits.decoded_bytes, init->limit_decoded_bytes);
  if (!errand__records_reserve(&loop->agenda.records, 1) ||
      !errand__transfers_add(loop, t)) {
    errand__deliver_refusal(loop, t, ERRAND_OUT_OF_MEMORY);
    return;
  }
  t->phase = ERRAND__PARKED; /* not in a queue yet */
  if (!errand__admission_enqueue(loop, t))
    errand__finish(loop, t, ERRAND_OUT_OF_MEMORY, CURLE_OK);
  else
    errand__deadline_set(&loop->agenda, t);
}

static void obey(errand__loop *loop, errand__transfer *t,
                 errand__order *order) {
  errand_status status = ERRAND_OK;
  switch (order->command.kind) {
  case ERRAND__COMMAND_CANCEL:
    status = ERRAND_CANCELLED;
    break;
  case ERRAND__COMMAND_PAUSE:
  case ERRAND__COMMAND_RESUME:
    errand__set_paused(loop, t, order->command.kind == ERRAND__COMMAND_PAUSE);
    break;
  case ERRAND__COMMAND_GRANT:
    errand__credit_grant(loop, t, order->amount);
    break;
  case ERRAND__COMMAND_UPLOAD_WRITE:
    status = t->upload.source ? errand__source_write(t->upload.source, order)
                              : ERRAND_INVALID_BODY;
    if (t->upload.source)
      order = NULL; /* the source's now */
    errand__agenda_review(&loop->agenda, t);
    break;
  case ERRAND__COMMAND_UPLOAD_FINISH:
    status = t->upload.source ? errand__source_finish(t->upload.source)
                              : ERRAND_INVALID_BODY;
    errand__agenda_review(&loop->agenda, t);
    break;
  case ERRAND__COMMAND_UPLOAD_FAIL:
    status = ERRAND_UPLOAD_FAILED;
    break;
  case ERRAND__COMMAND_SUBMIT:
    break;
  }
  errand__order_free(order);
  if (status != ERRAND_OK)
    errand__finish(loop, t, status, CURLE_OK);
}

static void run(errand__loop *loop, errand__queue_node *node) {
  while (node) {
    errand__command *command = (errand__command *) (void *) node;
    node = node->next;
    if (command->kind == ERRAND__COMMAND_SUBMIT) {
      take_on(loop, (errand__transfer *) (void *) command);
      continue;
    }
    errand__order *order = (errand__order *) (void *) command;
    errand__transfer *t = errand__transfers_find(loop, order->id);
    if (t)
      obey(loop, t, order);
    else
      errand__order_free(order); /* it has ended */
  }
}

bool errand__commands_run(errand__loop *loop) {
  errand__queue_node *first = errand__queue_take(&loop->queue);
  run(loop, first);
  return first != NULL;
}

void errand__commands_close(errand__loop *loop) {
  run(loop, errand__queue_close(&loop->queue));
}
