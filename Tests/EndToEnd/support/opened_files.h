// The opening of files in the place of the C library's: whoever includes this says in `open_path` what becomes of one.
#pragma once
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_path(const char *path, int flags, mode_t mode);

static inline bool is_there(const char *path) { return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0; }

static inline int really_open(const char *path, int flags, mode_t mode) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments); \
        return open_path(path, flags, mode); \
    }

OPEN(open)
OPEN(open64)
