#include "libcurl/cookie_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/open_error.h"
#include "libcurl/cookie_line.h"

/* The kernel's limit too (path_resolution(7)). */
#define LINKS_MAX 40

/* MAX_COOKIE_LINE of libcurl, which writes no longer lines. */
#define LINE_MAX_BYTES 5000

static errand_status take_line(errand__jar *jar, char *line) {
  char copy[LINE_MAX_BYTES];
  char plain[LINE_MAX_BYTES];
  errand_cookie cookie;
  line[strcspn(line, "\r\n")] = '\0';
  memcpy(copy, line, strlen(line) + 1); /* `line` has this size too */
  /* A line that is no cookie is skipped, as by libcurl. The cookie is written
     anew, so that libcurl takes no line for an order ("ALL") or a header. */
  if (!errand__cookie_parse(copy, &cookie) ||
      !errand__cookie_is_valid(&cookie) ||
      errand__cookie_has_expired(&cookie) ||
      !errand__cookie_format(&cookie, plain, sizeof plain))
    return ERRAND_OK;
  return errand__jar_order(jar, plain);
}

errand_status errand__jar_load(errand__jar *jar, const char *file) {
  errand_status status = ERRAND_OK;
  struct stat info;
  char line[LINE_MAX_BYTES];
  bool whole = true; /* false: `line` is the rest of a line that is too long */
  /* With O_NONBLOCK, opening a FIFO does not wait for its writer. */
  int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errno == ENOENT ? ERRAND_OK : errand__open_error(errno);
  FILE *from = NULL;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    from = fdopen(fd, "r");
  if (!from) {
    close(fd);
    return ERRAND_FILE_UNREADABLE;
  }
  while (status == ERRAND_OK && fgets(line, sizeof line, from)) {
    bool ends = strchr(line, '\n') || feof(from);
    if (whole && ends)
      status = take_line(jar, line);
    whole = ends;
  }
  if (status == ERRAND_OK && ferror(from))
    status = ERRAND_FILE_UNREADABLE;
  fclose(from);
  return status;
}

static bool write_all(FILE *to, const struct curl_slist *lines) {
  char copy[2 * LINE_MAX_BYTES];
  errand_cookie cookie;
  if (fputs("# Netscape HTTP Cookie File\n", to) < 0)
    return false;
  for (; lines; lines = lines->next) {
    size_t length = strlen(lines->data);
    if (length >= sizeof copy)
      continue;
    memcpy(copy, lines->data, length + 1);
    if (!errand__cookie_parse(copy, &cookie) ||
        errand__cookie_has_expired(&cookie))
      continue;
    if (fprintf(to, "%s\n", lines->data) < 0)
      return false;
  }
  return fflush(to) == 0 && fsync(fileno(to)) == 0;
}

/* A new name is durable only when its folder is synced. A folder that cannot be
   synced (some network file systems) does not fail the save. */
static void sync_folder(const char *file) {
  char *copy = errand__strdup(file);
  int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  errand__free(copy);
}

/* The target of a link, relative to the folder of the link. */
static errand_status follow_link(const char *link, char **out) {
  char target[PATH_MAX];
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length < 0)
    return ERRAND_FILE_UNWRITABLE;
  target[length] = '\0';
  const char *slash = strrchr(link, '/');
  size_t folder = target[0] != '/' && slash ? (size_t) (slash - link) + 1 : 0;
  *out = errand__malloc(folder + (size_t) length + 1);
  if (!*out)
    return ERRAND_OUT_OF_MEMORY;
  memcpy(*out, link, folder);
  memcpy(*out + folder, target, (size_t) length + 1);
  return ERRAND_OK;
}

/* A file behind symbolic links is replaced where it is, and the links stay.
   realpath cannot be used, as the file need not exist yet. */
static errand_status behind_links(const char *file, char **out) {
  struct stat info;
  char *path = errand__strdup(file);
  errand_status status = path ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
  for (int i = 0; status == ERRAND_OK && i < LINKS_MAX; i++) {
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) {
      *out = path;
      return ERRAND_OK;
    }
    char *next = NULL;
    status = follow_link(path, &next);
    errand__free(path);
    path = next;
  }
  errand__free(path);
  return status == ERRAND_OK ? ERRAND_FILE_UNWRITABLE : status;
}

static errand_status replace_file(const char *file,
                                  const struct curl_slist *lines) {
  static const char suffix[] = ".XXXXXX";
  size_t length = strlen(file);
  char *temporary = errand__malloc(length + sizeof suffix);
  if (!temporary)
    return ERRAND_OUT_OF_MEMORY;
  memcpy(temporary, file, length);
  memcpy(temporary + length, suffix, sizeof suffix);
  int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
  FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
  bool ok = to && write_all(to, lines);
  if (to)
    ok &= fclose(to) == 0;
  else if (fd >= 0)
    close(fd);
  ok = ok && rename(temporary, file) == 0;
  if (ok)
    sync_folder(file);
  else if (fd >= 0)
    unlink(temporary);
  errand__free(temporary);
  return ok ? ERRAND_OK : ERRAND_FILE_UNWRITABLE;
}

errand_status errand__jar_save(errand__jar *jar) {
  struct curl_slist *lines;
  char *file = NULL;
  errand_status status = errand__jar_lines(jar, &lines);
  if (status != ERRAND_OK)
    return status;
  status = behind_links(errand__jar_file(jar), &file);
  if (status == ERRAND_OK)
    status = replace_file(file, lines);
  errand__free(file);
  curl_slist_free_all(lines);
  return status;
}
