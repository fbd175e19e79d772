#include <fmt/format.h>

#include <array>

#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

using base::Parameter;
using base::ParameterType;

constexpr std::int32_t kMostWorkers = 10'000;

constexpr Parameter number(std::string_view name, double low, double high,
                           std::string_view otherwise, std::string_view meaning) {
  return {.name = name, .low = low, .high = high, .default_value = otherwise, .meaning = meaning};
}

// With a default that follows from how many workers there are, or from other parameters.
constexpr Parameter derived(Parameter parameter, std::string_view words) {
  parameter.default_words = words;
  return parameter;
}

constexpr Parameter whole(std::string_view name, double low, double high,
                          std::string_view otherwise, std::string_view meaning) {
  auto out = number(name, low, high, otherwise, meaning);
  out.type = ParameterType::whole;
  return out;
}

constexpr Parameter eta(std::string_view otherwise) {
  return number("eta", 0, 10, otherwise, "By what a change is multiplied before it is added.");
}
constexpr Parameter kEtaByWorkers = derived(eta({}), "1 / workers");
constexpr Parameter momentum(std::string_view otherwise) {
  return number("momentum", 0, 0.999, otherwise, "The part of the last step that is kept.");
}
constexpr Parameter buffer(std::string_view words) {
  return derived(whole("buffer", 1, 256, {}, "The updates that a fold waits for."), words);
}
constexpr Parameter kBuffer = buffer("the workers, at most 10");
constexpr Parameter kRobustBuffer = buffer("the workers, from 5 to 10");
constexpr Parameter kQuorum = derived(
    whole("quorum", 1, kMostWorkers, {}, "The updates that a round waits for."), "all workers");
constexpr base::ParameterList kAdaptiveStep{
    number("beta1", 0, 0.9999, "0.9",
           "The part of the mean change that is kept from fold to fold."),
    number("beta2", 0, 0.9999, "0.99", "The part of the mean square that is kept."), kBuffer,
    number("eps", 1e-8, 1, "0.001", "Added to the root of the mean square."),
    number("eta", 0, 10, "0.01", "The length of a step, in units of the parameters.")};

// The one list of aggregators. To add one: a file, its test, its maker in makers.h, its row here.
constexpr std::array kAggregators{
    AggregatorInfo{.name = "mean",
                   .what = "Adds each change as it comes, in its worker's share of the work.",
                   .parameters = {eta("1")},
                   .make = make_mean},
    AggregatorInfo{.name = "vc-asgd",
                   .what = "Moves the parameters towards each worker's, less from epoch to epoch.",
                   .sends = Sends::weights,
                   .parameters = {derived(
                       number("alpha", 0, 1, {}, "The part of the parameters that is kept."),
                       "e / (e + 1) in epoch e")},
                   .make = make_vc_asgd},
    AggregatorInfo{
        .name = "fedasync",
        .what = "Moves the parameters towards each worker's, less if these are stale.",
        .sends = Sends::weights,
        .parameters = {number("a0", 0, 1, "0.6", "How far, for parameters that are not stale."),
                       number("b", 0, 10, "0.5",
                              "How much staleness counts: those t folds old move by "
                              "a0 (1 + t)^-b.")},
        .make = make_fedasync},
    AggregatorInfo{.name = "fedbuff",
                   .what = "Adds the mean change of a buffer of updates; stale ones count less.",
                   .folding = Folding::buffer,
                   .parameters = {kBuffer, eta("1")},
                   .make = make_fedbuff},
    AggregatorInfo{.name = "downpour",
                   .what = "Adds each change as it comes.",
                   .parameters = {kEtaByWorkers},
                   .make = make_downpour},
    AggregatorInfo{
        .name = "easgd",
        .what = "Moves the parameters a little towards each worker's (elastic averaging).",
        .sends = Sends::weights,
        .parameters = {derived(number("alpha", 0, 1, {}, "How far."), "0.9 / workers")},
        .make = make_easgd},
    AggregatorInfo{
        .name = "dc-asgd",
        .what = "Adds each change, corrected for what others did since the worker began.",
        .parameters = {whole("adaptive", 0, 1, "1",
                             "1: the correction follows the size of the changes; 0: it does not."),
                       derived(number("lambda", 0, 100, {}, "The strength of the correction."),
                               "2 if adaptive, else 0.04"),
                       number("lr", 1e-6, 100, "0.1",
                              "The learning rate of the workers; only if not adaptive.")},
        .make = make_dc_asgd},
    AggregatorInfo{.name = "fedavg",
                   .what = "Averages a round of workers by their samples.",
                   .folding = Folding::round,
                   .parameters = {kQuorum},
                   .make = make_fedavg},
    AggregatorInfo{.name = "fedadam",
                   .what = "Takes the mean change of a buffer as the gradient of an Adam step.",
                   .folding = Folding::buffer,
                   .parameters = kAdaptiveStep,
                   .make = make_fedadam},
    AggregatorInfo{
        .name = "fedyogi",
        .what = "Takes the mean change of a buffer as the gradient of a Yogi step, whose mean "
                "square shrinks more slowly than Adam's.",
        .folding = Folding::buffer,
        .parameters = kAdaptiveStep,
        .make = make_fedyogi},
    AggregatorInfo{
        .name = "rounds",
        .what = "Averages what all have done in the same time, by their samples.",
        .folding = Folding::round,
        .parameters = {number("seconds", 0, 3600, "0",
                              "How long a round takes; 0: half a second, less where "
                              "steps are quick, more where machines or lines are slow.")},
        .make = make_rounds},
    AggregatorInfo{.name = "diloco",
                   .what = "Averages a round of workers and takes a Nesterov step.",
                   .folding = Folding::round,
                   .parameters = {eta("0.7"), momentum("0.9"), kQuorum},
                   .make = make_diloco},
    AggregatorInfo{.name = "delayed-nesterov",
                   .what = "Adds each change as it comes, and a Nesterov step once per period.",
                   .parameters = {eta("1"), momentum("0.5"),
                                  derived(whole("period", 1, kMostWorkers, {},
                                                "The updates between two steps of momentum."),
                                          "the workers")},
                   .make = make_delayed_nesterov},
    AggregatorInfo{
        .name = "norm-clip",
        .what = "Adds each change, shortened where it is longer than those before.",
        .robust = true,
        .parameters = {number("clip", 1, 1000, "2", "How many times the usual length is allowed."),
                       kEtaByWorkers,
                       number("memory", 1, 1000, "10",
                              "The folds over which the usual length is averaged.")},
        .make = make_norm_clip},
    AggregatorInfo{
        .name = "centered-clip",
        .what = "Adds the mean of a buffer; changes far from the last mean are pulled towards it.",
        .folding = Folding::buffer,
        .robust = true,
        .parameters = {kRobustBuffer,
                       number("clip", 0.1, 100, "1",
                              "How many times the median distance from the last mean is allowed."),
                       eta("1")},
        .make = make_centered_clip},
    AggregatorInfo{
        .name = "trimmed-mean",
        .what = "Adds the mean of a buffer without the largest and smallest values of each number.",
        .folding = Folding::buffer,
        .robust = true,
        .parameters = {kRobustBuffer, eta("1"),
                       number("trim", 0, 0.49, "0.2", "The part left out at each end.")},
        .make = make_trimmed_mean},
    AggregatorInfo{
        .name = "krum",
        .what = "Adds the mean of those updates of a buffer that lie closest together.",
        .folding = Folding::buffer,
        .robust = true,
        .parameters = {kRobustBuffer, eta("1"),
                       number("faulty", 0, 0.49, "0.2", "The part that may be hostile."),
                       derived(whole("keep", 1, 256, {}, "How many updates are averaged."),
                               "all but the faulty part")},
        .make = make_krum},
};

}  // namespace

std::span<const AggregatorInfo> aggregators() { return kAggregators; }

base::Result<std::unique_ptr<Aggregator>> make_aggregator(const AggregatorSpec& spec) {
  if (spec.workers < 1 || spec.workers > kMostWorkers)
    return base::fail(base::Code::invalid, fmt::format("workers is {}", spec.workers),
                      fmt::format("write a whole number from 1 to {}", kMostWorkers), "workers");
  SOUK_ASSIGN(const auto* info, base::find_named(aggregators(), spec.name, "aggregator", "rule"));
  SOUK_ASSIGN(const auto given, base::Arguments::read(fmt::format("the aggregator {}", info->name),
                                                      info->parameters, spec.params));
  return info->make(given, spec.workers);
}

}  // namespace souk::train
