#include "combining_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// How SQLite writes a frame: a header of this many bytes, then the page. Every other shape, such as the log's own
// header or a page that replaces the one of an earlier frame, is not gathered.
enum { FRAME_HEADER_BYTES = 24, SMALLEST_PAGE = 512, LARGEST_PAGE = 65536 };
_Static_assert(ISLET_COMBINING_BYTES >= FRAME_HEADER_BYTES + LARGEST_PAGE, "a frame must fit");
_Static_assert(ISLET_COMBINING_BYTES <= 0x1ffff, "SQLite's layer for Unix cannot write more at once");

typedef struct log_file log_file;

// A database. It does nothing itself, but the locks that protect its log are taken with it.
typedef struct {
    sqlite3_file base;
    sqlite3_file *lower;
    log_file *log; // null: it has none open
    sqlite3_io_methods methods; // with the version of the layer below
} database_file;

struct log_file {
    sqlite3_file base;
    sqlite3_file *lower;
    database_file *database; // null: it was closed first
    uint8_t *gathered; // null: nothing was gathered yet
    int count;
    sqlite3_int64 start; // where what is gathered belongs
    sqlite3_int64 next; // where the last write ended; -1: something else happened since
    bool wants_page, commits; // the last write was a frame's header, and of which kind
    int failure; // of a write that nobody was told of; SQLITE_OK: none
};

static sqlite3_vfs *lower_vfs;
static sqlite3_vfs combining_vfs;

static sqlite3_file *below(sqlite3_file *file) { return ((database_file *)file)->lower; }
_Static_assert(offsetof(database_file, lower) == offsetof(log_file, lower), "below() is for both");

// MARK: Gathering

static void forget_position(log_file *log) {
    log->next = -1;
    log->wants_page = false;
}

// Hands down what was gathered. Where that fails it is gone, and the caller must see that somebody learns of it: SQLite
// takes the transaction back then, and its frames are written again by the next one, at the same place.
static int flush(log_file *log) {
    if (log->count == 0) return SQLITE_OK;
    int count = log->count;
    log->count = 0;
    int code = log->lower->pMethods->xWrite(log->lower, log->gathered, count, log->start);
    if (code != SQLITE_OK) forget_position(log);
    return code;
}

// For calls that can fail: their caller learns of every write that did, once.
static int settle(log_file *log) {
    int code = log->failure;
    log->failure = SQLITE_OK;
    if (code != SQLITE_OK) {
        // What follows a piece that is missing is of no use.
        log->count = 0;
        forget_position(log);
        return code;
    }
    return flush(log);
}

// For calls whose result nobody looks at: the next one that can fail does.
static void settle_quietly(log_file *log) {
    int code = flush(log);
    if (log->failure == SQLITE_OK) log->failure = code;
}

static int gather(log_file *log, const void *bytes, int count, sqlite3_int64 offset) {
    if (log->count + count > ISLET_COMBINING_BYTES) {
        int code = flush(log);
        if (code != SQLITE_OK) return code;
    }
    if (log->count == 0) log->start = offset;
    memcpy(log->gathered + log->count, bytes, (size_t)count);
    log->count += count;
    log->next = offset + count;
    return SQLITE_OK;
}

static bool may_be_page(int count) {
    return count >= SMALLEST_PAGE && count <= LARGEST_PAGE && (count & (count - 1)) == 0;
}

// Without memory it is the layer below, no more.
static bool has_buffer(log_file *log) {
    if (!log->gathered) log->gathered = sqlite3_malloc(ISLET_COMBINING_BYTES);
    return log->gathered != NULL;
}

// Whether a write appends half a frame, as all do but the first after something else. Beyond that it is enough that
// what is not recognized is not gathered: it costs a call, and nothing else.
static bool appends(const log_file *log, int count, sqlite3_int64 offset) {
    return offset == log->next && (log->wants_page ? may_be_page(count) : count == FRAME_HEADER_BYTES);
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    log_file *log = (log_file *)file;
    if (log->failure != SQLITE_OK) return settle(log);
    if (!appends(log, count, offset) || !has_buffer(log)) {
        int code = flush(log);
        if (code == SQLITE_OK) code = log->lower->pMethods->xWrite(log->lower, bytes, count, offset);
        forget_position(log);
        if (code == SQLITE_OK) log->next = offset + count;
        return code;
    }
    int code = gather(log, bytes, count, offset);
    if (code != SQLITE_OK) return code;
    if (!log->wants_page) {
        // The size of the database in pages after the transaction; 0 in all frames but its last.
        static const uint8_t none[4];
        log->commits = memcmp((const uint8_t *)bytes + 4, none, sizeof none) != 0;
        log->wants_page = true;
        return SQLITE_OK;
    }
    log->wants_page = false;
    // With synchronous=NORMAL no sync follows: SQLite makes the frames visible next, and nothing in between can fail.
    return log->commits ? flush(log) : SQLITE_OK;
}

// MARK: Logs

static int log_close(sqlite3_file *file) {
    log_file *log = (log_file *)file;
    int failure = settle(log);
    if (log->database) log->database->log = NULL;
    sqlite3_free(log->gathered);
    int code = log->lower->pMethods->xClose(log->lower);
    return code != SQLITE_OK ? code : failure;
}

// Something else than appending: what comes behind may be anywhere.
static int settle_to_leave(sqlite3_file *file) {
    int code = settle((log_file *)file);
    forget_position((log_file *)file);
    return code;
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = settle_to_leave(file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xRead(below(file), bytes, count, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = settle_to_leave(file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xTruncate(below(file), size);
}

static int log_sync(sqlite3_file *file, int flags) {
    int code = settle((log_file *)file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xSync(below(file), flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
    int code = settle((log_file *)file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xFileSize(below(file), size);
}

// Logs are not locked themselves; the three calls are there because the table has them.
static int log_lock(sqlite3_file *file, int level) {
    int code = settle((log_file *)file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xLock(below(file), level);
}

static int log_unlock(sqlite3_file *file, int level) {
    settle_quietly((log_file *)file);
    return below(file)->pMethods->xUnlock(below(file), level);
}

static int log_is_reserved(sqlite3_file *file, int *is_reserved) {
    return below(file)->pMethods->xCheckReservedLock(below(file), is_reserved);
}

static int log_control(sqlite3_file *file, int operation, void *argument) {
    int code = settle((log_file *)file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xFileControl(below(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return below(file)->pMethods->xSectorSize(below(file)); }

static int characteristics(sqlite3_file *file) { return below(file)->pMethods->xDeviceCharacteristics(below(file)); }

// Version 1: shared memory and maps are the database's.
static const sqlite3_io_methods log_methods = {
    1, log_close, log_read, log_write, log_truncate, log_sync, log_size, log_lock, log_unlock, log_is_reserved,
    log_control, sector_size, characteristics, NULL, NULL, NULL, NULL, NULL, NULL,
};

// MARK: Databases

// Between the first frame of a transaction and the one that commits it, frames may be gathered and stay so when SQLite
// takes the transaction back (only where pages were spilled before the commit, or a commit broke off). They must go
// down before another connection may write at the same place, thus before the lock goes; later they would overwrite
// what that one committed. The same holds for everything that others may see or do something after.
static int settle_log(sqlite3_file *file) {
    log_file *log = ((database_file *)file)->log;
    return log ? settle(log) : SQLITE_OK;
}

static void settle_log_quietly(sqlite3_file *file) {
    log_file *log = ((database_file *)file)->log;
    if (log) settle_quietly(log);
}

static int database_close(sqlite3_file *file) {
    log_file *log = ((database_file *)file)->log;
    if (log) {
        settle_quietly(log);
        log->database = NULL;
    }
    return below(file)->pMethods->xClose(below(file));
}

static int database_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return below(file)->pMethods->xRead(below(file), bytes, count, offset);
}

static int database_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    return below(file)->pMethods->xWrite(below(file), bytes, count, offset);
}

static int database_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return below(file)->pMethods->xTruncate(below(file), size);
}

static int database_sync(sqlite3_file *file, int flags) { return below(file)->pMethods->xSync(below(file), flags); }

static int database_size(sqlite3_file *file, sqlite3_int64 *size) {
    return below(file)->pMethods->xFileSize(below(file), size);
}

static int database_lock(sqlite3_file *file, int level) {
    int code = settle_log(file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xLock(below(file), level);
}

static int database_unlock(sqlite3_file *file, int level) {
    settle_log_quietly(file);
    return below(file)->pMethods->xUnlock(below(file), level);
}

static int database_is_reserved(sqlite3_file *file, int *is_reserved) {
    return below(file)->pMethods->xCheckReservedLock(below(file), is_reserved);
}

static int database_control(sqlite3_file *file, int operation, void *argument) {
    int code = below(file)->pMethods->xFileControl(below(file), operation, argument);
    if (operation == SQLITE_FCNTL_VFSNAME && code == SQLITE_OK) {
        char **names = argument;
        *names = sqlite3_mprintf(ISLET_COMBINING_VFS "/%z", *names);
    }
    return code;
}

static int database_map_shared(sqlite3_file *file, int region, int bytes, int extends, void volatile **memory) {
    int code = settle_log(file);
    return code != SQLITE_OK ? code : below(file)->pMethods->xShmMap(below(file), region, bytes, extends, memory);
}

static int database_lock_shared(sqlite3_file *file, int first, int count, int flags) {
    if (flags & SQLITE_SHM_UNLOCK) {
        // Nobody looks at whether a lock was given back.
        settle_log_quietly(file);
    } else {
        int code = settle_log(file);
        if (code != SQLITE_OK) return code;
    }
    return below(file)->pMethods->xShmLock(below(file), first, count, flags);
}

static void database_barrier(sqlite3_file *file) {
    settle_log_quietly(file);
    below(file)->pMethods->xShmBarrier(below(file));
}

static int database_unmap_shared(sqlite3_file *file, int removes) {
    settle_log_quietly(file);
    return below(file)->pMethods->xShmUnmap(below(file), removes);
}

static int database_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **bytes) {
    return below(file)->pMethods->xFetch(below(file), offset, count, bytes);
}

static int database_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *bytes) {
    return below(file)->pMethods->xUnfetch(below(file), offset, bytes);
}

static const sqlite3_io_methods database_methods = {
    3, database_close, database_read, database_write, database_truncate, database_sync, database_size, database_lock,
    database_unlock, database_is_reserved, database_control, sector_size, characteristics, database_map_shared,
    database_lock_shared, database_barrier, database_unmap_shared, database_fetch, database_unfetch,
};

// MARK: The layer

// What stands before the layer's own file, which begins at a multiple of 8 as it would alone.
typedef union {
    database_file database;
    log_file log;
    sqlite3_int64 alignment;
} own_file;

static sqlite3_file *room_for_lower(sqlite3_file *file) { return (sqlite3_file *)((own_file *)file + 1); }

static int open_database(sqlite3_filename name, sqlite3_file *file, int flags, int *flags_out) {
    database_file *database = (database_file *)file;
    database->log = NULL;
    database->lower = room_for_lower(file);
    database->lower->pMethods = NULL;
    file->pMethods = NULL;
    int code = lower_vfs->xOpen(lower_vfs, name, database->lower, flags, flags_out);
    // A file with methods is closed even if it was not opened.
    if (!database->lower->pMethods) return code;
    database->methods = database_methods;
    if (database->lower->pMethods->iVersion < database->methods.iVersion)
        database->methods.iVersion = database->lower->pMethods->iVersion;
    file->pMethods = &database->methods;
    return code;
}

static int open_log(sqlite3_filename name, sqlite3_file *file, int flags, int *flags_out, database_file *database) {
    log_file *log = (log_file *)file;
    memset(log, 0, sizeof *log);
    log->lower = room_for_lower(file);
    log->lower->pMethods = NULL;
    int code = lower_vfs->xOpen(lower_vfs, name, log->lower, flags, flags_out);
    if (!log->lower->pMethods) return code;
    forget_position(log);
    log->database = database;
    database->log = log;
    file->pMethods = &log_methods;
    return code;
}

static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *flags_out) {
    (void)vfs;
    if (name && flags & SQLITE_OPEN_MAIN_DB) return open_database(name, file, flags, flags_out);
    if (name && flags & SQLITE_OPEN_WAL) {
        // Somebody above may have wrapped the database in a file of his own: then nobody tells about its locks.
        sqlite3_file *database = sqlite3_database_file_object(name);
        if (database && database->pMethods && database->pMethods->xClose == database_close)
            return open_log(name, file, flags, flags_out, (database_file *)database);
    }
    return lower_vfs->xOpen(lower_vfs, name, file, flags, flags_out);
}

static int registration;

static void register_once(void) {
    registration = sqlite3_initialize();
    if (registration != SQLITE_OK) return;
    lower_vfs = sqlite3_vfs_find(NULL);
    if (!lower_vfs) {
        registration = SQLITE_ERROR;
        return;
    }
    // All but opening stays as it is, with the data that it belongs to.
    combining_vfs = *lower_vfs;
    combining_vfs.pNext = NULL;
    combining_vfs.zName = ISLET_COMBINING_VFS;
    combining_vfs.szOsFile = (int)sizeof(own_file) + lower_vfs->szOsFile;
    combining_vfs.xOpen = open_file;
    registration = sqlite3_vfs_register(&combining_vfs, 0);
}

int islet_register_combining_vfs(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    return registration;
}
