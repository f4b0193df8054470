// A layer of SQLite's over the system that writes a write-ahead log in large pieces.
//
// SQLite writes a log frame by frame, each with two calls: 24 bytes of header, then a page. A commit of 600 KB is 300
// system calls. This layer stands over the default one, gathers what is appended to a log, and hands it down in pieces
// of up to ISLET_COMBINING_BYTES. Everything else goes to the layer below as it is; what that one asks of the system is
// watched by `system_calls.h`.
//
// What the log promises stays as it was, for every `PRAGMA synchronous`: the frame that commits a transaction is not
// gathered beyond its own write. All of a transaction is in the system's hands, or has failed, when SQLite learns how
// that write went, which is before it syncs the log and before it shows the transaction to anybody in the wal-index.
#ifndef COMBINING_VFS_H
#define COMBINING_VFS_H

// The name to open a database with; the default layer stays what it was.
#define ISLET_COMBINING_VFS "islet-combining"

#ifndef ISLET_COMBINING_BYTES
// Of one log that is written; it is allocated with the first frame. Not one byte more: SQLite's layer for Unix masks the
// size of a write with 0x1ffff, writes the rest of the division first, and calls 128 KiB that are left a full disk.
#define ISLET_COMBINING_BYTES (128 * 1024 - 1)
#endif

// Makes the layer known, over the default one as it is at the first call. Any thread may call it, as often as it likes,
// but not before somebody's sqlite3_config(), which must come first. Returns SQLITE_OK or why it failed.
int islet_register_combining_vfs(void);

#endif
