// A model of 20 MB pushed, folded and pulled by 1, 4 and 8 workers on loopback: the hub, beside raw
// TCP and, where the benchmark was built with libzmq, a minimal parameter server on ZeroMQ that
// takes the same messages as ps-lite's: one thread, whole updates, folded as they come.

#include "bench/report.h"
#include "hub/testing/transfers.h"

#ifdef SOUK_ZMQ
#include <zmq.h>
#endif

namespace souk::bench {
namespace {

using hub::testing::kModelFloats;
using hub::testing::quantile;
using hub::testing::Transfer;
using hub::testing::Way;

constexpr double kPushBars[] = {0.9, 0.85, 0.8}, kPullBars[] = {0.95, 0.85, 0.8};

#ifdef SOUK_ZMQ
// A socket or context that ends with this.
struct Ending {
  void operator()(void* socket) const { zmq_close(socket); }
};
using ZmqSocket = std::unique_ptr<void, Ending>;
struct Terminating {
  void operator()(void* context) const { zmq_ctx_term(context); }
};

class ZmqServer {
 public:
  explicit ZmqServer(std::size_t workers) : context_(zmq_ctx_new()) {
    zmq_ctx_set(context_.get(), ZMQ_IO_THREADS, 2);
    ZmqSocket server(zmq_socket(context_.get(), ZMQ_ROUTER));
    if (zmq_bind(server.get(), "tcp://127.0.0.1:*") != 0) give_up("zmq cannot bind");
    std::array<char, 256> name{};
    auto size = name.size();
    zmq_getsockopt(server.get(), ZMQ_LAST_ENDPOINT, name.data(), &size);
    for (std::size_t i = 0; i < workers; ++i) {
      workers_.emplace_back(zmq_socket(context_.get(), ZMQ_DEALER));
      if (zmq_connect(workers_.back().get(), name.data()) != 0) give_up("zmq cannot connect");
    }
    serving_ = std::jthread([this, socket = std::move(server)] { serve(socket.get()); });
  }
  ZmqServer(const ZmqServer&) = delete;
  ZmqServer& operator=(const ZmqServer&) = delete;
  ~ZmqServer() {
    zmq_send(workers_[0].get(), "q", 1, 0);
    serving_.join();
  }

  bool push(std::size_t i, const std::string& update) {
    auto* socket = workers_[i].get();
    zmq_msg_t message;
    zmq_msg_init_data(
        &message, const_cast<char*>(update.data()), update.size(), [](void*, void*) {}, nullptr);
    char ok = 0;
    return zmq_send(socket, "p", 1, ZMQ_SNDMORE) == 1 && zmq_msg_send(&message, socket, 0) > 0 &&
           zmq_recv(socket, &ok, 1, 0) == 1;
  }
  bool pull(std::size_t i) {
    auto* socket = workers_[i].get();
    zmq_msg_t message;
    zmq_msg_init(&message);
    const bool good = zmq_send(socket, "g", 1, 0) == 1 && zmq_msg_recv(&message, socket, 0) > 0;
    zmq_msg_close(&message);
    return good;
  }

 private:
  void serve(void* socket) {
    std::vector<float> model(kModelFloats);
    while (true) {
      std::array<char, 64> who{};
      const auto size = zmq_recv(socket, who.data(), who.size(), 0);
      char what = 0;
      if (size <= 0 || zmq_recv(socket, &what, 1, 0) != 1 || what == 'q') return;
      if (what == 'p') fold(socket, model);
      zmq_send(socket, who.data(), static_cast<std::size_t>(size), ZMQ_SNDMORE);
      if (what == 'p')
        zmq_send(socket, "k", 1, 0);
      else
        zmq_send_const(socket, model.data(), model.size() * sizeof(float), 0);
    }
  }
  static void fold(void* socket, std::vector<float>& model) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket, 0) > 0) {
      const auto skip = zmq_msg_size(&message) - model.size() * sizeof(float);
      const auto* u =
          reinterpret_cast<const float*>(static_cast<char*>(zmq_msg_data(&message)) + skip);
      for (std::size_t k = 0; k < model.size(); ++k) model[k] += 0.1F * u[k];
    }
    zmq_msg_close(&message);
  }

  std::unique_ptr<void, Terminating> context_;
  std::vector<ZmqSocket> workers_;  // Gone before the context.
  std::jthread serving_;
};
#endif

struct Bars {
  double push, pull;
};

void measure(Report& report, std::size_t workers, int turns, Bars bars, const std::string& only) {
  const auto bench = must(Transfer::make(workers));
#ifdef SOUK_ZMQ
  ZmqServer zmq(workers);
  bench->add(
      {"push and fold, ZeroMQ", [&](std::size_t i) { return zmq.push(i, bench->update()); }});
  bench->add({"pull, ZeroMQ", [&](std::size_t i) { return zmq.pull(i); }});
#endif
  bench->keep(only);
  if (!bench->run(turns)) give_up("a transfer failed");
  std::map<std::string, double> raw, ms;
  for (const auto& way : bench->ways()) {
    ms[way.what] = quantile(way.seconds, 0.5) * 1e3;
    if (way.raw) raw[way.what.substr(0, 4)] = ms[way.what];
  }
  for (const auto& way : bench->ways()) {
    report.note(fmt::format("{} workers: {}: {:.1f} ms; processor {:.3f} s/GB", workers, way.what,
                            ms[way.what], way.cpu / (bench->bytes() * turns) * 1e9));
    if (way.raw) continue;
    const auto ratio = quantile(way.ratios, 0.5), time = ms[way.what];
    Row row{.what = fmt::format("{} workers: {}", workers, way.what),
            .result = 1e3 / time * static_cast<double>(workers),
            .unit = "models/s",
            .baseline = 1e3 / time * static_cast<double>(workers) / ratio,
            .baseline_is = "raw TCP"};
    row.bar_on_ratio = true;
    if (way.what == "push and fold, hub") row.bar = bars.push;
    if (way.what == "pull, hub") row.bar = bars.pull;
    report.add(std::move(row));
  }
#ifdef SOUK_ZMQ
  for (const std::string what : {"push and fold", "pull"}) {
    if (!ms.contains(what + ", hub") || !ms.contains(what + ", ZeroMQ")) continue;
    Row row{.what = fmt::format("{} workers: {}, hub against ZeroMQ", workers, what),
            .result = 1e3 / ms[what + ", hub"],
            .unit = "1/s",
            .baseline = 1e3 / ms[what + ", ZeroMQ"],
            .baseline_is = "ZeroMQ",
            .bar = 1};
    row.bar_on_ratio = true;
    report.add(std::move(row));
  }
#endif
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"turns", "workers", "only"});
  const auto turns = static_cast<int>(flags.number("turns", 15));
  Report report(fmt::format("push_bench: a model of 19.9 MB to a hub and back, {} turns", turns),
                flags);
  std::size_t i = 0;
  for (const std::size_t workers : {1, 4, 8}) {
    const auto bar = i++;
    if (const auto only = flags.number("workers", 0); only != 0 && only != workers) continue;
    measure(report, workers, turns, {kPushBars[bar], kPullBars[bar]}, flags.text("only", ""));
  }
#ifndef SOUK_ZMQ
  report.note("built without libzmq: nothing is measured against ZeroMQ (apt install libzmq3-dev)");
#endif
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
