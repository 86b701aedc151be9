/* The file of a jar, in Netscape's format. */
#ifndef ERRAND_LIBCURL_COOKIE_FILE_H
#define ERRAND_LIBCURL_COOKIE_FILE_H

#include "libcurl/jar.h"

/* Reads the cookies of a file into a jar. A file that does not exist is OK.
   Thread: any but a loop's.  Returns: OK, OUT_OF_MEMORY, FILE_UNREADABLE. */
errand_status errand__jar_load(errand__jar *jar, const char *file);

/* Writes the cookies of a jar to its file.
   Thread: any but a loop's.  Returns: OK, FILE_UNWRITABLE, OUT_OF_MEMORY. */
errand_status errand__jar_save(errand__jar *jar);

#endif
