#include "include/errand_cookies.h"

#include <string.h>

#include "base/mem.h"
#include "libcurl/cookie_file.h"
#include "libcurl/cookie_line.h"
#include "group/group.h"
#include "libcurl/process.h"

static errand_status gate(const errand_group *group) {
  if (errand__process_forked())
    return ERRAND_FORKED;
  return group->shared.jar ? ERRAND_OK : ERRAND_INVALID_OPTION;
}

/* Makes one block of the list, its cookies and a copy of all lines. */
static errand_cookie_list *make_list(const struct curl_slist *lines) {
  size_t count = 0;
  size_t bytes = 0;
  for (const struct curl_slist *l = lines; l; l = l->next) {
    count++;
    bytes += strlen(l->data) + 1;
  }
  errand_cookie_list *list =
      errand__malloc(sizeof *list + count * sizeof(errand_cookie) + bytes);
  if (!list)
    return NULL;
  errand_cookie *cookies = (errand_cookie *) (void *) (list + 1);
  char *text = (char *) (cookies + count);
  *list = (errand_cookie_list){.cookies = cookies};
  for (const struct curl_slist *l = lines; l; l = l->next) {
    size_t length = strlen(l->data) + 1;
    memcpy(text, l->data, length);
    errand_cookie *cookie = &cookies[list->count];
    if (errand__cookie_parse(text, cookie) &&
        !errand__cookie_has_expired(cookie))
      list->count++;
    text += length;
  }
  return list;
}

errand_status errand_cookies_list(errand_group *group,
                                  errand_cookie_list **out) {
  struct curl_slist *lines;
  *out = NULL;
  errand_status status = gate(group);
  if (status == ERRAND_OK)
    status = errand__jar_lines(group->shared.jar, &lines);
  if (status != ERRAND_OK)
    return status;
  *out = make_list(lines);
  curl_slist_free_all(lines);
  return *out ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
}

void errand_cookies_free(errand_cookie_list *list) {
  errand__free(list);
}

errand_status errand_cookies_set(errand_group *group,
                                 const errand_cookie *cookie) {
  char line[ERRAND__COOKIE_LINE];
  errand_status status = gate(group);
  if (status != ERRAND_OK)
    return status;
  if (!errand__cookie_is_valid(cookie) ||
      !errand__cookie_format(cookie, line, sizeof line))
    return ERRAND_INVALID_ARGUMENT;
  if (strcmp(cookie->path, "/") == 0)
    status = errand__jar_give_paths(group->shared.jar);
  return status == ERRAND_OK ? errand__jar_order(group->shared.jar, line)
                             : status;
}

errand_status errand_cookies_clear(errand_group *group, int session_only) {
  errand_status status = gate(group);
  return status != ERRAND_OK ? status
                             : errand__jar_order(group->shared.jar,
                                                 session_only ? "SESS" : "ALL");
}

errand_status errand_cookies_save(errand_group *group) {
  errand_status status = gate(group);
  if (status != ERRAND_OK)
    return status;
  if (!errand__jar_file(group->shared.jar))
    return ERRAND_INVALID_OPTION;
  if (errand_group_is_loop_thread(group))
    return ERRAND_WRONG_THREAD;
  return errand__jar_save(group->shared.jar);
}
