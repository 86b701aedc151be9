/* Declarations shared by the files of the fault server. */
#ifndef ERRAND_FAULT_H
#define ERRAND_FAULT_H

#include "include/errand_fault_server.h"

#include <pthread.h>
#include <stdbool.h>

/* A script: steps with their data, for a path or for a connection. */
typedef struct fault_script {
  struct fault_script *next;
  char *path; /* NULL: any path, or a connection's */
  bool for_connection;
  uint64_t connection; /* 0: any */
  bool used;
  errand_fault_step *steps;
  size_t count;
} fault_script;

typedef struct fault_record {
  errand_fault_request view;
  char *head;
  char *words; /* method and target, each NUL-terminated */
  uint8_t *body;
} fault_record;

typedef struct fault_connection {
  struct fault_connection *next;
  errand_fault_server *server;
  pthread_t thread;
  bool ended; /* under the server's lock; the thread can be joined */
  int fd;     /* -1 once closed */
  uint64_t number;

  uint8_t input[16384];
  size_t input_at;
  size_t input_end;

  fault_record *request; /* the current one, owned by the server */
  bool body_unread;
} fault_connection;

struct errand_fault_server {
  int listener;
  int stop_event;    /* readable for ever once the server stops */
  int release_event; /* readable while stalls are released */
  uint16_t port;
  char *unix_path;
  pthread_t acceptor;

  pthread_mutex_t lock; /* everything below */
  pthread_cond_t changed;
  errand_fault_counts counts;
  fault_connection *connections;
  fault_script *scripts;
  fault_record **records;
  size_t record_count;
  size_t record_capacity;
};

/* Whether a connection continues after a step or an operation. */
typedef enum fault_outcome {
  FAULT_GO_ON,
  FAULT_ENDED /* the client closed, the server stops, or the step ended it */
} fault_outcome;

/* stream.c: the connection as a stream; every wait ends when the server
   stops. Thread: the connection's. */

/* Reads input if none is buffered. */
fault_outcome errand_fault__fill(fault_connection *connection);
fault_outcome errand_fault__send(fault_connection *connection, const void *data,
                                 size_t length);
/* Waits, and watches the connection: ENDED if the client closes meanwhile. */
fault_outcome errand_fault__sleep(fault_connection *connection,
                                  uint32_t milliseconds);
fault_outcome errand_fault__stall(fault_connection *connection);
/* Sends FIN, then reads until the client closes. */
void errand_fault__finish(fault_connection *connection);
void errand_fault__close(fault_connection *connection, bool reset);
/* Adds to the byte counts. Thread: any. */
void errand_fault__count(errand_fault_server *server, size_t received,
                         size_t sent);

/* request.c: heads and bodies. */
fault_outcome errand_fault__read_head(fault_connection *connection);
/* Reads `portion` bytes at a time, `pause` ms apart; 0: as they arrive. */
fault_outcome errand_fault__read_body(fault_connection *connection,
                                      size_t portion, uint32_t pause);
/* The value of a field of the current request, up to its CR; NULL: none. */
const char *errand_fault__field(const fault_connection *connection,
                                const char *name);

/* record.c: Owns: the record is the server's. Returns: NULL: out of memory. */
fault_record *errand_fault__record(fault_connection *connection, char *head,
                                   size_t length);
void errand_fault__record_body(fault_connection *connection, uint8_t *body,
                               size_t kept, uint64_t length, uint64_t hash,
                               bool complete);
void errand_fault__free_records(errand_fault_server *server);

/* script.c: Returns: a script that lives as long as the server, or NULL. */
const fault_script *errand_fault__script_for_path(errand_fault_server *server,
                                                  const char *target);
const fault_script *
errand_fault__script_for_connection(errand_fault_server *server,
                                    uint64_t number);
void errand_fault__free_scripts(errand_fault_server *server);

/* step.c */
fault_outcome errand_fault__run(fault_connection *connection,
                                const fault_script *script);

/* proxy.c */
fault_outcome errand_fault__proxy(fault_connection *connection);
/* Connects to a port on loopback; -1: refused. */
int errand_fault__connect_to(unsigned long port);
/* Copies in both directions until either side closes. */
void errand_fault__relay(fault_connection *connection, int upstream);

/* socks.c */
fault_outcome errand_fault__socks5(fault_connection *connection,
                                   const errand_fault_step *step);

/* digest.c: `count` and `data` are the step's. */
fault_outcome errand_fault__digest(fault_connection *connection,
                                   const errand_fault_step *step);

/* hash.c: MD5 (RFC 1321) or SHA-256 (FIPS 180-4) in lower-case hexadecimal;
   `out` has room for 65 characters. */
void errand_fault__hash_hex(bool sha256, const char *text, char *out);

/* connection.c: the function of a connection's thread; `context` is the
   connection. */
void *errand_fault__connection_main(void *context);

#endif
