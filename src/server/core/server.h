#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/credits.h"
#include "base/result.h"
#include "base/time.h"
#include "net/aws/key.h"

namespace souk::job {
struct BuiltInData;  // job/train/training_data.h
}

namespace souk::server {

struct Options {
  std::string data;                   // Folder of the market; made if absent.
  std::string address = "127.0.0.1";  // To listen on.
  std::uint16_t port = 7070;          // 0: any free one.
  // URL of the journal (journal/open.h); empty: a file in the folder. With "memory:" nothing of the
  // market survives: for benchmarks and tests.
  std::string journal = {};
  std::string tls_certificate, tls_key;  // PEM files.
  bool self_signed = false;  // Make a certificate in the data folder. The default off loopback.
  bool plain_http = false;   // Off loopback, without TLS, for those behind a proxy of their own.
  int threads = 2;           // For I/O.
  base::Duration round = base::seconds(5);
  base::Credits signup_bonus = {};  // Of a new market (CoreOptions).
  base::Duration snapshot_every = base::minutes(10);
  // Older events leave the journal, behind a base state (record/retention.h); 0: all are kept.
  base::Duration keep_journal = {};
  std::string archive = {};  // A folder for them, made if absent; empty: they are gone.
  base::Duration keep_telemetry = base::days(90);  // What leases used, what forecasts came to.
  std::string log_level = "info";
  bool metrics_public = false;      // Else /metrics answers loopback and operators only.
  int requests_per_second = 1'000;  // Of one account, and of one address; 0: no limit.
  // Idle machines prove what they claim, at random times, this often on the average; 0: never.
  base::Duration challenge_every = base::hours(6);
  double challenge_slack = 1;  // So many times as long may what is asked take.
  // Where files are: s3://... (blob/s3/address.h), with the key that it is read with; empty: in the
  // folder.
  std::string blobs = {};
  std::function<base::Result<net::AwsKey>()> aws_key = {};
  std::optional<std::uint64_t> blob_cache_bytes = {};  // Of copies in the folder.
  // Of files. When it is full, what nobody used for longest goes. Absent: 50 GiB, or half
  // of what the disk has for them; in a bucket any.
  std::optional<std::uint64_t> blob_bytes = {};
  // What files and logs leave free on the disk, so that the journal has room. Absent: 1 GiB, or a
  // twentieth of the disk.
  std::optional<std::uint64_t> reserve_bytes = {};
  // ADDRESS[/BITS] of proxies: of those alone X-Forwarded-For is believed, which says who sent a
  // request (net/address.h).
  std::vector<std::string> trusted_proxies = {};
  std::vector<std::string> budgets = {};  // Limits of members: NAME=EACH[/ALL] (core/budgets.h).
  std::string parameters = "memory";      // Of trainings: a URL of hub/stores/stores.h.
  std::string mechanisms = {};            // A folder with programs that may clear classes.
  // Addresses of hubs (hub/remote.h) on the same parameters, which workers use instead of this
  // server, and the file with the secret that they were started with.
  std::vector<std::string> hubs = {};
  std::string hub_secret_file = {};
  // For jobs that are prepared here (server/files/prepare.h): where built-in data and the Python
  // package lie. Absent: there is none.
  std::function<base::Result<std::string>(const job::BuiltInData& data)> built_in_data = {};
  std::function<base::Result<std::string>()> python_package = {};
  // What people fetch who want to lend and have no souk (server/files/agent_bundle.h): a file that
  // must be there; empty: the one that came with this program, if any (`usual_bundle`).
  std::string bundle = {};
  std::string usual_bundle = {};
  // The same of what brings the built-in trainer to lenders (server/files/trainer_file.h).
  std::string trainer = {};
  std::string usual_trainer = {};
  // The address that people know the market by; empty: whatever each request was sent to.
  std::string public_url = {};
  // Of one experiment that is computed here for somebody (server/lab/lab_runs.h); 0: none are.
  base::Duration lab_limit = base::minutes(2);
};

// A whole market server in this process: journal, core, HTTP. start() returns when it listens.
class Server {
 public:
  static base::Result<std::unique_ptr<Server>> start(const Options& options);
  ~Server();  // stop()

  [[nodiscard]] std::string url() const;
  // Where a browser on this computer finds the console; empty when it was built without one.
  [[nodiscard]] std::string console_url() const;
  [[nodiscard]] std::uint16_t port() const;
  // The certificate's fingerprint, for clients to pin; empty without TLS.
  [[nodiscard]] const std::string& fingerprint() const;
  // What makes the first account from elsewhere; empty when there is an account already.
  [[nodiscard]] const std::string& bootstrap() const;
  // Answers what is in flight, commits it, and closes the journal.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// `souk serve`: runs a server until SIGTERM or SIGINT. Prints a line with its address when ready.
base::Result<> serve(const Options& options);

}  // namespace souk::server
