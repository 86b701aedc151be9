/* Attribute macros shared by every public header. */
#ifndef ERRAND_BASE_H
#define ERRAND_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ERRAND_BEGIN_DECLS extern "C" {
#define ERRAND_END_DECLS }
#else
#define ERRAND_BEGIN_DECLS
#define ERRAND_END_DECLS
#endif

/* Exported from the shared library. Everything else is hidden. */
#if defined(__GNUC__)
#define ERRAND_API __attribute__((visibility("default")))
#else
#define ERRAND_API
#endif

/* Attributes for nullability and enums exist in clang only; gcc gets plain C.
 */
#if defined(__clang__)
#define ERRAND_NONNULL _Nonnull
#define ERRAND_NULLABLE _Nullable
#define ERRAND_CLOSED_ENUM __attribute__((enum_extensibility(closed)))
#define ERRAND_FLAG_ENUM __attribute__((flag_enum))
#define ERRAND_SWIFT_NAME(name) __attribute__((swift_name(name)))
#else
#define ERRAND_NONNULL
#define ERRAND_NULLABLE
#define ERRAND_CLOSED_ENUM
#define ERRAND_FLAG_ENUM
#define ERRAND_SWIFT_NAME(name)
#endif

ERRAND_BEGIN_DECLS

/* A view of bytes, which it never owns. `data` may be NULL when `length` is 0.
 */
typedef struct errand_bytes {
  const uint8_t *ERRAND_NULLABLE data;
  size_t length;
} errand_bytes;

ERRAND_END_DECLS

#endif
