/* A header block that the core accepts holds the lines that it counts, and
   none with a byte that would begin another line on the wire. */
#include "fuzz.h"
#include "http/headers.h"

static void expect_clean(errand_bytes line) {
  const uint8_t *bytes = line.data;
  const uint8_t *colon = memchr(bytes, ':', line.length);
  FUZZ_EXPECT(colon != NULL);
  FUZZ_EXPECT(errand__is_token(bytes, (size_t) (colon - bytes)));
  for (size_t i = 0; i < line.length; i++)
    FUZZ_EXPECT((bytes[i] >= 0x20 || bytes[i] == '\t') && bytes[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  errand_bytes block = {data, size};
  errand__header_facts facts;
  if (errand__headers_check(block, &facts) != ERRAND_OK)
    return 0;
  size_t position = 0;
  size_t count = 0;
  errand_bytes line;
  while (errand__headers_next(block, &position, &line)) {
    expect_clean(line);
    count++;
  }
  FUZZ_EXPECT(count == facts.count);
  return 0;
}
