#include "loop/fd_table.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_CAPACITY 64

void errand__fd_table_init(errand__fd_table *table, errand__fd_kernel kernel) {
  *table = (errand__fd_table){.kernel = kernel};
}

void errand__fd_table_free(errand__fd_table *table) {
  errand__free(table->entries);
  table->entries = NULL;
  table->capacity = 0;
}

static errand__fd_entry *find(errand__fd_table *table, int fd) {
  if (fd < 0 || (size_t) fd >= table->capacity)
    return NULL;
  return &table->entries[fd];
}

static errand__fd_entry *find_or_grow(errand__fd_table *table, int fd) {
  if (fd < 0)
    return NULL;
  if ((size_t) fd >= table->capacity) {
    size_t capacity = table->capacity ? table->capacity : FIRST_CAPACITY;
    while ((size_t) fd >= capacity)
      capacity *= 2;
    errand__fd_entry *entries =
        errand__realloc(table->entries, capacity * sizeof *entries);
    if (!entries)
      return NULL;
    memset(entries + table->capacity, 0,
           (capacity - table->capacity) * sizeof *entries);
    table->entries = entries;
    table->capacity = capacity;
  }
  return &table->entries[fd];
}

static uint64_t key_of(const errand__fd_entry *entry, int fd) {
  return ((uint64_t) entry->generation << 32) | (uint32_t) fd;
}

static int control(errand__fd_table *table, errand__fd_operation operation,
                   int fd, unsigned directions, uint64_t key) {
  table->changes++;
  return table->kernel.control(table->kernel.context, operation, fd, directions,
                               key);
}

/* Forgets the registration: later events with its key are stale. */
static void forget(errand__fd_entry *entry) {
  entry->registered = false;
  entry->armed = 0;
  entry->generation++;
}

static void deregister(errand__fd_table *table, errand__fd_entry *entry,
                       int fd) {
  /* ENOENT and EBADF mean that the descriptor was closed without a report, and
     that the kernel has removed it. */
  if (entry->registered)
    (void) control(table, ERRAND__FD_DELETE, fd, 0, 0);
  forget(entry);
}

static void disown(errand__fd_table *table, errand__fd_entry *entry) {
  if (entry->ours)
    table->open--;
  entry->ours = entry->connecting = entry->hung_up = entry->lasting = false;
}

/* Sets libcurl's interest, and with it what the kernel is to be asked for. */
static void ask(errand__fd_entry *entry, unsigned directions) {
  entry->asked = (uint8_t) directions;
  if (directions == 0)
    entry->held = false;
  if (entry->held)
    directions &= ~(unsigned) ERRAND__FD_IN;
  entry->want = (uint8_t) directions;
}

/* Tells the kernel what is wanted, and corrects a registration that the table
   has wrong. */
static bool arm(errand__fd_table *table, errand__fd_entry *entry, int fd) {
  errand__fd_operation operation =
      entry->registered ? ERRAND__FD_MODIFY : ERRAND__FD_ADD;
  if (!entry->registered)
    entry->generation++;
  int error = control(table, operation, fd, entry->want, key_of(entry, fd));
  if (error == -ENOENT || error == -EEXIST) {
    /* The number was reused without a report. */
    entry->generation++;
    operation =
        operation == ERRAND__FD_ADD ? ERRAND__FD_MODIFY : ERRAND__FD_ADD;
    error = control(table, operation, fd, entry->want, key_of(entry, fd));
  }
  if (error != 0) {
    forget(entry);
    return false;
  }
  entry->registered = true;
  entry->armed = entry->want;
  return true;
}

bool errand__fd_opened(errand__fd_table *table, int fd, const void *owner) {
  errand__fd_entry *entry = find_or_grow(table, fd);
  if (!entry)
    return false;
  disown(table, entry);
  forget(entry);
  entry->held = false;
  if (entry->owner != owner)
    entry->owner = NULL;
  ask(entry, entry->owner ? entry->asked : 0);
  entry->ours = entry->connecting = true;
  entry->may_speak = false;
  entry->identity = table->kernel.identity(table->kernel.context, fd);
  table->opened++;
  table->open++;
  return entry->want == 0 || arm(table, entry, fd);
}

void errand__fd_set_may_speak(errand__fd_table *table, int fd, bool may) {
  errand__fd_entry *entry = find(table, fd);
  if (entry)
    entry->may_speak = may;
}

bool errand__fd_may_speak(const errand__fd_table *table, int fd) {
  return (size_t) fd < table->capacity && table->entries[fd].may_speak;
}

void errand__fd_closing(errand__fd_table *table, int fd) {
  errand__fd_entry *entry = find(table, fd);
  if (!entry)
    return;
  /* Done explicitly: a copy of the socket in a forked child would keep the
     registration alive after close(2) (uv#1468). */
  deregister(table, entry, fd);
  disown(table, entry);
  entry->owner = NULL;
  ask(entry, 0);
}

/* Notices when the peer closes a connection that libcurl does not listen to.
   Returns: false if the kernel refuses. Then libcurl notices the close when it
   reads. */
static bool watch_idle(errand__fd_table *table, errand__fd_entry *entry,
                       int fd) {
  if (entry->registered && (entry->armed & ERRAND__FD_IN))
    return true;
  entry->want = ERRAND__FD_IN;
  bool watched = arm(table, entry, fd);
  entry->want = 0;
  return watched;
}

bool errand__fd_watch(errand__fd_table *table, int fd, unsigned want,
                      void *owner) {
  errand__fd_entry *entry = find_or_grow(table, fd);
  if (!entry)
    return false;
  /* libcurl may have closed a socket that never connected without a report, and
     its number may belong to a resolver's socket pair by now. */
  if (entry->connecting &&
      table->kernel.identity(table->kernel.context, fd) != entry->identity) {
    disown(table, entry);
    forget(entry);
  }
  entry->owner = owner;
  entry->hung_up = false;
  ask(entry, want);
  want = entry->want; /* 0 if reading is held */
  if (entry->connecting && (entry->asked & ERRAND__FD_IN)) {
    entry->connecting = false;
  } else if (want && !entry->connecting && (entry->ours || entry->lasting) &&
             entry->registered && (entry->armed & want) == want) {
    return true;
  }
  if (want == 0)
    return watch_idle(table, entry, fd);
  if (entry->registered && entry->armed == want)
    return true;
  return arm(table, entry, fd);
}

void errand__fd_keep(errand__fd_table *table, int fd) {
  errand__fd_entry *entry = find(table, fd);
  if (entry && !entry->ours)
    entry->lasting = true;
}

bool errand__fd_hold(errand__fd_table *table, int fd, bool held) {
  errand__fd_entry *entry = find(table, fd);
  if (!entry || entry->held == held)
    return true;
  entry->held = held;
  /* If libcurl has no interest, there is nothing to hold or to resume. The
     kernel's registration stays until an unwanted event comes. */
  if (held || entry->asked == 0) {
    ask(entry, entry->asked);
    return true;
  }
  return errand__fd_watch(table, fd, entry->asked, entry->owner);
}

void errand__fd_connected(errand__fd_table *table, int fd) {
  errand__fd_entry *entry = find(table, fd);
  if (entry)
    entry->connecting = false;
}

bool errand__fd_unwatch(errand__fd_table *table, int fd) {
  errand__fd_entry *entry = find(table, fd);
  if (!entry)
    return false;
  ask(entry, 0);
  if (entry->lasting)
    return false;
  if (!entry->ours || entry->connecting) {
    deregister(table, entry, fd);
    entry->owner = NULL;
  } else if (!entry->hung_up) {
    (void) watch_idle(table, entry, fd);
  }
  return entry->connecting;
}

errand__fd_verdict errand__fd_event(errand__fd_table *table, uint64_t key,
                                    unsigned directions, bool failed,
                                    void **owner, unsigned *wanted) {
  int fd = errand__fd_of_key(key);
  errand__fd_entry *entry = find(table, fd);
  if (!entry || !entry->registered || key_of(entry, fd) != key) {
    table->stale++;
    return ERRAND__FD_IGNORE;
  }
  if (failed)
    directions |= entry->want;
  *owner = entry->owner;
  *wanted = directions & entry->want;
  if (*wanted)
    return ERRAND__FD_DELIVER;
  if (entry->want) {
    if (!arm(table, entry, fd)) {
      *wanted = entry->want; /* libcurl finds the error when it reads */
      return ERRAND__FD_DELIVER;
    }
    return ERRAND__FD_IGNORE;
  }
  deregister(table, entry, fd);
  if (entry->ours && entry->owner && !entry->hung_up) {
    entry->hung_up = true;
    return ERRAND__FD_HUNG_UP;
  }
  return ERRAND__FD_IGNORE;
}

static void drop(errand__fd_table *table, errand__fd_entry *entry) {
  disown(table, entry);
  forget(entry);
  entry->owner = NULL;
  ask(entry, 0);
}

void errand__fd_purge(errand__fd_table *table, const void *owner) {
  for (size_t fd = 0; fd < table->capacity; fd++)
    if (table->entries[fd].owner == owner)
      drop(table, &table->entries[fd]);
}

void errand__fd_sweep(errand__fd_table *table) {
  for (size_t fd = 0; fd < table->capacity; fd++) {
    errand__fd_entry *entry = &table->entries[fd];
    if (entry->connecting &&
        table->kernel.identity(table->kernel.context, (int) fd) !=
            entry->identity)
      drop(table, entry);
  }
}

void errand__fd_rearm(errand__fd_table *table) {
  errand__fd_sweep(table); /* a number may be another file's by now */
  for (size_t fd = 0; fd < table->capacity; fd++) {
    errand__fd_entry *entry = &table->entries[fd];
    if (!entry->registered)
      continue;
    forget(entry);
    if (entry->want)
      (void) arm(table, entry, (int) fd);
  }
}
