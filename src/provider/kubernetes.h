#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "provider/http.h"
#include "provider/provider.h"

namespace souk::provider {

struct KubernetesSettings {
  std::string server;  // "https://10.0.0.1:6443"
  std::string namespace_ = "default";
  std::string image;
  std::int32_t cores = 1;
  std::int64_t memory_mib = 2048;
  std::int32_t gpus = 0;  // nvidia.com/gpu
  std::map<std::string, std::string> node_selector;
  bool privileged = false;  // What bubblewrap needs where pods have no user namespaces.
  Credits hourly;
  Duration lifetime = base::hours(4);
  // Files. Tokens change while a pod lives, so they are read at each call.
  std::string token_file, ca_file, cert_file, key_file;
  SOUK_FIELDS(KubernetesSettings, server, namespace_, image, cores, memory_mib, gpus, node_selector,
              privileged, hourly, lifetime, token_file, ca_file, cert_file, key_file)
};

// One agent a pod, by plain REST. A pod's name is its intent, so that a request that arrives twice
// is one pod. An eviction is a SIGTERM with a minute to drain.
class Kubernetes final : public Provider {
 public:
  using Caller = std::function<Result<HttpAnswer>(const HttpCall&)>;
  Kubernetes(KubernetesSettings settings, MachineName pool, Caller caller = call_http)
      : settings_(std::move(settings)), pool_(std::move(pool)), caller_(std::move(caller)) {}

  Result<std::vector<MachineKind>> kinds() override;
  Result<std::string> start(const StartRequest& request) override;
  Result<std::vector<ListedMachine>> list(const std::vector<std::string>& known) override;
  Result<> stop(const std::string& handle, bool hard) override;
  [[nodiscard]] Delays delays() const override { return {base::seconds(30), base::minutes(1)}; }

  [[nodiscard]] std::string pod(const StartRequest& request) const;  // JSON.

 private:
  Result<HttpAnswer> call(const std::string& method, const std::string& path,
                          const std::string& body = {});
  [[nodiscard]] std::string pods_path() const;

  const KubernetesSettings settings_;
  const MachineName pool_;
  const Caller caller_;
  std::set<std::string> over_;  // Pods that ended, to be removed when the journal knows.
};

}  // namespace souk::provider
