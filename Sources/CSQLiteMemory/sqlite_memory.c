#include "sqlite_memory.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
    // The C library takes blocks of this size or more from the system (its M_MMAP_THRESHOLD).
    LARGE_BYTES = 128 << 10,
    // A larger one goes back: only commits on a slow disk need it.
    MOST_BYTES = 1 << 20,
};

// What SQLite would use by itself. Written once, before SQLite has any threads to read it.
static sqlite3_mem_methods system_memory;
// The block that is kept; null: there is none, or somebody has it.
static _Atomic(void *) kept;

static void *allocate(int size) {
    if (size >= LARGE_BYTES) {
        void *block = atomic_exchange(&kept, NULL);
        if (block && system_memory.xSize(block) >= size) return block;
        if (block) system_memory.xFree(block);
    }
    return system_memory.xMalloc(size);
}

static void release(void *block) {
    int size = system_memory.xSize(block);
    if (size >= LARGE_BYTES && size <= MOST_BYTES) block = atomic_exchange(&kept, block);
    if (block) system_memory.xFree(block);
}

int islet_sqlite_keeps_large_block(void) {
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
    if (code != SQLITE_OK) return code;
    sqlite3_mem_methods methods = system_memory;
    methods.xMalloc = allocate;
    methods.xFree = release;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
