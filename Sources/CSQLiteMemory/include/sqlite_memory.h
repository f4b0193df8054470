// Keeps the one large block that SQLite asks for again and again.
//
// A row is put together in one block, which SQLite frees when the statement is reset: of a commit's first row it holds the
// answers to all its commands, and a few hundred KiB. The C library takes such blocks from the system and gives them back,
// where it was told to give freed memory back: each page is made anew for each commit. Kept, the committer took 1.1 µs an update
// instead of 1.4, when each row was half a megabyte.
#ifndef SQLITE_MEMORY_H
#define SQLITE_MEMORY_H

// Makes SQLite keep one large block for the whole process; the rest stays as it is. Before anything else is done with
// SQLite, by the program's own code and once: it is not for a library to decide. Returns SQLITE_OK, or why nothing was
// changed.
int islet_sqlite_keeps_large_block(void);

#endif
