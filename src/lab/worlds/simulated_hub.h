#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "lab/worlds/train_sim.h"
#include "train/average.h"
#include "train/pull.h"
#include "train/session.h"
#include "train/statistics.h"

namespace souk::lab {

// The hub's side of a job: what hub::Run does around a session, without locks, snapshots, streams
// and replicas.
class SimulatedHub {
 public:
  SimulatedHub(train::Session session, bool average)
      : session_(std::move(session)), averages_(average) {}

  // `keeps`: the unit that it computes meanwhile; 0: none.
  train::Unit next(std::int64_t worker, base::Time now, std::int64_t keeps);
  void time_spent(std::int64_t worker, base::Duration computed, base::Duration waited) {
    session_.training().time_spent(worker, computed, waited);
  }
  void begin(std::int64_t unit, std::span<const float> values, const train::Layout& layout,
             base::Time now);
  [[nodiscard]] train::ParameterSnapshot take() const { return train::take(parameters_); }
  [[nodiscard]] const train::ParameterSnapshot& kept(std::int64_t version) const {
    return kept_.at(version);
  }

  enum class Verdict { accepted, rejected, late };
  struct Judgement {
    Verdict verdict = Verdict::accepted;
    std::string by;  // The validator that rejected it.
  };
  struct SentUpdate {
    std::int64_t worker = 0, unit = 0, base = 0;
    train::Blocks base_blocks;
    std::string body;
    std::int64_t samples = 0;
    double loss = 0;
  };
  // `measure`: the loss of parameters on a validation shard, for updates that are judged by it.
  using Measure =
      std::function<base::Result<double>(const train::ParameterSnapshot&, std::int32_t)>;
  base::Result<Judgement> contribute(SentUpdate sent, base::Time now, const Measure& measure);
  void evaluated(std::int64_t worker, std::int64_t unit, const Learner::Evaluated& found,
                 base::Time now);
  // The model's state, in a change made from the version under check.
  base::Result<> state_measured(SentUpdate sent, base::Time now);
  void stop(std::string reason);

  [[nodiscard]] const train::Training& training() const { return session_.training(); }
  [[nodiscard]] const train::Codec& codec() const { return session_.codec(); }
  [[nodiscard]] train::Sends sends() const { return session_.rule().needs().sends; }
  [[nodiscard]] double own() const { return session_.rule().needs().own; }
  [[nodiscard]] double state_scale() const { return session_.state_scale(); }
  [[nodiscard]] std::string hash() const;

 private:
  struct Waiting {
    std::int64_t base = 0;
    train::Update update;
  };
  void fold(base::Time now);
  [[nodiscard]] train::ParameterSnapshot to_check();
  void use_measured_states();
  void forget_versions();
  base::Result<bool> raises_loss(const train::Session::Claim& claim, const train::Update& update,
                                 const Measure& measure);

  train::Session session_;
  const bool averages_;
  train::RunningAverage average_;
  train::StateRuns state_runs_;
  std::map<std::int64_t, std::vector<float>> states_;  // Measured, by unit.
  base::Random random_{1};                             // Which updates are scored.
  train::Parameters parameters_;
  std::vector<Waiting> waiting_;
  std::map<std::int64_t, train::ParameterSnapshot> kept_;
};

}  // namespace souk::lab
