// What power_loss.c and calls.c share: the model of a disk.
#ifndef PL_DISK_H
#define PL_DISK_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "power_loss.h"

enum { PL_NAME_BYTES = 64, PL_MAXIMUM_FILES = 512, PL_MAXIMUM_DESCRIPTORS = 65536, PL_SECTOR = 512 };

// A change of a file's content that was not synced.
typedef struct pl_change {
    struct pl_change *next;
    uint64_t order;
    bool is_cut; // to `offset` bytes
    size_t offset, count;
    uint8_t bytes[];
} pl_change;

typedef struct pl_file {
    struct pl_file *next; // all that ever were
    uint8_t *durable;
    size_t durable_count, durable_capacity;
    size_t live_count;
    pl_change *first, **last;
} pl_file;

typedef struct {
    char name[PL_NAME_BYTES];
    pl_file *file;
} pl_name;

typedef struct {
    pl_name names[PL_MAXIMUM_FILES];
    int count;
} pl_folder;

// A change of the folder's names that was not synced. A name gets a file (`to`), loses it (`from`), or both at once.
typedef struct pl_naming {
    struct pl_naming *next;
    uint64_t order;
    pl_file *file;
    char from[PL_NAME_BYTES], to[PL_NAME_BYTES];
} pl_naming;

struct pl_disk {
    pthread_mutex_t mutex; // recursive, for the watcher
    char path[PATH_MAX];
    size_t path_count;
    pl_disk *next;
    pl_file *files;
    pl_folder live, durable;
    pl_naming *first, **last;
    uint64_t random, calls, stop_at;
    bool is_stopped, ignores_syncs;
    pl_fault fault;
    uint64_t fault_at, faults_left, failures;
    uint32_t sync_delay;
    void (*watcher)(void *context, bool is_sync);
    void *watcher_context;
};

// Behind a descriptor: a file, or the folder where `file` is null.
typedef struct {
    pl_disk *disk;
    pl_file *file;
} pl_handle;

uint64_t pl_random(pl_disk *disk);
void *pl_memory(void *old, size_t count);
pl_file *pl_find(const pl_folder *folder, const char *name);
void pl_name_file(pl_folder *folder, const char *name, pl_file *file);
void pl_forget_name(pl_folder *folder, const char *name, const pl_file *file);
pl_file *pl_new_file(pl_disk *disk);
void pl_write_down(pl_disk *disk, pl_file *file, bool is_cut, const void *bytes, size_t count, size_t offset);
void pl_write_down_name(pl_disk *disk, const char *from, const char *to, pl_file *file);
void pl_sync_file(pl_disk *disk, pl_file *file);
void pl_sync_names(pl_disk *disk);
// A sync that failed: what was to be synced is decided now, and nothing will ever try again.
void pl_lose_some(pl_disk *disk, pl_file *file);

// In calls.c: which disk a path is on, with the name behind its folder ("" for the folder); null: on none.
void pl_register(pl_disk *disk);
void pl_unregister(pl_disk *disk);

#endif
