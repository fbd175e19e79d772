#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hub/run/run.h"

namespace souk::hub {

// The trainings of a market, by job. Thread-safe: opening one that takes long holds up nobody but
// those who want the same.
class Hub {
 public:
  using MakeStore = std::function<base::Result<std::unique_ptr<ParameterStore>>(base::JobId)>;

  // Snapshots are kept in `blobs`, and their names in `folder`. `hubs`, if there are any, share
  // what `make_store` makes.
  // Trainings take their memory of `memory`, and what they keep in files in `folder` meanwhile of
  // `disk`, if those are given, each for its job's owner.
  Hub(blob::Store& blobs, const base::Clock& clock, std::string folder, MakeStore make_store = {},
      std::unique_ptr<Remote> hubs = {}, base::Budget* memory = nullptr,
      base::Budget* disk = nullptr);

  // Begun or recovered, if this is the first call. `paid_through`: the highest number of a wage
  // that the market has paid for the job. `owner` is who its memory is counted for. Whatever is
  // wrong with a job, or thrown by it, is an error of this call.
  base::Result<std::shared_ptr<Run>> open(base::JobId job, const wire::Train& spec,
                                          std::int32_t workers, std::int64_t paid_through = 0,
                                          const std::string& owner = {});
  // If it is open.
  [[nodiscard]] std::shared_ptr<Run> find(base::JobId job) const;
  [[nodiscard]] std::vector<std::shared_ptr<Run>> open_runs() const;
  // The wages that the job's last snapshot says are owed, whether it is open or not. Reads the
  // disk.
  [[nodiscard]] base::Result<std::vector<Wage>> saved_wages(base::JobId job) const;
  // Of a job that has ended and was dealt with.
  void forget(base::JobId job);

 private:
  struct Slot {
    std::mutex opening;        // Taken before mutex_.
    std::shared_ptr<Run> run;  // Once it is open.
  };
  [[nodiscard]] std::string pointer(base::JobId job) const;
  base::Result<std::shared_ptr<Run>> begin(base::JobId job, const wire::Train& spec,
                                           std::int32_t workers, std::int64_t paid_through,
                                           const std::string& owner) const;

  blob::Store& blobs_;
  const base::Clock& clock_;
  const std::string folder_;
  const MakeStore make_store_;
  const std::unique_ptr<Remote> hubs_;
  base::Budget *const memory_, *const disk_;
  mutable std::mutex mutex_;
  std::map<base::JobId, std::shared_ptr<Slot>> slots_;
};

}  // namespace souk::hub
