#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "journal/sqlite.h"

// A disk that fails on demand: a SQLite VFS over the system's own. One plan per process; tests
// only, single-threaded.
//
//   auto& plan = testing::fault_plan();
//   plan = {.action = Action::fail_io, .at = 7};   // The 7th write or sync from now fails once.
//   SqliteJournal::open(path, {.vfs = testing::fault_vfs()});

namespace souk::journal::testing {

enum class Action {
  none,
  fail_io,      // The operation fails with EIO, and does nothing.
  fail_full,    // The operation fails with ENOSPC, and does nothing.
  exit_before,  // The process dies just before it,
  exit_after,   // just after it,
  exit_torn,    // or when half of its sectors are written.
  power_cut,    // It dies before it, and a random part of what was not yet synced is gone.
};

enum class Operations { writes, syncs, both, reads };  // Both: writes and syncs.

struct FaultPlan {
  Action action = Action::none;
  Operations of = Operations::both;
  std::uint64_t at = 0;    // Counted from 1. The fault happens once.
  bool skip_sync = false;  // Do not really sync: a dying process loses nothing by that.
  std::uint64_t seed = 0;  // For power_cut.
  std::uint64_t seen = 0;  // How many operations there were.
};

inline constexpr int kExitCode = 137;
inline constexpr int kSector = 512;

inline FaultPlan& fault_plan() {
  static FaultPlan plan;
  return plan;
}

namespace fault {

// A write that has not been synced yet, and what it replaced.
struct Write {
  sqlite3_int64 offset;
  std::string before;
  std::string after;
  sqlite3_int64 size_before;
};

struct File {
  sqlite3_file base;
  sqlite3_file* real;
  std::vector<Write>* unsynced;
};

inline constexpr std::size_t kRealOffset = (sizeof(File) + 15) / 16 * 16;

inline sqlite3_vfs* system_vfs() {
  static auto* const vfs = sqlite3_vfs_find("unix");
  return vfs;
}
inline std::set<File*>& open_files() {
  static std::set<File*> files;
  return files;
}
inline File& self(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
inline sqlite3_file* real(sqlite3_file* file) { return self(file).real; }
inline const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

// Back to what was synced, then a random subset of the later writes: what a disk may have kept.
inline void lose_unsynced() {
  base::Random random(fault_plan().seed);
  for (auto* file : open_files()) {
    auto* to = file->real;
    for (auto it = file->unsynced->rbegin(); it != file->unsynced->rend(); ++it) {
      if (!it->before.empty())
        to->pMethods->xWrite(to, it->before.data(), static_cast<int>(it->before.size()),
                             it->offset);
      to->pMethods->xTruncate(to, it->size_before);
    }
    const auto keep_one_in = 1 + random.below(3);
    for (const auto& write : *file->unsynced)
      if (random.chance(keep_one_in))
        to->pMethods->xWrite(to, write.after.data(), static_cast<int>(write.after.size()),
                             write.offset);
  }
}

inline void remember(File& file, const void* data, int size, sqlite3_int64 offset) {
  if (fault_plan().action != Action::power_cut) return;
  Write write{
      offset, {}, std::string(static_cast<const char*>(data), static_cast<size_t>(size)), 0};
  file.real->pMethods->xFileSize(file.real, &write.size_before);
  const auto old = std::min<sqlite3_int64>(size, write.size_before - offset);
  if (old > 0) {
    write.before.resize(static_cast<std::size_t>(old));
    file.real->pMethods->xRead(file.real, write.before.data(), static_cast<int>(old), offset);
  }
  file.unsynced->push_back(std::move(write));
}

// Counts an operation; true if the plan's fault falls on it.
inline bool struck(Operations kind) {
  auto& plan = fault_plan();
  const bool counts = plan.of == kind || (plan.of == Operations::both && kind != Operations::reads);
  return counts && ++plan.seen == plan.at && plan.action != Action::none;
}

// The code an operation struck by the plan fails with; SQLITE_OK if it should go on. May not
// return.
inline int strike(int io_error) {
  switch (fault_plan().action) {
    case Action::fail_io:
      return io_error;
    case Action::fail_full:
      return SQLITE_FULL;
    case Action::exit_before:
      ::_exit(kExitCode);
    case Action::power_cut:
      lose_unsynced();
      ::_exit(kExitCode);
    default:
      return SQLITE_OK;
  }
}

inline int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const bool hit = struck(Operations::writes);
  if (hit) {
    if (const int code = strike(SQLITE_IOERR_WRITE); code != SQLITE_OK) return code;
    if (fault_plan().action == Action::exit_torn) {
      const int whole = size / 2 / kSector * kSector;  // Disks do not tear a sector.
      if (whole > 0) methods(file).xWrite(real(file), data, whole, offset);
      ::_exit(kExitCode);
    }
  }
  remember(self(file), data, size, offset);
  const int code = methods(file).xWrite(real(file), data, size, offset);
  if (hit) ::_exit(kExitCode);
  return code;
}

inline int sync(sqlite3_file* file, int flags) {
  const bool hit = struck(Operations::syncs);
  if (hit)
    if (const int code = strike(SQLITE_IOERR_FSYNC); code != SQLITE_OK) return code;
  const int code = fault_plan().skip_sync ? SQLITE_OK : methods(file).xSync(real(file), flags);
  self(file).unsynced->clear();
  if (hit) ::_exit(kExitCode);
  return code;
}

inline int close(sqlite3_file* file) {
  open_files().erase(&self(file));
  delete self(file).unsynced;
  return methods(file).xClose(real(file));
}
inline int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  if (struck(Operations::reads))
    if (const int code = strike(SQLITE_IOERR_READ); code != SQLITE_OK) return code;
  return methods(file).xRead(real(file), into, size, offset);
}
inline int truncate(sqlite3_file* file, sqlite3_int64 size) {
  return methods(file).xTruncate(real(file), size);
}
inline int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return methods(file).xFileSize(real(file), size);
}
inline int lock(sqlite3_file* file, int level) { return methods(file).xLock(real(file), level); }
inline int unlock(sqlite3_file* file, int level) {
  return methods(file).xUnlock(real(file), level);
}
inline int check_reserved(sqlite3_file* file, int* held) {
  return methods(file).xCheckReservedLock(real(file), held);
}
inline int control(sqlite3_file* file, int op, void* arg) {
  return methods(file).xFileControl(real(file), op, arg);
}
inline int sector_size(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
inline int characteristics(sqlite3_file* file) {
  return methods(file).xDeviceCharacteristics(real(file));
}
inline int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return methods(file).xShmMap(real(file), region, size, extend, out);
}
inline int shm_lock(sqlite3_file* file, int offset, int n, int flags) {
  return methods(file).xShmLock(real(file), offset, n, flags);
}
inline void shm_barrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
inline int shm_unmap(sqlite3_file* file, int remove) {
  return methods(file).xShmUnmap(real(file), remove);
}

inline constexpr sqlite3_io_methods kMethods = {2,
                                                close,
                                                read,
                                                write,
                                                truncate,
                                                sync,
                                                file_size,
                                                lock,
                                                unlock,
                                                check_reserved,
                                                control,
                                                sector_size,
                                                characteristics,
                                                shm_map,
                                                shm_lock,
                                                shm_barrier,
                                                shm_unmap,
                                                nullptr,
                                                nullptr};

inline int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  auto* behind = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kRealOffset);
  std::memset(behind, 0, static_cast<std::size_t>(system_vfs()->szOsFile));
  const int code = system_vfs()->xOpen(system_vfs(), name, behind, flags, out_flags);
  if (code != SQLITE_OK) return code;
  auto* made = new (file) File{{&kMethods}, behind, new std::vector<Write>()};
  open_files().insert(made);
  return SQLITE_OK;
}

inline const char* make() {
  static sqlite3_vfs vfs = *system_vfs();
  vfs.zName = "souk-fault";
  vfs.pNext = nullptr;
  vfs.szOsFile = static_cast<int>(kRealOffset) + system_vfs()->szOsFile;
  vfs.xOpen = open;
  CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
  return vfs.zName;
}

}  // namespace fault

// The name of the VFS that follows fault_plan().
inline const char* fault_vfs() {
  static const char* const name = fault::make();
  return name;
}

// On the disk of fault_vfs(), with a log so small that a scenario crosses several checkpoints.
inline SqliteOptions faulty() { return {.checkpoint_pages = 12, .vfs = fault_vfs()}; }

}  // namespace souk::journal::testing
