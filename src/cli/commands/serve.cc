#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/datasets.h"
#include "cli/commands/listen.h"
#include "journal/open.h"
#include "server/core/server.h"

namespace souk::cli {
namespace {

struct Serve {
  std::string data;
  bool memory = false;
  Listen listen{"127.0.0.1", 7070};
  std::optional<Memory> blobs;
  server::Options options;
};

Result<> serve(const Context& c, Serve& o) {
  if (o.memory && !o.options.journal.empty())
    return usage("--memory and --journal do not go together", "--memory is --journal memory:");
  if (o.memory) o.options.journal = "memory:";
  SOUK_ASSIGN(const bool survives, journal::survives(o.options.journal));
  if (o.data.empty() && survives)
    return usage("`souk serve` needs --data FOLDER",
                 "the market is kept there; --memory runs one that forgets");
  if (o.options.requests_per_second < 0)
    return usage(fmt::format("--requests is {}", o.options.requests_per_second),
                 "1 or more a second, or 0 for no limit");
  o.options.address = o.listen.address;
  o.options.port = o.listen.port;
  o.options.data = o.data;
  if (o.blobs) o.options.blob_bytes = static_cast<std::uint64_t>(o.blobs->mib) << 20;
  o.options.built_in_data = fetcher(c);
  o.options.python_package = [&c] { return sdk_folder(c.env()); };
  SOUK_TRY(server::serve(o.options));
  return {};
}

}  // namespace

Command serve_command() {
  auto o = std::make_shared<Serve>();
  Command out{.name = "serve",
              .summary = "run a market",
              .examples = {"serve --data ./market", "serve --data ./market --listen 0.0.0.0:7070",
                           "serve --data ./market --tls-cert cert.pem --tls-key key.pem",
                           "serve --data ./market --parameters redis://127.0.0.1:6379/0 "
                           "--hub http://127.0.0.1:7071 --hub-secret-file hub.secret"}};
  auto& s = o->options;
  out.common = Common::none;
  out.options = {
      flag("--data FOLDER", "where the market is kept; made if absent", o->data),
      flag("--listen ADDRESS:PORT", "default 127.0.0.1:7070; port 0: any free one", o->listen),
      flag("--journal URL", "sqlite:PATH or memory:; default: a file in the folder", s.journal),
      flag("--memory", "keep nothing on disk: --journal memory:", o->memory),
      flag("--tls-cert FILE", "certificate to serve with, PEM", s.tls_certificate),
      flag("--tls-key FILE", "its key, PEM", s.tls_key),
      flag("--self-signed", "make a certificate (the default off this computer)", s.self_signed),
      flag("--plain-http", "no TLS off this computer, behind a proxy of yours", s.plain_http),
      flag("--threads N", "for connections, default 2", s.threads),
      flag("--blobs SIZE", "of files kept for jobs, default 50G", o->blobs),
      flag("--mechanisms FOLDER", "programs that may clear classes (docs/mechanisms.md)",
           s.mechanisms),
      flag("--parameters URL", "of trainings: memory (default), redis://..., postgresql://...",
           s.parameters),
      flag("--hub URL", "a `souk hub` on the same parameters, for workers to use; may be repeated",
           s.hubs),
      flag("--hub-secret-file FILE", "what the hubs were started with", s.hub_secret_file),
      flag("--challenge-every TIME", "machines prove their speed so often, default 6h; 0s: never",
           s.challenge_every),
      flag("--requests N", "a second, of one account and of one address, default 1000; 0: any",
           s.requests_per_second),
      flag("--round TIME", "time between clearings, default 5s", s.round),
      flag("--lab-limit TIME", "of one experiment (docs/lab.md), default 2m; 0s: none are run",
           s.lab_limit),
      flag("--snapshot-every TIME", "default 10m", s.snapshot_every),
      flag("--log-level LEVEL", "debug, info, warning, error", s.log_level),
      flag("--metrics-public", "answer /metrics to everybody", s.metrics_public)};
  out.details =
      "The first account made from this computer becomes the market's operator. SIGTERM ends it; "
      "what was acknowledged survives any end.";
  out.run = [o](Context& c) { return serve(c, *o); };
  return out;
}

}  // namespace souk::cli
