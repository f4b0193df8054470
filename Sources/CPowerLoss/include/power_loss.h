// A disk that forgets what was not synced.
//
// It stands where a process meets the kernel: whoever links this has its own open(), pwrite(), ftruncate(), fsync(),
// fdatasync(), rename(), unlink() and close(), for every caller in the process, SQLite's library included. Calls for
// files of an attached folder are carried out and written down; all others go straight to the kernel. One level below
// SQLite's VFS, because a data folder has files besides SQLite's, and folders that are synced: both count.
//
// Of each file the durable content is kept, which is what was synced, and every change since; of the folder likewise,
// its names. When the power fails, nothing more happens; pl_survive() then writes what a machine might find after it was
// switched on again. Files whose names end in "-shm" are memory and not looked at.
#ifndef POWER_LOSS_H
#define POWER_LOSS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_disk pl_disk;

// Begins with what is in the folder, all of it durable. The path is absolute, without links; the folder is flat.
pl_disk *pl_attach(const char *folder, uint64_t seed);
// Nobody may have one of its files open any more, or be about to.
void pl_detach(pl_disk *disk);

// From the n-th change or sync on, counted from now, every one fails and has no effect; 0: from now on. Whoever made
// them learns of it, but is not to be heard any more.
void pl_stop_at(pl_disk *disk, uint64_t n);
bool pl_is_stopped(pl_disk *disk);
// The process was killed and a new one starts: what was written is there, synced or not.
void pl_restart(pl_disk *disk);
// Changes and syncs so far.
uint64_t pl_count(pl_disk *disk);
// Calls `watcher` before each change or sync that happens, on its thread; null: nobody. It may call pl_survive().
void pl_watch(pl_disk *disk, void (*watcher)(void *context, bool is_sync), void *context);

// Writes what survives loss of power into an empty folder.
typedef struct {
    uint64_t unsynced;   // writes that nobody had synced
    uint64_t lost;       // of those: gone, all of it
    uint64_t torn;       // of those: there in part
    uint64_t names_lost; // files made, renamed or removed, and it is not so
} pl_losses;
// Returns 0, or errno.
int pl_survive(pl_disk *disk, const char *target, pl_losses *losses);

typedef enum {
    PL_NO_FAULT,
    PL_NO_SPACE,      // a file cannot grow, be made or renamed: no room, inode or quota is left
    PL_NO_DESCRIPTOR, // a file cannot be opened: the process, or the system, has too many
    PL_WRITE_ERROR,
    PL_SYNC_ERROR,    // and what was to be synced is there in part or not at all
} pl_fault;
// The next `count` calls of that kind fail, from the n-th change or sync on, counted from now.
void pl_fail(pl_disk *disk, pl_fault fault, uint64_t n, uint64_t count);
// Calls that failed so.
uint64_t pl_failures(pl_disk *disk);
// Syncs only claim to have happened.
void pl_ignore_syncs(pl_disk *disk, bool ignore);
// Each sync takes so long.
void pl_delay_syncs(pl_disk *disk, uint32_t microseconds);

#endif
