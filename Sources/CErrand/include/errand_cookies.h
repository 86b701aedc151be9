/*
 * A group's cookies: libcurl's own engine (RFC 6265 and the public suffix
 * list where libcurl has it), one jar for all loops of the group, off unless
 * the group was made with it. A request takes part unless it says
 * ERRAND_REQUEST_NO_COOKIES or has a Cookie field of its own.
 */
#ifndef ERRAND_COOKIES_H
#define ERRAND_COOKIES_H

#include "errand_group.h"

ERRAND_BEGIN_DECLS

enum {
  ERRAND_COOKIE_SECURE = 1,    /* for https, and http to this machine */
  ERRAND_COOKIE_HTTP_ONLY = 2, /* kept, of no meaning here */
  ERRAND_COOKIE_SUBDOMAINS = 4 /* for the hosts below `domain` too */
};

/* Strings are NUL-terminated, without control characters. */
typedef struct errand_cookie {
  const char *ERRAND_NONNULL name;
  const char *ERRAND_NONNULL value;
  const char *ERRAND_NONNULL domain; /* a host, without a leading dot */
  const char *ERRAND_NONNULL path;   /* begins with '/' */
  int64_t expires; /* seconds since 1970; 0: with the session */
  uint32_t flags;  /* ERRAND_COOKIE_* */
} errand_cookie;

typedef struct errand_cookie_list {
  size_t count;
  const errand_cookie *ERRAND_NULLABLE cookies;
} errand_cookie_list;

/*
 * What has not expired, in no particular order.
 * Thread: any; the loops wait for the time of a copy.
 * Owns: *out is the caller's, for errand_cookies_free; NULL unless OK.
 * Returns: OK; INVALID_OPTION (the group has no jar); OUT_OF_MEMORY; FORKED.
 */
ERRAND_API errand_status
errand_cookies_list(errand_group *ERRAND_NONNULL group,
                    errand_cookie_list *ERRAND_NULLABLE *ERRAND_NONNULL out);
/* NULL is fine. Thread: any. */
ERRAND_API void errand_cookies_free(errand_cookie_list *ERRAND_NULLABLE list);

/*
 * Adds a cookie, or replaces the one of that name, domain and path; one whose
 * time has passed removes it.
 * Thread: any.  Owns: copied.
 * Returns: OK; INVALID_ARGUMENT (an empty name or domain, a path without '/',
 * a character or a combination that RFC 6265 does not allow, subdomains of an
 * address or of a top-level domain, more than 4,096 bytes); INVALID_OPTION (no
 * jar); OUT_OF_MEMORY; FORKED.
 */
ERRAND_API errand_status
errand_cookies_set(errand_group *ERRAND_NONNULL group,
                   const errand_cookie *ERRAND_NONNULL cookie);

/*
 * Removes all cookies, or those of the session alone.
 * Thread: any.  Returns: OK, INVALID_OPTION (no jar), OUT_OF_MEMORY, FORKED.
 */
ERRAND_API errand_status
errand_cookies_clear(errand_group *ERRAND_NONNULL group, int session_only);

/*
 * Writes the jar to the group's cookie_file, those of the session included, in
 * the Netscape format: whole or not at all (a new file of mode 0600 in the
 * same folder, fsync, rename; symbolic links are followed and stay).
 * errand_group_destroy does the same, but cannot
 * report a failure.
 * Thread: any but a loop thread, as it waits for the disk.
 * Returns: OK; INVALID_OPTION (no jar, or none with a file); FILE_UNWRITABLE;
 * WRONG_THREAD; OUT_OF_MEMORY; FORKED.
 */
ERRAND_API errand_status
errand_cookies_save(errand_group *ERRAND_NONNULL group);

ERRAND_END_DECLS

#endif
