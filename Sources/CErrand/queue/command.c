#include "queue/command.h"

#include "base/mem.h"

errand__order *errand__order_create(errand__command_kind kind, uint64_t id,
                                    uint64_t amount, size_t room) {
  errand__order *order = errand__malloc(sizeof *order + room);
  if (!order)
    return NULL;
  *order =
      (errand__order){.command = {.kind = kind}, .id = id, .amount = amount};
  return order;
}

void errand__order_free(errand__order *order) {
  if (order && order->release)
    order->release(order->release_context);
  errand__free(order);
}
