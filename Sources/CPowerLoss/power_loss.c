// The model: what is durable, what was changed since, and what is left of it.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"

// SplitMix64.
uint64_t pl_random(pl_disk *disk) {
    uint64_t bits = disk->random += 0x9E3779B97F4A7C15;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    return bits ^ bits >> 31;
}

// A test without memory cannot go on.
void *pl_memory(void *old, size_t count) {
    void *memory = realloc(old, count ? count : 1);
    if (!memory) abort();
    return memory;
}

pl_file *pl_find(const pl_folder *folder, const char *name) {
    for (int i = 0; i < folder->count; i++)
        if (strcmp(folder->names[i].name, name) == 0) return folder->names[i].file;
    return NULL;
}

void pl_name_file(pl_folder *folder, const char *name, pl_file *file) {
    int i = 0;
    while (i < folder->count && strcmp(folder->names[i].name, name) != 0) i++;
    if (i == PL_MAXIMUM_FILES) abort();
    if (i == folder->count) folder->count++;
    snprintf(folder->names[i].name, PL_NAME_BYTES, "%s", name);
    folder->names[i].file = file;
}

void pl_forget_name(pl_folder *folder, const char *name, const pl_file *file) {
    for (int i = 0; i < folder->count; i++) {
        if (folder->names[i].file != file || strcmp(folder->names[i].name, name) != 0) continue;
        folder->names[i] = folder->names[--folder->count];
        return;
    }
}

pl_file *pl_new_file(pl_disk *disk) {
    pl_file *file = pl_memory(NULL, sizeof *file);
    memset(file, 0, sizeof *file);
    file->last = &file->first;
    file->next = disk->files;
    disk->files = file;
    return file;
}

// Content that grows with zeros, as files do.
typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
} content;

static void resize(content *content, size_t count) {
    if (count > content->capacity) {
        content->capacity = count > 2 * content->capacity ? count : 2 * content->capacity;
        content->bytes = pl_memory(content->bytes, content->capacity);
    }
    if (count > content->count) memset(content->bytes + content->count, 0, count - content->count);
    content->count = count;
}

static void put(content *content, const uint8_t *bytes, size_t count, size_t offset) {
    if (offset + count > content->count) resize(content, offset + count);
    memcpy(content->bytes + offset, bytes, count);
}

static void apply(content *content, const pl_change *change) {
    if (change->is_cut) resize(content, change->offset);
    else put(content, change->bytes, change->count, change->offset);
}

void pl_write_down(pl_disk *disk, pl_file *file, bool is_cut, const void *bytes, size_t count, size_t offset) {
    pl_change *change = pl_memory(NULL, sizeof *change + count);
    change->next = NULL;
    change->order = disk->calls;
    change->is_cut = is_cut;
    change->offset = offset;
    change->count = count;
    if (count) memcpy(change->bytes, bytes, count);
    *file->last = change;
    file->last = &change->next;
    if (is_cut) file->live_count = offset;
    else if (offset + count > file->live_count) file->live_count = offset + count;
}

void pl_write_down_name(pl_disk *disk, const char *from, const char *to, pl_file *file) {
    pl_naming *naming = pl_memory(NULL, sizeof *naming);
    memset(naming, 0, sizeof *naming);
    naming->order = disk->calls;
    naming->file = file;
    snprintf(naming->from, PL_NAME_BYTES, "%s", from);
    snprintf(naming->to, PL_NAME_BYTES, "%s", to);
    *disk->last = naming;
    disk->last = &naming->next;
}

static void rename_in(pl_folder *folder, const pl_naming *naming) {
    if (naming->from[0]) pl_forget_name(folder, naming->from, naming->file);
    if (naming->to[0]) pl_name_file(folder, naming->to, naming->file);
}

static void forget_changes(pl_file *file) {
    for (pl_change *change = file->first, *next; change; change = next) {
        next = change->next;
        free(change);
    }
    file->first = NULL;
    file->last = &file->first;
}

static void forget_namings(pl_disk *disk) {
    for (pl_naming *naming = disk->first, *next; naming; naming = next) {
        next = naming->next;
        free(naming);
    }
    disk->first = NULL;
    disk->last = &disk->first;
}

static content durable_content(const pl_file *file) {
    content kept = {file->durable, file->durable_count, file->durable_capacity};
    return kept;
}

static void set_durable(pl_file *file, content kept) {
    file->durable = kept.bytes;
    file->durable_count = kept.count;
    file->durable_capacity = kept.capacity;
}

void pl_sync_file(pl_disk *disk, pl_file *file) {
    (void)disk;
    content kept = durable_content(file);
    for (const pl_change *change = file->first; change; change = change->next) apply(&kept, change);
    set_durable(file, kept);
    forget_changes(file);
}

void pl_sync_names(pl_disk *disk) {
    for (const pl_naming *naming = disk->first; naming; naming = naming->next) rename_in(&disk->durable, naming);
    forget_namings(disk);
}

// MARK: Losing

// How one loss of power treats what was not synced.
typedef struct {
    enum { NOTHING, EVERYTHING, PREFIX, WHOLE_WRITES, SECTORS } kind;
    uint64_t share;  // of 100 that survive
    uint64_t before; // PREFIX: the order of the first that does not
    bool grows;      // a file may have its new length without the content
} manner;

static bool survives(pl_disk *disk, const manner *manner, uint64_t order) {
    switch (manner->kind) {
    case NOTHING: return false;
    case EVERYTHING: return true;
    case PREFIX: return order < manner->before;
    default: return pl_random(disk) % 100 < manner->share;
    }
}

static void survive_write(
    pl_disk *disk, const manner *manner, content *content, const pl_change *change, pl_losses *losses
) {
    losses->unsynced++;
    bool is_last_of_prefix = manner->kind == PREFIX && change->order == manner->before;
    if (manner->kind != SECTORS && !is_last_of_prefix) {
        if (survives(disk, manner, change->order)) apply(content, change);
        else losses->lost++;
    } else {
        size_t end = change->offset + change->count, kept = 0, parts = 0;
        for (size_t start = change->offset; start < end; parts++) {
            size_t stop = (start / PL_SECTOR + 1) * PL_SECTOR;
            if (stop > end) stop = end;
            if (is_last_of_prefix ? pl_random(disk) % 2 : survives(disk, manner, change->order)) {
                put(content, change->bytes + (start - change->offset), stop - start, start);
                kept++;
            }
            start = stop;
        }
        if (kept == 0) losses->lost++;
        else if (kept < parts) losses->torn++;
    }
    size_t end = change->offset + change->count;
    if (manner->grows && end > content->count && pl_random(disk) % 4 == 0) resize(content, end);
}

static void survive_changes(
    pl_disk *disk, const manner *manner, content *content, const pl_file *file, pl_losses *losses
) {
    for (const pl_change *change = file->first; change; change = change->next) {
        if (!change->is_cut) survive_write(disk, manner, content, change, losses);
        else if (survives(disk, manner, change->order)) apply(content, change);
    }
}

static manner draw(pl_disk *disk) {
    static const uint64_t shares[] = {5, 50, 95};
    manner manner = {NOTHING, shares[pl_random(disk) % 3], 0, pl_random(disk) % 4 == 0};
    switch (pl_random(disk) % 10) {
    case 0: manner.kind = NOTHING; break;
    case 1: manner.kind = EVERYTHING; break;
    case 2: case 3: manner.kind = PREFIX; break;
    case 4: case 5: manner.kind = WHOLE_WRITES; break;
    default: manner.kind = SECTORS; break;
    }
    // Somewhere in what was not synced.
    uint64_t first = UINT64_MAX;
    for (const pl_file *file = disk->files; file; file = file->next)
        if (file->first && file->first->order < first) first = file->first->order;
    if (disk->first && disk->first->order < first) first = disk->first->order;
    manner.before = first > disk->calls ? first : first + pl_random(disk) % (disk->calls - first + 1);
    return manner;
}

void pl_lose_some(pl_disk *disk, pl_file *file) {
    manner manner = draw(disk);
    pl_losses losses = {0, 0, 0, 0};
    content kept = durable_content(file);
    survive_changes(disk, &manner, &kept, file, &losses);
    set_durable(file, kept);
    forget_changes(file);
}

static int write_file(const char *target, const char *name, const content *content) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", target, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int code = 0;
    for (size_t offset = 0; offset < content->count && !code;) {
        ssize_t written = pwrite(fd, content->bytes + offset, content->count - offset, (off_t)offset);
        if (written <= 0) code = errno;
        else offset += (size_t)written;
    }
    close(fd);
    return code;
}

int pl_survive(pl_disk *disk, const char *target, pl_losses *losses) {
    memset(losses, 0, sizeof *losses);
    pthread_mutex_lock(&disk->mutex);
    manner manner = draw(disk);
    pl_folder *folder = pl_memory(NULL, sizeof *folder);
    *folder = disk->durable;
    for (const pl_naming *naming = disk->first; naming; naming = naming->next) {
        if (survives(disk, &manner, naming->order)) rename_in(folder, naming);
        else losses->names_lost++;
    }
    int code = 0;
    for (int i = 0; i < folder->count && !code; i++) {
        const pl_file *file = folder->names[i].file;
        content kept = {NULL, 0, 0};
        resize(&kept, file->durable_count);
        if (file->durable_count) memcpy(kept.bytes, file->durable, file->durable_count);
        survive_changes(disk, &manner, &kept, file, losses);
        code = write_file(target, folder->names[i].name, &kept);
        free(kept.bytes);
    }
    free(folder);
    pthread_mutex_unlock(&disk->mutex);
    return code;
}

// MARK: Disks

static void read_file(pl_disk *disk, const char *name) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", disk->path, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) abort();
    off_t count = lseek(fd, 0, SEEK_END);
    pl_file *file = pl_new_file(disk);
    content kept = {NULL, 0, 0};
    resize(&kept, (size_t)count);
    for (off_t offset = 0; offset < count;) {
        ssize_t got = pread(fd, kept.bytes + offset, (size_t)(count - offset), offset);
        if (got <= 0) abort();
        offset += got;
    }
    close(fd);
    set_durable(file, kept);
    file->live_count = kept.count;
    pl_name_file(&disk->live, name, file);
    pl_name_file(&disk->durable, name, file);
}

pl_disk *pl_attach(const char *folder, uint64_t seed) {
    pl_disk *disk = pl_memory(NULL, sizeof *disk);
    memset(disk, 0, sizeof *disk);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&disk->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    disk->last = &disk->first;
    disk->random = seed;
    disk->path_count = (size_t)snprintf(disk->path, sizeof disk->path, "%s", folder);
    DIR *stream = opendir(folder);
    if (!stream) abort();
    for (struct dirent *entry; (entry = readdir(stream));) {
        size_t count = strlen(entry->d_name);
        bool is_memory = count >= 4 && strcmp(entry->d_name + count - 4, "-shm") == 0;
        if (entry->d_name[0] != '.' && !is_memory) read_file(disk, entry->d_name);
    }
    closedir(stream);
    pl_register(disk);
    return disk;
}

void pl_detach(pl_disk *disk) {
    pl_unregister(disk);
    for (pl_file *file = disk->files, *next; file; file = next) {
        next = file->next;
        forget_changes(file);
        free(file->durable);
        free(file);
    }
    forget_namings(disk);
    pthread_mutex_destroy(&disk->mutex);
    free(disk);
}

#define LOCKED(statement) \
    pthread_mutex_lock(&disk->mutex); \
    statement; \
    pthread_mutex_unlock(&disk->mutex)

void pl_stop_at(pl_disk *disk, uint64_t n) {
    LOCKED(disk->stop_at = disk->calls + n; if (n == 0) disk->is_stopped = true);
}

bool pl_is_stopped(pl_disk *disk) {
    LOCKED(bool is_stopped = disk->is_stopped);
    return is_stopped;
}

void pl_restart(pl_disk *disk) {
    LOCKED(disk->is_stopped = false; disk->stop_at = 0; disk->faults_left = 0);
}

uint64_t pl_count(pl_disk *disk) {
    LOCKED(uint64_t count = disk->calls);
    return count;
}

void pl_fail(pl_disk *disk, pl_fault fault, uint64_t n, uint64_t count) {
    LOCKED(disk->fault = fault; disk->fault_at = disk->calls + n; disk->faults_left = count);
}

uint64_t pl_failures(pl_disk *disk) {
    LOCKED(uint64_t failures = disk->failures);
    return failures;
}

void pl_ignore_syncs(pl_disk *disk, bool ignore) {
    LOCKED(disk->ignores_syncs = ignore);
}

void pl_delay_syncs(pl_disk *disk, uint32_t microseconds) {
    LOCKED(disk->sync_delay = microseconds);
}

void pl_watch(pl_disk *disk, void (*watcher)(void *context, bool is_sync), void *context) {
    LOCKED(disk->watcher = watcher; disk->watcher_context = context);
}
