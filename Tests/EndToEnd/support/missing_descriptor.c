// Loaded before the C library: once while the file MISSING_SIGN is there, which goes by it, there is no descriptor for a file
// that is to be opened for writing, is there, and whose path has MISSING_OF in it and ends in MISSING_END. At the limit
// clients come and go, and at the next call there is one again.
#define _GNU_SOURCE
#include "opened_files.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_meant(const char *path, int flags) {
    const char *part = getenv("MISSING_OF"), *end = getenv("MISSING_END");
    if (!part || !end || (flags & O_ACCMODE) != O_RDWR || strstr(path, "unfinished") || !strstr(path, part)) return false;
    size_t count = strlen(path), tail = strlen(end);
    if (count < tail || strcmp(path + count - tail, end) != 0) return false;
    return is_there(path);
}

static int open_path(const char *path, int flags, mode_t mode) {
    const char *sign = getenv("MISSING_SIGN");
    if (sign && is_meant(path, flags) && syscall(SYS_unlinkat, AT_FDCWD, sign, 0) == 0) {
        errno = EMFILE;
        return -1;
    }
    return really_open(path, flags, mode);
}
