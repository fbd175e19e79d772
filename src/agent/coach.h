#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "agent/clocks.h"
#include "agent/hub_links.h"
#include "agent/link.h"
#include "agent/trainer.h"
#include "base/fd.h"
#include "blob/store.h"
#include "train/codecs/codec.h"
#include "train/units/fetch_ahead.h"
#include "train/update.h"
#include "wire/api/lease.h"
#include "wire/api/training.h"

namespace souk::agent {

struct CoachOptions {
  wire::Lease lease;  // Its task has training.
  LinkOptions link;
  blob::Store* store = nullptr;
  std::string folder;            // The trainer's, as the agent sees it.
  std::int64_t shard_bytes = 0;  // Of shards kept there at a time.
  base::Duration grace;          // How long to wait for a market that does not answer.
  const base::Clock* clock = &kSteadyClock;
  std::function<void(std::string)> doing = [](std::string) {};
  std::function<void(std::string_view)> say = [](std::string_view) {};  // To the job's log.
  std::function<void(std::int64_t received, std::int64_t sent)> moved = [](auto, auto) {};
};

// Between a trainer in its sandbox and the market: asks for units, fetches shards and parameters,
// has the trainer compute, encodes the update and pushes it, until there are no more or drain() is
// called. Where a unit names a hub, parameters come from and updates go to that, and to the market
// if the hub fails. On a thread of its own; then the trainer is told goodbye and exits by itself.
//
// While the trainer computes a unit, the update of the one before is sent and then, as late as can
// be, the next one is fetched, so that the trainer waits for the line only where that needs longer
// than computing does. Where the line takes next to no time, all is done in turn (FetchAhead).
class Coach {
 public:
  Coach(CoachOptions options, base::Fd socket);
  ~Coach();  // Gives up at once, joins.

  // Hand back what is done of the unit under way, and no more. What is being fetched is left.
  void drain();
  [[nodiscard]] bool finished() const { return finished_; }
  // Why the trainer could not be used; for after the end.
  [[nodiscard]] std::string failure() const;

 private:
  // A unit, with what the trainer needs for it in its folder.
  struct Task {
    wire::Unit unit;
    std::string request;       // To the trainer.
    std::string base, out;     // Files.
    std::int64_t version = 0;  // Of the parameters it begins from.
    base::Duration patience;
  };
  // One that the trainer is busy with, on a thread of its own.
  struct Computing {
    Task task;
    base::Time began;
    std::atomic<base::Time> ended = base::kNever;
    std::future<base::Result<TrainerAnswer>> answer = {};
  };
  struct Computed {
    Task task;
    base::Result<TrainerAnswer> answer;
  };

  void run();
  base::Result<> start();
  base::Result<> work();
  void begin(Task task);
  base::Result<> go_on_from(const Computed& before, const Task& next);
  void await_trainer(base::Time until);
  void hand_in();
  void take_next();
  void rest();
  void failed(const wire::Unit& unit, const base::Error& error);
  void leave(std::optional<base::Error> error);
  void give_back(const wire::Unit& unit);

  base::Result<wire::Unit> ask();
  base::Result<Task> init(const wire::Unit& unit);
  base::Result<Task> train(const wire::Unit& unit);
  base::Result<Task> evaluate(const wire::Unit& unit);
  base::Result<> initialised(const Task& task);
  base::Result<> trained(const Task& task, const TrainerAnswer& answer);
  base::Result<> evaluated(const Task& task, const TrainerAnswer& answer);

  base::Result<std::string> shard(const std::string& name);
  void make_room(std::int64_t bytes);
  base::Result<> write_base(const std::string& file, std::span<const float> values);
  // A model that is not kept here: its parameters go piece by piece into the trainer's file.
  [[nodiscard]] bool large() const { return trainer_.size() > large_over_; }
  base::Result<std::int64_t> pull_to_file(const wire::Unit& unit, const std::string& file);
  base::Result<std::string> fetch_piece(const wire::Unit& unit, std::size_t from,
                                        std::optional<std::int64_t> at);
  base::Result<> write_part(const std::string& file, std::size_t at, std::string_view floats);
  base::Result<> pull(const wire::Unit& unit);
  base::Result<std::string> fetch(const wire::Unit& unit, std::int64_t since);
  // An update, to be encoded as it is sent.
  struct Outgoing {
    std::span<const float> values;
    const train::Codec& codec;
    std::span<const float> residual = {};
    [[nodiscard]] train::Packing packing() const;
  };
  // False: the market must have it all.
  bool push_to_hub(const wire::Unit& unit, const Outgoing& update);
  // Gives how many bytes it has.
  base::Result<std::int64_t> push_to_market(const std::string& where, const Outgoing& update);
  base::Result<std::vector<float>> pull_exactly(std::int64_t version);
  base::Result<std::string> patiently(const std::function<base::Result<std::string>()>& call,
                                      const std::function<bool()>& give_up);
  base::Result<bool> report(const wire::Unit& unit, wire::UnitDone done,
                            const Outgoing* update = nullptr);
  // The codec that the unit asks for, from now on.
  base::Result<> use_codec(const std::string& spec);
  // The time since the last call went into this, as far as the trainer was not busy.
  void lap(base::Duration wire::TimeSpent::* what);
  // Unless the trainer is busy: that is what counts.
  void doing(std::string text);
  [[nodiscard]] std::string path(std::string_view rest) const;

  const CoachOptions options_;
  std::atomic<bool> draining_ = false, ended_ = false, leaving_ = false, finished_ = false;
  const std::function<bool()> give_up_ = [this] { return ended_ || leaving_; };
  const std::function<bool()> no_more_ = [this] { return ended_ || draining_; };
  // What is fetched; what is sent, and asked for. A drain ends the first only: of a unit that is
  // given meanwhile it must be heard, or it could not be given back.
  base::Result<Link> down_, up_;
  HubLinks hubs_;
  Trainer trainer_;
  const std::size_t large_over_;  // Floats.
  // What is kept of the model: the parameters unless it is large, an update, and what the codec
  // left out if it leaves out anything.
  std::vector<float> values_, residual_, update_;
  std::int64_t version_ = -1;
  std::unique_ptr<train::Codec> codec_;
  std::string codec_spec_;
  std::vector<std::pair<std::string, std::int64_t>> shards_;  // In the folder, oldest first.

  std::unique_ptr<Computing> busy_;
  std::optional<Computed> done_;  // To be handed in.
  std::optional<Task> next_;      // To begin with when the trainer is free.
  bool more_ = true;              // There may be more units.
  bool closed_ = false;           // The lease has ended: nothing more can be handed in.
  base::Time ask_at_;             // Not before.
  train::FetchAhead ahead_;
  int failures_ = 0;  // In a row.
  std::optional<base::Error> error_;

  wire::TimeSpent spent_;  // Since a unit was last asked for.
  base::Time lap_;
  std::string failure_;
  std::thread thread_;
};

}  // namespace souk::agent
