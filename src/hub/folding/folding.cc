#include "hub/folding/folding.h"

#include <fmt/format.h>

#include <utility>

#include "hub/stores/stores.h"
#include "train/codecs/codec.h"
#include "train/validators/validator.h"

namespace souk::hub {

using base::Result;
using wire::UnitVerdict;

namespace {

constexpr int kMostTooLarge = 5;

// The model that a worker made, and planes of zeros for the aggregator.
Result<SavedParameters> first_parameters(std::shared_ptr<const train::KeptBytes> body,
                                         std::size_t floats, std::size_t planes) {
  SOUK_ASSIGN(const auto fp32, train::make_codec("fp32"));
  SOUK_ASSIGN(const auto first, train::Update::read(std::move(body), *fp32, floats));
  if (!train::stats_of(first).finite)
    return base::fail(base::Code::invalid, "the first parameters are not finite");
  SavedParameters out;
  std::vector<float> scratch(train::kBlock);
  for (std::size_t i = 0; i < first.count(); ++i) {
    out.values.push_back(std::make_shared<train::Block>(first.block(i, scratch)));
    first.let_go(i);
  }
  for (std::size_t p = 0; p < planes; ++p) out.planes.push_back(train::blocks_of_zeros(floats));
  return out;
}

}  // namespace

Folding::Folding(UnitBook& book, ParameterStore& store, const base::Clock& clock,
                 std::string generation, RunMemory& memory, std::size_t most_floats,
                 SpillOptions spill, bool averages)
    : book_(book),
      store_(store),
      clock_(clock),
      generation_(std::move(generation)),
      memory_(memory),
      most_floats_(most_floats),
      spill_(std::move(spill)),
      average_(store, averages) {}

// Before a single number is unpacked: what a worker claims is not believed.
Result<> Folding::check_size(const train::Layout& layout) {
  if (auto good = check_layout(layout, most_floats_); !good) {
    ++too_large_;
    return good;
  }
  return memory_.hold_model(layout.size());
}

std::optional<std::string> Folding::hopeless() const {
  if (too_large_ < kMostTooLarge) return std::nullopt;
  return fmt::format(
      "{} times a worker made a model that is none, or has more than the {} numbers that the "
      "budget "
      "training-bytes has room for",
      too_large_.load(), most_floats_);
}

UnitVerdict Folding::begin(OpenReport& report, const wire::UnitDone& done,
                           std::shared_ptr<const train::KeptBytes> body) {
  train::Layout layout;
  for (const auto& t : done.tensors) layout.tensors.push_back({t.name, t.shape, t.state});
  if (const auto good = check_size(layout); !good)
    return book_.refuse(report, good.error().message, good.error().code != base::Code::exhausted);
  auto first = first_parameters(std::move(body), layout.size(), book_.aggregator().needs().planes);
  if (!first) return book_.refuse(report, first.error().message);
  first->generation = generation_;
  // Nobody's fault: they are made and sent again.
  if (const auto loaded = store_.load(*first); !loaded)
    return book_.refuse(report, loaded.error().message, false);
  return book_.initialised(report, done, std::move(layout));
}

Result<train::ParameterSnapshot> Folding::load(SavedParameters parameters) {
  parameters.generation = generation_;
  SOUK_TRY(memory_.hold_model(size_of(parameters)));
  SOUK_TRY(store_.load(parameters));
  return store_.take();
}

Result<> Folding::fold_waiting() {
  if (check_missed_) SOUK_TRY(begin_check());
  while (true) {
    auto batch = book_.take_batch();
    if (batch.empty()) return {};
    SOUK_TRY(fold(std::move(batch)));
  }
}

Result<> Folding::fold(std::vector<Contribution> batch) {
  const auto before = clock_.now();
  const auto version = store_.fold(book_.aggregator(), batch);
  folds_ += std::ssize(batch);
  time_us_ += (clock_.now() - before).us;
  if (version) return advance(*version);
  book_.give_back(std::move(batch));
  return std::unexpected(version.error());
}

Result<> Folding::advance(std::int64_t version) {
  const bool due = book_.folded(version);
  if (due) check_missed_ = true;
  SOUK_TRY(average_.folded(book_.work()));
  return due ? begin_check() : Result<>();
}

// Taken before the check begins: whoever is given a unit of it pulls exactly these parameters.
Result<> Folding::begin_check() {
  check_missed_ = true;  // Unless all of it succeeds.
  SOUK_ASSIGN(auto taken, average_.take(book_.work()));
  SOUK_ASSIGN(taken.blocks, spilled(std::move(taken.blocks), spill_));
  check_missed_ = false;
  book_.begin_check(std::move(taken));
  return {};
}

}  // namespace souk::hub
