// What handing a unit's parameters to the trainer and its update back costs, without computing:
// files that are written anew and read whole, against files that stay and that the trainer maps.
// And what a slow line costs a trainer whose coach uses it while the trainer computes.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include "agent/coach.h"
#include "agent/testing/leases.h"
#include "agent/testing/played_trainer.h"
#include "agent/testing/training_market.h"
#include "agent/trainer.h"
#include "base/testing/eventually.h"
#include "bench/report.h"
#include "wire/safetensors.h"

namespace souk::bench {
namespace {

namespace fs = std::filesystem;

// What a unit costs: as a whole, and of that while the trainer could compute.
struct Cost {
  std::vector<double> all, trainer;
};

std::string head_of(std::size_t floats) {
  return wire::safetensors_head(
      {{.name = "w", .dtype = "F32", .shape = {static_cast<std::int64_t>(floats)}}});
}

base::Fd opened(const std::string& path, int flags) {
  base::Fd file(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!file) give_up("cannot open " + path);
  return file;
}

void write_all(int file, const char* from, std::size_t bytes) {
  while (bytes > 0) {
    const auto n = ::write(file, from, bytes);
    if (n <= 0) give_up("cannot write");
    from += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

std::string read_all(const std::string& path) {
  const auto file = opened(path, O_RDONLY);
  std::string out(std::filesystem::file_size(path), '\0');
  for (std::size_t at = 0; at < out.size();) {
    const auto n = ::read(file.get(), out.data() + at, out.size() - at);
    if (n <= 0) give_up("cannot read " + path);
    at += static_cast<std::size_t>(n);
  }
  return out;
}

// One unit as it was: every file is put together in memory and written anew, and read whole.
class Anew {
 public:
  Anew(std::string folder, std::size_t floats)
      : folder_(std::move(folder)), head_(head_of(floats)) {}
  void unit(const std::vector<float>& values, std::vector<float>& model,
            const std::vector<float>& start, Cost& cost) {
    const Stopwatch all;
    put("base", values);
    const Stopwatch trainer;
    const auto base = read_all(folder_ + "/base");
    std::memcpy(model.data(), base.data() + head_.size(), model.size() * sizeof(float));
    std::vector<float> change(model.size());
    for (std::size_t i = 0; i < change.size(); ++i) change[i] = model[i] - start[i];
    put("update", change);
    cost.trainer.push_back(trainer.seconds());
    const auto update = read_all(folder_ + "/update");
    std::vector<float> out(model.size());
    std::memcpy(out.data(), update.data() + head_.size(), out.size() * sizeof(float));
    cost.all.push_back(all.seconds());
    if (out != change) give_up("the update is another");
  }

 private:
  void put(const std::string& name, const std::vector<float>& values) {
    const auto path = folder_ + "/" + name;
    ::unlink(path.c_str());
    std::string bytes = head_;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    write_all(opened(path, O_WRONLY | O_CREAT | O_EXCL).get(), bytes.data(), bytes.size());
  }
  const std::string folder_, head_;
};

// A file of the trainer's folder, mapped as trainers/torch does it.
class Mapped {
 public:
  Mapped(const std::string& path, std::size_t bytes, bool writes) : bytes_(bytes) {
    const auto file = opened(path, writes ? O_RDWR | O_CREAT : O_RDONLY);
    if (writes && (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
                   ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) != 0))
      give_up("cannot make " + path);
    at_ = static_cast<char*>(::mmap(nullptr, bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ,
                                    MAP_SHARED | MAP_POPULATE, file.get(), 0));
    if (at_ == MAP_FAILED) give_up("cannot map " + path);
  }
  ~Mapped() { ::munmap(at_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  [[nodiscard]] char* at() const { return at_; }

 private:
  const std::size_t bytes_;
  char* at_;
};

// The agent's side is the agent's own; the trainer's is played here.
class InPlace {
 public:
  InPlace(std::string folder, std::size_t floats)
      : folder_(std::move(folder)), head_(head_of(floats)) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("no sockets");
    theirs_ = base::Fd(ends[1]);
    agent_.emplace(base::Fd(ends[0]), folder_, floats, [] { return false; }, [] { return false; });
    const auto hello = fmt::format(
        "{{\"ok\":true,\"name\":\"b\",\"tensors\":[{{\"name\":\"w\",\"shape\":[{}]}}]}}\n", floats);
    write_all(theirs_.get(), hello.data(), hello.size());
    must(agent_->hello({}));
  }
  void unit(const std::vector<float>& values, std::vector<float>& model,
            const std::vector<float>& start, Cost& cost) {
    const auto data = model.size() * sizeof(float);
    const Stopwatch all;
    must(agent_->write("base", values));
    const Stopwatch trainer;
    {
      const Mapped base(folder_ + "/base", head_.size() + data, false);
      std::memcpy(model.data(), base.at() + head_.size(), data);
      const Mapped update(folder_ + "/update", head_.size() + data, true);
      std::memcpy(update.at(), head_.data(), head_.size());
      auto* to = reinterpret_cast<float*>(update.at() + head_.size());
      for (std::size_t i = 0; i < model.size(); ++i) to[i] = model[i] - start[i];
    }
    cost.trainer.push_back(trainer.seconds());
    must(agent_->read_update("update", 1, update_));
    cost.all.push_back(all.seconds());
    for (std::size_t i = 0; i < model.size(); ++i)
      if (update_[i] != model[i] - start[i]) give_up("the update is another");
  }

 private:
  const std::string folder_, head_;
  base::Fd theirs_;
  std::optional<agent::Trainer> agent_;
  std::vector<float> update_;
};

// The share of its time that a trainer computes whose units take 120 ms, over a line on which their
// parameters and their updates take 45 ms each. In turn: there is no other unit until the last was
// handed in.
double computed(const fs::path& folder, std::size_t units, bool in_turn) {
  constexpr auto computing = std::chrono::milliseconds(120), moving = std::chrono::milliseconds(45);
  constexpr std::size_t floats = 4;
  fs::create_directories(folder / "work");
  agent::testing::TrainingMarket market(floats);
  for (std::size_t i = 1; i <= units; ++i) {
    market.add_unit(base::UnitKind::train);
    if (in_turn) market.add_unit(base::UnitKind::wait, {.wait = base::hours(1)});
    market.usually(market.report_of(static_cast<std::int64_t>(i)), [&](const net::Request&) {
      std::this_thread::sleep_for(moving);
      return net::Response{.body = R"({"accepted":true,"reason":""})"};
    });
  }
  market.usually("GET /v1/leases/l1/parameters", [&](const net::Request&) {
    std::this_thread::sleep_for(moving);
    return net::Response{.body = agent::testing::parameters(1, std::vector<float>(floats))};
  });
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("no sockets");
  std::optional<agent::testing::PlayedTrainer> trainer;
  const auto train = [&](const auto& request) {
    std::this_thread::sleep_for(computing);
    trainer->write(request.at("out").get_string(), std::vector<float>(floats, 1));
    return std::string(R"({"ok":true,"steps":10,"samples":10})");
  };
  trainer.emplace(base::Fd(ends[1]), folder / "work", floats,
                  std::map<std::string, agent::testing::PlayedTrainer::Answer>{{"train", train}});
  const auto store = must(blob::Store::open(folder / "store"));
  agent::CoachOptions options{.lease = agent::testing::training_lease(),
                              .link = market.link(),
                              .store = store.get(),
                              .folder = folder / "work",
                              .shard_bytes = 1'000,
                              .grace = base::seconds(20)};
  agent::Coach coach(options, base::Fd(ends[0]));
  if (!base::testing::eventually([&] { return coach.finished(); })) give_up("it does not end");
  if (!coach.failure().empty()) give_up(coach.failure());
  base::Duration all, compute;
  for (const auto& ask : market.bodies("POST /v1/leases/l1/units")) {
    const auto spent = must(wire::from_json<wire::UnitAsk>(ask)).spent.value_or(wire::TimeSpent());
    for (const auto part : wire::kTimeParts) all = all + spent.*part;
    compute = compute + spent.compute;
  }
  return compute.seconds() / all.seconds();
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"mb", "units"});
  const auto mb = flags.number("mb", 45), units = flags.number("units", 20);
  const auto floats = mb * 1'000'000 / sizeof(float);
  const auto folder = fs::path("/dev/shm") / fmt::format("souk-exchange-{}", ::getpid());
  fs::create_directories(folder / "anew");
  fs::create_directories(folder / "in-place");
  std::vector<float> values(floats, 1.5F), model(floats);
  const std::vector<float> start(floats, 0.5F);
  Cost anew, in_place;
  {
    Anew before(folder / "anew", floats);
    InPlace after(folder / "in-place", floats);
    Cost first;  // The files are made.
    after.unit(values, model, start, first);
    for (std::size_t i = 0; i < units; ++i) {
      values[0] = static_cast<float>(i);
      before.unit(values, model, start, anew);
      after.unit(values, model, start, in_place);
    }
  }
  const auto overlapped = computed(folder / "overlapped", units, false);
  const auto in_turn = computed(folder / "in-turn", units, true);
  fs::remove_all(folder);
  Report report(fmt::format("exchange_bench: parameters of {} MB to a trainer and its update back, "
                            "median of {} units, turn by turn",
                            mb, units),
                flags);
  const auto add = [&](std::string what, const std::vector<double>& now,
                       const std::vector<double>& then) {
    report.add({.what = std::move(what),
                .result = 1000 * median(now),
                .unit = "ms",
                .baseline = 1000 * median(then),
                .baseline_is = "files written anew, read whole"});
  };
  add("in place and mapped", in_place.all, anew.all);
  add("  of that, what the trainer does", in_place.trainer, anew.trainer);
  report.add({.what = "time that the trainer computes, on a slow line",
              .result = overlapped,
              .unit = "of all",
              .baseline = in_turn,
              .baseline_is = "units in turn",
              .bar = 0.9});
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
