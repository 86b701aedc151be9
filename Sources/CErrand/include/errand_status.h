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
  X(INVALID_ARGUMENT, 1, invalidArgument, "an argument is invalid")            \
  X(INVALID_URL, 2, invalidURL, "the URL is malformed")                        \
  X(UNSUPPORTED_SCHEME, 3, unsupportedScheme,                                  \
    "the URL's scheme is not supported; expected http or https")               \
  X(INVALID_METHOD, 4, invalidMethod, "the method is not a valid HTTP token")  \
  X(INVALID_HEADER, 5, invalidHeader, "a header name or value is malformed")   \
  X(INVALID_BODY, 6, invalidBody, "the request body is invalid")               \
  X(INVALID_LIMIT, 7, invalidLimit, "a limit or timeout is out of range")      \
  X(INVALID_OPTION, 8, invalidOption, "an option has an invalid value")        \
  X(FILE_UNREADABLE, 9, fileUnreadable, "a file cannot be opened for reading") \
  X(UNSUPPORTED_FEATURE, 10, unsupportedFeature,                               \
    "libcurl was built without the required feature")                          \
  /* Errors of the engine. */                                                  \
  X(QUEUE_FULL, 20, queueFull, "the request queue is full")                    \
  X(SHUT_DOWN, 21, shutDown, "the group is shut down")                         \
  X(FORKED, 22, forked,                                                        \
    "the group was created before a fork and works only in the parent "        \
    "process")                                                                 \
  X(OUT_OF_MEMORY, 23, outOfMemory, "out of memory")                           \
  X(UNSUPPORTED_LIBRARY, 24, unsupportedLibrary,                               \
    "this version of libcurl has known defects and is not supported")          \
  X(SYSTEM, 25, system,                                                        \
    "the system could not create a thread, an event loop or a descriptor")     \
  X(WRONG_THREAD, 26, wrongThread,                                             \
    "the call is not allowed on an event loop thread")                         \
  X(INTERNAL, 27, internal, "an internal error occurred")                      \
  X(FILE_UNWRITABLE, 28, fileUnwritable, "a file cannot be written")           \
  X(OUT_OF_DESCRIPTORS, 29, outOfDescriptors,                                  \
    "the limit of open file descriptors was reached")                          \
  /* Ended on purpose or by a timeout. */                                      \
  X(CANCELLED, 40, cancelled, "the request was cancelled")                     \
  X(TIMEOUT_QUEUE, 41, timeoutQueue,                                           \
    "the queue timeout expired before the request was started")                \
  X(TIMEOUT_CONNECT, 42, timeoutConnect,                                       \
    "the connect timeout expired before the connection was established")       \
  X(TIMEOUT_FIRST_BYTE, 43, timeoutFirstByte,                                  \
    "the first-byte timeout expired before the response began")                \
  X(TIMEOUT_IDLE, 44, timeoutIdle,                                             \
    "the idle timeout expired while no data was transferred")                  \
  X(TIMEOUT_TOTAL, 45, timeoutTotal,                                           \
    "the total timeout expired before the request ended")                      \
  /* On the way to the server. */                                              \
  X(RESOLVE_FAILED, 60, resolveFailed, "the host name could not be resolved")  \
  X(CONNECT_FAILED, 61, connectFailed,                                         \
    "the connection could not be established")                                 \
  X(ADDRESS_REFUSED, 62, addressRefused,                                       \
    "the address filter rejected the address")                                 \
  X(PROXY_FAILED, 63, proxyFailed,                                             \
    "the proxy failed or refused the connection")                              \
  X(TLS_FAILED, 64, tlsFailed, "the TLS handshake failed")                     \
  X(TLS_UNTRUSTED, 65, tlsUntrusted,                                           \
    "the server's certificate is not trusted")                                 \
  X(TLS_PIN_MISMATCH, 66, tlsPinMismatch,                                      \
    "the server's public key matches no pinned key")                           \
  X(TLS_CREDENTIALS, 67, tlsCredentials,                                       \
    "a CA file, client certificate or key cannot be used")                     \
  /* The exchange itself. */                                                   \
  X(SEND_FAILED, 80, sendFailed, "sending the request failed")                 \
  X(CONNECTION_LOST, 81, connectionLost,                                       \
    "the connection ended before the response began")                          \
  X(RECEIVE_FAILED, 82, receiveFailed, "receiving the response failed")        \
  X(PARTIAL_BODY, 83, partialBody, "the response body is incomplete")          \
  X(MALFORMED_RESPONSE, 84, malformedResponse, "the response is malformed")    \
  X(DECODING_FAILED, 85, decodingFailed,                                       \
    "the content encoding is malformed or not supported")                      \
  X(PROTOCOL_ERROR, 86, protocolError, "an HTTP/2 protocol error occurred")    \
  X(UPLOAD_FAILED, 87, uploadFailed, "the request body's source failed")       \
  X(UPLOAD_NOT_REPLAYABLE, 88, uploadNotReplayable,                            \
    "the request body must be sent again but cannot be rewound")               \
  X(UPLOAD_OVERRUN, 89, uploadOverrun,                                         \
    "more of the request body was written than its credit allowed")            \
  /* Limits. */                                                                \
  X(LIMIT_HEADER_BYTES, 100, limitHeaderBytes,                                 \
    "the response header is larger than its limit")                            \
  X(LIMIT_HEADER_COUNT, 101, limitHeaderCount,                                 \
    "the response has more header fields than its limit")                      \
  X(LIMIT_BODY_BYTES, 102, limitBodyBytes,                                     \
    "the response body is larger than its limit")                              \
  X(LIMIT_DECODED_BYTES, 103, limitDecodedBytes,                               \
    "the decoded response body is larger than its limit")

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
