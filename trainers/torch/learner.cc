#include "learner.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mse_loss.h>
#include <dlfcn.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "data.h"
#include "error.h"
#include "layers.h"
#include "model.h"
#include "optimizer.h"
#include "parameters.h"
#include "random.h"

namespace souk::trainer {
namespace {

// Fills in the shape of a sample, and refuses what would fail with the first shard.
Config complete(Config config) {
  const ModelKind& kind = find_model(config.model);
  if (kind.samples == SampleKind::text && config.regression)
    throw Error("task is regression; " + config.model + " reads text, which has no amounts");
  if (kind.samples == SampleKind::text) return config;
  if (config.input.empty()) config.input = kind.input;
  if (config.augment && config.input.size() != 3)
    throw Error("augment is for pictures; input is " + to_string(config.input));
  const Normalisation checks_the_channels(config, true);
  return config;
}

void use_threads(int threads) {
  at::set_num_threads(threads);
  // OpenBLAS built on pthreads has a pool of its own, which libtorch does not know of. Looked up
  // rather than linked, because any BLAS may stand behind libblas.so.3.
  if (auto* set = ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(threads);
}

// A NaN cannot be told in JSON, and an update with one would spoil every other worker's.
void require_finite(double value, const std::string& what) {
  if (!std::isfinite(value)) throw Error(what + " diverged; try a lower lr");
}

}  // namespace

struct Learner::State {
  explicit State(const Config& given)
      : config(complete(given)),
        kind(find_model(config.model)),
        model(kind.make(config, parameters)) {
    parameters.allocate();
  }

  // The batch as the model's input. Valid until the batch is filled again.
  at::Tensor input() {
    if (kind.samples == SampleKind::text)
      return at::from_blob(batch.tokens.data(), {batch.samples, config.context}, at::kLong);
    Shape shape = config.input;
    shape.insert(shape.begin(), batch.samples);
    return at::from_blob(batch.values.data(), shape);
  }

  at::Tensor labels() {
    return at::from_blob(batch.labels.data(), {static_cast<std::int64_t>(batch.labels.size())},
                         at::kLong);
  }

  at::Tensor amounts() {
    return at::from_blob(batch.amounts.data(), {static_cast<std::int64_t>(batch.amounts.size())});
  }

  // The mean over the batch.
  at::Tensor loss(const at::Tensor& output) {
    if (config.regression) return at::mse_loss(output.flatten(), amounts());
    return at::cross_entropy_loss(output, labels());
  }

  // Begins a new account of what is learnt, at the parameters as they are. The gradient is not
  // zero when the step before ran out of memory.
  void begin() {
    base = parameters.all().clone();
    parameters.gradient().zero_();
  }

  // Goes on with what was kept under this name. Taken out: a unit that fails leaves nothing.
  void begin_moments(const std::string& name) {
    auto found = kept.extract(name);
    moments = found ? std::move(found.mapped()) : Moments{};
  }

  // One step of the optimiser on the batch. Gives the loss before it.
  double step(double lr, bool warm_up) {
    const at::Tensor loss = this->loss(model->forward(input(), true));
    loss.backward();
    const at::NoGradGuard no_gradient;
    trainer::step(config, lr, warm_up, moments, parameters.trained(), parameters.gradient());
    parameters.gradient().zero_();
    return loss.item<double>();
  }

  // What is measured rather than trained.
  at::Tensor statistics() {
    const auto trained = parameters.trained().numel();
    return parameters.all().narrow(0, trained, parameters.all().numel() - trained);
  }

  // Adds the batch's statistics to `sum`. Gives the loss. From zero a step moves them by a known
  // part of the batch's own.
  double measure(at::Tensor& sum) {
    const at::NoGradGuard no_gradient;
    statistics().zero_();
    const at::Tensor loss = this->loss(model->forward(input(), true));
    sum.add_(statistics(), 1 / kStatisticsStep);
    return loss.item<double>();
  }

  // Of one sample: pixels are 0 to 255, other values as they are.
  at::Tensor output(const std::vector<float>& sample, bool pixels);

  Config config;
  const ModelKind& kind;
  Parameters parameters;
  std::unique_ptr<Model> model;
  std::map<std::string, Moments> kept;  // By the name of the unit's `keep`.
  Moments moments;
  at::Tensor base;
  ShardCache shards;
  Batch batch;
};

Learner::Learner(const Config& config) : state_(std::make_unique<State>(config)) {
  use_threads(static_cast<int>(config.threads));
}

Learner::~Learner() = default;

std::string Learner::framework() { return "libtorch " TORCH_VERSION; }

const std::vector<NamedShape>& Learner::tensors() const { return state_->parameters.shapes(); }
std::size_t Learner::trained_count() const { return state_->parameters.trained_count(); }

const Config& Learner::config() const { return state_->config; }

bool Learner::is_text() const { return state_->kind.samples == SampleKind::text; }

void Learner::initialise(std::uint64_t seed) {
  state_->parameters.initialise(seed);
  state_->begin();
}

void Learner::load(const std::string& path) {
  state_->parameters.load(path);
  state_->begin();
}

void Learner::save(const std::string& path) const { state_->parameters.save(path); }

void Learner::save_change(const std::string& path) const {
  state_->parameters.save_change(path, state_->base);
}

std::int64_t Learner::samples(const std::string& shard) {
  return state_->shards.get(shard, state_->config, state_->kind.samples)->samples();
}

Trained Learner::train(const Unit& unit, const Stop& stop) {
  const auto start = std::chrono::steady_clock::now();
  State& state = *state_;
  const auto shard = state.shards.get(unit.shard, state.config, state.kind.samples);
  const std::vector<std::int64_t> order = permutation(shard->samples(), unit.seed);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(unit.batch));

  state.begin_moments(unit.keep);
  at::Tensor measured = unit.measure ? state.statistics().clone().zero_() : at::Tensor();
  Trained result;
  double loss_sum = 0;
  for (; result.steps < unit.steps && !stop(); ++result.steps) {
    // In unsigned numbers, because products of what a request may ask for wrap around.
    const auto position = static_cast<std::uint64_t>(unit.first_step + result.steps) *
                          static_cast<std::uint64_t>(unit.batch);
    for (std::size_t i = 0; i < indices.size(); ++i)
      indices[i] = order[(position + i) % order.size()];
    std::optional<Augmentation> augmentation;
    if (state.config.augment) augmentation = Augmentation{unit.seed, position};
    shard->fill(indices.data(), unit.batch, augmentation, state.batch);

    const double loss =
        unit.measure ? state.measure(measured) : state.step(unit.lr, !unit.keep.empty());
    require_finite(loss, "the loss of step " + std::to_string(result.steps));
    loss_sum += loss * static_cast<double>(unit.batch);
    result.samples += unit.batch;
  }
  if (result.samples > 0) result.loss = loss_sum / static_cast<double>(result.samples);
  if (unit.measure && result.steps > 0)
    state.statistics().copy_(measured.div_(static_cast<double>(result.steps)));
  // The last step may have gone too far after its loss was taken; one bad value shows in the sum.
  require_finite(state.parameters.all().sum().item<double>(), "the parameters");
  if (!unit.keep.empty()) state.kept[unit.keep] = std::move(state.moments);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  result.seconds = took.count();
  return result;
}

namespace {

// What is counted while a shard is gone through, and what it comes to.
class Sums {
 public:
  void add_classes(const at::Tensor& scores, const at::Tensor& labels) {
    right_ += scores.argmax(1).eq(labels).sum().item<std::int64_t>();
    seen_ += labels.size(0);
  }
  // In double precision: the amounts' own unit may be far from 1.
  void add_amounts(const at::Tensor& output, const std::vector<float>& amounts, double scale) {
    const auto* said = output.data_ptr<float>();
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const double truth = scale * static_cast<double>(amounts[i]);
      const double off = scale * static_cast<double>(said[i]) - truth;
      square_ += off * off;
      absolute_ += std::abs(off);
      offset_ += truth;
      offset_square_ += truth * truth;
    }
    seen_ += static_cast<std::int64_t>(amounts.size());
  }
  std::map<std::string, double> metrics(const Config& config, bool text, double loss) const {
    const auto n = static_cast<double>(std::max<std::int64_t>(seen_, 1));
    if (config.regression)
      return {{"rmse", std::sqrt(square_ / n)},
              {"mae", absolute_ / n},
              {"offset_mean", offset_ / n},
              {"offset_square", offset_square_ / n}};
    std::map<std::string, double> out{{"accuracy", static_cast<double>(right_) / n}};
    if (text) out["perplexity"] = std::exp(std::min(loss, kMostLoss));
    return out;
  }

 private:
  static constexpr double kMostLoss = 200;  // A perplexity beyond its exponential says no more.
  std::int64_t right_ = 0, seen_ = 0;
  double square_ = 0, absolute_ = 0, offset_ = 0, offset_square_ = 0;
};

}  // namespace

Evaluated Learner::evaluate(const std::string& path, std::int64_t batch, const Stop& stop) {
  const at::NoGradGuard no_gradient;
  State& state = *state_;
  const auto shard = state.shards.get(path, state.config, state.kind.samples);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(shard->samples()));
  std::iota(indices.begin(), indices.end(), 0);

  Evaluated result;
  double loss_sum = 0;
  Sums sums;
  while (result.samples < shard->samples() && !stop()) {
    const std::int64_t size = std::min(batch, shard->samples() - result.samples);
    shard->fill(indices.data() + result.samples, size, {}, state.batch);
    const at::Tensor scores = state.model->forward(state.input(), false).contiguous();
    loss_sum += state.loss(scores).item<double>() * static_cast<double>(size);
    if (state.config.regression)
      sums.add_amounts(scores, state.batch.amounts, state.config.target_std);
    else
      sums.add_classes(scores, state.labels());
    result.samples += size;
  }
  if (result.samples > 0) result.loss = loss_sum / static_cast<double>(result.samples);
  require_finite(result.loss, "the loss on " + path);
  result.metrics = sums.metrics(state.config, is_text(), result.loss);
  return result;
}

at::Tensor Learner::State::output(const std::vector<float>& sample, bool pixels) {
  const auto wanted = static_cast<std::size_t>(count(config.input));
  if (sample.size() != wanted)
    throw Error("the sample has " + std::to_string(sample.size()) + " numbers; the model wants " +
                std::to_string(wanted));
  const Normalisation normalisation(config, pixels);
  const std::size_t plane = wanted / normalisation.scale.size();
  batch.samples = 1;
  batch.values.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i)
    batch.values[i] = sample[i] * normalisation.scale[i / plane] + normalisation.shift[i / plane];
  return model->forward(input(), false);
}

double Learner::estimate(const std::vector<float>& sample, bool pixels) {
  const at::NoGradGuard no_gradient;
  const Config& config = state_->config;
  return state_->output(sample, pixels).item<double>() * config.target_std + config.target_mean;
}

std::vector<float> Learner::classify(const std::vector<float>& sample, bool pixels) {
  const at::NoGradGuard no_gradient;
  const at::Tensor chances = state_->output(sample, pixels).softmax(1);
  const auto* begin = chances.data_ptr<float>();
  return {begin, begin + chances.numel()};
}

std::string Learner::continue_text(const std::string& prompt, const Writing& writing) {
  const at::NoGradGuard no_gradient;
  const auto context = static_cast<std::size_t>(state_->config.context);
  // A newline stands for the beginning of a text.
  std::string text = prompt.empty() ? "\n" : prompt;
  const std::size_t begin = text.size();
  Random random(writing.seed);
  for (std::int64_t i = 0; i < writing.length; ++i) {
    const std::size_t from = text.size() - std::min(text.size(), context);
    std::vector<std::int64_t> tokens;
    for (std::size_t j = from; j < text.size(); ++j)
      tokens.push_back(static_cast<unsigned char>(text[j]));
    const auto length = static_cast<std::int64_t>(tokens.size());
    const at::Tensor x = at::from_blob(tokens.data(), {1, length}, at::kLong);
    const at::Tensor scores = state_->model->forward(x, false).select(0, length - 1);
    if (writing.temperature <= 0) {
      text += static_cast<char>(scores.argmax().item<std::int64_t>());
      continue;
    }
    const at::Tensor sums = scores.div(writing.temperature).softmax(0).cumsum(0);
    const auto* first = sums.data_ptr<float>();
    const auto* last = first + sums.numel() - 1;
    const auto* chosen = std::lower_bound(first, last, random.unit() * *last);
    text += static_cast<char>(chosen - first);
  }
  return text.substr(begin);
}

}  // namespace souk::trainer
