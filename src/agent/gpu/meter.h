#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.h"

namespace souk::agent {

// What a GPU is doing at one moment.
struct GpuUse {
  std::optional<double> share;  // Of the last second in which it computed. Slices do not tell.
  std::optional<std::int64_t> memory_bytes;
};

// "GPU-5c89, 87, 40123" -> by UUID. Lines that are something else are left out.
std::map<std::string, GpuUse> parse_gpu_use(std::string_view csv);

// How much leases use the GPUs that they have, by asking nvidia-smi every few seconds while there
// are such leases. Thread-safe.
class GpuMeter {
 public:
  // `program`: nvidia-smi, or empty where there is none: then nothing is known.
  explicit GpuMeter(std::string program, base::Duration every = base::seconds(2));
  ~GpuMeter();

  // One lease's use, until this goes. The meter outlives it.
  class Lease {
   public:
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    // Time of a whole GPU, in all. Nothing while nothing is known.
    [[nodiscard]] std::optional<double> seconds() const;
    [[nodiscard]] std::optional<std::int64_t> memory_bytes() const;

   private:
    friend class GpuMeter;
    Lease(GpuMeter& meter, std::int64_t id) : meter_(meter), id_(id) {}
    GpuMeter& meter_;
    const std::int64_t id_;
  };
  std::unique_ptr<Lease> watch(std::vector<std::string> uuids);

 private:
  struct Entry {
    std::vector<std::string> uuids;
    std::optional<double> seconds;
    std::optional<std::int64_t> memory_bytes;
  };

  void run();
  void add(const std::map<std::string, GpuUse>& uses, double elapsed_s);

  const std::string program_;
  const base::Duration every_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::condition_variable wake_;
  std::map<std::int64_t, Entry> entries_;
  std::int64_t next_id_ = 1;
  bool running_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace souk::agent
