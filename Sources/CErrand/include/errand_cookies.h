/*
 * The cookies of a group. The engine is libcurl's (RFC 6265, and the public
 * suffix list if libcurl has it). All loops of a group have one jar. Cookies
 * are off unless the group was created with them. A request neither sends nor
 * keeps cookies if it has ERRAND_REQUEST_NO_COOKIES or its own Cookie field.
 */
#ifndef ERRAND_COOKIES_H
#define ERRAND_COOKIES_H

#include "errand_group.h"

ERRAND_BEGIN_DECLS

enum {
  ERRAND_COOKIE_SECURE = 1,    /* sent by https, and by http to this machine */
  ERRAND_COOKIE_HTTP_ONLY = 2, /* stored, but has no effect here */
  ERRAND_COOKIE_SUBDOMAINS = 4 /* also sent to the hosts below `domain` */
};

/* Strings are NUL-terminated, without control characters. */
typedef struct errand_cookie {
  const char *ERRAND_NONNULL name;
  const char *ERRAND_NONNULL value;
  const char *ERRAND_NONNULL domain; /* a host, without a leading dot */
  const char *ERRAND_NONNULL path;   /* begins with '/' */
  int64_t expires; /* seconds since 1970; 0: a session cookie */
  uint32_t flags;  /* ERRAND_COOKIE_* */
} errand_cookie;

typedef struct errand_cookie_list {
  size_t count;
  const errand_cookie *ERRAND_NULLABLE cookies;
} errand_cookie_list;

/*
 * The cookies that have not expired, in no particular order.
 * Thread: any. The loops wait while the jar is copied.
 * Owns: *out is the caller's, for errand_cookies_free; NULL unless OK.
 * Returns: OK; INVALID_OPTION (the group has no jar); OUT_OF_MEMORY; FORKED.
 */
ERRAND_API errand_status
errand_cookies_list(errand_group *ERRAND_NONNULL group,
                    errand_cookie_list *ERRAND_NULLABLE *ERRAND_NONNULL out);
/* NULL is fine. Thread: any. */
ERRAND_API void errand_cookies_free(errand_cookie_list *ERRAND_NULLABLE list);

/*
 * Adds a cookie, or replaces the one with the same name, domain and path. A
 * cookie that has expired removes the stored one instead.
 * Thread: any.
 * Owns: copied.
 * Returns: OK; INVALID_ARGUMENT (an empty name or domain, a path without '/', a
 * character or a combination that RFC 6265 does not allow, subdomains of an
 * address or of a top-level domain, more than 4,096 bytes); INVALID_OPTION (no
 * jar); OUT_OF_MEMORY; FORKED.
 */
ERRAND_API errand_status
errand_cookies_set(errand_group *ERRAND_NONNULL group,
                   const errand_cookie *ERRAND_NONNULL cookie);

/*
 * Removes all cookies, or only session cookies.
 * Thread: any.
 * Returns: OK, INVALID_OPTION (no jar), OUT_OF_MEMORY, FORKED.
 */
ERRAND_API errand_status
errand_cookies_clear(errand_group *ERRAND_NONNULL group, int session_only);

/*
 * Writes the jar, with its session cookies, to the group's cookie_file in the
 * Netscape format. The file is replaced as a whole (a new file of mode 0600 in
 * the same folder, fsync, rename; symbolic links are followed and stay) or left
 * as it was. errand_group_destroy does the same, but cannot report a failure.
 * Thread: any but a loop thread, as it waits for the disk.
 * Returns: OK; INVALID_OPTION (no jar, or a jar without a file);
 * FILE_UNWRITABLE; WRONG_THREAD; OUT_OF_MEMORY; FORKED.
 */
ERRAND_API errand_status
errand_cookies_save(errand_group *ERRAND_NONNULL group);

ERRAND_END_DECLS

#endif
