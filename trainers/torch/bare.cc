#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "config.h"
#include "flags.h"
#include "learner.h"

namespace souk::trainer {

int run_bare(const std::vector<std::string>& arguments) {
  const Flags flags(arguments, {"--config", "--shard", "--test", "--epochs", "--batch", "--lr",
                                "--seed", "--out"});
  const Config config = read_config(flags.required("--config"));
  const std::string test = flags.text("--test", "");
  const std::string out = flags.text("--out", "");
  const std::int64_t epochs = flags.integer("--epochs", 1, 1);
  const auto seed = static_cast<std::uint64_t>(flags.integer("--seed", 1, 0));
  const auto never = [] { return false; };

  Unit unit;
  unit.shard = flags.required("--shard");
  unit.batch = flags.integer("--batch", 64, 1);
  unit.lr = flags.number("--lr", config.lr);
  unit.keep = "bare";

  Learner learner(config);
  learner.initialise(seed);
  // The last step of an epoch wraps around to fill its batch.
  unit.steps = (learner.samples(unit.shard) + unit.batch - 1) / unit.batch;
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    unit.seed = seed + static_cast<std::uint64_t>(epoch);
    const Trained trained = learner.train(unit, never);
    nlohmann::json line = {{"epoch", epoch}, {"loss", trained.loss}, {"seconds", trained.seconds}};
    if (!test.empty()) line.update(nlohmann::json(learner.evaluate(test, 256, never).metrics));
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
  if (!out.empty()) learner.save(out);
  return 0;
}

}  // namespace souk::trainer
