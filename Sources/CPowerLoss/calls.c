// The calls that are taken over. They go to the kernel with syscall(), because the C library's own have these names.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "disk.h"

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static pl_disk *attached;
static atomic_int attached_count;
// An entry changes when its descriptor is opened or closed, which its owner does while nobody else uses it.
static _Atomic(pl_disk *) disk_of[PL_MAXIMUM_DESCRIPTORS];
static _Atomic(pl_file *) file_of[PL_MAXIMUM_DESCRIPTORS];

void pl_register(pl_disk *disk) {
    pthread_mutex_lock(&registry);
    disk->next = attached;
    attached = disk;
    atomic_fetch_add(&attached_count, 1);
    pthread_mutex_unlock(&registry);
}

void pl_unregister(pl_disk *disk) {
    pthread_mutex_lock(&registry);
    pl_disk **place = &attached;
    while (*place != disk) place = &(*place)->next;
    *place = disk->next;
    for (int fd = 0; fd < PL_MAXIMUM_DESCRIPTORS; fd++)
        if (atomic_load(&disk_of[fd]) == disk) atomic_store(&disk_of[fd], NULL);
    atomic_fetch_sub(&attached_count, 1);
    pthread_mutex_unlock(&registry);
}

// The disk that a path is on, and the name behind its folder, "" for the folder itself.
static pl_disk *find_disk(const char *path, const char **name) {
    if (atomic_load_explicit(&attached_count, memory_order_relaxed) == 0) return NULL;
    pthread_mutex_lock(&registry);
    pl_disk *disk = attached;
    for (; disk; disk = disk->next) {
        if (strncmp(path, disk->path, disk->path_count) != 0) continue;
        const char *rest = path + disk->path_count;
        if (*rest == '/') rest++;
        else if (*rest != 0) continue;
        if (strchr(rest, '/') || strlen(rest) >= PL_NAME_BYTES) continue;
        *name = rest;
        break;
    }
    pthread_mutex_unlock(&registry);
    return disk;
}

static bool is_memory(const char *name) {
    size_t count = strlen(name);
    return count >= 4 && strcmp(name + count - 4, "-shm") == 0;
}

static pl_handle handle(int fd) {
    pl_handle none = {NULL, NULL};
    if (fd < 0 || fd >= PL_MAXIMUM_DESCRIPTORS) return none;
    pl_disk *disk = atomic_load_explicit(&disk_of[fd], memory_order_acquire);
    if (!disk) return none;
    pl_handle found = {disk, atomic_load_explicit(&file_of[fd], memory_order_relaxed)};
    return found;
}

static void set_handle(int fd, pl_disk *disk, pl_file *file) {
    if (fd < 0 || fd >= PL_MAXIMUM_DESCRIPTORS) return;
    atomic_store_explicit(&file_of[fd], file, memory_order_relaxed);
    atomic_store_explicit(&disk_of[fd], disk, memory_order_release);
}

// Counts a change or sync; false: it does not happen. With the disk's mutex held.
static bool may_happen_as(pl_disk *disk, bool is_sync) {
    if (disk->is_stopped || ++disk->calls == disk->stop_at) {
        disk->is_stopped = true;
        errno = EIO;
        return false;
    }
    if (disk->watcher) disk->watcher(disk->watcher_context, is_sync);
    return true;
}

static bool may_happen(pl_disk *disk) { return may_happen_as(disk, false); }

static bool fails(pl_disk *disk, pl_fault fault, int code) {
    if (disk->fault != fault || disk->faults_left == 0 || disk->calls < disk->fault_at) return false;
    disk->faults_left--;
    disk->failures++;
    errno = code;
    return true;
}

// One or the other in turn, so that whoever meets many meets both.
static int either(const pl_disk *disk, int one, int other) {
    return (disk->fault_at + disk->failures) % 2 ? one : other;
}

static bool lacks_room(pl_disk *disk) { return fails(disk, PL_NO_SPACE, either(disk, EDQUOT, ENOSPC)); }

static bool lacks_descriptor(pl_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    bool lacks = !disk->is_stopped && fails(disk, PL_NO_DESCRIPTOR, either(disk, ENFILE, EMFILE));
    pthread_mutex_unlock(&disk->mutex);
    return lacks;
}

static int open_path(const char *path, int flags, mode_t mode) {
    const char *name = "";
    pl_disk *disk = find_disk(path, &name);
    if (disk && lacks_descriptor(disk)) return -1;
    if (!disk || is_memory(name)) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
        if (fd >= 0 && atomic_load_explicit(&attached_count, memory_order_relaxed) > 0) set_handle(fd, NULL, NULL);
        return fd;
    }
    pthread_mutex_lock(&disk->mutex);
    int fd = -1;
    pl_file *file = *name ? pl_find(&disk->live, name) : NULL;
    bool is_new = *name && !file && (flags & O_CREAT);
    bool is_cut = file && (flags & O_TRUNC) && file->live_count > 0;
    if ((!is_new && !is_cut) || (may_happen(disk) && !(is_new && lacks_room(disk)))) {
        fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    }
    if (fd >= 0) {
        if (is_new) {
            file = pl_new_file(disk);
            pl_name_file(&disk->live, name, file);
            pl_write_down_name(disk, "", name, file);
        }
        if (is_cut) pl_write_down(disk, file, true, NULL, 0, 0);
        set_handle(fd, file || !*name ? disk : NULL, file);
    }
    int code = errno;
    pthread_mutex_unlock(&disk->mutex);
    errno = code;
    return fd;
}

static mode_t mode_argument(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    return open_path(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    return open_path(path, flags, mode);
}

int close(int fd) {
    if (handle(fd).disk) set_handle(fd, NULL, NULL);
    return (int)syscall(SYS_close, fd);
}

static ssize_t write_at(int fd, const void *bytes, size_t count, off_t offset) {
    pl_handle at = handle(fd);
    if (!at.file) return syscall(SYS_pwrite64, fd, bytes, count, offset);
    pl_disk *disk = at.disk;
    pthread_mutex_lock(&disk->mutex);
    ssize_t written = -1;
    bool grows = (size_t)offset + count > at.file->live_count;
    if (may_happen(disk) && !fails(disk, PL_WRITE_ERROR, EIO) && !(grows && lacks_room(disk))) {
        written = syscall(SYS_pwrite64, fd, bytes, count, offset);
        if (written > 0) pl_write_down(disk, at.file, false, bytes, (size_t)written, (size_t)offset);
    }
    int code = errno;
    pthread_mutex_unlock(&disk->mutex);
    errno = code;
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return write_at(fd, bytes, count, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) { return write_at(fd, bytes, count, offset); }

static int cut(int fd, off_t count) {
    pl_handle at = handle(fd);
    if (!at.file) return (int)syscall(SYS_ftruncate, fd, count);
    pthread_mutex_lock(&at.disk->mutex);
    int result = -1;
    if (may_happen(at.disk)) {
        result = (int)syscall(SYS_ftruncate, fd, count);
        if (result == 0) pl_write_down(at.disk, at.file, true, NULL, 0, (size_t)count);
    }
    int code = errno;
    pthread_mutex_unlock(&at.disk->mutex);
    errno = code;
    return result;
}

int ftruncate(int fd, off_t count) { return cut(fd, count); }
int ftruncate64(int fd, off64_t count) { return cut(fd, count); }

static int sync_descriptor(int fd, long call) {
    pl_handle at = handle(fd);
    pl_disk *disk = at.disk;
    if (!disk) return (int)syscall(call, fd);
    // The model keeps what is durable, so the real disk need not work.
    pthread_mutex_lock(&disk->mutex);
    uint32_t delay = disk->sync_delay;
    int result = -1;
    if (may_happen_as(disk, true)) {
        if (at.file && fails(disk, PL_SYNC_ERROR, EIO)) {
            pl_lose_some(disk, at.file);
            errno = EIO;
        } else {
            if (disk->ignores_syncs) {
            } else if (at.file) pl_sync_file(disk, at.file);
            else pl_sync_names(disk);
            result = 0;
        }
    }
    int code = errno;
    pthread_mutex_unlock(&disk->mutex);
    if (delay > 0) usleep(delay);
    errno = code;
    return result;
}

int fsync(int fd) { return sync_descriptor(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_descriptor(fd, SYS_fdatasync); }

int unlink(const char *path) {
    const char *name = "";
    pl_disk *disk = find_disk(path, &name);
    if (!disk || !*name || is_memory(name)) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    pthread_mutex_lock(&disk->mutex);
    int result = -1;
    pl_file *file = pl_find(&disk->live, name);
    if (!file) {
        errno = ENOENT;
    } else if (may_happen(disk)) {
        result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        if (result == 0) {
            pl_forget_name(&disk->live, name, file);
            pl_write_down_name(disk, name, "", file);
        }
    }
    int code = errno;
    pthread_mutex_unlock(&disk->mutex);
    errno = code;
    return result;
}

int rename(const char *path, const char *target) {
    const char *from = "", *to = "";
    pl_disk *disk = find_disk(path, &from);
    pl_disk *other = find_disk(target, &to);
    if (!disk || disk != other) return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, 0);
    pthread_mutex_lock(&disk->mutex);
    int result = -1;
    if (may_happen(disk) && !lacks_room(disk)) {
        result = (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, 0);
        pl_file *file = pl_find(&disk->live, from);
        if (result == 0 && file) {
            pl_forget_name(&disk->live, from, file);
            pl_name_file(&disk->live, to, file);
            pl_write_down_name(disk, from, to, file);
        }
    }
    int code = errno;
    pthread_mutex_unlock(&disk->mutex);
    errno = code;
    return result;
}
