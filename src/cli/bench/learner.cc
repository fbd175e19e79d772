#include "cli/bench/learner.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include "agent/probe/command_output.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/shell/config.h"
#include "wire/json.h"

extern char** environ;

namespace souk::cli {
namespace {

namespace fs = std::filesystem;
using base::Fd;

constexpr auto kPatience = base::minutes(10);
constexpr std::int32_t kCheckedAtOnce = 256;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// In memory where that can be: parameters go through files a thousand times.
Result<std::string> scratch_folder() {
  std::error_code error;
  for (const auto& place : {fs::path("/dev/shm"), fs::temp_directory_path(error)}) {
    auto name = (place / "souk-lab-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) return name;
  }
  return failed(fmt::format("cannot make a folder in /dev/shm or TMPDIR: {}", std::strerror(errno)),
                "set TMPDIR to a folder you can write");
}

train::Dataset some_of(const train::Dataset& all, std::int64_t count, std::int64_t seed) {
  std::vector<std::int64_t> which(static_cast<std::size_t>(all.samples()));
  std::iota(which.begin(), which.end(), 0);
  base::Random random(static_cast<std::uint64_t>(seed));
  random.shuffle(which);
  which.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 1, all.samples())));
  return all.pick(which);
}

Result<job::LoadedData> load(Context& c, const std::string& data) {
  std::error_code error;
  if (!fs::is_directory(data, error)) return job::load_data({.built_in = data}, fetcher(c));
  job::DataSource source{.format = "cifar10"};
  for (const auto& entry : fs::directory_iterator(data)) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with(".bin")) continue;
    (name.starts_with("test") ? source.test : source.train).push_back(entry.path().string());
  }
  std::ranges::sort(source.train);
  if (source.train.empty())
    return failed(fmt::format("{} has no CIFAR-10 files", data),
                  "it needs data_batch_1.bin and test_batch.bin, or the like");
  return job::load_data(source, {});
}

bool diverged(const base::Error& error) {
  return error.message.find("diverged") != std::string::npos;
}

}  // namespace

Result<std::unique_ptr<TorchLearner>> TorchLearner::start(Context& c, const Lesson& lesson) {
  const auto program = torch_trainer(c.env());
  if (program.empty())
    return failed("souk-torch was not found beside this program", "set SOUK_TORCH to it");
  SOUK_ASSIGN(auto all, load(c, lesson.data));
  const job::LoadedData data{some_of(all.train, lesson.samples, lesson.seed),
                             some_of(all.test, lesson.checked, lesson.seed)};
  SOUK_ASSIGN(auto folder, scratch_folder());
  std::unique_ptr<TorchLearner> out(new TorchLearner(program, std::move(folder), lesson.batch));
  SOUK_TRY(out->spawn());
  SOUK_TRY(out->write(data, lesson));
  const std::map<std::string, std::string> config{
      {"model", wire::to_json(lesson.model)},
      {"input", wire::to_json(data.train.shape)},
      {"classes", std::to_string(std::max(data.train.classes(), data.test.classes()))},
      {"threads", "1"}};
  SOUK_TRY(out->trainer_->hello(config));
  std::map<std::string, wire::AnyJson> file;
  for (const auto& [key, value] : config) file[key].text = value;
  SOUK_TRY(out->trainer_->write_bytes("config.json", wire::to_json(file)));
  return out;
}

Result<> TorchLearner::spawn() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return failed(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
  std::string name = program_;
  char* const argv[] = {name.data(), nullptr};
  const auto error = ::posix_spawn(&pid_, program_.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    return failed(fmt::format("cannot run {}: {}", program_, std::strerror(error)));
  }
  constexpr std::size_t most_floats = std::size_t{1} << 28;  // Our own trainer, our own data.
  trainer_.emplace(
      std::move(ours), folder_, most_floats, [] { return false; }, [] { return false; });
  return {};
}

Result<> TorchLearner::write(const job::LoadedData& data, const Lesson& lesson) {
  for (const auto& shard :
       train::split(data.train, lesson.shards, static_cast<std::uint64_t>(lesson.seed))) {
    SOUK_TRY(trainer_->write_bytes(fmt::format("s{}", shards_.size()), job::shard_file(shard)));
    shards_.push_back(shard.samples());
  }
  SOUK_TRY(trainer_->write_bytes("v0", job::shard_file(data.test)));
  validation_.push_back(data.test.samples());
  SOUK_TRY(trainer_->write_bytes("all", job::shard_file(data.train)));
  return {};
}

TorchLearner::~TorchLearner() {
  if (pid_ > 0) {
    trainer_->bye();
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

train::Layout TorchLearner::layout() const {
  train::Layout out;
  for (const auto& t : trainer_->tensors()) out.tensors.push_back({t.name, t.shape, t.state});
  return out;
}

base::Result<std::vector<float>> TorchLearner::init(std::int64_t seed) {
  SOUK_TRY(
      trainer_->ask(fmt::format(R"({{"op":"init","seed":{},"out":"init"}})", seed), kPatience));
  std::vector<float> values;
  SOUK_TRY(trainer_->read("init", values));
  return values;
}

base::Result<lab::Learner::Trained> TorchLearner::train(std::span<const float> base,
                                                        const train::Unit& unit, train::Sends send,
                                                        double state_scale,
                                                        const std::string& memory) {
  SOUK_TRY(trainer_->write("base", base));
  const auto answer = trainer_->ask(
      fmt::format(
          R"({{"op":"train","base":"base","shard":"s{}","out":"update","send":"{}",)"
          R"("first_step":{},"steps":{},"batch":{},"lr":{},"seed":{},"keep":"{}","measure":{}}})",
          unit.shard, to_string(send), unit.first_step * unit.parts, unit.steps * unit.parts,
          batch_ / unit.parts, unit.lr, unit.seed, memory, unit.measure),
      kPatience);
  if (!answer && diverged(answer.error()))
    return Trained{std::vector<float>(base.size(), std::numeric_limits<float>::quiet_NaN()),
                   unit.steps * batch_, kNoNumber};
  if (!answer) return std::unexpected(answer.error());
  std::vector<float> values;
  SOUK_TRY(trainer_->read_update("update", state_scale, values));
  return Trained{std::move(values), answer->samples, answer->loss};
}

base::Result<lab::Learner::Evaluated> TorchLearner::evaluate(std::span<const float> values,
                                                             std::int32_t shard) {
  SOUK_TRY(trainer_->write("base", values));
  auto answer =
      trainer_->ask(fmt::format(R"({{"op":"evaluate","base":"base","shard":"v{}","batch":{}}})",
                                shard, kCheckedAtOnce),
                    kPatience);
  if (!answer && diverged(answer.error()))
    return Evaluated{validation_[static_cast<std::size_t>(shard)], kNoNumber, 0};
  if (!answer) return std::unexpected(answer.error());
  return Evaluated{answer->samples, answer->loss, answer->metrics["accuracy"]};
}

Result<std::vector<double>> TorchLearner::serial(std::int32_t epochs, double lr,
                                                 std::int64_t seed) const {
  const auto file = [&](std::string_view name) { return folder_ + "/" + std::string(name); };
  SOUK_ASSIGN(const auto ran,
              agent::run_command({program_, "bare", "--config", file("config.json"), "--shard",
                                  file("all"), "--test", file("v0"), "--epochs",
                                  std::to_string(epochs), "--batch", std::to_string(batch_), "--lr",
                                  fmt::format("{}", lr), "--seed", std::to_string(seed)},
                                 base::hours(2), 1 << 20));
  std::vector<double> out;
  for (const auto line : base::split(ran.out, '\n')) {
    if (line.empty()) continue;
    SOUK_ASSIGN(const auto row, wire::parse(line));
    const auto* accuracy = row.is_object() ? row.get_object().if_contains("accuracy") : nullptr;
    if (accuracy != nullptr && accuracy->is_number()) out.push_back(accuracy->to_number<double>());
  }
  if (!ran.good() || std::ssize(out) != epochs)
    return failed(fmt::format("{} bare failed: {}", program_, ran.err.substr(0, 300)));
  return out;
}

}  // namespace souk::cli
