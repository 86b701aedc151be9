#include "libcurl/jar.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "libcurl/cookie_file.h"
#include "libcurl/cookie_line.h"
#include "libcurl/curl_traits.h"

struct errand__jar {
  CURLSH *share;
  char *file;
  /* One for each kind of data that libcurl locks: cookies, and the count of the
     share's users. Loops and callers hold them for moments. Recursive, for
     functions that take several steps (errand__jar_give_paths). */
  pthread_mutex_t locks[CURL_LOCK_DATA_LAST];
};

/* The lock that a loop's thread keeps while libcurl runs. */
static _Thread_local struct {
  bool is_asked;
  errand__jar *jar; /* NULL: nothing */
} kept;

static void lock(CURL *easy, curl_lock_data data, curl_lock_access access,
                 void *context) {
  errand__jar *jar = context;
  (void) easy, (void) access;
  pthread_mutex_lock(&jar->locks[data]);
}

static void unlock(CURL *easy, curl_lock_data data, void *context) {
  errand__jar *jar = context;
  (void) easy;
  if (data == CURL_LOCK_DATA_COOKIE && kept.is_asked && !kept.jar)
    kept.jar = jar; /* the recursive lock is kept once */
  else
    pthread_mutex_unlock(&jar->locks[data]);
}

void errand__jar_keep_locked(void) {
  kept.is_asked = errand__curl_does(ERRAND__CURL_READS_UNLOCKED_COOKIES);
}

void errand__jar_release(void) {
  kept.is_asked = false;
  if (kept.jar)
    pthread_mutex_unlock(&kept.jar->locks[CURL_LOCK_DATA_COOKIE]);
  kept.jar = NULL;
}

static bool make_share(errand__jar *jar) {
  jar->share = curl_share_init();
  return jar->share &&
         curl_share_setopt(jar->share, CURLSHOPT_LOCKFUNC, lock) ==
             CURLSHE_OK &&
         curl_share_setopt(jar->share, CURLSHOPT_UNLOCKFUNC, unlock) ==
             CURLSHE_OK &&
         curl_share_setopt(jar->share, CURLSHOPT_USERDATA, jar) == CURLSHE_OK &&
         curl_share_setopt(jar->share, CURLSHOPT_SHARE,
                           CURL_LOCK_DATA_COOKIE) == CURLSHE_OK;
}

errand_status errand__jar_create(const char *file, errand__jar **out) {
  errand_status status = ERRAND_OK;
  *out = NULL;
  errand__jar *jar = errand__calloc(1, sizeof *jar);
  if (!jar)
    return ERRAND_OUT_OF_MEMORY;
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  for (int i = 0; i < CURL_LOCK_DATA_LAST; i++)
    pthread_mutex_init(&jar->locks[i], &recursive);
  pthread_mutexattr_destroy(&recursive);
  if (file && !(jar->file = errand__strdup(file)))
    status = ERRAND_OUT_OF_MEMORY;
  if (status == ERRAND_OK && !make_share(jar))
    status = ERRAND_OUT_OF_MEMORY;
  if (status == ERRAND_OK && file)
    status = errand__jar_load(jar, file);
  if (status == ERRAND_OK)
    *out = jar;
  else
    errand__jar_destroy(jar);
  return status;
}

void errand__jar_destroy(errand__jar *jar) {
  if (!jar)
    return;
  if (jar->share)
    curl_share_cleanup(jar->share);
  for (int i = 0; i < CURL_LOCK_DATA_LAST; i++)
    pthread_mutex_destroy(&jar->locks[i]);
  errand__free(jar->file);
  errand__free(jar);
}

CURLSH *errand__jar_share(const errand__jar *jar) {
  return jar->share;
}

const char *errand__jar_file(const errand__jar *jar) {
  return jar->file;
}

/* Only an easy handle gives access to a jar. Each call makes one, as an easy
   handle must be used by one thread at a time. */
static CURL *open_jar(errand__jar *jar) {
  CURL *easy = curl_easy_init();
  if (easy && curl_easy_setopt(easy, CURLOPT_SHARE, jar->share) != CURLE_OK) {
    curl_easy_cleanup(easy);
    return NULL;
  }
  return easy;
}

errand_status errand__jar_lines(errand__jar *jar, struct curl_slist **out) {
  *out = NULL;
  CURL *easy = open_jar(jar);
  if (!easy)
    return ERRAND_OUT_OF_MEMORY;
  CURLcode code = curl_easy_getinfo(easy, CURLINFO_COOKIELIST, out);
  curl_easy_cleanup(easy);
  return code == CURLE_OK ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
}

errand_status errand__jar_order(errand__jar *jar, const char *order) {
  CURL *easy = open_jar(jar);
  if (!easy)
    return ERRAND_OUT_OF_MEMORY;
  CURLcode code = curl_easy_setopt(easy, CURLOPT_COOKIELIST, order);
  curl_easy_cleanup(easy);
  return code == CURLE_OK ? ERRAND_OK : ERRAND_OUT_OF_MEMORY;
}

/* Whether the third field of the line is empty. */
static bool has_no_path(const char *line) {
  const char *tab = strchr(line, '\t');
  tab = tab ? strchr(tab + 1, '\t') : NULL;
  return tab && tab[1] == '\t';
}

static errand_status add_again(errand__jar *jar, char *line) {
  char whole[ERRAND__COOKIE_LINE];
  errand_cookie cookie;
  if (!has_no_path(line))
    return errand__jar_order(jar, line);
  return errand__cookie_parse(line, &cookie) &&
                 errand__cookie_format(&cookie, whole, sizeof whole)
             ? errand__jar_order(jar, whole)
             : ERRAND_OK;
}

errand_status errand__jar_give_paths(errand__jar *jar) {
  struct curl_slist *lines;
  bool any = false;
  pthread_mutex_lock(&jar->locks[CURL_LOCK_DATA_COOKIE]);
  errand_status status = errand__jar_lines(jar, &lines);
  for (const struct curl_slist *l = lines; l && !any; l = l->next)
    any = has_no_path(l->data);
  if (any)
    status = errand__jar_order(jar, "ALL");
  if (any && status == ERRAND_OK)
    for (struct curl_slist *l = lines; l; l = l->next) {
      errand_status added = add_again(jar, l->data);
      status = status == ERRAND_OK ? added : status;
    }
  pthread_mutex_unlock(&jar->locks[CURL_LOCK_DATA_COOKIE]);
  curl_slist_free_all(lines);
  return status;
}
