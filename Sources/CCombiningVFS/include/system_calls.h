// What SQLite's layer for Unix asks of the system, with an eye on what there is no more of.
//
// SQLite takes ENOSPC alone for a full disk, and calls a quota that is used up a write that failed. Where a file cannot
// be made or opened it says no more than that, and errno is another call's by then: it looks for the file once more, and
// does not find it. So a write finds a full disk whatever it lacks, and what was lacking is kept for whoever asks. Nor is a
// file opened for reading that just lacked something to be opened for writing: SQLite would be content with it.
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

// Takes the calls over, for all of the process's connections through that layer. Any thread may call it, as often as it
// likes, but not before somebody's sqlite3_config(). Where the layer lets nobody do so, everything stays as it is.
void islet_watch_system_calls(void);

// The errno of this thread's last call that lacked something (bytes, inodes, quota, memory, descriptors) since this was
// asked before, unless one failed after it for another reason; 0: none.
int islet_take_lack(void);

#endif
