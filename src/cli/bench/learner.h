#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/trainer.h"
#include "cli/commands/datasets.h"
#include "cli/shell/context.h"
#include "lab/worlds/train_sim.h"

// What simulated trainings learn, and who learns it.

namespace souk::cli {

// A model and as much of some data as there is time for.
struct Lesson {
  std::string model = "lenet";
  std::string data = "mnist";  // Built in, or a folder with CIFAR-10's binary files.
  std::int64_t samples = 6'000;
  std::int64_t checked = 1'000;  // Of the test data.
  std::int32_t shards = 24;
  std::int32_t batch = 32;
  std::int64_t seed = 1;  // Of the draw.
};

// The native trainer as a learner: one souk-torch process on one thread, so that its answers are
// the same each time, spoken to as an agent does but without a sandbox. For one thread.
class TorchLearner final : public lab::Learner {
 public:
  static Result<std::unique_ptr<TorchLearner>> start(Context& c, const Lesson& lesson);
  ~TorchLearner() override;  // Ends the process and removes its folder.
  TorchLearner(const TorchLearner&) = delete;
  TorchLearner& operator=(const TorchLearner&) = delete;

  [[nodiscard]] train::Layout layout() const override;
  base::Result<std::vector<float>> init(std::int64_t seed) override;
  // What diverges is an update without numbers, which the hub refuses.
  base::Result<Trained> train(std::span<const float> base, const train::Unit& unit,
                              train::Sends send, double state_scale,
                              const std::string& memory) override;
  base::Result<Evaluated> evaluate(std::span<const float> values, std::int32_t shard) override;

  // The accuracy after each epoch of training without Souk, on all the data, one step after the
  // other (`souk-torch bare`).
  Result<std::vector<double>> serial(std::int32_t epochs, double lr, std::int64_t seed) const;

  // Samples of each shard.
  [[nodiscard]] const std::vector<std::int64_t>& shards() const { return shards_; }
  [[nodiscard]] const std::vector<std::int64_t>& validation() const { return validation_; }

 private:
  TorchLearner(std::string program, std::string folder, std::int32_t batch)
      : program_(std::move(program)), folder_(std::move(folder)), batch_(batch) {}
  Result<> spawn();
  Result<> write(const job::LoadedData& data, const Lesson& lesson);

  const std::string program_, folder_;
  const std::int32_t batch_;
  pid_t pid_ = -1;
  std::optional<agent::Trainer> trainer_;
  std::vector<std::int64_t> shards_, validation_;
};

}  // namespace souk::cli
