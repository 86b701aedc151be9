#include "include/errand_status.h"

const char *errand_status_name(int status) {
  switch (status) {
#define ERRAND_STATUS_NAME(name, value, swift, text)                           \
  case value:                                                                  \
    return #name;
    ERRAND_STATUS_MAP(ERRAND_STATUS_NAME)
#undef ERRAND_STATUS_NAME
  default:
    return "UNKNOWN";
  }
}

const char *errand_status_text(int status) {
  switch (status) {
#define ERRAND_STATUS_TEXT(name, value, swift, text)                           \
  case value:                                                                  \
    return text;
    ERRAND_STATUS_MAP(ERRAND_STATUS_TEXT)
#undef ERRAND_STATUS_TEXT
  default:
    return "unknown status";
  }
}
