#include "http/decode.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/mem.h"
#include "http/field.h"

/* zlib is always present, as the Swift library needs it too. */
#if !defined(ERRAND_NO_BROTLI) && __has_include(<brotli/decode.h>)
#include <brotli/decode.h>
#define HAS_BROTLI true
#else
#define HAS_BROTLI false
#endif
#if !defined(ERRAND_NO_ZSTD) && __has_include(<zstd.h>)
#include <zstd.h>
#include <zstd_errors.h>
#define HAS_ZSTD true
#else
#define HAS_ZSTD false
#endif

/* 8 MB, the largest window that RFC 9659 allows for "zstd". Without a limit a
   frame of a few bytes could make zstd allocate 128 MB. */
#define ZSTD_WINDOW_LOG 23
/* Size of the buffer between two codings. */
#define BETWEEN 16384

typedef enum stage_state {
  STAGE_FRESH,  /* no byte has come */
  STAGE_INSIDE, /* the end has not come */
  STAGE_ENDED,  /* whole; another gzip member or zstd frame may follow */
  STAGE_MAGIC,  /* whole; the first byte of another member's magic has come */
  STAGE_OVER    /* whole; what follows is ignored */
} stage_state;

typedef struct stage {
  errand__coding coding;
  stage_state state;
  bool open;    /* the library's state below exists */
  bool drained; /* the library has given everything for the input so far */
  union {
    z_stream zlib;
#if HAS_BROTLI
    BrotliDecoderState *brotli;
#endif
#if HAS_ZSTD
    ZSTD_DCtx *zstd;
#endif
  } as;
  errand__input input; /* what the stage before gave, in `between` */
  uint8_t *between;    /* NULL for the first */
} stage;

struct errand__decoder {
  const char *words;
  bool looked; /* `ahead` is the next byte */
  uint8_t ahead;
  size_t count;
  stage stages[]; /* the first is the coding that was applied last */
};

static const struct {
  const char *malformed;
  const char *cut;
} words_of[] = {
    {"the gzip body is malformed", "the gzip body is truncated"},
    {"the deflate body is malformed", "the deflate body is truncated"},
    {"the br body is malformed", "the br body is truncated"},
    {"the zstd body is malformed", "the zstd body is truncated"},
};

static errand__coding coding_of(const char *name, size_t length) {
  static const struct {
    const char *name;
    errand__coding coding;
  } table[] = {{"gzip", ERRAND__CODING_GZIP},
               {"x-gzip", ERRAND__CODING_GZIP},
               {"deflate", ERRAND__CODING_DEFLATE},
               {"br", ERRAND__CODING_BROTLI},
               {"zstd", ERRAND__CODING_ZSTD}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (strlen(table[i].name) == length &&
        strncasecmp(table[i].name, name, length) == 0)
      return errand__coding_is_known(table[i].coding) ? table[i].coding
                                                      : ERRAND__CODING_UNKNOWN;
  return ERRAND__CODING_UNKNOWN;
}

bool errand__coding_is_known(errand__coding coding) {
  switch (coding) {
  case ERRAND__CODING_GZIP:
  case ERRAND__CODING_DEFLATE:
    return true;
  case ERRAND__CODING_BROTLI:
    return HAS_BROTLI;
  case ERRAND__CODING_ZSTD:
    return HAS_ZSTD;
  case ERRAND__CODING_UNKNOWN:
    break;
  }
  return false;
}

void errand__coding_libraries(char *out, size_t size) {
  char brotli[32] = "", zstd[32] = "";
#if HAS_BROTLI
  uint32_t version = BrotliDecoderVersion();
  snprintf(brotli, sizeof brotli, " brotli/%u.%u.%u", version >> 24,
           version >> 12 & 0xfff, version & 0xfff);
#endif
#if HAS_ZSTD
  snprintf(zstd, sizeof zstd, " zstd/%s", ZSTD_versionString());
#endif
  snprintf(out, size, "zlib/%s%s%s", zlibVersion(), brotli, zstd);
}

void errand__codings_add(errand__codings *codings, const char *value,
                         size_t length) {
  const char *item;
  size_t n;
  size_t at = 0;
  while ((n = errand__next_item(value, length, &at, &item)) > 0) {
    if (n == 8 && strncasecmp(item, "identity", 8) == 0)
      continue;
    if (codings->count < ERRAND__CODINGS_MAX)
      codings->list[codings->count] = (uint8_t) coding_of(item, n);
    if (codings->count <= ERRAND__CODINGS_MAX)
      codings->count++;
  }
}

/* For zlib and brotli. zstd takes an allocator only if it is linked
   statically. */
static void *allocate_items(void *context, uInt count, uInt size) {
  (void) context;
  size_t product;
  if (__builtin_mul_overflow((size_t) count, (size_t) size, &product))
    return NULL;
  return errand__malloc(product);
}

static void free_block(void *context, void *block) {
  (void) context;
  errand__free(block);
}

/* "deflate" is the zlib format (RFC 9110 8.4.1.2), but some servers send the
   bare format of RFC 1951. The first byte of the zlib format names method 8 and
   a window of at most 32 KB. The first byte of a bare block has the same lower
   half only if the padding of the block is not 0, and no encoder writes such
   padding. */
static int deflate_window(uint8_t first) {
  return (first & 0x0f) == 8 && first >> 4 <= 7 ? MAX_WBITS : -MAX_WBITS;
}

static errand_status open_zlib(stage *s, uint8_t first) {
  /* With 32 added zlib also takes a zlib header, as libcurl does. */
  int window =
      s->coding == ERRAND__CODING_GZIP ? MAX_WBITS + 32 : deflate_window(first);
  s->as.zlib = (z_stream){.zalloc = allocate_items, .zfree = free_block};
  if (inflateInit2(&s->as.zlib, window) != Z_OK)
    return ERRAND_OUT_OF_MEMORY;
  s->open = true;
  return ERRAND_OK;
}

/* Calls inflate() once, and moves input and room. */
static errand_status inflate_some(stage *s, errand__input *in,
                                  errand__room *room) {
  z_stream *z = &s->as.zlib;
  uInt given = in->left < UINT_MAX ? (uInt) in->left : UINT_MAX;
  uInt space = room->left < UINT_MAX ? (uInt) room->left : UINT_MAX;
  z->next_in = (Bytef *) (uintptr_t) in->at; /* not written to */
  z->avail_in = given;
  z->next_out = room->at;
  z->avail_out = space;
  int code = inflate(z, Z_NO_FLUSH);
  in->at += given - z->avail_in;
  in->left -= given - z->avail_in;
  room->at += space - z->avail_out;
  room->left -= space - z->avail_out;
  if (code == Z_STREAM_END)
    s->state = STAGE_ENDED;
  else if (code == Z_MEM_ERROR)
    return ERRAND_OUT_OF_MEMORY;
  else if (code != Z_OK && code != Z_BUF_ERROR)
    return ERRAND_DECODING_FAILED;
  return ERRAND_OK;
}

/*
 * Handles the bytes behind the end. Another gzip member (RFC 1952 2.2) has two
 * magic bytes. Any other bytes are ignored, as by gzip(1) and browsers.
 * (libcurl ignores them only if they come in another read than the end.)
 */
static errand_status after_zlib(stage *s, errand__input *in) {
  static const uint8_t magic[] = {0x1f, 0x8b};
  uint8_t next = *in->at;
  bool first = s->state == STAGE_ENDED && next == magic[0];
  bool second = s->state == STAGE_MAGIC && next == magic[1];
  if (s->coding != ERRAND__CODING_GZIP || !(first || second)) {
    s->state = STAGE_OVER;
    in->left = 0;
    return ERRAND_OK;
  }
  in->at++;
  in->left--;
  s->state = first ? STAGE_MAGIC : STAGE_INSIDE;
  if (first)
    return ERRAND_OK;
  uint8_t nowhere;
  errand__input header = {magic, sizeof magic};
  errand__room none = {&nowhere, 0};
  if (inflateReset(&s->as.zlib) != Z_OK)
    return ERRAND_DECODING_FAILED;
  return inflate_some(s, &header, &none);
}

static errand_status run_zlib(stage *s, errand__input *in, errand__room *room) {
  if (s->state >= STAGE_ENDED)
    return after_zlib(s, in);
  if (!s->open) {
    errand_status status = open_zlib(s, *in->at);
    if (status != ERRAND_OK)
      return status;
  }
  return inflate_some(s, in, room);
}

#if HAS_BROTLI
static void *allocate(void *context, size_t size) {
  (void) context;
  return errand__malloc(size);
}

static errand_status run_brotli(stage *s, errand__input *in,
                                errand__room *room) {
  if (!s->open) {
    /* Windows above 16 MB are not in RFC 7932, and are off by default. */
    s->as.brotli = BrotliDecoderCreateInstance(allocate, free_block, NULL);
    if (!s->as.brotli)
      return ERRAND_OUT_OF_MEMORY;
    s->open = true;
  }
  BrotliDecoderResult result = BrotliDecoderDecompressStream(
      s->as.brotli, &in->left, &in->at, &room->left, &room->at, NULL);
  if (result == BROTLI_DECODER_RESULT_SUCCESS)
    s->state = STAGE_OVER; /* what follows is ignored, as behind gzip */
  if (result != BROTLI_DECODER_RESULT_ERROR)
    return ERRAND_OK;
  BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(s->as.brotli);
  return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
                 code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES
             ? ERRAND_OUT_OF_MEMORY
             : ERRAND_DECODING_FAILED;
}
#endif

#if HAS_ZSTD
/* A body may have several frames (RFC 8878 3). */
static errand_status run_zstd(stage *s, errand__input *in, errand__room *room) {
  /* zstd treats the 16th call without progress as an error. */
  if (in->left == 0 && s->drained)
    return ERRAND_OK;
  if (!s->open) {
    s->as.zstd = ZSTD_createDCtx();
    if (!s->as.zstd)
      return ERRAND_OUT_OF_MEMORY;
    s->open = true;
    if (ZSTD_isError(ZSTD_DCtx_setParameter(s->as.zstd, ZSTD_d_windowLogMax,
                                            ZSTD_WINDOW_LOG)))
      return ERRAND_DECODING_FAILED;
  }
  ZSTD_inBuffer input = {in->at, in->left, 0};
  ZSTD_outBuffer output = {room->at, room->left, 0};
  size_t code = ZSTD_decompressStream(s->as.zstd, &output, &input);
  in->at += input.pos;
  in->left -= input.pos;
  room->at += output.pos;
  room->left -= output.pos;
  if (ZSTD_isError(code))
    return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation
               ? ERRAND_OUT_OF_MEMORY
               : ERRAND_DECODING_FAILED;
  s->drained = room->left > 0;
  s->state = code == 0 ? STAGE_ENDED : STAGE_INSIDE;
  return ERRAND_OK;
}
#endif

static errand_status run_stage(stage *s, errand__input *in,
                               errand__room *room) {
  if (in->left == 0 && s->state != STAGE_INSIDE)
    return ERRAND_OK;
  if (s->state == STAGE_FRESH)
    s->state = STAGE_INSIDE;
  if (s->state == STAGE_OVER) {
    in->left = 0;
    return ERRAND_OK;
  }
  switch (s->coding) {
  case ERRAND__CODING_GZIP:
  case ERRAND__CODING_DEFLATE:
    return run_zlib(s, in, room);
  case ERRAND__CODING_BROTLI:
#if HAS_BROTLI
    return run_brotli(s, in, room);
#else
    break;
#endif
  case ERRAND__CODING_ZSTD:
#if HAS_ZSTD
    return run_zstd(s, in, room);
#else
    break;
#endif
  case ERRAND__CODING_UNKNOWN:
    break;
  }
  return ERRAND_DECODING_FAILED;
}

/* Fills the room from the stages up to `index`. The first stage reads `given`.
 */
static errand_status run_to(errand__decoder *d, size_t index,
                            errand__input *given, errand__room *room) {
  stage *s = &d->stages[index];
  errand__input *in = index == 0 ? given : &s->input;
  for (;;) {
    size_t in_before = in->left;
    size_t room_before = room->left;
    errand_status status = run_stage(s, in, room);
    if (status == ERRAND_DECODING_FAILED)
      d->words = words_of[s->coding].malformed;
    if (status != ERRAND_OK || room->left == 0)
      return status;
    bool moved = in->left < in_before || room->left < room_before;
    if (in->left > 0 && moved)
      continue;
    if (in->left > 0) { /* no progress: this would never end */
      d->words = words_of[s->coding].malformed;
      return ERRAND_DECODING_FAILED;
    }
    if (index == 0)
      return ERRAND_OK;
    errand__room between = {s->between, BETWEEN};
    status = run_to(d, index - 1, given, &between);
    if (status != ERRAND_OK || between.left == BETWEEN)
      return status;
    *in = (errand__input){s->between, BETWEEN - between.left};
  }
}

errand_status errand__decoder_run(errand__decoder *d, errand__input *input,
                                  errand__room *room) {
  if (room->left > 0 && d->looked) {
    *room->at++ = d->ahead;
    room->left--;
    d->looked = false;
  }
  return room->left > 0 ? run_to(d, d->count - 1, input, room) : ERRAND_OK;
}

errand_status errand__decoder_look(errand__decoder *d, errand__input *input,
                                   bool *more) {
  errand_status status = ERRAND_OK;
  if (!d->looked) {
    errand__room room = {&d->ahead, 1};
    status = run_to(d, d->count - 1, input, &room);
    d->looked = room.left == 0;
  }
  *more = d->looked;
  return status;
}

errand_status errand__decoder_create(const errand__codings *codings,
                                     errand__decoder **out,
                                     const char **words) {
  size_t count = codings->count;
  *out = NULL;
  *words = NULL;
  if (count > ERRAND__CODINGS_MAX)
    *words = "the body has more than five content codings";
  for (size_t i = 0; !*words && i < count; i++)
    if (codings->list[i] == ERRAND__CODING_UNKNOWN)
      *words = "the body has a content coding that is not supported";
  if (*words)
    return ERRAND_DECODING_FAILED;
  size_t size = sizeof(errand__decoder) + count * sizeof(stage);
  errand__decoder *d = errand__malloc(size + (count - 1) * BETWEEN);
  if (!d)
    return ERRAND_OUT_OF_MEMORY;
  memset(d, 0, size);
  d->count = count;
  uint8_t *between = (uint8_t *) d + size;
  for (size_t i = 0; i < count; i++) {
    d->stages[i].coding = (errand__coding) codings->list[count - 1 - i];
    if (i > 0)
      d->stages[i].between = between + (i - 1) * BETWEEN;
  }
  *out = d;
  return ERRAND_OK;
}

static void close_stage(stage *s) {
  if (!s->open)
    return;
  switch (s->coding) {
  case ERRAND__CODING_GZIP:
  case ERRAND__CODING_DEFLATE:
    inflateEnd(&s->as.zlib);
    break;
  case ERRAND__CODING_BROTLI:
#if HAS_BROTLI
    BrotliDecoderDestroyInstance(s->as.brotli);
#endif
    break;
  case ERRAND__CODING_ZSTD:
#if HAS_ZSTD
    ZSTD_freeDCtx(s->as.zstd);
#endif
    break;
  case ERRAND__CODING_UNKNOWN:
    break;
  }
}

void errand__decoder_free(errand__decoder *d) {
  if (!d)
    return;
  for (size_t i = 0; i < d->count; i++)
    close_stage(&d->stages[i]);
  errand__free(d);
}

/* The first coding that has not come to its end. The codings inside one that
   decoded to nothing are fresh, so they need no end. */
static const stage *first_open(const errand__decoder *d) {
  for (size_t i = 0; i < d->count; i++)
    if (d->stages[i].state == STAGE_INSIDE)
      return &d->stages[i];
  return NULL;
}

bool errand__decoder_is_whole(const errand__decoder *d) {
  return first_open(d) == NULL;
}

const char *errand__decoder_words(const errand__decoder *d) {
  const stage *s = first_open(d);
  return d->words || !s ? d->words : words_of[s->coding].cut;
}
