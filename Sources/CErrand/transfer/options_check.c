#include "transfer/options_check.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "base/open_error.h"

#define SHA256_BASE64_LENGTH 44
#define HOST_MAX 255

static bool is_base64(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '=';
}

bool errand__check_pins(const char *pins) {
  static const char prefix[] = "sha256//";
  for (;;) {
    if (strncmp(pins, prefix, sizeof prefix - 1) != 0)
      return false;
    pins += sizeof prefix - 1;
    size_t length = strcspn(pins, ";");
    if (length != SHA256_BASE64_LENGTH)
      return false;
    for (size_t i = 0; i < length; i++)
      if (!is_base64(pins[i]))
        return false;
    pins += length;
    if (*pins == '\0')
      return true;
    pins++;
  }
}

bool errand__check_proxy(const char *url) {
  static const char *const schemes[] = {"http",    "https",  "socks4",
                                        "socks4a", "socks5", "socks5h"};
  bool ok = false;
  char *scheme = NULL;
  char *host = NULL;
  CURLU *parsed = curl_url();
  if (!parsed)
    return false;
  if (strstr(url, "://") &&
      curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) ==
          CURLUE_OK &&
      curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
      curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK)
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
      ok |= strcmp(scheme, schemes[i]) == 0;
  curl_free(scheme);
  curl_free(host);
  curl_url_cleanup(parsed);
  return ok;
}

static bool is_address(const char *text, size_t length) {
  char copy[64];
  if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
    text++;
    length -= 2;
  }
  if (length == 0 || length >= sizeof copy)
    return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return errand__is_address(copy);
}

bool errand__check_resolve(const char *entry) {
  const char *port = strchr(entry, ':');
  /* A leading '-' removes an entry, '+' lets it expire, and '*' means any host:
     none of them overrides the address of one host. */
  if (!port || port == entry || port - entry > HOST_MAX ||
      strchr("-+*", entry[0]) || strpbrk(entry, " \t\r\n"))
    return false;
  size_t digits = strspn(port + 1, "0123456789");
  const char *address = port + 1 + digits;
  if (digits == 0 || digits > 5 || *address != ':' ||
      strtol(port + 1, NULL, 10) > 65535)
    return false;
  do {
    address++;
    size_t length = strcspn(address, ",");
    if (!is_address(address, length))
      return false;
    address += length;
  } while (*address == ',');
  return true;
}

bool errand__check_connect_to(const char *place) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  const char *port = strrchr(place, ':');
  if (!port || port == place || port - place > HOST_MAX)
    return false;
  size_t host = (size_t) (port - place);
  size_t digits = strspn(port + 1, "0123456789");
  if (digits == 0 || digits > 5 || port[1 + digits] != '\0')
    return false;
  long number = strtol(port + 1, NULL, 10);
  if (number < 1 || number > 65535)
    return false;
  return place[0] == '[' ? is_address(place, host)
                         : strspn(place, letters) == host;
}

const char *errand__interface_prefix(const char *name) {
  if (name[0] != '[' && is_address(name, strlen(name)))
    return "host!";
  return if_nametoindex(name) != 0 ? "if!" : NULL;
}

errand_status errand__check_readable(const char *path) {
  struct stat status;
  if (!path)
    return ERRAND_OK;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errand__open_error(errno);
  bool ok = fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode);
  close(fd);
  return ok ? ERRAND_OK : ERRAND_FILE_UNREADABLE;
}
