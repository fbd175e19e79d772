#include "hub/service.h"

#include <fmt/format.h>

#include <csignal>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/listen.h"

namespace souk::cli {
namespace {

constexpr std::size_t kScratchBytes = std::size_t{64} << 30;

struct Hub {
  Listen listen{"127.0.0.1", 7071};
  std::string secret_file, certificate, key;
  bool plain_http = false;
  std::optional<Memory> most_body;
  hub::ServiceOptions options;
};

base::Result<> read_files(Hub& o) {
  SOUK_ASSIGN(const auto secret,
              base::read_file(o.secret_file, "--secret-file takes a file that this user may read"));
  o.options.secret = base::trim(secret);
  if (o.options.secret.size() < hub::kLeastSecret)
    return usage(fmt::format("--secret-file: '{}' holds {} characters", printable(o.secret_file),
                             o.options.secret.size()),
                 fmt::format("at least {}: head -c 32 /dev/urandom | base64 > {}",
                             hub::kLeastSecret, printable(o.secret_file)));
  if (o.certificate.empty() != o.key.empty())
    return usage("--tls-cert and --tls-key need each other", "give both, or neither");
  if (!o.certificate.empty()) {
    auto& tls = o.options.tls.emplace();
    SOUK_ASSIGN(tls.certificate_pem,
                base::read_file(o.certificate, "--tls-cert takes a file that this user may read"));
    SOUK_ASSIGN(tls.key_pem,
                base::read_file(o.key, "--tls-key takes a file that this user may read"));
  }
  const auto& address = o.options.address;
  const bool here = address.starts_with("127.") || address == "::1";
  if (!here && !o.options.tls && !o.plain_http)
    return usage(fmt::format("the secret would cross the network in the clear to {}", address),
                 "give --tls-cert and --tls-key, or --plain-http behind a proxy of yours");
  return {};
}

Result<> serve(Context& c, Hub& o) {
  o.options.address = o.listen.address;
  o.options.port = o.listen.port;
  SOUK_TRY(read_files(o));
  if (o.most_body) o.options.most_body_bytes = static_cast<std::size_t>(o.most_body->mib) << 20;
  if (!o.options.staging.spill.folder.empty())
    o.options.staging.most_bytes = o.options.staging.most_in_all = kScratchBytes;
  if (o.options.workers.most < 1 || o.options.workers.most > 256)
    return usage(fmt::format("--workers: {} is too few or too many", o.options.workers.most),
                 "1 to 256");
  // Blocked before any thread starts, so that every thread inherits it and sigwait gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  SOUK_ASSIGN(const auto service, hub::Service::start(o.options));
  const bool v6 = o.options.address.contains(':');
  c.print(fmt::format("souk: hub listening on {}://{}{}{}:{}\n", o.options.tls ? "https" : "http",
                      v6 ? "[" : "", o.options.address, v6 ? "]" : "", service->port()));
  int signal = 0;
  sigwait(&signals, &signal);
  return {};
}

}  // namespace

Command hub_command() {
  auto o = std::make_shared<Hub>();
  Command out{.name = "hub",
              .summary = "fold the updates of trainings in a process of its own",
              .examples = {"hub --store memory --secret-file hub.secret",
                           "hub --store redis://127.0.0.1:6379/0 --secret-file hub.secret",
                           "hub --store postgresql://souk@db/souk --secret-file hub.secret "
                           "--listen 0.0.0.0:7071 --tls-cert cert.pem --tls-key key.pem"}};
  out.common = Common::none;
  out.options = {
      required(flag("--store URL", "memory, redis://HOST:PORT/DB or postgresql://...",
                    o->options.store)),
      required(flag("--secret-file FILE", "what callers must know, at least 16 characters",
                    o->secret_file)),
      flag("--listen ADDRESS:PORT", "default 127.0.0.1:7071; port 0: any free one", o->listen),
      flag("--tls-cert FILE", "certificate to serve with, PEM", o->certificate),
      flag("--tls-key FILE", "its key, PEM", o->key),
      flag("--plain-http", "no TLS off this computer, behind a proxy of yours", o->plain_http),
      flag("--workers N", "the most that fold at once, default 8", o->options.workers.most),
      flag("--most SIZE", "of one request, and of an update without --scratch; default 256M",
           o->most_body),
      flag("--scratch FOLDER", "where updates larger than 64M lie, of any size; 64G in all",
           o->options.staging.spill.folder)};
  out.details =
      "Any number of hubs may share one Redis or PostgreSQL: each update is folded once, into the "
      "newest parameters, and none is lost. A market that was told of them with `souk serve --hub` "
      "sends its workers here. SIGTERM ends it.";
  out.run = [o](Context& c) { return serve(c, *o); };
  return out;
}

}  // namespace souk::cli
