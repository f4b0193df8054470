#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

// Linux calls that the C library's module does not offer, or hides behind a structure of the same name.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/statfs.h>
extern int pthread_setname_np(pthread_t thread, const char *name);

// sqlite3_db_config() is variadic. Nothing but the owner ever moves pages from a write-ahead log into its file.
static inline int csqlite_no_checkpoint_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// SQLITE_STATIC is a cast, which Swift does not import: the bytes stay where they are until the statement is reset.
// A null pointer would bind NULL; here it is an empty value.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes ? (const char *)bytes : "", count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

static inline int csqlite_lock_file(int descriptor) {
    return flock(descriptor, LOCK_EX | LOCK_NB);
}

static inline int csqlite_unlock_file(int descriptor) {
    return flock(descriptor, LOCK_UN);
}

// Names a file without opening it: nothing is waited for, and closing it gives up no locks of this process. -1: `errno` says
// why.
static inline int csqlite_name_file(const char *path) {
#ifdef O_PATH
    return open(path, O_PATH | O_CLOEXEC);
#else
    // The module is read without GNU's extensions.
    return open(path, 010000000 | O_CLOEXEC);
#endif
}

// The magic number of the file system that holds a path; -1: it cannot be asked.
static inline long csqlite_file_system(const char *path) {
    struct statfs information;
    return statfs(path, &information) == 0 ? (long)information.f_type : -1;
}

#endif
