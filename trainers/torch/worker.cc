// The worker protocol, docs/worker-protocol.md.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>

#include "commands.h"
#include "config.h"
#include "fields.h"
#include "learner.h"

namespace souk::trainer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxLineBytes = 1 << 20;
// Requests are answered one by one, so whoever sends this many ahead can wait.
constexpr std::size_t kMaxQueuedLines = 64;
constexpr std::int64_t kMaxSteps = 1'000'000'000;
constexpr std::int64_t kMaxBatch = 1'000'000;
constexpr std::uint64_t kMaxSeed = UINT64_MAX;

// Lines of standard input, read ahead only as far as looking for `stop` demands.
class Input {
 public:
  // The next line, or nothing at the end. A line over the limit comes cut off, which no JSON is.
  std::optional<std::string> next() {
    while (lines_.empty() && !ended_) read_some();
    if (lines_.empty()) return std::nullopt;
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }

  // Takes a `stop` out of what has arrived, without waiting.
  bool take_stop() {
    pollfd state = {STDIN_FILENO, POLLIN, 0};
    while (!ended_ && lines_.size() < kMaxQueuedLines && ::poll(&state, 1, 0) > 0) read_some();
    for (auto line = lines_.begin(); line != lines_.end(); ++line) {
      if (!is_stop(*line)) continue;
      lines_.erase(line);
      return true;
    }
    return false;
  }

  static bool is_stop(const std::string& line) {
    if (line.find("stop") == std::string::npos) return false;
    const Json json = Json::parse(line, nullptr, false);
    return json.is_object() && json.value("op", Json()) == "stop";
  }

 private:
  void read_some() {
    char buffer[65536];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return;
    ended_ = got <= 0;
    for (ssize_t i = 0; i < got; ++i) {
      if (buffer[i] == '\n')
        lines_.push_back(std::exchange(partial_, {}));
      else if (partial_.size() < kMaxLineBytes)
        partial_ += buffer[i];
    }
    if (ended_ && !partial_.empty()) lines_.push_back(std::exchange(partial_, {}));
  }

  std::deque<std::string> lines_;
  std::string partial_;
  bool ended_ = false;
};

class Worker {
 public:
  // Answers go to `out`, a descriptor of our own.
  explicit Worker(int out) : out_(out) {}

  void run() {
    while (!done_) {
      const auto line = input_.next();
      if (!line) return;
      if (line->empty() || Input::is_stop(*line)) continue;
      Json answer;
      // Whatever a request brings about, libtorch's errors and lack of memory among it, the next
      // one gets its chance.
      try {
        answer = handle(*line);
        answer["ok"] = true;
      } catch (const std::exception& error) {
        answer = {{"ok", false}, {"error", first_line(error.what())}};
      }
      send(answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    }
  }

 private:
  Json handle(const std::string& line) {
    const Json request = Json::parse(line, nullptr, false);
    if (!request.is_object())
      throw Error("a request is one line with a JSON object of at most " +
                  std::to_string(kMaxLineBytes) + " bytes");
    const std::string op = require_string(request, "op");
    if (op == "hello") return hello(request);
    if (op == "bye") return bye();
    if (op != "init" && op != "train" && op != "evaluate")
      throw Error("unknown op '" + op + "'; hello, init, train, evaluate, stop and bye are known");
    if (!learner_) throw Error("'" + op + "' before hello");
    if (op == "init") return init(request);
    return op == "train" ? train(request) : evaluate(request);
  }

  Json hello(const Json& request) {
    std::int64_t protocol = 1;
    read_field<std::int64_t>(request, "protocol", protocol, 1, 1);
    learner_.reset();  // Before the next one takes memory.
    learner_ = std::make_unique<Learner>(parse_config(request.value("config", Json())));
    Json tensors = Json::array();
    for (const auto& [name, shape] : learner_->tensors()) {
      tensors.push_back({{"name", name}, {"shape", shape}});
      if (tensors.size() > learner_->trained_count()) tensors.back()["state"] = true;
    }
    return {{"protocol", 1},
            {"name", "souk-torch"},
            {"version", SOUK_TORCH_VERSION},
            {"framework", Learner::framework()},
            {"device", "cpu"},
            {"tensors", tensors}};
  }

  Json bye() {
    done_ = true;
    return Json::object();
  }

  Json init(const Json& request) {
    std::uint64_t seed = 0;
    read_field<std::uint64_t>(request, "seed", seed, 0, kMaxSeed);
    const std::string out = require_string(request, "out");
    learner_->initialise(seed);
    learner_->save(out);
    return Json::object();
  }

  Json train(const Json& request) {
    Unit unit;
    unit.shard = require_string(request, "shard");
    unit.lr = learner_->config().lr;
    read_field<std::uint64_t>(request, "seed", unit.seed, 0, kMaxSeed);
    read_field<std::int64_t>(request, "first_step", unit.first_step, 0, INT64_MAX / 2);
    read_field<std::int64_t>(request, "steps", unit.steps, 0, kMaxSteps);
    read_field<std::int64_t>(request, "batch", unit.batch, 1, kMaxBatch);
    read_field(request, "lr", unit.lr, 0.0, 1e6);
    // Adam divides by the root of the mean square of gradients, which the noise of a smaller batch
    // makes larger.
    std::int64_t of_batch = unit.batch;
    read_field<std::int64_t>(request, "of_batch", of_batch, 0, kMaxBatch);
    if (learner_->config().optimizer == Optimizer::adam && of_batch > unit.batch)
      unit.lr *=
          std::min(8.0, std::sqrt(static_cast<double>(of_batch) / static_cast<double>(unit.batch)));
    read_field(request, "keep", unit.keep);
    read_field(request, "measure", unit.measure);
    std::string send = "delta";
    read_field(request, "send", send);
    if (send != "delta" && send != "weights")
      throw Error("send is '" + send + "'; it must be delta or weights");
    const std::string out = require_string(request, "out");

    learner_->load(require_string(request, "base"));
    const Trained trained = learner_->train(unit, [this] { return input_.take_stop(); });
    if (send == "delta")
      learner_->save_change(out);
    else
      learner_->save(out);
    return {{"steps", trained.steps},
            {"samples", trained.samples},
            {"loss", trained.loss},
            {"seconds", trained.seconds}};
  }

  Json evaluate(const Json& request) {
    std::int64_t batch = 256;
    read_field<std::int64_t>(request, "batch", batch, 1, kMaxBatch);
    const std::string shard = require_string(request, "shard");
    learner_->load(require_string(request, "base"));
    const Evaluated evaluated =
        learner_->evaluate(shard, batch, [this] { return input_.take_stop(); });
    return {
        {"samples", evaluated.samples}, {"loss", evaluated.loss}, {"metrics", evaluated.metrics}};
  }

  // libtorch appends a trace of its own functions to its messages.
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  void send(const std::string& line) {
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t wrote = ::write(out_, line.data() + sent, line.size() - sent);
      if (wrote < 0 && errno != EINTR)
        throw Error(std::string("cannot answer: ") + std::strerror(errno));
      if (wrote > 0) sent += static_cast<std::size_t>(wrote);
    }
  }

  int out_;
  Input input_;
  std::unique_ptr<Learner> learner_;
  bool done_ = false;
};

}  // namespace

int run_worker() {
  // Standard output carries answers alone: what a library prints there goes to the job's log.
  const int out = ::dup(STDOUT_FILENO);
  if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw Error(std::string("standard output: ") + std::strerror(errno));
  Worker(out).run();
  ::close(out);
  return 0;
}

}  // namespace souk::trainer
