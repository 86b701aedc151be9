#include "loop/unreachable.h"

#include <errno.h>

#include "base/open_error.h"
#include "loop/admission.h"
#include "loop/finish.h"
#include "transfer/payload.h"

static const char not_tried[] =
    "the request was not tried: earlier connections to its host failed";

/* How long the request gives the host. Without a timeout, libcurl's own limit
   of 300 s counts as longer than any that callers set. */
static int64_t patience_of(const errand__transfer *t) {
  return t->timeouts.connect > 0 ? t->timeouts.connect : INT64_MAX;
}

/* Whether a failure to connect says something about the host.
   Returns: the time that the host was given; the failure counts for requests
   that would give it no more. 0: it says nothing about the host. A lack of
   descriptors or memory is a local problem, and a refusal by the address filter
   may be about one request. */
static int64_t verdict(const errand__transfer *t, const errand_record *record) {
  int error = record->os_error;
  if (errand__lacks_descriptors(error) || error == ENOBUFS || error == ENOMEM)
    return 0;
  switch (record->status) {
  case ERRAND_RESOLVE_FAILED:
  case ERRAND_CONNECT_FAILED:
    return INT64_MAX;
  case ERRAND_TIMEOUT_CONNECT:
    return patience_of(t);
  default:
    return 0;
  }
}

void errand__origin_failed(errand__loop *loop, errand__origin *o,
                           const errand__transfer *t,
                           const errand_record *record) {
  bool is_ours = loop->agenda.now_ms < loop->descriptors_short_until_ms;
  int64_t patience = is_ours ? 0 : verdict(t, record);
  if (patience > 0 &&
      (o->failure == ERRAND_OK || patience > o->failure_patience)) {
    o->failure = record->status;
    o->failure_patience = patience;
  }
  /* The requests are not ended here, within the end of another request. */
  if (o->failure != ERRAND_OK && o->connecting == 0 &&
      errand__list_is_empty(&o->unreachable_link))
    errand__list_append(&loop->unreachable, &o->unreachable_link);
}

static void end_waiting(errand__loop *loop, errand__origin *o,
                        errand_status failure, int64_t patience) {
  for (int i = 0; i < ERRAND__PRIORITIES; i++)
    for (errand__list *l = o->waiting[i].next; l != &o->waiting[i];) {
      errand__transfer *t = ERRAND__CONTAINER(l, errand__transfer, link);
      l = l->next;
      if (patience_of(t) > patience)
        continue;
      t->response.payload =
          errand__payload_create(NULL, 0, NULL, sizeof not_tried);
      if (t->response.payload)
        (void) errand__payload_set_text(&t->response.payload, not_tried);
      errand__finish(loop, t, failure, CURLE_OK);
    }
}

bool errand__unreachable_run(errand__loop *loop) {
  bool any = false;
  errand__list *l;
  while ((l = errand__list_pop(&loop->unreachable)) != NULL) {
    errand__origin *o = ERRAND__CONTAINER(l, errand__origin, unreachable_link);
    errand_status failure = o->failure;
    /* Requests that are left try the host again. */
    o->failure = ERRAND_OK;
    end_waiting(loop, o, failure, o->failure_patience);
    errand__admission_refresh(loop, o);
    any = true;
  }
  return any;
}
