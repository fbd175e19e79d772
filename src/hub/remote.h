#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "hub/measured.h"
#include "train/aggregators/aggregator.h"
#include "wire/api/training.h"

namespace souk::hub {

// Where a hub is. The certificate may be pinned, as clients pin a market's.
struct HubAddress {
  std::string url;
  std::string pin = {};  // Empty: certificate authorities decide.
};

// "https://hub.example:7071", or "https://hub.example:7071#FINGERPRINT" to pin its certificate.
[[nodiscard]] base::Result<HubAddress> parse_hub(std::string_view text);

// A market's hubs (hub/service.h), all on the store that the market itself uses. Thread-safe; one
// call at a time goes to each. A hub that could not be reached, or did not do what it was asked, is
// left out for a while.
class Remote {
 public:
  // Refuses addresses that cannot be right; connects to nothing yet.
  static base::Result<std::unique_ptr<Remote>> make(const std::vector<HubAddress>& hubs,
                                                    std::string secret, const base::Clock& clock);
  ~Remote();

  // Hubs in turn, by unit; nothing while none is to be used.
  [[nodiscard]] std::optional<std::size_t> choose(std::int64_t unit) const;
  // What the worker needs to use it.
  [[nodiscard]] wire::UnitHub pass(std::size_t hub, const std::string& job,
                                   const std::string& update, base::Time expires) const;

  // Which of a job's updates.
  struct Name {
    std::size_t hub = 0;
    std::string job, update;
  };
  // `invalid`: it is not an update of so many floats. `not_found`: the hub has none of this name.
  // Anything else is the hub's fault.
  base::Result<Measured> measure(const Name& name, std::string_view codec, std::size_t floats);

  struct Fold {
    std::int64_t id = 0, base = 0;
    std::int32_t epoch = 1;
    double weight = 1;
    std::int32_t at_work = 1;
    std::string codec, generation;
    train::AggregatorSpec rule;
  };
  // Gives the new version. After an error it is not known whether it was folded: see
  // ParameterStore::bar().
  base::Result<std::int64_t> fold(const Name& name, const Fold& fold);
  // Not needed any more. Says whether the hub answered.
  bool drop(const Name& name);

  // What is wrong with each hub that does not answer, or does not know the secret.
  [[nodiscard]] std::vector<base::Error> check();

 private:
  struct Hub;
  Remote(std::string secret, const base::Clock& clock);
  base::Result<std::string> call(std::size_t hub, std::string_view method, const std::string& path);

  const std::string secret_;
  const base::Digest key_;
  const base::Clock& clock_;
  std::vector<std::unique_ptr<Hub>> hubs_;
};

}  // namespace souk::hub
