/* Runs one connection: first its own script, then one request after another. */
#include "fault.h"

static fault_outcome serve(fault_connection *connection) {
  static const char none[] = "HTTP/1.1 404 Not Found\r\n"
                             "Content-Length: 0\r\n\r\n";
  if (errand_fault__read_head(connection) == FAULT_ENDED)
    return FAULT_ENDED;
  const fault_script *script = errand_fault__script_for_path(
      connection->server, connection->request->view.target);
  fault_outcome outcome =
      script != NULL ? errand_fault__run(connection, script)
                     : errand_fault__send(connection, none, sizeof none - 1);
  if (outcome == FAULT_GO_ON)
    outcome = errand_fault__read_body(connection, 0, 0);
  return outcome;
}

void *errand_fault__connection_main(void *context) {
  fault_connection *connection = context;
  errand_fault_server *server = connection->server;
  const fault_script *script =
      errand_fault__script_for_connection(server, connection->number);
  fault_outcome outcome = FAULT_GO_ON;
  if (script != NULL)
    outcome = errand_fault__run(connection, script);
  if (outcome == FAULT_GO_ON)
    outcome = errand_fault__read_body(connection, 0, 0);
  while (outcome == FAULT_GO_ON)
    outcome = serve(connection);
  errand_fault__close(connection, false);

  pthread_mutex_lock(&server->lock);
  connection->ended = true;
  server->counts.closed += 1;
  pthread_cond_broadcast(&server->changed);
  pthread_mutex_unlock(&server->lock);
  return NULL;
}
