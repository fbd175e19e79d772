#pragma once

namespace souk::journal {

// The name of a SQLite VFS through which a database in WAL mode can be read, its log included,
// while nothing on disk can change: files are opened read-only by the system, and the index of the
// log, which SQLite else makes in a -shm file, lives in memory. So it sees no other process's locks
// on the log and must not be used beside a writer. Registers itself on first use; any thread.
const char* readonly_vfs();

}  // namespace souk::journal
