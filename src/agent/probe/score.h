#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"

// How fast this machine is, measured, in about two seconds.
//
// Every figure is a portable lower bound: plain loops that the compiler vectorises, not the best
// library for the machine. A tuned BLAS does a multiple of `gflops`. They can be compared between
// machines because every machine runs the same code (on x86 compiled for three vector widths, of
// which the widest that the processor has is taken).
//
//   gflops       fp32 matrix products of 384 x 384, one chain of them per thread, blocked for the
//                caches; a multiplication and an addition are two operations.
//   memory_gbs   a[i] = b[i] + s * c[i] in doubles over arrays much larger than the caches, all
//                threads at once, best pass; 24 bytes per element, as STREAM counts.
//   disk_*_mbs   a file that never has a name, at most `disk_bytes`: written in 8 MiB pieces, each
//                followed by fdatasync, then read back after asking the system to forget it. Where
//                it does not forget (tmpfs, some containers), reading is that of memory.

namespace souk::agent {

struct Score {
  std::int32_t threads = 0;
  double gflops = 0;
  double memory_gbs = 0;
  std::optional<double> disk_write_mbs;  // Empty: see notes.
  std::optional<double> disk_read_mbs;
  std::vector<std::string> notes;  // What could not be measured, and why.
  SOUK_FIELDS(Score, threads, gflops, memory_gbs, disk_write_mbs, disk_read_mbs, notes)
};

struct ScoreOptions {
  std::int32_t threads = 1;  // Machine::cpu.usable.
  std::string folder = ".";  // Where the disk is measured.
  base::Duration multiply_time = base::milliseconds(700);
  base::Duration memory_time = base::milliseconds(400);
  base::Duration disk_time = base::milliseconds(900);  // At most 2 s are used.
  std::int64_t disk_bytes = 256 << 20;                 // At most 256 MiB are used.
  std::int64_t memory_bytes = 768 << 20;               // The most that may be allocated.
  // Called on the calling thread with what is being done and how much of all is done, 0 to 100.
  std::function<void(std::string_view step, int percent)> progress = {};
};

// Blocks; starts and joins options.threads threads. One at a time on a machine, or they measure
// each other.
Score measure(const ScoreOptions& options);

}  // namespace souk::agent
