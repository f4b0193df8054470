#include "system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

static _Thread_local int lack;

// After a call that failed, with errno.
static void failed(void) {
    switch (errno) {
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE: lack = errno; break;
    // It looks for many a file that may be missing, also for one that it just could not make.
    case ENOENT:
    case EINTR: break;
    default: lack = 0;
    }
}

// SQLite looks at no other errno of a write.
static void failed_to_write(void) {
    failed();
    if (errno == EDQUOT || errno == ENOMEM) errno = ENOSPC;
}

// SQLite's own limit is 512, with a suffix; a longer path is not kept.
enum { LONGEST_PATH = 1024 };

// Where this thread's last opening was one for writing that lacked something: its errno, and what was to be opened.
static _Thread_local int refusal;
static _Thread_local char refused_path[LONGEST_PATH];

static void refuse_again(const char *path, int error) {
    size_t count = strnlen(path, LONGEST_PATH);
    if (count == LONGEST_PATH) return;
    memcpy(refused_path, path, count + 1);
    refusal = error;
}

int islet_take_lack(void) {
    int taken = lack;
    lack = 0;
    refusal = 0;
    return taken;
}

// MARK: The calls, as SQLite names them

typedef int open_call(const char *path, int flags, int mode);
typedef ssize_t write_call(int descriptor, const void *bytes, size_t count);
typedef ssize_t place_call(int descriptor, const void *bytes, size_t count, off_t offset);
typedef int cut_call(int descriptor, off_t count);
typedef void *map_call(void *place, size_t count, int protection, int flags, int descriptor, off_t offset);

static open_call *lower_open;
static write_call *lower_write;
static place_call *lower_pwrite, *lower_pwrite64;
static cut_call *lower_ftruncate;
static map_call *lower_mmap;

// What cannot be opened for writing SQLite opens for reading, and what is written then fails for good. Where it was a
// lack that is over by then, it is to be tried again instead.
static int watched_open(const char *path, int flags, int mode) {
    bool reads = (flags & O_ACCMODE) == O_RDONLY;
    int before = refusal;
    refusal = 0;
    if (before && reads && strcmp(path, refused_path) == 0) {
        errno = before;
        return -1;
    }
    int descriptor = lower_open(path, flags, mode);
    if (descriptor >= 0) return descriptor;
    failed();
    if (!reads && lack == errno) refuse_again(path, errno);
    return -1;
}

static ssize_t watched_write(int descriptor, const void *bytes, size_t count) {
    ssize_t written = lower_write(descriptor, bytes, count);
    if (written < 0) failed_to_write();
    return written;
}

static ssize_t watched_pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    ssize_t written = lower_pwrite(descriptor, bytes, count, offset);
    if (written < 0) failed_to_write();
    return written;
}

static ssize_t watched_pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
    ssize_t written = lower_pwrite64(descriptor, bytes, count, offset);
    if (written < 0) failed_to_write();
    return written;
}
_Static_assert(sizeof(off_t) == sizeof(sqlite3_int64), "pwrite() and pwrite64() are called alike");

static int watched_ftruncate(int descriptor, off_t count) {
    int result = lower_ftruncate(descriptor, count);
    if (result < 0) failed();
    return result;
}

static void *watched_mmap(void *place, size_t count, int protection, int flags, int descriptor, off_t offset) {
    void *memory = lower_mmap(place, count, protection, flags, descriptor, offset);
    if (memory == MAP_FAILED) failed();
    return memory;
}

// MARK: Taking over

// The call below is known before anybody can be led to the one above. One that SQLite was built without stays so.
#define WATCH(vfs, type, name) \
    if ((lower_##name = (type *)vfs->xGetSystemCall(vfs, #name))) \
    vfs->xSetSystemCall(vfs, #name, (sqlite3_syscall_ptr)watched_##name)

static void watch_once(void) {
    if (sqlite3_initialize() != SQLITE_OK) return;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (!vfs || vfs->iVersion < 3 || !vfs->xGetSystemCall || !vfs->xSetSystemCall) return;
    WATCH(vfs, open_call, open);
    WATCH(vfs, write_call, write);
    WATCH(vfs, place_call, pwrite);
    WATCH(vfs, place_call, pwrite64);
    WATCH(vfs, cut_call, ftruncate);
    WATCH(vfs, map_call, mmap);
}

void islet_watch_system_calls(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_once);
}
