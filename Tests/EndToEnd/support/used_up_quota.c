// Loaded before the C library: while the file QUOTA_BYTES is there, no file can grow whose path begins with QUOTA_OF, and
// while QUOTA_FILES is there none can be made, as where the quota of its owner is used up. A real one takes the machine's
// administrator; this takes a compiler.
#define _GNU_SOURCE
#include "opened_files.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_meant(const char *path) {
    const char *start = getenv("QUOTA_OF");
    return start && strncmp(path, start, strlen(start)) == 0;
}

static bool is_used_up(const char *quota) {
    const char *sign = getenv(quota);
    return sign && is_there(sign);
}

static bool may_grow(int descriptor, off_t end) {
    char link[32], path[PATH_MAX];
    struct stat status;
    if (!is_used_up("QUOTA_BYTES") || fstat(descriptor, &status) != 0 || end <= status.st_size) return true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return true;
    path[count] = 0;
    if (!is_meant(path)) return true;
    errno = EDQUOT;
    return false;
}

static ssize_t write_at(int descriptor, const void *bytes, size_t count, off_t offset) {
    return may_grow(descriptor, offset + (off_t)count) ? syscall(SYS_pwrite64, descriptor, bytes, count, offset) : -1;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

static int open_path(const char *path, int flags, mode_t mode) {
    if (flags & O_CREAT && is_meant(path) && is_used_up("QUOTA_FILES") && !is_there(path)) {
        errno = EDQUOT;
        return -1;
    }
    return really_open(path, flags, mode);
}
