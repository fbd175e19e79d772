#include "learner.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <dlfcn.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "data.h"
#include "error.h"
#include "model.h"
#include "parameters.h"
#include "random.h"

namespace souk::trainer {
namespace {

// Fills in the shape of a sample, and refuses what would fail with the first shard.
Config complete(Config config) {
  const ModelKind& kind = find_model(config.model);
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
    momentum = at::zeros_like(parameters.gradient());
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

  // Begins a new account of what is learnt, at the parameters as they are. The gradient is not
  // zero when the step before ran out of memory.
  void begin() {
    base = parameters.all().clone();
    momentum.zero_();
    parameters.gradient().zero_();
  }

  // One step of SGD on the batch. Gives the loss before it.
  double step(double lr) {
    const at::Tensor loss = at::cross_entropy_loss(model->forward(input(), true), labels());
    loss.backward();
    const at::NoGradGuard no_gradient;
    at::Tensor& gradient = parameters.gradient();
    if (config.weight_decay > 0) gradient.add_(parameters.trained(), config.weight_decay);
    momentum.mul_(config.momentum).add_(gradient);
    parameters.trained().add_(momentum, -lr);
    gradient.zero_();
    return loss.item<double>();
  }

  Config config;
  const ModelKind& kind;
  Parameters parameters;
  std::unique_ptr<Model> model;
  at::Tensor momentum;
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

void Learner::save(const std::string& path) const {
  state_->parameters.save(path, state_->parameters.all());
}

void Learner::save_change(const std::string& path) const {
  state_->parameters.save(path, state_->parameters.all() - state_->base);
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

    const double loss = state.step(unit.lr);
    require_finite(loss, "the loss of step " + std::to_string(result.steps));
    loss_sum += loss * static_cast<double>(unit.batch);
    result.samples += unit.batch;
  }
  if (result.samples > 0) result.loss = loss_sum / static_cast<double>(result.samples);
  // The last step may have gone too far after its loss was taken; one bad value shows in the sum.
  require_finite(state.parameters.all().sum().item<double>(), "the parameters");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  result.seconds = took.count();
  return result;
}

Evaluated Learner::evaluate(const std::string& path, std::int64_t batch, const Stop& stop) {
  const at::NoGradGuard no_gradient;
  State& state = *state_;
  const auto shard = state.shards.get(path, state.config, state.kind.samples);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(shard->samples()));
  std::iota(indices.begin(), indices.end(), 0);

  Evaluated result;
  double loss_sum = 0;
  std::int64_t right = 0, labels_seen = 0;
  while (result.samples < shard->samples() && !stop()) {
    const std::int64_t size = std::min(batch, shard->samples() - result.samples);
    shard->fill(indices.data() + result.samples, size, {}, state.batch);
    const at::Tensor scores = state.model->forward(state.input(), false);
    const at::Tensor labels = state.labels();
    loss_sum += at::cross_entropy_loss(scores, labels).item<double>() * static_cast<double>(size);
    right += scores.argmax(1).eq(labels).sum().item<std::int64_t>();
    labels_seen += labels.size(0);
    result.samples += size;
  }
  if (result.samples > 0) {
    result.loss = loss_sum / static_cast<double>(result.samples);
    result.accuracy = static_cast<double>(right) / static_cast<double>(labels_seen);
  }
  require_finite(result.loss, "the loss on " + path);
  return result;
}

std::vector<float> Learner::classify(const std::vector<float>& sample, bool pixels) {
  const at::NoGradGuard no_gradient;
  const auto wanted = static_cast<std::size_t>(count(state_->config.input));
  if (sample.size() != wanted)
    throw Error("the sample has " + std::to_string(sample.size()) + " numbers; the model wants " +
                std::to_string(wanted));
  const Normalisation normalisation(state_->config, pixels);
  const std::size_t plane = wanted / normalisation.scale.size();
  Batch& batch = state_->batch;
  batch.samples = 1;
  batch.values.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i)
    batch.values[i] = sample[i] * normalisation.scale[i / plane] + normalisation.shift[i / plane];
  const at::Tensor chances = state_->model->forward(state_->input(), false).softmax(1);
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
