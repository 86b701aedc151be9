/*
 * Sources: where the body of an upload comes from when it is not in memory.
 *
 * A source is a regular file, or the caller. libuv's thread pool reads a file
 * ahead, so that the loop never waits for a disk. The caller feeds a source
 * with errand_upload_write and errand_upload_lend, within the credit.
 */
#ifndef ERRAND_TRANSFER_SOURCE_H
#define ERRAND_TRANSFER_SOURCE_H

#include <stdbool.h>
#include <uv.h>

#include "include/errand_request.h"
#include "queue/command.h"

struct errand__agenda;
struct errand__transfer;

typedef struct errand__source errand__source;

/* Results of errand__source_read other than a count. */
#define ERRAND__SOURCE_STARVED ((size_t) -1)
#define ERRAND__SOURCE_FAILED ((size_t) -2)

/*
 * Opens `path`, or duplicates `fd` if path is NULL.
 * Thread: any.
 * Returns: OK; FILE_UNREADABLE; INVALID_BODY (no regular file, or shorter
 * than offset and length say); OUT_OF_MEMORY.
 */
errand_status errand__source_open(const char *path, int fd, uint64_t offset,
                                  int64_t length, errand__source **out);

/* A source that the caller feeds. Thread: any. Returns: OK, OUT_OF_MEMORY. */
errand_status errand__source_create(int64_t length, uint64_t credit,
                                    errand__source **out);

/* The body's length; ERRAND_LENGTH_UNKNOWN if it is not known. */
int64_t errand__source_length(const errand__source *source);

/* All functions below.
   Thread: loop. */

/* Begins to read ahead for a transfer that is about to start.
   Returns: false when out of memory. */
bool errand__source_start(errand__source *source, uv_loop_t *uv,
                          struct errand__agenda *agenda,
                          struct errand__transfer *transfer);

/*
 * Reads up to `size` bytes.
 * Returns: their count; 0 at the end; STARVED: no bytes yet, the transfer is
 * reviewed when there are some; FAILED: the file cannot be read, or is shorter
 * than it was.
 */
size_t errand__source_read(errand__source *source, void *bytes, size_t size);

/* Whether a read would return anything but STARVED. */
bool errand__source_is_ready(const errand__source *source);

/* Goes back to the first byte.
   Returns: false if that byte is gone. */
bool errand__source_rewind(errand__source *source);

/*
 * Adds a chunk.
 * Owns: `order` is the source's, also on failure.
 * Returns: OK; UPLOAD_OVERRUN; INVALID_BODY (beyond the length, or after the
 * end).
 */
errand_status errand__source_write(errand__source *source,
                                   errand__order *order);

/* Notes the end.
   Returns: OK; INVALID_BODY (shorter than the length). */
errand_status errand__source_finish(errand__source *source);

/* Returns: the bytes consumed since the last call, which become new credit. */
uint64_t errand__source_take_credit(errand__source *source);

/* Frees the source; NULL is fine. A read that is in progress ends first. The
   memory that it fills is freed afterwards.
   Thread: loop, or any if it was never started. */
void errand__source_close(errand__source *source);

#endif
