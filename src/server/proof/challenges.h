#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/proof/challenge.h"
#include "base/time.h"
#include "server/proof/gpu_proof.h"
#include "wire/api/heartbeat.h"

namespace souk::server {

// What a machine claims to have, less what is leased now.
struct ClaimedMachine {
  base::MachineId machine;
  base::AccountId owner;
  std::int32_t cores = 1;
  std::int64_t memory_mib = 1;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;  // Of each.
  bool untrusted = false;           // It lends nothing until it has passed.
};

struct ChallengeRule {
  base::Duration every = {};  // On the average; zero: never.
  // So many times as long may all that is asked take, where all machines are busy with other things
  // and those who lend them are trusted not to claim more than they have.
  double slack = 1;
};

// Asks machines to prove what they claim, before their first lease and then at random times, so
// that nobody can have it for the occasion. One challenge is some questions, each asked when the
// one before was answered: half of the cores, all of the cores, all of the memory filled, and read;
// then the GPUs that no lease has: made ready, one of them, all of them, rows of what they
// computed, their memory filled, and read (gpu_proof.h).
//
// Cores: all lanes must be done in little more time than half of them took, when those were not
// held up by other programs; who has half of what it claims takes twice as long. Memory: three
// fifths of what is claimed, as the system needs some, read in less time than computing it again
// takes. GPUs: the same, and one alone must be as fast as the slowest of the last ten years with so
// much memory. Of the results only a few, drawn at random, are known here: they were prepared
// before, on a pool, so a wrong answer costs nothing, however many cores are claimed.
//
// A machine may be busy with other things: being slow is not lying. It is asked again later, and
// only a machine that was slow twenty times in a row lends nothing until it passes. A wrong answer
// is a lie at once. In memory only: a restart asks anew, in time. Core thread only, but for
// compute().
class Challenges {
 public:
  static constexpr std::size_t kKnownLanes = 8;                // At most, of each question.
  static constexpr auto kSlowest = base::milliseconds(2'500);  // Half of the cores.
  static constexpr double kMostRatio = 1.5;                    // All of them against that,
  static constexpr auto kJitter = base::milliseconds(30);      // and what the network adds.
  static constexpr auto kToFill = base::seconds(2);  // And two more for each GiB of a core.
  static constexpr auto kToRead = base::milliseconds(400);
  static constexpr auto kToOpenGpus = base::seconds(20);
  static constexpr auto kSlowestGpus = base::milliseconds(2'500);  // A product on each.
  static constexpr auto kGpusTooQuick = base::milliseconds(300);   // To be compared: more is asked.
  static constexpr auto kToShowRows = base::seconds(5);
  static constexpr auto kToFillGpus = base::seconds(3);
  static constexpr auto kToReadGpus = base::milliseconds(500);
  static constexpr double kIdle = 0.8;  // Half of the cores must have run so much.
  static constexpr int kSlowTries = 20;
  // After a challenge a machine is left alone for so many times as long: at most 0.5% of an hour,
  // though one that was too busy is asked again sooner at first.
  static constexpr std::int64_t kRest = 300, kFirstRest = 10;
  // For a machine that spaces its challenges itself: so its first quiet minute is used.
  static constexpr auto kShortRest = base::seconds(30);

  // `secret`: nobody can foretell what is asked.
  Challenges(ChallengeRule rule, std::uint64_t secret, GpuScale scale = {})
      : rule_(rule), secret_(secret), scale_(scale) {}
  [[nodiscard]] bool enabled() const { return rule_.every > base::Duration(); }

  struct KnownResult {
    std::size_t at = 0;  // Of the results.
    std::uint64_t seed = 0, result = 0;
  };
  // What to ask one machine, and what the answers must be.
  struct Preparation {
    base::MachineId machine;
    base::AccountId owner;
    std::int32_t cores = 1;
    std::int64_t memory_mib = 1;  // To be filled.
    std::vector<KnownResult> half, all;
    std::uint64_t pattern = 0, reads = 0;
    std::int32_t group = 0;
    std::uint64_t group_result = 0;
    GpuPlan gpu;
  };
  // What must be computed before the machine can be asked; at most one for each owner at a time, so
  // that nobody's machines keep those of others waiting.
  std::optional<Preparation> to_prepare(const ClaimedMachine& claimed, base::Time now);
  // Fills in the results. Takes a second or a few. Any thread.
  static void compute(Preparation& preparation);
  // Nothing: it was dropped, and may be tried again.
  void prepared(base::MachineId machine, base::AccountId owner, std::optional<Preparation> done);

  // The machine says itself when other programs keep it from a proof.
  void shorten_rest(base::MachineId machine);
  // Once for each heartbeat: what to ask now.
  std::optional<wire::Challenge> ask(const ClaimedMachine& claimed, base::Time now);

  struct Verdict {
    bool passed = false;                  // All of it.
    base::Duration lane = {};             // Then: what a core took for a lane.
    std::string slow, wrong;              // Why not, or empty.
    std::string again;                    // Nothing is wrong, but more must be asked, and why.
    bool suspend = false;                 // It was slow too often.
    std::optional<wire::Challenge> next;  // The next question.
    [[nodiscard]] const std::string& why_not() const {
      return !wrong.empty() ? wrong : !slow.empty() ? slow : again;
    }
  };
  // Nothing: that was not asked.
  std::optional<Verdict> take(base::MachineId machine, const wire::ChallengeAnswer& answer,
                              base::Time now);
  // With a heartbeat: a machine sends none while it answers, so what was asked is lost. Its agent
  // has started again, or the line broke.
  std::optional<Verdict> unanswered(base::MachineId machine, base::Time now);

 private:
  enum class Stage {
    half,
    all,
    fill,
    read,
    gpu_open,
    gpu_one,
    gpu_all,
    gpu_rows,
    gpu_fill,
    gpu_read
  };
  struct OpenQuestion {
    Stage stage = Stage::half;
    std::string id;
    base::Time at, began;           // This question, and the first.
    std::vector<KnownResult> must;  // Of the results.
    std::size_t results = 0;
    std::vector<std::string> committed;  // Products of GPUs whose rows are asked for.
    base::Duration lane;                 // What the lanes of half of the cores took.
  };
  struct Entry {
    base::Time next;
    base::Time rested;  // When it may be asked again that has passed, and then claims more.
    base::Time ended;   // Its last challenge.
    std::optional<Preparation> prepared;
    std::optional<OpenQuestion> open;  // Of what is prepared.
    base::Duration best = base::Duration(std::numeric_limits<std::int64_t>::max() / 4);
    int slow_in_a_row = 0;
    std::int32_t gpu_steps = 0;  // That its GPUs need to take a while; 0: as for others.
    // The best that one of them took; other numbers of GPUs or steps are another matter.
    std::optional<base::Duration> gpu_best;
    std::int32_t best_gpus = 0, best_steps = 0;
  };
  // Is that what is to be asked?
  [[nodiscard]] bool fits(const Preparation& have, const ClaimedMachine& claimed,
                          const Entry& entry) const;
  static std::optional<Stage> after(Stage stage, const Preparation& p);
  [[nodiscard]] bool is_right(const Entry& entry, const wire::ChallengeAnswer& answer) const;
  std::string gpus_too_slow(Entry& entry, base::Duration took) const;
  // Empty: it was quick enough.
  [[nodiscard]] std::string slower(base::Duration took, base::Duration most,
                                   const std::string& what) const;
  [[nodiscard]] static bool is_due(const Entry& entry, const ClaimedMachine& claimed,
                                   base::Time now);
  std::uint64_t draw();
  base::Duration pause();
  Entry& entry_of(const ClaimedMachine& claimed, base::Time now);
  std::vector<KnownResult> draw_lanes(std::int32_t lanes);
  wire::Challenge question(Entry& entry, Stage stage, base::Time now);
  std::string too_slow(Entry& entry, base::Duration took) const;
  Verdict end(Entry& entry, base::Time now, std::string slow, std::string wrong,
              std::string again = {});

  const ChallengeRule rule_;
  const std::uint64_t secret_;
  const GpuScale scale_;
  std::uint64_t draws_ = 0;
  std::map<base::MachineId, Entry> machines_;
  std::map<base::AccountId, base::Time> preparing_;  // Since when.
};

}  // namespace souk::server
