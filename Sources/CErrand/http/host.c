#include "http/host.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "libcurl/process.h"
#include "http/characters.h"
#include "include/errand_host.h"

enum { IN_BOTH = ERRAND__IN_HOST | ERRAND__IN_PLAIN_HOST };
const unsigned char errand__host_kinds[256] = {
    ['a' ... 'z'] = IN_BOTH,
    ['0' ... '9'] = IN_BOTH,
    ['-'] = IN_BOTH,
    ['.'] = IN_BOTH,
    ['_'] = IN_BOTH,
    ['~'] = ERRAND__IN_HOST,
    ['A' ... 'Z'] = ERRAND__IN_HOST,
};

/* IPv4 addresses (WHATWG's URL standard 3.5). */

/* Reads a number of an address: decimal, octal behind "0", hexadecimal behind
   "0x". For a number above UINT32_MAX, *out is some value above UINT32_MAX. */
static bool parse_number(const char *text, size_t length, uint64_t *out) {
  int base = 10;
  if (length == 0)
    return false;
  if (length >= 2 && text[0] == '0') {
    bool hex = text[1] == 'x' || text[1] == 'X';
    base = hex ? 16 : 8;
    text += hex ? 2 : 1;
    length -= hex ? 2 : 1;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    int digit = errand__hex_value(text[i]);
    if (digit < 0 || digit >= base)
      return false;
    if (value <= UINT32_MAX)
      value = value * (unsigned) base + (unsigned) digit;
  }
  *out = value;
  return true;
}

/* The length without the dot of the root, which an address may have too. */
static size_t without_root(const char *host, size_t length) {
  return length > 1 && host[length - 1] == '.' ? length - 1 : length;
}

bool errand__host_is_number(const char *host, size_t length) {
  length = without_root(host, length);
  const char *dot = memrchr(host, '.', length);
  const char *label = dot ? dot + 1 : host;
  const char *end = host + length;
  if (label == end || !errand__is_digit(*label))
    return false;
  uint64_t value;
  if (parse_number(label, (size_t) (end - label), &value))
    return true;
  while (label < end && errand__is_digit(*label))
    label++;
  return label == end;
}

bool errand__host_is_ipv4(const char *host, size_t length) {
  int dots = 0;
  unsigned value = 0;
  size_t digits = 0;
  for (size_t i = 0; i < length; i++) {
    if (errand__is_digit(host[i])) {
      if (digits > 0 && value == 0)
        return false;
      value = value * 10 + (unsigned) (host[i] - '0');
      if (++digits > 3 || value > 255)
        return false;
    } else {
      if (host[i] != '.' || digits == 0)
        return false;
      dots++;
      digits = 0;
      value = 0;
    }
  }
  return dots == 3 && digits > 0;
}

static bool write_ipv4(const char *host, size_t length, char *out) {
  const char *end = host + without_root(host, length);
  uint32_t address = 0;
  for (int count = 0;; count++) {
    const char *dot = memchr(host, '.', (size_t) (end - host));
    uint64_t value;
    if (count == 4 ||
        !parse_number(host, (size_t) ((dot ? dot : end) - host), &value))
      return false;
    if (!dot) {
      /* The last number fills all bytes that are left. */
      if (value >> (8 * (4 - count)))
        return false;
      address |= (uint32_t) value;
      break;
    }
    if (value > 255 || count == 3)
      return false;
    address |= (uint32_t) value << (8 * (3 - count));
    host = dot + 1;
  }
  struct in_addr raw = {htonl(address)};
  return inet_ntop(AF_INET, &raw, out, ERRAND__HOST_ROOM) != NULL;
}

/* International names. */

/* 7.88.1 reports OUT_OF_MEMORY for every name that it cannot map. */
static errand_status status_of(CURLUcode code) {
  if (code == CURLUE_OK)
    return ERRAND_OK;
  return code == CURLUE_LACKS_IDN ? ERRAND_UNSUPPORTED_FEATURE
                                  : ERRAND_INVALID_URL;
}

static errand_status map_here(const char *name, char *out) {
  char *mapped = NULL;
  CURLU *url = curl_url();
  if (!url)
    return ERRAND_OUT_OF_MEMORY;
  CURLUcode code = curl_url_set(url, CURLUPART_HOST, name, 0);
  if (code == CURLUE_OK)
    code = curl_url_get(url, CURLUPART_HOST, &mapped, CURLU_PUNYCODE);
  curl_url_cleanup(url);
  errand_status status = status_of(code);
  if (status == ERRAND_OK && strlen(mapped) >= ERRAND__HOST_ROOM)
    status = ERRAND_INVALID_URL;
  if (status == ERRAND_OK)
    memcpy(out, mapped, strlen(mapped) + 1);
  curl_free(mapped);
  return status;
}

/* The four deviation characters of UTS #46, and the capital letter of the
   first. `to` is the result of transitional processing. It is never longer. */
static const struct {
  const char *from, *to;
} deviations[] = {{"\xc3\x9f", "ss"},
                  {"\xe1\xba\x9e", "ss"},
                  {"\xcf\x82", "\xcf\x83"},
                  {"\xe2\x80\x8c", ""},
                  {"\xe2\x80\x8d", ""}};

/* Applies transitional processing.
   Returns: false if the name has none of these characters. */
static bool make_transitional(const char *name, char *out) {
  bool found = false;
  while (*name) {
    size_t taken = 0;
    for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++) {
      size_t length = strlen(deviations[i].from);
      if (strncmp(name, deviations[i].from, length) == 0) {
        out = mempcpy(out, deviations[i].to, strlen(deviations[i].to));
        taken = length;
        found = true;
      }
    }
    if (taken == 0) {
      *out++ = *name;
      taken = 1;
    }
    name += taken;
  }
  *out = '\0';
  return found;
}

/* libcurl maps a name by UTS #46 as browsers do. If that fails, it tries the
   transitional rules (Curl_idn_decode), which turn a name with a deviation
   character into another name: "fa", sharp-s and an emoji become "fass" and the
   emoji. Such a name is refused. */
static errand_status map_faithfully(const char *name, char *out) {
  char transitional[ERRAND__HOST_ROOM], other[ERRAND__HOST_ROOM];
  errand_status status = map_here(name, out);
  if (status != ERRAND_OK || !make_transitional(name, transitional))
    return status;
  if (!*transitional || (map_here(transitional, other) == ERRAND_OK &&
                         strcasecmp(out, other) == 0))
    return ERRAND_INVALID_URL;
  return ERRAND_OK;
}

/* libidn2 reads the name in the locale of the thread. Making a locale takes
   longer than mapping a name, so the process has one, which is never freed. */
static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t utf8;

static void make_locale(void) {
  utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);
}

static errand_status map(const char *name, char *out) {
  errand_status status = errand__process_start();
  if (status != ERRAND_OK)
    return status;
  pthread_once(&locale_once, make_locale);
  locale_t before = utf8 ? uselocale(utf8) : (locale_t) 0;
  status = map_faithfully(name, out);
  if (utf8)
    uselocale(before);
  return status;
}

/* Maps and checks `name`, which has no escapes, is NUL-terminated and shorter
   than ERRAND__HOST_ROOM. */
static errand_status settle(const char *name, size_t length, char *out) {
  bool ascii = true;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char) name[i];
    ascii &= c < 0x80;
    if (c < 0x80 && !errand__host_kinds[c])
      return ERRAND_INVALID_URL;
  }
  if (ascii) {
    memcpy(out, name, length + 1);
  } else {
    errand_status status = map(name, out);
    if (status != ERRAND_OK)
      return status;
    length = strlen(out);
    for (size_t i = 0; i < length; i++)
      if (!errand__host_kinds[(unsigned char) out[i]])
        return ERRAND_INVALID_URL;
  }
  if (length == 0)
    return ERRAND_INVALID_URL;
  char address[ERRAND__HOST_ROOM];
  if (errand__host_is_number(out, length)) {
    if (!write_ipv4(out, length, address))
      return ERRAND_INVALID_URL;
    memcpy(out, address, strlen(address) + 1);
  }
  return ERRAND_OK;
}

errand_status errand__host_of_url(const char *text, size_t length, char *out) {
  char name[ERRAND__HOST_ROOM];
  size_t count = 0;
  for (size_t i = 0; i < length; i++) {
    if (count + 1 == sizeof name)
      return ERRAND_INVALID_URL;
    if (text[i] != '%') {
      name[count++] = text[i];
      continue;
    }
    if (length - i < 3)
      return ERRAND_INVALID_URL;
    int high = errand__hex_value(text[i + 1]),
        low = errand__hex_value(text[i + 2]);
    if (high < 0 || low < 0)
      return ERRAND_INVALID_URL;
    name[count++] = (char) (high * 16 + low);
    i += 2;
  }
  name[count] = '\0';
  return settle(name, count, out);
}

/* Whether the host has the form of an address in brackets, perhaps with a zone.
   The parser of URLs checks the address. */
static bool is_bracketed(errand_bytes host) {
  if (host.length < 3 || host.data[0] != '[' ||
      host.data[host.length - 1] != ']')
    return false;
  for (size_t i = 1; i + 1 < host.length; i++)
    if (!errand__host_kinds[host.data[i]] && !memchr(":%", host.data[i], 2))
      return false;
  return true;
}

errand_status errand_host_ascii(errand_bytes host, char *out, size_t capacity) {
  char name[ERRAND__HOST_ROOM], settled[ERRAND__HOST_ROOM];
  if (capacity > 0)
    out[0] = '\0';
  if (host.length == 0 || !host.data || host.length >= sizeof name)
    return ERRAND_INVALID_URL;
  memcpy(name, host.data, host.length);
  name[host.length] = '\0';
  errand_status status = ERRAND_OK;
  if (is_bracketed(host))
    memcpy(settled, name, host.length + 1);
  else
    status = settle(name, host.length, settled);
  if (status == ERRAND_OK && strlen(settled) >= capacity)
    status = ERRAND_INVALID_URL;
  if (status == ERRAND_OK)
    memcpy(out, settled, strlen(settled) + 1);
  return status;
}
