#include "server/advice/arithmetic.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "wire/json.h"

namespace souk::server {
namespace {

// What a job may say beside its model, or what the trainer takes where it does not
// (trainers/torch/config.h).
struct Sizes {
  double channels, height, width, classes = 10;
  const wire::Train& train;

  Sizes(const wire::Train& t, std::array<double, 3> usual)
      : channels(usual[0]), height(usual[1]), width(usual[2]), train(t) {
    if (const auto it = t.config.find("input"); it != t.config.end())
      if (const auto shape = wire::from_json<std::vector<double>>(it->second)) {
        channels = shape->empty() ? 1 : shape->front();
        height = shape->size() > 1 ? (*shape)[1] : 1;
        width = shape->size() > 2 ? (*shape)[2] : 1;
      }
    classes = number("classes", 10);
  }
  double number(const std::string& name, double usual) const {
    const auto it = train.config.find(name);
    if (it == train.config.end()) return usual;
    return wire::from_json<double>(it->second).value_or(usual);
  }
  double pixels() const { return height * width; }
  double inputs() const { return channels * pixels(); }
};

constexpr std::array<double, 3> kDigits{1, 28, 28}, kPictures{3, 32, 32};

// Of one pass forward, each a multiplication and an addition.

double logistic(const wire::Train& t) {
  const Sizes s(t, kDigits);
  return s.inputs() * s.classes;
}

double mlp(const wire::Train& t) {
  const Sizes s(t, kDigits);
  return s.number("hidden", 128) * (s.inputs() + s.classes);
}

double lenet(const wire::Train& t) {
  const Sizes s(t, kDigits);
  const auto inner = (s.height / 2 - 4) * (s.width / 2 - 4);  // What the second convolution makes.
  return s.pixels() * 6 * s.channels * 25 + inner * 16 * 6 * 25 + inner / 4 * 16 * 120 + 120 * 84 +
         84 * s.classes;
}

// Each stage has a quarter of the pixels and twice the channels of the one before.
double residual(const wire::Train& t, double depth) {
  const Sizes s(t, kPictures);
  return s.pixels() * 9 * (s.channels * 16 + 16 * 16 * std::max(0.0, depth - 2));
}

double resnet20(const wire::Train& t) { return residual(t, 20); }
double preresnet(const wire::Train& t) {
  return residual(t, Sizes(t, kPictures).number("depth", 20));
}

double char_transformer(const wire::Train& t) {
  const Sizes s(t, kDigits);
  const auto width = s.number("width", 64), context = s.number("context", 64);
  const auto layer = 12 * width * width + 2 * context * width;
  return context * (s.number("layers", 2) * layer + width * 256);
}

}  // namespace

double sample_operations(const wire::Train& train) {
  using Forward = double (*)(const wire::Train&);
  constexpr std::pair<std::string_view, Forward> models[] = {
      {"logistic", logistic},   {"mlp", mlp},
      {"lenet", lenet},         {"resnet20", resnet20},
      {"preresnet", preresnet}, {"char-transformer", char_transformer}};
  const auto named = train.config.find("model");
  if (train.trainer != wire::Trainer::torch || named == train.config.end()) return 0;
  const auto model = wire::from_json<std::string>(named->second).value_or("");
  const auto* it = std::ranges::find(models, model, &std::pair<std::string_view, Forward>::first);
  // Backward is two passes more.
  return it == std::end(models) ? 0 : std::max(0.0, 3 * 2 * it->second(train));
}

}  // namespace souk::server
