#include "agent/gpu/meter.h"

#include <algorithm>
#include <chrono>

#include "agent/probe/command_output.h"
#include "agent/probe/probe_limits.h"
#include "base/text.h"

namespace souk::agent {
namespace {

using std::chrono::steady_clock;

constexpr auto kMeterAnswersWithin = base::seconds(5);
constexpr std::size_t kMostOutput = 64 << 10;

}  // namespace

std::map<std::string, GpuUse> parse_gpu_use(std::string_view csv) {
  std::map<std::string, GpuUse> out;
  for (const auto line : base::split(csv, '\n')) {
    const auto fields = base::split(line, ',');
    if (fields.size() != 3 || !base::trim(fields[0]).starts_with("GPU-")) continue;
    GpuUse use;
    if (const auto share = whole_number(fields[1]); share && *share >= 0 && *share <= 100)
      use.share = static_cast<double>(*share) / 100;
    if (const auto mib = whole_number(fields[2]); mib && *mib >= 0 && *mib < 1 << 30)
      use.memory_bytes = *mib << 20;
    out.emplace(base::trim(fields[0]), use);
  }
  return out;
}

GpuMeter::GpuMeter(std::string program, base::Duration every)
    : program_(std::move(program)), every_(every) {}

GpuMeter::~GpuMeter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<GpuMeter::Lease> GpuMeter::watch(std::vector<std::string> uuids) {
  const std::lock_guard lock(mutex_);
  const auto id = next_id_++;
  entries_.emplace(id, Entry{.uuids = std::move(uuids)});
  if (!running_ && !program_.empty()) {
    if (thread_.joinable()) thread_.join();  // It has ended, and takes no lock again.
    running_ = true;
    thread_ = std::thread([this] { run(); });
  }
  return std::unique_ptr<Lease>(new Lease(*this, id));
}

void GpuMeter::run() {
  auto last = steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!ending_ && !entries_.empty()) {
    lock.unlock();
    const auto said = run_command(
        {program_, "--query-gpu=uuid,utilization.gpu,memory.used", "--format=csv,noheader,nounits"},
        kMeterAnswersWithin, kMostOutput);
    lock.lock();
    const auto now = steady_clock::now();
    if (said && said->good())
      add(parse_gpu_use(said->out), std::chrono::duration<double>(now - last).count());
    last = now;
    wake_.wait_for(lock, std::chrono::microseconds(every_.us),
                   [this] { return ending_ || entries_.empty(); });
  }
  running_ = false;
}

// Requires mutex_.
void GpuMeter::add(const std::map<std::string, GpuUse>& uses, double elapsed_s) {
  for (auto& [id, entry] : entries_) {
    std::optional<std::int64_t> memory;
    for (const auto& uuid : entry.uuids) {
      const auto at = uses.find(uuid);
      if (at == uses.end()) continue;
      if (at->second.share)
        entry.seconds = entry.seconds.value_or(0) + *at->second.share * elapsed_s;
      if (at->second.memory_bytes) memory = memory.value_or(0) + *at->second.memory_bytes;
    }
    entry.memory_bytes = memory;
  }
}

GpuMeter::Lease::~Lease() {
  const std::lock_guard lock(meter_.mutex_);
  meter_.entries_.erase(id_);
  meter_.wake_.notify_all();
}

std::optional<double> GpuMeter::Lease::seconds() const {
  const std::lock_guard lock(meter_.mutex_);
  return meter_.entries_.at(id_).seconds;
}

std::optional<std::int64_t> GpuMeter::Lease::memory_bytes() const {
  const std::lock_guard lock(meter_.mutex_);
  return meter_.entries_.at(id_).memory_bytes;
}

}  // namespace souk::agent
