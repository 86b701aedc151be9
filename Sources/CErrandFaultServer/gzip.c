/* Makes a gzip stream of zeros without a compressor: one dynamic deflate block
   (RFC 1951 3.2.7) in which a run of 258 bytes takes two bits. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct bits {
  uint8_t *bytes;
  size_t at;
  unsigned used;
} bits;

/* Writes the lowest bit of `value` first, as deflate requires for everything
   except codes. */
static void put(bits *out, unsigned value, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (out->used == 0)
      out->bytes[out->at] = 0;
    out->bytes[out->at] |= (uint8_t) (((value >> i) & 1) << out->used);
    out->used += 1;
    if (out->used == 8) {
      out->used = 0;
      out->at += 1;
    }
  }
}

/*
 * Writes the block's codes. The run of 258 (symbol 285) has the 1-bit code
 * "0". Literal 0 and end-of-block (256) have the 2-bit codes "10" and "11".
 * The distance 1 has the 1-bit code "0". The code lengths 1, 2 and 18 (a run
 * of zero lengths) are themselves coded: 18 "0", 1 "10", 2 "11".
 */
static void put_header(bits *out) {
  static const uint8_t order[18] = {0, 0, 1, 0, 0, 0, 0, 0, 0,
                                    0, 0, 0, 0, 0, 0, 2, 0, 2};
  put(out, 1, 1);         /* the last block */
  put(out, 2, 2);         /* dynamic */
  put(out, 286 - 257, 5); /* literal and length codes */
  put(out, 1 - 1, 5);     /* distance codes */
  put(out, 18 - 4, 4);    /* code length codes, in RFC 1951's order */
  for (size_t i = 0; i < 18; i++)
    put(out, order[i], 3);
  put(out, 3, 2); /* literal 0: 2 bits */
  put(out, 0, 1); /* 1...255: 138 and 117 zero lengths */
  put(out, 138 - 11, 7);
  put(out, 0, 1);
  put(out, 117 - 11, 7);
  put(out, 3, 2); /* 256: 2 bits */
  put(out, 0, 1); /* 257...284: 28 zero lengths */
  put(out, 28 - 11, 7);
  put(out, 1, 2); /* 285: 1 bit */
  put(out, 1, 2); /* distance 1: 1 bit */
}

static uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    if ((a & bit) != 0)
      product ^= b;
    b = (b & 1) != 0 ? (b >> 1) ^ 0xedb88320u : b >> 1;
  }
  return product;
}

/* The CRC-32 of `count` zero bytes: the start value times x^(8 count). */
static uint32_t crc_of_zeros(uint64_t count) {
  uint32_t power = 0x00800000u; /* x^8, bits reversed */
  uint32_t crc = 0xffffffffu;
  for (; count != 0; count >>= 1) {
    if ((count & 1) != 0)
      crc = multiply(crc, power);
    power = multiply(power, power);
  }
  return ~crc;
}

int errand_fault_gzip_zeros(uint64_t decoded, uint8_t **out, size_t *length) {
  static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  *out = NULL;
  *length = 0;
  /* The first byte is a literal, because a run needs a byte to repeat. */
  uint64_t runs = decoded > 0 ? (decoded - 1) / 258 : 0;
  uint64_t literals = decoded - runs * 258;
  bits to = {.bytes = malloc((runs + literals) / 4 + 128)};
  if (to.bytes == NULL)
    return ENOMEM;
  memcpy(to.bytes, head, sizeof head);
  to.at = sizeof head;
  put_header(&to);
  for (uint64_t i = 0; i < literals; i++)
    put(&to, 1, 2); /* "10", its first bit first */
  for (uint64_t i = 0; i < runs; i++)
    put(&to, 0, 2); /* the run and its distance */
  put(&to, 3, 2);   /* end of block */
  if (to.used != 0)
    to.at += 1;
  to.used = 0;
  put(&to, crc_of_zeros(decoded), 32);
  put(&to, (unsigned) decoded, 32);
  *out = to.bytes;
  *length = to.at;
  return 0;
}
