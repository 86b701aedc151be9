#include "support/nginx_fixture.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/text.h"

static const char *const names[NGINX_PORTS] = {
    "http",    "h2c",        "tls",       "tls12",
    "expired", "selfsigned", "wronghost", "clientcert"};

nginx_fixture nginx;

/* Reads the script's lines up to "ready". */
static bool read_answers(nginx_fixture *fixture, FILE *from) {
  char line[192], word[32], value[128];
  while (fgets(line, sizeof line, from) != NULL) {
    if (strcmp(line, "ready\n") == 0)
      return true;
    if (sscanf(line, "%31s %127s", word, value) != 2)
      return false;
    if (strcmp(word, "dir") == 0)
      memcpy(fixture->directory, value, sizeof value);
    for (int i = 0; i < NGINX_PORTS; i++)
      if (strcmp(word, names[i]) == 0)
        fixture->ports[i] = (uint16_t) strtoul(value, NULL, 10);
  }
  return false;
}

int nginx_fixture_start(nginx_fixture *fixture) {
  static const char script[] =
      ERRAND_TEST_SOURCE_DIR "/Tests/Support/nginx-site";
  int input[2], output[2];
  memset(fixture, 0, sizeof *fixture);
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
    perror("pipe2");
    return -1;
  }
  fixture->pid = fork();
  if (fixture->pid == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execl(script, script, (char *) NULL);
    perror(script);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  fixture->input = input[1];
  FILE *from = fdopen(output[0], "r");
  bool ready = fixture->pid > 0 && read_answers(fixture, from);
  fclose(from);
  if (ready)
    return 0;
  fprintf(stderr, "%s did not start\n", script);
  nginx_fixture_stop(fixture);
  return -1;
}

void nginx_fixture_stop(nginx_fixture *fixture) {
  if (fixture->input > 0)
    close(fixture->input);
  if (fixture->pid > 0)
    waitpid(fixture->pid, NULL, 0);
  fixture->pid = 0;
  fixture->input = 0;
}

const char *nginx_url(const nginx_fixture *fixture, nginx_port port,
                      const char *path) {
  const char *scheme =
      port == NGINX_HTTP || port == NGINX_H2C ? "http" : "https";
  return text("%s://127.0.0.1:%u%s", scheme, fixture->ports[port], path);
}

const char *nginx_file(const nginx_fixture *fixture, const char *name) {
  return text("%s/%s", fixture->directory, name);
}

int nginx_set_up(void **state) {
  (void) state;
  return nginx_fixture_start(&nginx);
}

int nginx_tear_down(void **state) {
  (void) state;
  nginx_fixture_stop(&nginx);
  return 0;
}
