/* Scripts are copied when added, and never changed or removed while the server
   exists, so that a connection can run one without the lock. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_script(fault_script *script) {
  for (size_t i = 0; i < script->count; i++)
    free((void *) script->steps[i].data);
  free(script->steps);
  free(script->path);
  free(script);
}

static fault_script *copy(const char *path, const errand_fault_step *steps,
                          size_t count) {
  fault_script *script = calloc(1, sizeof *script);
  if (script == NULL)
    return NULL;
  script->steps = calloc(count > 0 ? count : 1, sizeof *steps);
  script->path = path == NULL ? NULL : strdup(path);
  if (script->steps == NULL || (path != NULL && script->path == NULL)) {
    free_script(script);
    return NULL;
  }
  for (script->count = 0; script->count < count; script->count++) {
    errand_fault_step *step = &script->steps[script->count];
    *step = steps[script->count];
    void *data = malloc(step->length > 0 ? step->length : 1);
    if (data == NULL) {
      free_script(script);
      return NULL;
    }
    if (step->length > 0)
      memcpy(data, step->data, step->length);
    step->data = data;
  }
  return script;
}

static int add(errand_fault_server *server, fault_script *script) {
  if (script == NULL)
    return ENOMEM;
  pthread_mutex_lock(&server->lock);
  fault_script **end = &server->scripts;
  while (*end != NULL)
    end = &(*end)->next;
  *end = script;
  pthread_mutex_unlock(&server->lock);
  return 0;
}

int errand_fault_server_on_path(errand_fault_server *server, const char *path,
                                const errand_fault_step *steps, size_t count) {
  return add(server, copy(path, steps, count));
}

int errand_fault_server_on_connection(errand_fault_server *server,
                                      uint64_t number,
                                      const errand_fault_step *steps,
                                      size_t count) {
  fault_script *script = copy(NULL, steps, count);
  if (script != NULL) {
    script->for_connection = true;
    script->connection = number;
  }
  return add(server, script);
}

/* The first unused script of the path (NULL: of any path); the last one if all
   are used. */
static fault_script *find(errand_fault_server *server, const char *path,
                          size_t length) {
  fault_script *last = NULL;
  for (fault_script *each = server->scripts; each != NULL; each = each->next) {
    if (each->for_connection || (each->path == NULL) != (path == NULL))
      continue;
    if (path != NULL &&
        (strlen(each->path) != length || memcmp(each->path, path, length) != 0))
      continue;
    last = each;
    if (!each->used)
      break;
  }
  if (last != NULL)
    last->used = true;
  return last;
}

const fault_script *errand_fault__script_for_path(errand_fault_server *server,
                                                  const char *target) {
  pthread_mutex_lock(&server->lock);
  fault_script *script = find(server, target, strcspn(target, "?"));
  if (script == NULL)
    script = find(server, NULL, 0);
  pthread_mutex_unlock(&server->lock);
  return script;
}

const fault_script *
errand_fault__script_for_connection(errand_fault_server *server,
                                    uint64_t number) {
  fault_script *found = NULL;
  pthread_mutex_lock(&server->lock);
  for (fault_script *each = server->scripts; each != NULL; each = each->next)
    if (each->for_connection &&
        (each->connection == number || (each->connection == 0 && !found)))
      found = each;
  pthread_mutex_unlock(&server->lock);
  return found;
}

void errand_fault__free_scripts(errand_fault_server *server) {
  while (server->scripts != NULL) {
    fault_script *script = server->scripts;
    server->scripts = script->next;
    free_script(script);
  }
}
