#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "agent/runner_place.h"
#include "net/line.h"
#include "net/response_reader.h"
#include "relay/overlay/addresses.h"

// What a runner does for programs with a network of their own: those of gangs, which talk to each
// other, and those that others talk to.

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr int kMasterPort = 29'500;
constexpr int kTensorFlowPort = 29'600;
constexpr std::string_view kHostFile = ".souk/hosts";
constexpr auto kToMakeNetwork = base::seconds(20);
constexpr auto kToReachAll = base::minutes(2);
constexpr auto kServiceGlance = std::chrono::milliseconds(20);
constexpr auto kToEnd = base::seconds(12);  // Of a drain, for the program to end.

// What each framework wants to hear of the same thing.
void tell_rendezvous(const wire::BatchAssignment& task, Program& program) {
  const auto world = task.gang->world;
  const auto master = relay::name_of(0);
  auto& env = program.env;
  env["RANK"] = env["NODE_RANK"] = env["GROUP_RANK"] = std::to_string(task.index);
  env["WORLD_SIZE"] = std::to_string(world);
  env["LOCAL_RANK"] = "0";
  env["LOCAL_WORLD_SIZE"] = "1";
  env["MASTER_ADDR"] = master;
  env["MASTER_PORT"] = std::to_string(kMasterPort);
  env["SOUK_HOSTS"] = fmt::format("/work/{}", kHostFile);
  env["SOUK_RESTART"] = std::to_string(task.gang->restarts);
  std::string cluster;
  for (std::int32_t i = 0; i < world; ++i)
    cluster += fmt::format("{}\"{}:{}\"", i == 0 ? "" : ",", relay::name_of(i), kTensorFlowPort);
  env["TF_CONFIG"] =
      fmt::format(R"({{"cluster":{{"worker":[{}]}},"task":{{"type":"worker","index":{}}}}})",
                  cluster, task.index);
  // Which of the interfaces leads to the others; a job may know better.
  for (const auto* variable : {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME",
                               "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"})
    env.try_emplace(variable, relay::kInterface);
  env.try_emplace("OMP_NUM_THREADS", std::to_string(task.cores));
}

}  // namespace

// Before the program is prepared.
Result<> Runner::add_network(Place& place) {
  const auto& task = *lease_.task;
  const auto& session = task.batch.session;
  if (!place.kind->together && !place.kind->serves && !(session && session->port != 0)) return {};
  SOUK_ASSIGN(place.porter, PorterLink::make());
  auto& network = place.program.network.emplace();
  network.porter_fd = place.porter->program_end();
  if (!place.kind->together) return {};
  network.host = relay::name_of(task.index);
  network.device = NetworkDevice{.interface = relay::kInterface,
                                 .address = relay::address_of(task.index),
                                 .bits = relay::kNetworkBits,
                                 .mtu = relay::kMtu};
  for (std::int32_t i = 0; i < task.workers; ++i)
    network.hosts.emplace_back(relay::text_of(relay::address_of(i)), relay::name_of(i));
  tell_rendezvous(task, place.program);
  return {};
}

// A list of the workers, for programs that start others (mpirun).
Result<> Runner::add_host_file(Place& place) {
  const auto& task = *lease_.task;
  if (!place.kind->together) return {};
  const auto path = std::filesystem::path(place.process->scratch()) / kHostFile;
  std::error_code error;
  std::filesystem::create_directory(path.parent_path(), error);
  std::ofstream out(path);
  for (std::int32_t i = 0; i < task.gang->world; ++i)
    out << relay::name_of(i) << " slots=" << task.cores << "\n";
  out.close();
  if (!out) return fail(Code::unavailable, "cannot write the list of workers");
  return {};
}

// The program waits in its namespace. Joins it with the others, says that it could start, and lets
// it begin when all could.
Result<> Runner::gather(Place& place) {
  place.porter->close_program_end();
  SOUK_ASSIGN(auto device, place.porter->await_network(kToMakeNetwork));
  if (!place.kind->together) {
    place.porter->go();
    return {};
  }
  const auto& task = *lease_.task;
  place.gang = std::make_unique<GangLink>(GangLinkOptions{.link = shop_.link,
                                                          .lease = lease_.id,
                                                          .epoch = lease_.epoch,
                                                          .worker = task.index,
                                                          .workers = task.workers,
                                                          .tun = std::move(device),
                                                          .direct = shop_.direct});
  SOUK_TRY(await(place, [&]() -> Result<bool> {
    const auto waits = place.gang->waits_for();
    if (waits.empty()) return true;
    doing("waiting for " + waits);
    if (place.gang->stuck_for() > kToReachAll) {
      place.fault = wire::Fault::job;  // Which of the two machines is it?
      return fail(Code::unavailable, "the gang's network lacks " + waits);
    }
    return false;
  }));
  doing("ready; waiting for the others");
  tell_started();
  SOUK_TRY(await(place, [&]() -> Result<bool> { return begun_.load(); }));
  doing("running");
  place.porter->go();
  shop_.tell(fmt::format("lease {}: worker {} of a gang, {}", to_string(lease_.id), task.index,
                         place.gang->paths()));
  return {};
}

// The program of a session talks to whoever sits at its terminal.
Result<> Runner::add_terminal(Place& place) {
  if (lease_.task->batch.session->port != 0) return {};
  SOUK_ASSIGN(place.terminal, Terminal::open());
  auto& program = place.program;
  program.talk_fd = program.output_fd = place.terminal->program_end();
  program.argv.insert(program.argv.begin(), {"/usr/bin/setsid", "--ctty", "--wait"});
  program.env.try_emplace("TERM", "xterm-256color");
  return {};
}

namespace {

// Does the program answer? Asked again once it has not for a while.
class Health {
 public:
  Health(PorterLink& porter, const wire::BatchService& service)
      : porter_(porter), service_(service) {}

  bool good() {
    const auto now = std::chrono::steady_clock::now();
    if (good_ && now - asked_ < std::chrono::seconds(3)) return true;
    asked_ = now;
    return good_ = ask();
  }

 private:
  bool ask() {
    auto socket = porter_.connect(static_cast<std::uint16_t>(service_.port));
    if (!socket) return false;
    if (service_.health.empty()) return true;
    const auto line = net::line_of(*std::move(socket));
    const auto text = fmt::format(
        "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nUser-Agent: souk-health\r\n\r\n",
        service_.health, service_.name);
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    if (line->write({&piece, 1}).bytes != text.size()) return false;
    net::ResponseReader reader;
    std::array<char, 4096> got;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!reader.has_head() && !reader.failed() && std::chrono::steady_clock::now() < until) {
      const auto io = line->read(got);
      if (io.outcome == net::Line::Outcome::closed) break;
      if (io.outcome == net::Line::Outcome::done) {
        (void)reader.feed({got.data(), io.bytes});
        continue;
      }
      pollfd event{line->fd(), POLLIN, 0};
      ::poll(&event, 1, 100);
    }
    return reader.has_head() && reader.head().status / 100 == 2;
  }

  PorterLink& porter_;
  const wire::BatchService& service_;
  bool good_ = false;
  std::chrono::steady_clock::time_point asked_ = {};
};

}  // namespace

// Once the program runs.
void Runner::offer_lines(Place& place) {
  if (!place.porter && !place.terminal) return;
  const auto& batch = lease_.task->batch;
  LinePoolOptions options{
      .link = shop_.link, .lease = lease_.id, .porter = place.porter.get(), .spare = 1};
  if (place.kind->serves) {
    options.spare = std::clamp(batch.service->at_once, 1, 8);
    options.fit = [health = std::make_shared<Health>(*place.porter, *batch.service)] {
      return health->good();
    };
  }
  if (place.terminal) {
    place.terminal->close_program_end();
    options.on_terminal = [terminal = place.terminal.get()](std::unique_ptr<net::Line> line) {
      terminal->connect(std::move(line));
    };
  }
  place.quiet_since = now();
  place.lines = std::make_unique<LinePool>(std::move(options));
}

// Of a service that drains: some requests are not answered yet.
bool Runner::is_talked_to(Place& place) const {
  if (!place.kind->serves || !place.lines) return false;
  place.lines->close_waiting();
  return place.lines->in_use() > 0 && now() < drain_until() - kToEnd;
}

bool Runner::is_idle(Place& place) const {
  if (!place.kind->attended || !place.lines) return false;
  const auto bytes = place.terminal ? place.terminal->bytes() : place.lines->bytes();
  if (std::exchange(place.talked, bytes) != bytes) place.quiet_since = now();
  return now() - place.quiet_since >= lease_.task->batch.session->idle;
}

// Looks again and again whether it is `done`.
Result<> Runner::await(Place& place, const std::function<Result<bool>()>& done) {
  while (true) {
    SOUK_ASSIGN(const auto over, done());
    if (over) return {};
    if (stopped_) return fail(Code::conflict, "stopped");
    if (draining()) {
      place.leaves = true;
      return fail(Code::conflict, "the lender ends");
    }
    if (place.process->poll()) return fail(Code::unavailable, "the sandbox has ended");
    std::this_thread::sleep_for(kServiceGlance);
  }
}

}  // namespace souk::agent
