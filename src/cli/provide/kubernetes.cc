#include "provider/kubernetes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/provide/kubeconfig.h"
#include "cli/provide/provide.h"
#include "wire/yaml.h"

// `souk provide kubernetes`.

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

struct KubernetesFlags {
  ProvideOptions pool;
  provider::KubernetesSettings kubernetes;
  std::optional<base::Credits> cost;
  Memory memory{2 * 1024};
  std::string config, context;
  std::string space;
};

// A file of the pool's own, which only its owner can read: secrets of a kubeconfig are given to
// libcurl as files.
Result<std::string> keep(const std::string& folder, const std::string& name,
                         std::string_view text) {
  std::error_code error;
  fs::create_directories(folder, error);
  const auto path = folder + "/" + name;
  const base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failed("cannot write " + path, "choose another place with --state");
  return path;
}

constexpr const char* kInPod = "/var/run/secrets/kubernetes.io/serviceaccount";

// As kubectl does: --kubeconfig, KUBECONFIG, the pod that this runs in, ~/.kube/config.
Result<> find_cluster(Context& c, KubernetesFlags& o) {
  auto& s = o.kubernetes;
  auto path = o.config.empty() ? c.env()("KUBECONFIG").value_or("") : o.config;
  const auto host = c.env()("KUBERNETES_SERVICE_HOST");
  if (path.empty() && host && fs::exists(kInPod)) {
    s.server =
        fmt::format("https://{}:{}", *host, c.env()("KUBERNETES_SERVICE_PORT").value_or("443"));
    s.token_file = fmt::format("{}/token", kInPod);
    s.ca_file = fmt::format("{}/ca.crt", kInPod);
    if (o.space.empty()) {
      SOUK_ASSIGN(const auto text, base::read_file(fmt::format("{}/namespace", kInPod), ""));
      s.namespace_ = base::trim(text);
    }
    return {};
  }
  if (path.empty()) path = c.env()("HOME").value_or("") + "/.kube/config";
  SOUK_ASSIGN(const auto text, base::read_file(path, "name one with --kubeconfig"));
  SOUK_ASSIGN(const auto found, read_kubeconfig(text, path, o.context));
  s.server = found.server;
  if (o.space.empty() && !found.namespace_.empty()) s.namespace_ = found.namespace_;
  SOUK_ASSIGN(const auto pools, pools_folder(c, o.pool.state));
  const auto folder =
      pools + "/" + provider::clean_name(o.pool.pool.empty() ? "kubernetes" : o.pool.pool);
  const auto file = [&](const KubeSecret& secret, const char* name) -> Result<std::string> {
    if (secret.data.empty()) return secret.file;
    return keep(folder, name, secret.data);
  };
  SOUK_ASSIGN(s.ca_file, file(found.ca, "cluster-ca.pem"));
  SOUK_ASSIGN(s.cert_file, file(found.cert, "client.pem"));
  SOUK_ASSIGN(s.key_file, file(found.key, "client-key.pem"));
  SOUK_ASSIGN(s.token_file, file(found.token, "token"));
  return {};
}

}  // namespace

Command provide_kubernetes_command() {
  auto o = std::make_shared<KubernetesFlags>();
  Command out{
      .name = "kubernetes",
      .summary = "lend pods of a Kubernetes cluster, one agent a pod",
      .examples = {"provide kubernetes --namespace souk --image registry/souk:1 --max 4",
                   "provide kubernetes --image registry/souk:1 --gpus 1 --max 2 --dry-run"}};
  out.options = {
      flag("--image IMAGE", "a container image with souk in it: dist/Containerfile",
           o->kubernetes.image),
      flag("--namespace NAME", "where; default: the kubeconfig's", o->space),
      flag("--kubeconfig FILE", "default: KUBECONFIG, or ~/.kube/config", o->config),
      flag("--context NAME", "of the kubeconfig; default: its current one", o->context),
      flag("--cores N", "of one pod; default 1", o->kubernetes.cores),
      flag("--memory SIZE", "of one pod; default 2G. Two thirds of it are lent", o->memory),
      flag("--gpus N", "of one pod, as nvidia.com/gpu; default 0", o->kubernetes.gpus),
      flag("--node KEY=VALUE", "only on nodes with this label", o->kubernetes.node_selector),
      flag("--privileged", "for the sandbox, where pods may make no user namespaces",
           o->kubernetes.privileged),
      flag("--cost CREDITS", "what an hour of one pod costs you; default 0", o->cost)};
  for (auto& option : pool_flags(o->pool)) out.options.push_back(std::move(option));
  out.details =
      "Requests and limits of a pod are what it lends; an eviction gives leases a minute to move "
      "on. "
      "docs/providers.md says which rights the account needs.";
  out.run = [o](Context& c) -> Result<> {
    auto& s = o->kubernetes;
    if (s.image.empty())
      return usage("pods need an image with souk in it", "--image REGISTRY/souk:1");
    if (s.cores < 1 || s.gpus < 0 || o->memory.mib < 256)
      return usage("a pod needs a core and 256M of memory", "see --cores and --memory");
    SOUK_TRY(find_cluster(c, *o));
    if (!o->space.empty()) s.namespace_ = o->space;
    s.memory_mib = o->memory.mib;
    s.lifetime = o->pool.lifetime;
    s.hourly = o->cost.value_or(base::Credits());
    const provider::MachineKind kind{.where = s.namespace_,
                                     .cores = s.cores,
                                     .memory_mib = s.memory_mib,
                                     .gpus = s.gpus,
                                     .hourly = s.hourly};
    return provide(c, o->pool, {.settings = {.kubernetes = s}, .kinds = {kind}});
  };
  return out;
}

}  // namespace souk::cli
