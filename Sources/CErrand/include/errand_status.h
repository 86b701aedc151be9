/*
 * All results of calls and requests, in one table. The enum, the names and
 * texts (`errand_status_name`, `errand_status_text`) and the Swift case names
 * are made from it.
 */
#ifndef ERRAND_STATUS_H
#define ERRAND_STATUS_H

#include "errand_base.h"

/* X(C name, value, Swift case, text). Values are stable: append only. */
#define ERRAND_STATUS_MAP(X)                                                   \
  X(OK, 0, ok, "ok")                                                           \
  /* The caller's mistakes; no socket was opened. */                           \
  X(INVALID_ARGUMENT, 1, invalidArgument, "an argument is not valid")          \
  X(INVALID_URL, 2, invalidURL, "the URL is malformed")                        \
  X(UNSUPPORTED_SCHEME, 3, unsupportedScheme, "only http and https are sent")  \
  X(INVALID_METHOD, 4, invalidMethod, "the method is not an HTTP token")       \
  X(INVALID_HEADER, 5, invalidHeader, "a header name or value is malformed")   \
  X(INVALID_BODY, 6, invalidBody, "the body cannot be sent as it is")          \
  X(INVALID_LIMIT, 7, invalidLimit, "a limit or timeout is out of range")      \
  X(INVALID_OPTION, 8, invalidOption, "an option has no such value")           \
  X(FILE_UNREADABLE, 9, fileUnreadable, "a file cannot be opened for reading") \
  X(UNSUPPORTED_FEATURE, 10, unsupportedFeature,                               \
    "this libcurl was built without that feature")                             \
  /* Errors of the engine. */                                                  \
  X(QUEUE_FULL, 20, queueFull, "too many requests are waiting")                \
  X(SHUT_DOWN, 21, shutDown, "the group is shut down")                         \
  X(FORKED, 22, forked, "the group belongs to the parent process")             \
  X(OUT_OF_MEMORY, 23, outOfMemory, "out of memory")                           \
  X(UNSUPPORTED_LIBRARY, 24, unsupportedLibrary,                               \
    "this libcurl version is known to be broken")                              \
  X(SYSTEM, 25, system, "the system refused a thread, a loop or a descriptor") \
  X(WRONG_THREAD, 26, wrongThread, "not allowed on a loop thread")             \
  X(INTERNAL, 27, internal, "internal error")                                  \
  X(FILE_UNWRITABLE, 28, fileUnwritable, "a file cannot be written")           \
  X(OUT_OF_DESCRIPTORS, 29, outOfDescriptors,                                  \
    "no descriptor is left for a socket or file")                              \
  /* Ended on purpose or by the clock. */                                      \
  X(CANCELLED, 40, cancelled, "cancelled")                                     \
  X(TIMEOUT_QUEUE, 41, timeoutQueue, "waited too long for admission")          \
  X(TIMEOUT_CONNECT, 42, timeoutConnect, "connecting took too long")           \
  X(TIMEOUT_FIRST_BYTE, 43, timeoutFirstByte, "no response in time")           \
  X(TIMEOUT_IDLE, 44, timeoutIdle, "no bytes moved for too long")              \
  X(TIMEOUT_TOTAL, 45, timeoutTotal, "the request took too long")              \
  /* Getting there. */                                                         \
  X(RESOLVE_FAILED, 60, resolveFailed, "the host name did not resolve")        \
  X(CONNECT_FAILED, 61, connectFailed, "the connection was not established")   \
  X(ADDRESS_REFUSED, 62, addressRefused, "the address filter refused")         \
  X(PROXY_FAILED, 63, proxyFailed, "the proxy failed or refused")              \
  X(TLS_FAILED, 64, tlsFailed, "the TLS handshake failed")                     \
  X(TLS_UNTRUSTED, 65, tlsUntrusted,                                           \
    "the server's certificate is not trusted")                                 \
  X(TLS_PIN_MISMATCH, 66, tlsPinMismatch, "no pinned key matched")             \
  X(TLS_CREDENTIALS, 67, tlsCredentials,                                       \
    "a CA file, client certificate or key cannot be used")                     \
  /* The exchange itself. */                                                   \
  X(SEND_FAILED, 80, sendFailed, "sending failed")                             \
  X(CONNECTION_LOST, 81, connectionLost,                                       \
    "the connection ended before the response began")                          \
  X(RECEIVE_FAILED, 82, receiveFailed, "receiving failed")                     \
  X(PARTIAL_BODY, 83, partialBody, "the response body is incomplete")          \
  X(MALFORMED_RESPONSE, 84, malformedResponse, "the response is malformed")    \
  X(DECODING_FAILED, 85, decodingFailed,                                       \
    "the content encoding is broken or unknown")                               \
  X(PROTOCOL_ERROR, 86, protocolError, "an HTTP/2 protocol error")             \
  X(UPLOAD_FAILED, 87, uploadFailed, "the request body's source failed")       \
  X(UPLOAD_NOT_REPLAYABLE, 88, uploadNotReplayable,                            \
    "the request body had to be sent again but cannot be rewound")             \
  X(UPLOAD_OVERRUN, 89, uploadOverrun,                                         \
    "more body was written than there was credit for")                         \
  /* Limits. */                                                                \
  X(LIMIT_HEADER_BYTES, 100, limitHeaderBytes, "the header is too large")      \
  X(LIMIT_HEADER_COUNT, 101, limitHeaderCount, "too many header fields")       \
  X(LIMIT_BODY_BYTES, 102, limitBodyBytes, "the body is too large")            \
  X(LIMIT_DECODED_BYTES, 103, limitDecodedBytes,                               \
    "the body is too large once decompressed")

ERRAND_BEGIN_DECLS

typedef enum ERRAND_CLOSED_ENUM errand_status {
#define ERRAND_STATUS_ENUM(name, value, swift, text)                           \
  ERRAND_##name ERRAND_SWIFT_NAME(#swift) = value,
  ERRAND_STATUS_MAP(ERRAND_STATUS_ENUM)
#undef ERRAND_STATUS_ENUM
} errand_status;

/*
 * The C name of a status without its prefix, "TIMEOUT_IDLE".
 * Thread: any.  Owns: the string is static.
 * Returns: "UNKNOWN" for a number that is no status.
 */
ERRAND_API const char *ERRAND_NONNULL errand_status_name(int status);

/*
 * One lower-case English sentence for a status, without a full stop.
 * Thread: any.  Owns: the string is static.
 * Returns: "unknown status" for a number that is no status.
 */
ERRAND_API const char *ERRAND_NONNULL errand_status_text(int status);

ERRAND_END_DECLS

#endif
