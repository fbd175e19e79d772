#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "blob/s3/address.h"
#include "cli/commands/commands.h"
#include "cli/commands/datasets.h"
#include "cli/commands/listen.h"
#include "cli/shell/config_file.h"
#include "journal/open.h"
#include "net/aws/key.h"
#include "server/core/server.h"

namespace souk::cli {
namespace {

constexpr base::Credits kMostBonus{1'000'000'000'000};
constexpr double kMostSlack = 1'000;

struct Serve {
  std::string data;
  base::Credits bonus{5'000'000};
  bool memory = false;
  Listen listen{"127.0.0.1", 7070};
  std::vector<std::string> blobs;  // A size, an address, or both.
  std::optional<Memory> cache, reserve;
  std::string config;
  bool print_config = false;
  std::vector<Option> flags;  // All of them, to be printed.
  server::Options options;
};

std::uint64_t bytes_of(Memory size) { return static_cast<std::uint64_t>(size.mib) << 20; }

// --blobs is how much, or where, and may be given once for each.
Result<> read_blobs(Serve& o) {
  for (const auto& text : o.blobs) {
    if (blob::is_s3(text)) {
      SOUK_TRY(blob::parse_s3(text));
      if (!o.options.blobs.empty()) return usage("--blobs names two buckets", "give one");
      o.options.blobs = text;
    } else {
      SOUK_ASSIGN(const auto size, base::located(wire::parse_memory(text), "--blobs"));
      if (o.options.blob_bytes) return usage("--blobs gives two sizes", "give one");
      o.options.blob_bytes = bytes_of(size);
    }
  }
  if (o.cache && o.options.blobs.empty())
    return usage("--blob-cache is of copies of a bucket", "give --blobs s3://BUCKET too");
  return {};
}

Result<> serve(const Context& c, Serve& o) {
  if (o.print_config) {
    c.print_raw(config_text(o.flags));
    return {};
  }
  // What was freed goes back to the system: threads that each keep theirs, and a threshold that the
  // C library raises to the largest piece it has seen, would hold a model's size beside the models.
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  if (o.memory && !o.options.journal.empty())
    return usage("--memory and --journal do not go together", "--memory is --journal memory:");
  if (o.memory) o.options.journal = "memory:";
  SOUK_ASSIGN(const auto reach, journal::reach_of(o.options.journal));
  if (o.data.empty() && reach != journal::Reach::process)
    return usage("`souk serve` needs --data FOLDER",
                 "the market is kept there; --memory runs one that forgets");
  if (o.options.requests_per_second < 0)
    return usage(fmt::format("--requests is {}", o.options.requests_per_second),
                 "1 or more a second, or 0 for no limit");
  if (!(o.options.challenge_slack >= 1 && o.options.challenge_slack <= kMostSlack))
    return usage(fmt::format("--challenge-slack is {}", o.options.challenge_slack),
                 fmt::format("1 to {}: 2 gives machines twice the time", kMostSlack));
  o.options.address = o.listen.address;
  o.options.port = o.listen.port;
  o.options.data = o.data;
  if (o.bonus > kMostBonus)
    return usage(fmt::format("--signup-bonus is {}", to_string(o.bonus)),
                 fmt::format("0 to {}", to_string(kMostBonus)));
  o.options.signup_bonus = o.bonus;
  SOUK_TRY(read_blobs(o));
  if (o.cache) o.options.blob_cache_bytes = bytes_of(*o.cache);
  if (o.reserve) o.options.reserve_bytes = bytes_of(*o.reserve);
  o.options.aws_key = [&c] { return net::aws_key(c.env()); };
  o.options.built_in_data = fetcher(c);
  o.options.python_package = [&c] { return sdk_folder(c.env()); };
  o.options.usual_bundle = agent_bundle(c.env());
  o.options.usual_trainer = trainer_archive(c.env());
  SOUK_TRY(server::serve(o.options));
  return {};
}

// What is kept for how long, and what is shown to whom.
std::vector<Option> kept_and_shown(server::Options& s) {
  return {flag("--snapshot-every TIME", "default 10m", s.snapshot_every),
          flag("--keep-journal TIME", "of events; older ones are dropped; default: all are kept",
               s.keep_journal),
          flag("--archive FOLDER", "where events go that are dropped; default: nowhere", s.archive),
          flag("--keep-telemetry TIME",
               "what leases used and what forecasts came to, by whole days; default 90d",
               s.keep_telemetry),
          flag("--log-level LEVEL", "debug, info, warning, error", s.log_level),
          flag("--public-url URL",
               "the address that people know it by; default: as they reached it", s.public_url),
          flag("--bundle FILE",
               "souk for those who lend with one line; default: beside this program", s.bundle),
          flag("--trainer FILE",
               "the built-in trainer for lenders who have none; default: beside this program; "
               "`none` gives none",
               s.trainer),
          flag("--metrics-public", "answer /metrics to everybody", s.metrics_public)};
}

// Where the parameters of trainings are, and who folds them.
std::vector<Option> of_trainings(server::Options& s) {
  return {flag("--parameters URL", "of trainings: memory (default), redis://..., postgresql://...",
               s.parameters),
          flag("--hub URL",
               "a `souk hub` on the same parameters, for workers to use; may be repeated", s.hubs),
          flag("--hub-secret-file FILE", "what the hubs were started with", s.hub_secret_file)};
}

// What machines have to show.
std::vector<Option> of_challenges(server::Options& s) {
  return {flag("--challenge-every TIME",
               "machines prove what they have so often, default 6h; 0s: never", s.challenge_every),
          flag("--challenge-slack N",
               "so many times as long may that take, default 1; more where all machines are busy",
               s.challenge_slack)};
}

}  // namespace

Command serve_command() {
  auto o = std::make_shared<Serve>();
  Command out{.name = "serve",
              .summary = "run a market",
              .examples = {
                  "serve --data ./market",
                  "serve --config /etc/souk/market.yaml",
                  "serve --data ./market --tls-cert cert.pem --tls-key key.pem",
                  "serve --data ./market --blobs 's3://souk/files?region=eu-central-1'",
              }};
  auto& s = o->options;
  out.common = Common::none;
  out.options = {
      flag("--config FILE", "settings as YAML; flags come first (docs/operating.md)", o->config),
      flag("--print-config", "print all settings as such a file, and end", o->print_config),
      flag("--data FOLDER", "where the market is kept; made if absent", o->data),
      flag("--listen ADDRESS:PORT", "default 127.0.0.1:7070; port 0: any free one", o->listen),
      flag("--journal URL", "sqlite:PATH, postgres://... or memory:; default: a file in the folder",
           s.journal),
      flag("--memory", "keep nothing on disk: --journal memory:", o->memory),
      flag("--tls-cert FILE", "certificate to serve with, PEM", s.tls_certificate),
      flag("--tls-key FILE", "its key, PEM", s.tls_key),
      flag("--self-signed", "make a certificate (the default off this computer)", s.self_signed),
      flag("--plain-http", "no TLS off this computer, behind a proxy of yours", s.plain_http),
      flag("--threads N", "for connections, default 2", s.threads),
      flag("--blobs SIZE|URL",
           "of files kept for jobs, default 50G or half of the free disk; where they are: "
           "s3://BUCKET/PREFIX (docs/operating.md), default: in the folder",
           o->blobs),
      flag("--blob-cache SIZE", "of copies in the folder when they are in a bucket", o->cache),
      flag("--reserve SIZE", "of the disk, kept free for the journal; default 1G or 5% of it",
           o->reserve),
      flag("--budget NAME=EACH[/ALL]",
           "what one account, and all, may use: blob-bytes=2G/50G; may be repeated", s.budgets),
      flag("--trusted-proxy ADDRESS[/BITS]",
           "a proxy whose X-Forwarded-For says who sent a request; may be repeated",
           s.trusted_proxies),
      flag("--mechanisms FOLDER", "programs that may clear classes (docs/mechanisms.md)",
           s.mechanisms),
      flag("--requests N", "a second, of one account and of one address, default 1000; 0: any",
           s.requests_per_second),
      flag("--signup-bonus CREDITS",
           "of a new market: what newcomers begin with, for jobs only, default 5; 0: nothing",
           o->bonus),
      flag("--round TIME", "time between clearings, default 5s", s.round),
      flag("--lab-limit TIME", "of one experiment (docs/lab.md), default 2m; 0s: none are run",
           s.lab_limit)};
  std::ranges::move(of_challenges(s), std::back_inserter(out.options));
  std::ranges::move(of_trainings(s), std::back_inserter(out.options));
  std::ranges::move(kept_and_shown(s), std::back_inserter(out.options));
  out.details =
      "The first account made from this computer becomes the market's operator. SIGTERM ends it; "
      "what was acknowledged survives any end.";
  out.reads_config = true;
  o->flags = out.options;
  out.run = [o](Context& c) { return serve(c, *o); };
  return out;
}

}  // namespace souk::cli
