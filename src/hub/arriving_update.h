#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "base/buffers.h"
#include "base/result.h"
#include "hub/service_job.h"
#include "train/update.h"
#include "train/validators/validator.h"

namespace souk::hub {

// An update whose body is on its way to a hub service: its blocks are checked, measured and, if it
// is alone, folded aside as they come, while they are still in a cache. What it finds is only
// believed once all is there. On the I/O thread of its connection until then, and after that on the
// one that handles the request.
class ArrivingUpdate {
 public:
  // `codec` and `job` are what it is read with and folded into; `floats` is how many it has.
  ArrivingUpdate(std::shared_ptr<const train::Codec> codec, std::shared_ptr<ServiceJob> job,
                 std::size_t floats, std::shared_ptr<base::Buffer> body);
  ~ArrivingUpdate();
  ArrivingUpdate(const ArrivingUpdate&) = delete;
  ArrivingUpdate& operator=(const ArrivingUpdate&) = delete;

  // Folds it aside, too, in memory that `held` counts.
  void prepare(std::unique_ptr<PreparedFold> prepared, base::BudgetShare held) {
    prepared_ = std::move(prepared);
    held_ = std::move(held);
  }
  void arrived(std::size_t bytes) noexcept;

  struct ReadUpdate {
    train::Update update;  // With its norm.
    std::shared_ptr<const train::Codec> codec;
    std::unique_ptr<PreparedFold> prepared;  // If it is complete.
  };
  // Requires that all has arrived. Nothing: it has another number of floats than `floats`, so the
  // parameters began anew meanwhile.
  base::Result<std::optional<ReadUpdate>> finish(std::size_t floats);

 private:
  base::Result<> read(std::size_t bytes);

  const std::shared_ptr<const train::Codec> codec_;
  const std::shared_ptr<ServiceJob> job_;
  const std::size_t floats_;
  train::UpdateReader reader_;
  train::StatsSum sum_;
  std::size_t measured_ = 0;  // Blocks.
  std::unique_ptr<PreparedFold> prepared_;
  base::BudgetShare held_;
  std::optional<base::Error> refused_;
};

}  // namespace souk::hub
