#include "transfer/validate.h"

#include <string.h>

#include "base/bytes.h"
#include "libcurl/process.h"
#include "transfer/transfer.h"

#define METHOD_LENGTH_MAX 64
#define CREDENTIAL_MAX 65536

static bool limits_ok(const errand_request *r) {
  const int64_t timeouts[] = {r->timeout_queue, r->timeout_connect,
                              r->timeout_first_byte, r->timeout_idle,
                              r->timeout_total};
  const int64_t limits[] = {r->limit_header_bytes, r->limit_header_count,
                            r->limit_body_bytes, r->limit_decoded_bytes};
  for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++)
    if (timeouts[i] < 0 || timeouts[i] > ERRAND_TIMEOUT_MAX)
      return false;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    if (limits[i] < 0 || limits[i] > ERRAND__LIMIT_MAX)
      return false;
  return r->response_credit <= (uint64_t) ERRAND__LIMIT_MAX &&
         r->upload_credit <= (uint64_t) ERRAND__LIMIT_MAX;
}

static errand_status check_body(const errand_request *r) {
  bool memory = r->body.length > 0 || r->body.data || r->body_release;
  bool path = r->body_path != NULL;
  switch (r->body_kind) {
  case ERRAND_BODY_NONE:
    return memory || path || r->body_length > 0 ? ERRAND_INVALID_BODY
                                                : ERRAND_OK;
  case ERRAND_BODY_MEMORY:
    if (path || (r->body.length > 0 && !r->body.data))
      return ERRAND_INVALID_BODY;
    return ERRAND_OK;
  case ERRAND_BODY_DESCRIPTOR:
    if (memory || path || r->body_fd < 0)
      return ERRAND_INVALID_BODY;
    break;
  case ERRAND_BODY_FILE:
    if (memory || !path)
      return ERRAND_INVALID_BODY;
    break;
  case ERRAND_BODY_STREAM:
    if (memory || path)
      return ERRAND_INVALID_BODY;
    break;
  default:
    return ERRAND_INVALID_BODY;
  }
  if (r->body_length < ERRAND_LENGTH_UNKNOWN ||
      r->body_length > ERRAND__LIMIT_MAX ||
      r->body_offset > (uint64_t) ERRAND__LIMIT_MAX)
    return ERRAND_INVALID_BODY;
  return ERRAND_OK;
}

/* libcurl quotes '"' and '\\' in the user's name and writes the rest unchanged
   (auth_digest_string_quoted). A ':' would move the end of the user's name in
   the text that is hashed. */
static errand_status check_authentication(const errand_request *r,
                                          const errand__header_facts *headers) {
  switch (r->authentication) {
  case ERRAND_AUTHENTICATION_NONE:
    return r->username.length > 0 || r->password.length > 0
               ? ERRAND_INVALID_OPTION
               : ERRAND_OK;
  case ERRAND_AUTHENTICATION_DIGEST:
    break;
  default:
    return ERRAND_INVALID_OPTION;
  }
  const errand_bytes user = r->username;
  const errand_bytes password = r->password;
  if (user.length == 0 || !user.data || user.length > CREDENTIAL_MAX ||
      password.length > CREDENTIAL_MAX ||
      (password.length > 0 &&
       (!password.data || memchr(password.data, 0, password.length))))
    return ERRAND_INVALID_OPTION;
  for (size_t i = 0; i < user.length; i++)
    if (user.data[i] < 0x20 || user.data[i] == 0x7f || user.data[i] == ':')
      return ERRAND_INVALID_OPTION;
  return headers->authorization ? ERRAND_INVALID_HEADER : ERRAND_OK;
}

/* The rules of ERRAND_REQUEST_WEBSOCKET. */
static errand_status check_websocket(const errand_request *r,
                                     const errand__url *url) {
  if (!(r->flags & ERRAND_REQUEST_WEBSOCKET))
    return url->websocket ? ERRAND_UNSUPPORTED_SCHEME : ERRAND_OK;
  if (!url->websocket)
    return ERRAND_UNSUPPORTED_SCHEME;
  if (!errand__curl_has_websocket())
    return ERRAND_UNSUPPORTED_FEATURE;
  if (r->method.length > 0 && !errand__bytes_are(r->method, "GET"))
    return ERRAND_INVALID_METHOD;
  if (r->body_kind != ERRAND_BODY_STREAM ||
      r->body_length != ERRAND_LENGTH_UNKNOWN)
    return ERRAND_INVALID_BODY;
  return r->flags & ERRAND_REQUEST_STREAM_RESPONSE ? ERRAND_OK
                                                   : ERRAND_INVALID_OPTION;
}

errand_status errand__request_check(const errand_request *r, char *host,
                                    errand__url *url,
                                    errand__header_facts *headers) {
  errand_status status = errand__url_parse(r->url, host, url);
  if (status != ERRAND_OK)
    return status;
  if (r->method.length > 0 &&
      (!r->method.data || r->method.length > METHOD_LENGTH_MAX ||
       !errand__is_token(r->method.data, r->method.length)))
    return ERRAND_INVALID_METHOD;
  /* CONNECT has another form of target (RFC 9110 9.3.6). */
  if (errand__bytes_are(r->method, "CONNECT"))
    return ERRAND_INVALID_METHOD;
  status = errand__headers_check(r->headers, headers);
  if (status != ERRAND_OK)
    return status;
  if (!limits_ok(r))
    return ERRAND_INVALID_LIMIT;
  status = check_body(r);
  if (status != ERRAND_OK)
    return status;
  if ((int) r->priority < ERRAND_PRIORITY_DEFAULT ||
      (int) r->priority > ERRAND_PRIORITY_HIGH || (r->flags & ~1023u))
    return ERRAND_INVALID_OPTION;
  if (r->response_memory &&
      (!r->response_memory->create || !r->response_memory->grow ||
       !r->response_memory->release))
    return ERRAND_INVALID_OPTION;
  status = check_websocket(r, url);
  if (status != ERRAND_OK)
    return status;
  status = check_authentication(r, headers);
  if (status != ERRAND_OK)
    return status;
  /* TRACE must not have a body (RFC 9110 9.3.8). A body of HEAD has no meaning,
     and libcurl cannot send it. */
  if (r->body_kind != ERRAND_BODY_NONE &&
      (errand__bytes_are(r->method, "TRACE") ||
       errand__bytes_are(r->method, "HEAD")))
    return ERRAND_INVALID_BODY;
  /* The core writes Content-Length: a field with another length is an error. */
  if (headers->content_length) {
    int64_t known = r->body_kind == ERRAND_BODY_NONE ? 0
                    : r->body_kind == ERRAND_BODY_MEMORY
                        ? (int64_t) r->body.length
                        : r->body_length;
    if (known < 0 || (uint64_t) known != headers->content_length_value)
      return ERRAND_INVALID_HEADER;
  }
  return ERRAND_OK;
}

errand_status errand_request_validate(const errand_request *request) {
  char host[ERRAND__HOST_ROOM];
  errand__url url;
  errand__header_facts headers;
  return errand__request_check(request, host, &url, &headers);
}
