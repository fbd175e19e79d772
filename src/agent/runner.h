#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "agent/clocks.h"
#include "agent/coach.h"
#include "agent/environment.h"
#include "agent/environment_builder.h"
#include "agent/fetch/web_inputs.h"
#include "agent/gpu/board.h"
#include "agent/gpu/meter.h"
#include "agent/image/images.h"
#include "agent/limits/cores.h"
#include "agent/limits/gpu_claims.h"
#include "agent/link.h"
#include "agent/native_trainer.h"
#include "agent/peers/chunk_server.h"
#include "agent/probe/gpus.h"
#include "agent/sandbox/sandbox.h"
#include "agent/trees.h"
#include "base/time.h"
#include "blob/manifest.h"
#include "blob/store.h"
#include "wire/api/batch.h"
#include "wire/api/heartbeat.h"
#include "wire/api/lease.h"
#include "wire/api/usage.h"

namespace souk::agent {

// What all leases of a machine share. Outlives its runners.
struct Workshop {
  LinkOptions link;
  std::string folder;  // Of logs under way.
  std::unique_ptr<blob::Store> store;
  std::unique_ptr<ChunkServer> sharing;  // Of the store; empty: nothing is shared.
  std::unique_ptr<Trees> trees;
  std::map<std::string, std::unique_ptr<Sandbox>, std::less<>> sandboxes;
  std::string sandbox = "bubblewrap";  // For jobs without an image.
  NativeTrainer torch;
  std::optional<Trees::Use> torch_tree;                // Of a trainer that the market gave.
  std::int64_t scratch_bytes = std::int64_t{1} << 30;  // Of one lease.
  std::int64_t disk_scratch_bytes = 0;                 // Of one lease that asks for more.
  std::string scratch_folder;                          // Where that lies.
  std::unique_ptr<Gpus> gpus = std::make_unique<Gpus>(0);
  std::unique_ptr<GpuMeter> gpu_meter = std::make_unique<GpuMeter>("");
  std::unique_ptr<GpuBoard> gpu_board = cuda_board();  // What shows what they can do.
  CoreClaims cores;      // That no other agent of the machine lends; none: they are shared.
  GpuClaims gpu_claims;  // The same of GPUs.
  bool internet = false;
  bool direct = true;    // Other machines of a gang may connect to this one, while it joins.
  double cpu_share = 1;  // Of the cores' time, where control groups can limit it.
  // How long to go on reporting what happened when the market cannot be reached.
  base::Duration grace = base::minutes(10);
  std::unique_ptr<Images> images;               // Null: no registry is allowed.
  std::unique_ptr<EnvironmentBuilder> builder;  // Null: jobs bring what was built before.
  std::unique_ptr<WebInputs> web_inputs;        // Null: no host is allowed.
  std::vector<LentEnvironment> environments;  // Beside the system's packages; the first that does.
  const base::Clock* clock = &kWallClock;     // Of drains and checkpoints.
  std::function<void(const std::string& line)> tell = [](const std::string&) {};
};

// One lease from its grant to its end, on a thread of its own: fetches the files, runs the program
// in a sandbox, sends its output, keeps its checkpoints, collects its results and reports. Whatever
// goes wrong, an exception too, ends this lease alone, in a report, or in silence when nobody can
// be reached.
class Runner {
 public:
  // `lease` has a task and is granted.
  Runner(wire::Lease lease, Workshop& workshop);
  ~Runner();  // Ends the program, reports nothing more, joins.
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // For the next heartbeat.
  [[nodiscard]] wire::LeaseReport held() const;
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool succeeded() const { return succeeded_; }
  // Finish, checkpoint and report until `until`, at the latest.
  void drain(base::Time until, std::string reason);
  // The lease is no longer ours: end at once, without a report.
  void stop() { stopped_ = true; }
  // The market says that the lease runs: of a gang, all its workers could start.
  void begun() { begun_ = true; }
  [[nodiscard]] const wire::Lease& lease() const { return lease_; }

 private:
  struct Place;  // What a run holds in its hands.

  void run();
  base::Result<> work();
  base::Result<> prepare(Place& place);
  base::Result<blob::Manifest> fetch(Place& place, const std::string& name, std::string_view what);
  base::Result<> add_input(Place& place, const wire::BatchInput& input);
  base::Result<Trees::Use> input_tree(Place& place, const wire::BatchInput& input);
  base::Result<> add_environment(Place& place);
  base::Result<Trees::Use> environment_tree(Place& place);
  base::Result<> add_image(Place& place);
  Images::Watch watch();
  base::Result<> open_log(Place& place);
  base::Result<> fill_scratch(Place& place);
  static base::Failure not_lent(Place& place, std::string what);
  base::Result<> add_trainer(Place& place);
  base::Result<> lend_trainer(Place& place);
  void start_coach(Place& place);
  base::Result<> begin(Place& place);
  // runner_network.cc
  base::Result<> add_network(Place& place);
  base::Result<> add_host_file(Place& place);
  base::Result<> gather(Place& place);
  base::Result<> add_terminal(Place& place);
  void offer_lines(Place& place);
  [[nodiscard]] bool is_talked_to(Place& place) const;
  [[nodiscard]] bool is_idle(Place& place) const;
  // runner_volumes.cc
  base::Result<> fetch_volumes(Place& place);
  base::Result<> make_volumes(Place& place);
  void save_volumes(Place& place);
  base::Result<> await(Place& place, const std::function<base::Result<bool>()>& done);
  void attend(Place& place);
  void tell_started();
  void checkpoint(Place& place);
  void look_at_usage(Place& place);
  void finish(Place& place);
  base::Result<std::string> collect(Place& place);
  void report(wire::ReportedOutcome outcome, std::string detail,
              std::optional<std::string> result = {}, std::optional<wire::Fault> fault = {});
  [[nodiscard]] std::string path(std::string_view action) const;
  // Of /work: on disk where the job asks for more than there is in memory.
  [[nodiscard]] bool on_disk() const;
  [[nodiscard]] std::int64_t scratch_bytes() const;
  void doing(std::string text);
  [[nodiscard]] base::Time now() const { return shop_.clock->now(); }
  [[nodiscard]] bool draining() const;
  [[nodiscard]] base::Time drain_until() const;
  base::Result<blob::Digest> save(const std::string& folder, std::vector<std::string> only);

  const wire::Lease lease_;
  Workshop& shop_;
  std::optional<Link> link_;  // These two: of the thread.
  bool started_ = false;      // The market knows that it runs.
  std::atomic<bool> stopped_ = false, finished_ = false, succeeded_ = false, begun_ = false;
  mutable std::mutex mutex_;  // Guards what follows.
  std::string doing_ = "preparing";
  std::optional<wire::Usage> usage_;
  std::int64_t received_ = 0, sent_ = 0;  // Files.
  std::int64_t network_received_ = 0, network_sent_ = 0;
  std::optional<base::Time> drain_until_;
  std::string drain_reason_;
  std::thread thread_;
};

}  // namespace souk::agent
