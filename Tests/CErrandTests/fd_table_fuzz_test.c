/* Timeout: 240 s */
/* The fd table against a kernel and a libcurl of this test's own, in which
   events come late, twice, in any order and for sockets that are gone, and
   libcurl closes sockets in silence as 7.88.1 does. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop/fd_table.h"
#include "support/random.h"
#include "support/test.h"

#define NUMBERS 12 /* descriptors: few, so that they are used again at once */
#define OWNERS 3
#define REGISTRATIONS 64
#define EVENTS 64

enum { READY_IN = 1, READY_OUT = 2, READY_HANG_UP = 4 };

typedef enum socket_kind {
  CLOSED = 0,
  OURS,    /* opened through errand__fd_opened */
  FOREIGN, /* libcurl's own: a resolver's socket pair */
  STRANGER /* another thread's; not libcurl's at all */
} socket_kind;

typedef struct socket_model {
  socket_kind kind;
  uint64_t identity;
  unsigned ready;
  unsigned want; /* libcurl's interest */
  int owner;     /* of the interest, or the last one */
  bool connecting;
  bool lasting; /* libcurl's own, for its multi handle's life */
  bool held;    /* not to be read, whatever libcurl's interest */
} socket_model;

typedef struct registration {
  uint64_t identity;
  int fd;
  unsigned armed;
  uint64_t key;
} registration;

typedef struct event {
  uint64_t key;
  uint64_t identity;
  unsigned ready;
} event;

typedef struct world {
  random_source random;
  errand__fd_table table;
  socket_model sockets[NUMBERS];
  registration set[REGISTRATIONS]; /* the kernel's */
  size_t registered;
  event queue[EVENTS];
  size_t queued;
  uint64_t next_identity;
  uint64_t opened;
  uint64_t controls;
  bool leaky;   /* a forked child keeps closed sockets registered */
  bool failing; /* ADD is refused now and then */
  bool refused; /* the last control call was */
  char owners[OWNERS];
  uint64_t step;
} world;

/* Which step of which seed; cmocka has the line. */
#define CHECK(w, condition)                                                    \
  do {                                                                         \
    if (!(condition))                                                          \
      fail_msg("step %llu: %s", (unsigned long long) (w)->step, #condition);   \
  } while (0)

static void *owner_of(world *w, int index) {
  return &w->owners[index];
}

/* What libcurl may be told of. */
static unsigned told(const socket_model *s) {
  return s->held ? s->want & ~(unsigned) ERRAND__FD_IN : s->want;
}

static registration *find(world *w, uint64_t identity) {
  for (size_t i = 0; i < w->registered; i++)
    if (w->set[i].identity == identity)
      return &w->set[i];
  return NULL;
}

static void unregister(world *w, uint64_t identity) {
  registration *r = find(w, identity);
  if (r != NULL)
    *r = w->set[--w->registered];
}

/* epoll_ctl, whose registrations belong to sockets, not to numbers. */
static int control(void *context, errand__fd_operation operation, int fd,
                   unsigned directions, uint64_t key) {
  world *w = context;
  socket_model *s = &w->sockets[fd];
  w->controls++;
  CHECK(w, fd >= 0 && fd < NUMBERS);
  if (s->kind == CLOSED)
    return -EBADF;
  registration *r = find(w, s->identity);
  switch (operation) {
  case ERRAND__FD_ADD:
    if (r != NULL)
      return -EEXIST;
    if (w->failing && random_below(&w->random, 50) == 0) {
      w->refused = true;
      return -ENOSPC;
    }
    CHECK(w, w->registered < REGISTRATIONS);
    CHECK(w, s->kind != STRANGER);
    w->set[w->registered++] = (registration){s->identity, fd, directions, key};
    return 0;
  case ERRAND__FD_MODIFY:
    if (r == NULL)
      return -ENOENT;
    r->armed = directions;
    r->key = key;
    return 0;
  case ERRAND__FD_DELETE:
    if (r == NULL)
      return -ENOENT;
    unregister(w, s->identity);
    return 0;
  }
  return -EINVAL;
}

static uint64_t identity(void *context, int fd) {
  world *w = context;
  CHECK(w, fd >= 0 && fd < NUMBERS);
  return w->sockets[fd].identity;
}

/* The kernel gives the lowest number that is free. */
static int open_number(world *w, socket_kind kind) {
  for (int fd = 0; fd < NUMBERS; fd++) {
    if (w->sockets[fd].kind != CLOSED)
      continue;
    w->sockets[fd] =
        (socket_model){.kind = kind, .identity = ++w->next_identity};
    return fd;
  }
  return -1;
}

static void close_number(world *w, int fd) {
  socket_model *s = &w->sockets[fd];
  if (!w->leaky || random_below(&w->random, 2) == 0)
    unregister(w, s->identity);
  *s = (socket_model){0};
}

static void close_told(world *w, int fd) {
  errand__fd_closing(&w->table, fd);
  close_number(w, fd);
}

/* What errand__collect does with a broken shard. */
static void discard(world *w, int owner) {
  for (int fd = 0; fd < NUMBERS; fd++) {
    socket_model *s = &w->sockets[fd];
    if (s->kind == CLOSED || s->kind == STRANGER || s->owner != owner)
      continue;
    if (s->kind == OURS && !s->connecting)
      errand__fd_closing(&w->table, fd);
    close_number(w, fd);
  }
  errand__fd_purge(&w->table, owner_of(w, owner));
}

static void watch(world *w, int fd, unsigned want) {
  socket_model *s = &w->sockets[fd];
  w->refused = false;
  s->want = want;
  if (s->connecting && (want & ERRAND__FD_IN))
    s->connecting = false;
  bool ok = errand__fd_watch(&w->table, fd, want, owner_of(w, s->owner));
  CHECK(w, ok != w->refused);
  if (!ok)
    discard(w, s->owner);
}

static void open_ours(world *w) {
  int fd = open_number(w, OURS);
  if (fd < 0)
    return;
  socket_model *s = &w->sockets[fd];
  s->owner = (int) random_below(&w->random, OWNERS);
  s->connecting = true;
  w->opened++;
  w->refused = false;
  bool ok = errand__fd_opened(&w->table, fd, owner_of(w, s->owner));
  CHECK(w, ok != w->refused);
  if (ok)
    watch(w, fd, ERRAND__FD_OUT);
  else
    discard(w, s->owner);
}

/* In one step libcurl closes a socket and opens another, which gets the same
   number: it sees no change in what it wants, and tells of nothing. */
static void exchange(world *w, int fd) {
  socket_model *s = &w->sockets[fd];
  socket_model before = *s;
  close_number(w, fd);
  *s = (socket_model){.kind = OURS,
                      .identity = ++w->next_identity,
                      .want = before.want,
                      .owner = before.owner,
                      .connecting = true};
  w->opened++;
  w->refused = false;
  bool ok = errand__fd_opened(&w->table, fd, owner_of(w, s->owner));
  CHECK(w, ok != w->refused);
  if (!ok)
    discard(w, s->owner);
}

static void open_foreign(world *w) {
  int fd = open_number(w, FOREIGN);
  if (fd < 0)
    return;
  socket_model *s = &w->sockets[fd];
  s->owner = (int) random_below(&w->random, OWNERS);
  watch(w, fd, ERRAND__FD_IN);
  if (s->kind == FOREIGN && random_below(&w->random, 4) == 0) {
    s->lasting = true;
    errand__fd_keep(&w->table, fd);
  }
}

/* Its transfer is paused, or goes on. */
static void hold(world *w, int fd) {
  socket_model *s = &w->sockets[fd];
  s->held = !s->held && s->want != 0;
  w->refused = false;
  bool ok = errand__fd_hold(&w->table, fd, s->held);
  CHECK(w, ok != w->refused);
  if (!ok)
    discard(w, s->owner);
}

/* libcurl's step on one socket. */
static void use(world *w, int fd) {
  socket_model *s = &w->sockets[fd];
  uint64_t choice = random_below(&w->random, 9);
  if (s->kind == CLOSED)
    return;
  if (s->kind == STRANGER) {
    if (choice < 4)
      close_number(w, fd);
    return;
  }
  if (s->kind == FOREIGN) {
    if (s->lasting && choice < 4) {
      s->want = 0;
      errand__fd_unwatch(&w->table, fd);
    } else if (choice < 3) {
      errand__fd_unwatch(&w->table, fd);
      close_number(w, fd);
    } else if (choice < 4) { /* the removal comes after the close */
      close_number(w, fd);
      errand__fd_unwatch(&w->table, fd);
    } else {
      watch(w, fd, 1 + (unsigned) random_below(&w->random, 3));
    }
    return;
  }
  if (s->connecting && choice == 0) {
    if (random_below(&w->random, 2) == 0) {
      exchange(w, fd);
      return;
    }
    close_number(w, fd); /* in silence */
    if (random_below(&w->random, 2) == 0)
      errand__fd_unwatch(&w->table, fd);
  } else if (s->connecting && choice == 4) {
    /* And may be read from before it is wanted for that. */
    s->connecting = false;
    errand__fd_connected(&w->table, fd);
  } else if (choice == 8 && !s->connecting) {
    hold(w, fd);
  } else if (choice == 1) {
    close_told(w, fd);
  } else if (choice < 4) {
    s->want = 0;
    s->held = false;
    errand__fd_unwatch(&w->table, fd);
  } else {
    /* A kept connection is taken up by a request of its own shard. */
    watch(w, fd, 1 + (unsigned) random_below(&w->random, 3));
  }
}

static unsigned reported(const socket_model *s, const registration *r) {
  return s->ready & (r->armed | READY_HANG_UP);
}

/* A socket's number, or -1 where only a child has it. */
static int number_of(const world *w, uint64_t identity) {
  for (int fd = 0; fd < NUMBERS; fd++)
    if (w->sockets[fd].kind != CLOSED && w->sockets[fd].identity == identity)
      return fd;
  return -1;
}

static void put(world *w, event e) {
  if (w->queued < EVENTS)
    w->queue[w->queued++] = e;
}

/* epoll_wait, into a queue that may be served much later. */
static void collect(world *w) {
  for (size_t i = 0; i < w->registered; i++) {
    const registration *r = &w->set[i];
    int fd = number_of(w, r->identity);
    unsigned ready = fd < 0 ? READY_HANG_UP : reported(&w->sockets[fd], r);
    if (ready == 0)
      continue;
    put(w, (event){r->key, r->identity, ready});
    if (random_below(&w->random, 8) == 0)
      put(w, (event){r->key, r->identity, ready});
  }
}

static void check_verdict(world *w, const event *e, errand__fd_verdict verdict,
                          void *owner, unsigned wanted) {
  int fd = errand__fd_of_key(e->key);
  const socket_model *s = &w->sockets[fd];
  bool stale = s->kind == CLOSED || s->identity != e->identity;
  switch (verdict) {
  case ERRAND__FD_DELIVER:
    if (stale) {
      /* The table was not told yet. libcurl ignores such a descriptor; it
         must only not be one that libcurl uses anew. */
      CHECK(w, w->table.entries[fd].connecting);
      CHECK(w, s->kind == CLOSED || s->kind == STRANGER);
      break;
    }
    CHECK(w, told(s) != 0);
    CHECK(w, owner == owner_of(w, s->owner));
    CHECK(w, wanted != 0);
    CHECK(w, (wanted & ~told(s)) == 0);
    break;
  case ERRAND__FD_HUNG_UP:
    CHECK(w, !stale);
    CHECK(w, s->kind == OURS);
    CHECK(w, told(s) == 0);
    CHECK(w, owner == owner_of(w, s->owner));
    break;
  case ERRAND__FD_IGNORE:
    break;
  }
}

/* One event of the queue, any one of it. */
static void serve(world *w) {
  if (w->queued == 0)
    return;
  size_t at = (size_t) random_below(&w->random, w->queued);
  event e = w->queue[at];
  if (random_below(&w->random, 16) != 0) /* or it comes again */
    w->queue[at] = w->queue[--w->queued];
  void *owner = NULL;
  unsigned wanted = 0;
  w->refused = false;
  errand__fd_verdict verdict =
      errand__fd_event(&w->table, e.key, e.ready & 3u,
                       (e.ready & READY_HANG_UP) != 0, &owner, &wanted);
  check_verdict(w, &e, verdict, owner, wanted);
  registration *r = find(w, e.identity);
  int fd = number_of(w, e.identity);
  /* What nobody wants is silenced by its first event: no spinning. */
  if (verdict != ERRAND__FD_DELIVER && r != NULL && fd >= 0 && r->key == e.key)
    CHECK(w, (e.ready & (r->armed | READY_HANG_UP)) == 0 || r->armed == 0);
}

/* No interest of libcurl's is without a registration that would report it. */
static void check_all(world *w) {
  uint64_t ours = 0;
  for (int fd = 0; fd < NUMBERS; fd++) {
    const socket_model *s = &w->sockets[fd];
    ours += s->kind == OURS;
    if (s->kind == CLOSED || s->kind == STRANGER || told(s) == 0)
      continue;
    const registration *r = find(w, s->identity);
    CHECK(w, r != NULL);
    CHECK(w, (r->armed & told(s)) == told(s));
    const errand__fd_entry *entry = &w->table.entries[fd];
    CHECK(w, entry->registered);
    CHECK(w, r->key == (((uint64_t) entry->generation << 32) | (uint32_t) fd));
    CHECK(w, entry->owner == owner_of(w, s->owner));
  }
  for (size_t i = 0; !w->leaky && i < w->registered; i++)
    CHECK(w, number_of(w, w->set[i].identity) >= 0);
  CHECK(w, w->table.opened == w->opened);
  CHECK(w, w->table.open >= ours); /* those closed in silence still count */
}

static void rearm(world *w) {
  w->registered = 0; /* the kernel's set is a new one */
  errand__fd_rearm(&w->table);
}

static void sweep(world *w) {
  uint64_t ours = 0;
  errand__fd_sweep(&w->table);
  for (int fd = 0; fd < NUMBERS; fd++)
    ours += w->sockets[fd].kind == OURS;
  CHECK(w, w->table.open == ours);
}

static void step(world *w) {
  int fd = (int) random_below(&w->random, NUMBERS);
  switch (random_below(&w->random, 16)) {
  case 0:
  case 1:
    open_ours(w);
    break;
  case 2:
    open_foreign(w);
    break;
  case 3:
    (void) open_number(w, STRANGER);
    break;
  case 4:
  case 5:
    if (w->sockets[fd].kind != CLOSED)
      w->sockets[fd].ready = (unsigned) random_below(&w->random, 8);
    break;
  case 6:
  case 7:
    collect(w);
    break;
  case 8:
  case 9:
  case 10:
    serve(w);
    break;
  case 11:
    if (random_below(&w->random, 16) == 0)
      sweep(w);
    break;
  case 12:
    if (random_below(&w->random, 64) == 0)
      discard(w, (int) random_below(&w->random, OWNERS));
    else if (w->leaky && random_below(&w->random, 64) == 0)
      rearm(w);
    break;
  default:
    use(w, fd);
  }
}

static void run_world(uint64_t seed, bool leaky, bool failing) {
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->random.state = seed;
  w->leaky = leaky;
  w->failing = failing;
  errand__fd_table_init(&w->table, (errand__fd_kernel){control, identity, w});
  for (w->step = 0; w->step < 2000; w->step++) {
    step(w);
    check_all(w);
    /* A child that keeps every socket would fill the set without end. */
    if (w->registered > REGISTRATIONS / 2)
      rearm(w);
  }
  /* Quiet again: everything is served, every registration is a live one. */
  for (int i = 0; i < OWNERS; i++)
    discard(w, i);
  w->leaky = false;
  for (int fd = 0; fd < NUMBERS; fd++)
    if (w->sockets[fd].kind != CLOSED)
      close_number(w, fd);
  errand__fd_sweep(&w->table);
  CHECK(w, w->table.open == 0);
  errand__fd_table_free(&w->table);
  free(w);
}

static void run_worlds(uint64_t otherwise, bool leaky, bool failing) {
  uint64_t seed = random_seed(otherwise);
  for (uint64_t i = 0; i < 400; i++)
    run_world(seed + i, leaky, failing);
}

static void events_in_any_order(void **state) {
  (void) state;
  run_worlds(1, false, false);
}

static void registrations_that_outlive_their_socket(void **state) {
  (void) state;
  run_worlds(10000, true, false);
}

static void a_kernel_that_refuses(void **state) {
  (void) state;
  run_worlds(20000, false, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_in_any_order),
      cmocka_unit_test(registrations_that_outlive_their_socket),
      cmocka_unit_test(a_kernel_that_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
