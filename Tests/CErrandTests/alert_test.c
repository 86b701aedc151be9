/* Statuses for libcurl's codes that depend on how far the transfer is. */
#include <stdio.h>

#include "support/test.h"
#include "transfer/result.h"

static const char internal[] =
    "OpenSSL SSL_read: error:0A000438:SSL routines::tlsv1 alert internal error";
static const char required[] = "OpenSSL SSL_read: error:0A00045C:SSL "
                               "routines::tlsv13 alert certificate required";

static errand_status status_of(errand__phase phase, CURLcode code,
                               const char *words) {
  errand__transfer transfer = {.phase = phase};
  errand__slot slot = {.transfer = &transfer};
  snprintf(slot.error, sizeof slot.error, "%s", words);
  return errand__status_of(&slot, code);
}

/* TLS_FAILED says that the server did not see the request. */
static void an_alert_after_the_handshake(void **state) {
  (void) state;
  static const CURLcode codes[] = {CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR,
                                   CURLE_SEND_ERROR};
  static const errand_status sent[] = {
      ERRAND_CONNECTION_LOST, ERRAND_CONNECTION_LOST, ERRAND_SEND_FAILED};
  for (size_t i = 0; i < COUNT_OF(codes); i++) {
    assert_int_equal(status_of(ERRAND__CONNECTING, codes[i], internal),
                     ERRAND_TLS_FAILED);
    assert_int_equal(status_of(ERRAND__SENDING, codes[i], internal), sent[i]);
    assert_int_equal(status_of(ERRAND__SENDING, codes[i], required),
                     ERRAND_TLS_CREDENTIALS);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_alert_after_the_handshake),
  };
  return cmocka_run_group_tests_name("alert", tests, NULL, NULL);
}
