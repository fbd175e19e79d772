#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config.h"

namespace souk::trainer {

// Some steps on one shard. Step k uses samples [(first_step + k) * batch, ... + batch) of the
// shard's permutation by `seed`, modulo the number of samples.
struct Unit {
  std::string shard;
  std::uint64_t seed = 0;
  std::int64_t first_step = 0;
  std::int64_t steps = 1;
  std::int64_t batch = 1;
  double lr = 0;
  // Nothing is learnt: the model's state becomes the mean of what the batches have.
  bool measure = false;
  // Under what name the momentum is kept for the next unit; empty: it is not.
  std::string keep;
};

struct Trained {
  std::int64_t steps = 0;
  std::int64_t samples = 0;
  double loss = 0;  // Mean over the samples; 0 when there was none.
  double seconds = 0;
};

struct Evaluated {
  std::int64_t samples = 0;
  double loss = 0;
  // accuracy, for text (of whose bytes it is) also perplexity; for regression rmse, mae,
  // offset_mean and offset_square, in the amounts' own unit (docs/worker-protocol.md).
  std::map<std::string, double> metrics;
};

struct Writing {
  std::int64_t length = 200;  // In bytes.
  double temperature = 0.8;   // 0: always the likeliest byte.
  std::uint64_t seed = 1;
};

// Asked between steps: true ends the work early, with what there is.
using Stop = std::function<bool()>;

// A model, its parameters and an optimiser: all that knows libtorch, behind an
// interface that does not. Deterministic: the same calls give the same bytes on the same machine.
// One thread calls it; it computes on `config.threads`. Throws Error, or what libtorch throws.
class Learner {
 public:
  explicit Learner(const Config& config);
  ~Learner();

  // "libtorch 1.13.0"
  static std::string framework();
  // Those that are trained, then those that are state.
  const std::vector<NamedShape>& tensors() const;
  std::size_t trained_count() const;
  const Config& config() const;
  bool is_text() const;

  // Both set the parameters.
  void initialise(std::uint64_t seed);
  void load(const std::string& path);

  void save(const std::string& path) const;
  // What was learnt since initialise() or load().
  void save_change(const std::string& path) const;

  std::int64_t samples(const std::string& shard);
  Trained train(const Unit& unit, const Stop& stop);
  Evaluated evaluate(const std::string& shard, std::int64_t batch, const Stop& stop);

  // Probabilities of the classes for one sample: pixels are 0 to 255, other values as they are.
  std::vector<float> classify(const std::vector<float>& sample, bool pixels);
  // Requires config().regression.
  double estimate(const std::vector<float>& sample, bool pixels);
  // Requires is_text().
  std::string continue_text(const std::string& prompt, const Writing& writing);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace souk::trainer
