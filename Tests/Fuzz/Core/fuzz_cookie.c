/* A cookie that was read from a line and is valid is written as a line that
   reads as the same cookie. */
#include "fuzz.h"
#include "libcurl/cookie_line.h"

static void expect_same(const errand_cookie *a, const errand_cookie *b) {
  FUZZ_EXPECT(strcmp(a->name, b->name) == 0);
  FUZZ_EXPECT(strcmp(a->value, b->value) == 0);
  FUZZ_EXPECT(strcmp(a->domain, b->domain) == 0);
  FUZZ_EXPECT(strcmp(a->path, b->path) == 0);
  FUZZ_EXPECT(a->expires == b->expires);
  FUZZ_EXPECT(a->flags == b->flags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *line = fuzz_copy(data, size);
  errand_cookie cookie;
  if (errand__cookie_parse(line, &cookie)) {
    (void) errand__cookie_has_expired(&cookie);
    static char written[16384];
    if (errand__cookie_is_valid(&cookie) &&
        errand__cookie_format(&cookie, written, sizeof written)) {
      errand_cookie again;
      FUZZ_EXPECT(strchr(written, '\n') == NULL);
      FUZZ_EXPECT(errand__cookie_parse(written, &again));
      expect_same(&cookie, &again);
    }
  }
  free(line);
  return 0;
}
