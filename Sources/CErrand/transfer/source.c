#include "transfer/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/open_error.h"
#include "transfer/agenda.h"

/* The size of a buffer: as much as libcurl asks for at once. An upload has two
   buffers. */
#define READ_AHEAD 65536u

typedef struct buffer {
  size_t filled;
  size_t taken;
  uint8_t bytes[READ_AHEAD];
} buffer;

struct errand__source {
  int64_t length;
  uint64_t consumed; /* given to libcurl since the start or last rewind */
  uv_loop_t *uv;
  struct errand__agenda *agenda;
  struct errand__transfer *transfer; /* NULL once closed */

  /* A file: `fd` is not negative. */
  int fd;
  uint64_t offset;
  uint64_t position; /* of the next read, relative to `offset` */
  buffer *front;     /* being taken from */
  buffer *back;      /* being read into, or full */
  bool reading;
  bool stale; /* rewound while a read was under way: its bytes are dropped */
  bool failed;
  uv_fs_t request;

  /* A stream. */
  errand__order *first;
  errand__order *last;
  size_t first_taken;
  uint64_t written;
  uint64_t granted;
  uint64_t credited; /* the largest `consumed` so far */
  uint64_t returned; /* of `credited`, not given back as credit yet */
  bool dropped;      /* a consumed chunk was freed: it cannot rewind */
  bool finished;
};

static bool is_file(const errand__source *s) {
  return s->fd >= 0;
}

static errand_status create(int64_t length, errand__source **out) {
  errand__source *s = errand__calloc(1, sizeof *s);
  if (!s)
    return ERRAND_OUT_OF_MEMORY;
  s->fd = -1;
  s->length = length;
  *out = s;
  return ERRAND_OK;
}

errand_status errand__source_open(const char *path, int fd, uint64_t offset,
                                  int64_t length, errand__source **out) {
  struct stat status;
  /* With O_NONBLOCK, opening a FIFO does not wait for its writer. */
  int mine = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                  : fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (mine < 0)
    return errand__open_error(errno);
  errand_status result = ERRAND_OK;
  if (fstat(mine, &status) != 0)
    result = ERRAND_FILE_UNREADABLE;
  else if (!S_ISREG(status.st_mode) || (uint64_t) status.st_size < offset)
    result = ERRAND_INVALID_BODY;
  else if (length == ERRAND_LENGTH_UNKNOWN)
    length = (int64_t) ((uint64_t) status.st_size - offset);
  else if ((uint64_t) status.st_size - offset < (uint64_t) length)
    result = ERRAND_INVALID_BODY;
  if (result == ERRAND_OK)
    result = create(length, out);
  if (result != ERRAND_OK) {
    close(mine);
    return result;
  }
  (*out)->fd = mine;
  (*out)->offset = offset;
  return ERRAND_OK;
}

errand_status errand__source_create(int64_t length, uint64_t credit,
                                    errand__source **out) {
  errand_status status = create(length, out);
  if (status == ERRAND_OK)
    (*out)->granted = credit;
  return status;
}

int64_t errand__source_length(const errand__source *source) {
  return source->length;
}

static void dispose(errand__source *s) {
  if (is_file(s))
    close(s->fd);
  errand__free(s->front);
  errand__free(s->back);
  while (s->first) {
    errand__order *order = s->first;
    s->first = (errand__order *) (void *) order->command.node.next;
    errand__order_free(order);
  }
  errand__free(s);
}

static void read_ahead(errand__source *s);

static void on_read(uv_fs_t *request) {
  errand__source *s = request->data;
  ssize_t count = request->result;
  uv_fs_req_cleanup(request);
  s->reading = false;
  if (!s->transfer) {
    dispose(s);
    return;
  }
  if (s->stale) {
    s->stale = false;
    read_ahead(s);
    return;
  }
  if (count <= 0) {
    s->failed = true;
  } else {
    s->back->filled = (size_t) count;
    s->position += (uint64_t) count;
  }
  errand__agenda_review(s->agenda, s->transfer);
}

static void read_ahead(errand__source *s) {
  uint64_t left = (uint64_t) s->length - s->position;
  if (s->reading || s->failed || left == 0 || s->back->filled > 0)
    return;
  size_t size = left < READ_AHEAD ? (size_t) left : READ_AHEAD;
  uv_buf_t into = uv_buf_init((char *) s->back->bytes, (unsigned int) size);
  s->request.data = s;
  int status = uv_fs_read(s->uv, &s->request, s->fd, &into, 1,
                          (int64_t) (s->offset + s->position), on_read);
  if (status == 0)
    s->reading = true;
  else
    s->failed = true;
}

bool errand__source_start(errand__source *s, uv_loop_t *uv,
                          struct errand__agenda *agenda,
                          struct errand__transfer *transfer) {
  s->uv = uv;
  s->agenda = agenda;
  s->transfer = transfer;
  if (!is_file(s))
    return true;
  s->front = errand__calloc(1, sizeof *s->front);
  s->back = errand__calloc(1, sizeof *s->back);
  if (!s->front || !s->back)
    return false;
  read_ahead(s);
  return true;
}

static size_t read_file(errand__source *s, void *bytes, size_t size) {
  if (s->consumed == (uint64_t) s->length)
    return 0;
  if (s->failed)
    return ERRAND__SOURCE_FAILED;
  if (s->front->taken == s->front->filled) {
    if (s->reading || s->back->filled == 0)
      return ERRAND__SOURCE_STARVED;
    buffer *empty = s->front;
    s->front = s->back;
    s->back = empty;
    s->back->filled = s->back->taken = 0;
    read_ahead(s);
  }
  size_t count = s->front->filled - s->front->taken;
  if (count > size)
    count = size;
  memcpy(bytes, s->front->bytes + s->front->taken, count);
  s->front->taken += count;
  s->consumed += count;
  return count;
}

static size_t read_stream(errand__source *s, uint8_t *bytes, size_t size) {
  size_t count = 0;
  while (count < size && s->first) {
    errand__order *order = s->first;
    size_t take = (size_t) order->amount - s->first_taken;
    if (take > size - count)
      take = size - count;
    memcpy(bytes + count, order->bytes + s->first_taken, take);
    count += take;
    s->first_taken += take;
    if (s->first_taken == order->amount) {
      s->first = (errand__order *) (void *) order->command.node.next;
      s->first_taken = 0;
      s->dropped = true;
      errand__order_free(order);
    }
  }
  s->consumed += count;
  if (s->consumed > s->credited) { /* resent bytes give no credit */
    s->returned += s->consumed - s->credited;
    s->credited = s->consumed;
  }
  if (count == 0 && !s->finished)
    return ERRAND__SOURCE_STARVED;
  return count;
}

size_t errand__source_read(errand__source *s, void *bytes, size_t size) {
  return is_file(s) ? read_file(s, bytes, size) : read_stream(s, bytes, size);
}

bool errand__source_is_ready(const errand__source *s) {
  if (!is_file(s))
    return s->first || s->finished;
  return s->failed || s->consumed == (uint64_t) s->length ||
         s->front->taken < s->front->filled || s->back->filled > 0;
}

bool errand__source_rewind(errand__source *s) {
  if (!is_file(s)) {
    if (s->dropped)
      return false;
    s->consumed = 0;
    s->first_taken = 0;
    return true;
  }
  s->consumed = s->position = 0;
  if (!s->front || !s->back)
    return !s->failed;
  s->front->filled = s->front->taken = 0;
  s->back->filled = s->back->taken = 0;
  s->stale = s->reading;
  if (!s->reading)
    read_ahead(s);
  return true;
}

errand_status errand__source_write(errand__source *s, errand__order *order) {
  errand_status status = ERRAND_OK;
  /* The written bytes exceed neither the length nor the credit, so these
     differences are safe. A sum of lent lengths could wrap. */
  if (is_file(s) || s->finished ||
      (s->length != ERRAND_LENGTH_UNKNOWN &&
       order->amount > (uint64_t) s->length - s->written))
    status = ERRAND_INVALID_BODY;
  else if (order->amount > s->granted - s->written)
    status = ERRAND_UPLOAD_OVERRUN;
  if (status != ERRAND_OK || order->amount == 0) {
    errand__order_free(order);
    return status;
  }
  s->written += order->amount;
  order->command.node.next = NULL;
  if (s->first)
    s->last->command.node.next = &order->command.node;
  else
    s->first = order;
  s->last = order;
  return ERRAND_OK;
}

errand_status errand__source_finish(errand__source *s) {
  if (is_file(s) || (s->length != ERRAND_LENGTH_UNKNOWN &&
                     s->written != (uint64_t) s->length))
    return ERRAND_INVALID_BODY;
  s->finished = true;
  return ERRAND_OK;
}

uint64_t errand__source_take_credit(errand__source *s) {
  uint64_t credit = s->returned;
  s->returned = 0;
  s->granted += credit;
  return credit;
}

void errand__source_close(errand__source *s) {
  if (!s)
    return;
  s->transfer = NULL;
  if (!s->reading)
    dispose(s);
  else
    uv_cancel((uv_req_t *) &s->request); /* on_read frees it */
}
