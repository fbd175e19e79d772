#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "config.h"
#include "error.h"
#include "flags.h"
#include "learner.h"

namespace souk::trainer {
namespace {

using Json = nlohmann::json;

Json apply(Learner& learner, const std::string& line, bool pixels) {
  const Json sample = Json::parse(line, nullptr, false);
  if (!sample.is_array() ||
      !std::all_of(sample.begin(), sample.end(), [](const Json& n) { return n.is_number(); }))
    throw Error("a sample is one line with a JSON array of numbers");
  const auto numbers = sample.get<std::vector<float>>();
  if (learner.config().regression) return {{"value", learner.estimate(numbers, pixels)}};
  const auto chances = learner.classify(numbers, pixels);
  const auto best = std::max_element(chances.begin(), chances.end());
  const auto label = static_cast<std::size_t>(best - chances.begin());
  Json out = {{"label", label}, {"probabilities", chances}};
  const auto& names = learner.config().labels;
  if (label < names.size()) out["name"] = names[label];
  return out;
}

// Pictures come as pixels unless told otherwise; vectors as they are.
bool samples_are_pixels(const Flags& flags, const Config& config) {
  const std::string values = flags.text("--values", config.input.size() > 1 ? "pixels" : "floats");
  if (values != "pixels" && values != "floats")
    throw Error("--values is '" + values + "'; it must be pixels or floats");
  return values == "pixels";
}

}  // namespace

int run_predict(const std::vector<std::string>& arguments) {
  const Flags flags(arguments,
                    {"--config", "--model", "--values", "--length", "--temperature", "--seed"});
  Writing writing;
  writing.length = flags.integer("--length", writing.length, 0);
  writing.temperature = flags.number("--temperature", writing.temperature);
  writing.seed = static_cast<std::uint64_t>(flags.integer("--seed", 1, 0));

  Learner learner(read_config(flags.required("--config")));
  learner.load(flags.required("--model"));
  const bool pixels = samples_are_pixels(flags, learner.config());
  for (std::string line; std::getline(std::cin, line);) {
    const Json answer = learner.is_text() ? Json{{"text", learner.continue_text(line, writing)}}
                                          : apply(learner, line, pixels);
    // A model writes bytes, which need not be valid UTF-8.
    std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

}  // namespace souk::trainer
