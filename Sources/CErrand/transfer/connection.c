#include "transfer/connection.h"

#include <string.h>

#include "base/lines.h"
#include "libcurl/tls_facts.h"
#include "transfer/info.h"
#include "transfer/payload.h"
#include "transfer/result.h"

/* The proxy, without the user and the password of its URL. */
static void add_proxy(const errand__slot *slot, errand__lines *lines) {
  const char *proxy =
      errand__options_proxy(slot->options, slot->transfer->url_parts.secure);
  long used = 0;
  if (!proxy[0])
    return;
  if (curl_easy_getinfo(slot->easy, ERRAND__INFO_USED_PROXY, &used) != CURLE_OK)
    used = slot->options->no_proxy == NULL;
  if (!used)
    return;
  const char *host = strstr(proxy, "://");
  host = host ? host + 3 : proxy;
  size_t scheme = (size_t) (host - proxy);
  size_t length = strcspn(host, "/?#");
  /* A password may have an '@' that is not encoded. */
  const char *mark = memrchr(host, '@', length);
  char text[512];
  if (mark) {
    length -= (size_t) (mark + 1 - host);
    host = mark + 1;
  }
  if (scheme + length > sizeof text)
    return;
  memcpy(text, proxy, scheme);
  memcpy(text + scheme, host, length);
  errand__lines_add(lines, "proxy", text, scheme + length);
}

static void fill_timings(const errand__slot *slot, bool reused,
                         errand_timings *timings) {
  const errand__transfer *t = slot->transfer;
  timings->queue = (t->started_ns - t->submitted_ns) / 1000;
  if (reused)
    return; /* as in errand__record_fill */
  timings->resolved =
      errand__info_count(slot->easy, CURLINFO_NAMELOOKUP_TIME_T);
  timings->connected = errand__info_count(slot->easy, CURLINFO_CONNECT_TIME_T);
  timings->secured = errand__info_count(slot->easy, CURLINFO_APPCONNECT_TIME_T);
}

bool errand__connection_report(errand__slot *slot, bool reused) {
  const errand__transfer *t = slot->transfer;
  errand__records *records = &slot->agenda->records;
  errand__lines lines = {0};
  errand_payload *payload = NULL;
  char addresses[ERRAND__ADDRESSES_MAX];
  add_proxy(slot, &lines);
  /* For a URL in clear text through a proxy that speaks TLS, libcurl would
     return the TLS session with the proxy. */
  if (t->url_parts.secure)
    errand__tls_facts(slot->easy, &lines);
  errand__addresses(slot->easy, addresses);
  if (!lines.failed && errand__records_reserve(records, 1))
    payload = errand__payload_create(lines.bytes, lines.length, addresses, 0);
  errand__lines_free(&lines);
  if (!payload)
    return false;
  errand_record *record = errand__records_add(records, t->id, t->tag);
  record->kind = ERRAND_RECORD_CONNECTED;
  record->flags = reused ? ERRAND_RECORD_REUSED : 0;
  record->payload = payload;
  fill_timings(slot, reused, &record->timings);
  return true;
}
