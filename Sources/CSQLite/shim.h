#ifndef ERRAND_CSQLITE_SHIM_H
#define ERRAND_CSQLITE_SHIM_H

#include <sqlite3.h>

/* Wrappers for parts of SQLite that Swift cannot import: SQLITE_TRANSIENT is a
   cast, and some functions are variadic. */

/* Binds a copy of the text. Returns SQLITE_OK, SQLITE_NOMEM, SQLITE_TOOBIG or
   SQLITE_RANGE. */
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index,
                                    const char *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text, length, SQLITE_TRANSIENT,
                             SQLITE_UTF8);
}

/* Binds a copy of the bytes. Returns the codes of csqlite_bind_text. */
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index,
                                    const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_TRANSIENT);
}

/* Keeps SQL in a hostile file from doing harm. Returns SQLITE_OK or the result
   of sqlite3_db_config. */
static inline int csqlite_be_defensive(sqlite3 *database) {
  int status =
      sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *) 0);
  if (status == SQLITE_OK)
    status = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
                               (int *) 0);
  return status;
}

/* Leaves the -wal and -shm files in place at close. Returns SQLITE_OK or the
   result of sqlite3_file_control. */
static inline int csqlite_keep_wal(sqlite3 *database) {
  int on = 1;
  return sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
}

#endif
