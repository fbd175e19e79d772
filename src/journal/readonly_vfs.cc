#include "journal/readonly_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/check.h"

namespace souk::journal {
namespace {

constexpr const char* kName = "souk-readonly";

// What SQLite sees as a file; the system's own file lies behind it in the same allocation.
struct File {
  sqlite3_file base;
  sqlite3_file* real;  // Null for a log that does not exist: it reads as empty.
  std::vector<std::unique_ptr<char[]>>* index;
};

constexpr std::size_t kRealOffset = (sizeof(File) + 15) / 16 * 16;

sqlite3_vfs* system_vfs() { return sqlite3_vfs_find(nullptr); }
File& self(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return self(file).real; }

int close(sqlite3_file* file) {
  delete self(file).index;
  if (real(file) == nullptr) return SQLITE_OK;
  return real(file)->pMethods->xClose(real(file));
}
int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  if (real(file) != nullptr) return real(file)->pMethods->xRead(real(file), into, size, offset);
  std::memset(into, 0, static_cast<std::size_t>(size));
  return SQLITE_IOERR_SHORT_READ;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  *size = 0;
  return real(file) == nullptr ? SQLITE_OK : real(file)->pMethods->xFileSize(real(file), size);
}
int lock(sqlite3_file* file, int level) {
  if (level > SQLITE_LOCK_SHARED) return SQLITE_READONLY;
  return real(file) == nullptr ? SQLITE_OK : real(file)->pMethods->xLock(real(file), level);
}
int unlock(sqlite3_file* file, int level) {
  return real(file) == nullptr ? SQLITE_OK : real(file)->pMethods->xUnlock(real(file), level);
}
int check_reserved(sqlite3_file*, int* held) {
  *held = 0;
  return SQLITE_OK;
}
int refuse_write(sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; }
int refuse_truncate(sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; }
int sync(sqlite3_file*, int) { return SQLITE_OK; }
int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 4096; }
int characteristics(sqlite3_file*) { return 0; }

int map_index(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  auto& index = *self(file).index;
  const auto wanted = static_cast<std::size_t>(region);
  *out = nullptr;
  if (wanted >= index.size() && extend == 0) return SQLITE_OK;
  while (wanted >= index.size())
    index.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
  *out = index[wanted].get();
  return SQLITE_OK;
}
int lock_index(sqlite3_file*, int, int, int) { return SQLITE_OK; }  // Nobody else has this index.
void index_barrier(sqlite3_file*) {}
int unmap_index(sqlite3_file* file, int) {
  self(file).index->clear();
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {2,
                                         close,
                                         read,
                                         refuse_write,
                                         refuse_truncate,
                                         sync,
                                         file_size,
                                         lock,
                                         unlock,
                                         check_reserved,
                                         control,
                                         sector_size,
                                         characteristics,
                                         map_index,
                                         lock_index,
                                         index_barrier,
                                         unmap_index,
                                         nullptr,
                                         nullptr};

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (name == nullptr) return SQLITE_CANTOPEN;  // A temporary file would be a write.
  auto* behind = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kRealOffset);
  std::memset(behind, 0, static_cast<std::size_t>(system_vfs()->szOsFile));
  int there = 0;
  system_vfs()->xAccess(system_vfs(), name, SQLITE_ACCESS_EXISTS, &there);
  if (there != 0) {
    flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_DELETEONCLOSE);
    flags |= SQLITE_OPEN_READONLY;
    const int code = system_vfs()->xOpen(system_vfs(), name, behind, flags, out_flags);
    if (code != SQLITE_OK) return code;
  } else if ((flags & SQLITE_OPEN_WAL) == 0) {
    return SQLITE_CANTOPEN;
  }
  if (out_flags != nullptr) *out_flags = SQLITE_OPEN_READONLY;
  new (file)
      File{{&kMethods}, there != 0 ? behind : nullptr, new std::vector<std::unique_ptr<char[]>>()};
  return SQLITE_OK;
}

int refuse_delete(sqlite3_vfs*, const char*, int) { return SQLITE_READONLY; }

sqlite3_vfs* make() {
  static sqlite3_vfs vfs = *system_vfs();  // Paths, time and the like stay the system's.
  vfs.zName = kName;
  vfs.pNext = nullptr;
  vfs.szOsFile = static_cast<int>(kRealOffset) + system_vfs()->szOsFile;
  vfs.xOpen = open;
  vfs.xDelete = refuse_delete;
  CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
  return &vfs;
}

}  // namespace

const char* readonly_vfs() {
  static const auto* vfs = make();
  return vfs->zName;
}

}  // namespace souk::journal
