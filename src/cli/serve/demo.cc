#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <thread>

#include "base/check.h"
#include "base/hash.h"
#include "cli/commands/commands.h"
#include "cli/serve/demo_process.h"
#include "cli/serve/demo_server.h"
#include "cli/serve/journal.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "wire/api/account.h"
#include "wire/api/ledger.h"
#include "wire/api/machine.h"
#include "wire/api/system.h"

// A whole market on this machine, and a check that it does what it promises: every step that does
// not go as the story says is an error. Every process is this program, as people would start it.
//
//   ada lends desk, bob lends tower and attic, which are slower. cleo trains LeNet on MNIST on all
//   three. Half way through the first epoch tower loses power, and ada's garage joins. The model
//   reaches its target, everybody is paid for the updates that were accepted.

namespace souk::cli {
namespace {

using base::Credits;
using namespace base::literals;

std::atomic<bool> interrupted = false;  // By Ctrl-C; ends the demo in order.

constexpr auto kStoryWithin = base::minutes(10);
constexpr auto kStoryLook = std::chrono::milliseconds(250);
constexpr double kTarget = 0.985;

struct Person {
  std::string name;
  std::string token;
  std::string password;
};

struct Lent {
  std::string name;
  std::string owner;
  DemoProcess agent;
};

struct Demo {
  Context& c;
  DemoServer server;
  std::map<std::string, Person> people = {};
  std::list<Lent> machines = {};
  base::JobId job = {};
  base::Time start = {};

  [[nodiscard]] Target as(const std::string& token) const {
    return {.server = server.url(), .token = token, .account = {}, .pin = {}, .ca = {}};
  }
  [[nodiscard]] Result<Api> api(const std::string& name) const {
    return Api::connect(as(people.at(name).token), base::seconds(20));
  }
  void title(std::string_view text) const {
    c.print(paint(fmt::format("\n{}\n", text), Tone::strong, c.out()));
  }
  void line(std::string_view text) const { c.print(fmt::format("  {}\n", text)); }
  void event(std::string_view text) const {
    line(fmt::format("{:>5.1f}s  {}", (c.now() - start).seconds(), printable(text)));
  }
};

std::string random_password() {
  std::array<char, 12> bytes{};
  CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return base::to_hex({bytes.data(), bytes.size()});
}

Result<> expect(bool good, std::string what) {
  if (good) return {};
  return failed("the demo did not go as it should: " + std::move(what));
}

Result<> open_accounts(Demo& d) {
  d.title("People");
  SOUK_ASSIGN(auto nobody, Api::connect(d.as(""), base::seconds(20)));
  for (const std::string name : {"omar", "ada", "bob", "cleo"}) {
    const wire::NewAccount request{name, random_password(), {}};
    SOUK_ASSIGN(const auto session,
                parsed<wire::Session>(nobody.post("/v1/accounts", wire::to_json(request))));
    SOUK_TRY(expect(session.account.operator_ == (name == "omar"),
                    "only the first account is the operator's"));
    d.people[name] = {name, session.token, request.password};
  }
  SOUK_ASSIGN(auto omar, d.api("omar"));
  const wire::SettingsEdit quick{.shortest_term = base::seconds(1),
                                 .drain = base::seconds(5),
                                 .settle_every = base::seconds(2),
                                 .silence = base::seconds(5)};
  SOUK_TRY(omar.patch("/v1/settings", wire::to_json(quick)));
  SOUK_TRY(omar.post("/v1/accounts/cleo/grant", wire::to_json(wire::Grant{10_cr, "to try it"})));
  d.line("omar operates the market; a machine that is silent for 5s loses its lease here");
  d.line("ada and bob lend; cleo borrows, and omar granted her 10 credits");
  return {};
}

// What one of the demo's people starts.
DemoProcess::Options command(const Demo& d, const std::string& who, const std::string& label,
                             std::vector<std::string> arguments) {
  const auto home = d.server.folder() + "/" + label;
  std::filesystem::create_directories(home);
  return {.arguments = std::move(arguments),
          .env = {{"SOUK_SERVER", d.server.url()},
                  {"SOUK_TOKEN", d.people.at(who).token},
                  {"XDG_CONFIG_HOME", home},
                  {"XDG_DATA_HOME", home}},
          .out = home + "/out",
          .log = home + "/log"};
}

Result<> lend(Demo& d, const std::string& owner, const std::string& name, const std::string& price,
              const std::string& share) {
  auto options =
      command(d, owner, name,
              {"lend", "--name", name, "--cores", "1", "--share-cores", "--memory", "1G", "--price",
               price, "--cpu-share", share, "--folder", d.server.folder() + "/" + name});
  SOUK_ASSIGN(auto agent, DemoProcess::start(options));
  for (const auto end = d.c.now() + base::minutes(1); d.c.now() < end;
       std::this_thread::sleep_for(kStoryLook)) {
    const auto said = text_of(options.out) + text_of(options.log);
    if (said.find("lending ") != std::string::npos) {
      d.line(fmt::format("{} lends {}: 1 x c1 from {} per slot-hour, {} of a core", owner, name,
                         price, share));
      d.machines.push_back({name, owner, std::move(agent)});
      return {};
    }
    if (agent.reap()) return failed(fmt::format("{} could not be lent: {}", name, said));
    if (interrupted) return failed("interrupted");
  }
  return failed(fmt::format("{} was not lent in time: {}", name, text_of(options.log)));
}

Result<> submit(Demo& d) {
  const auto file = d.server.folder() + "/mnist.yaml";
  std::ofstream(file) << "name: mnist\nkind: train\nmodel: lenet\ndata: mnist\nepochs: 12\n"
                      << "target: {accuracy: " << kTarget << "}\nbatch: 32\n"
                      << "lr: {start: 0.02, end: 0.002}\nworkers: 1..4\n"
                      << "price: {limit: 1, budget: 2}\n";
  auto options = command(d, "cleo", "cleo", {"run", file, "--yes", "--json"});
  SOUK_ASSIGN(auto run, DemoProcess::start(options));
  const auto status = run.reap_within(std::chrono::minutes(10));
  if (status != 0) return failed(fmt::format("cleo could not submit: {}", text_of(options.log)));
  SOUK_ASSIGN(const auto job, parse_body<wire::Job>(text_of(options.out)));
  d.job = job.id;
  d.line(fmt::format("cleo submits {}: LeNet on MNIST until {:.1f}% are right, {} in escrow",
                     to_string(job.id), 100 * kTarget, to_string(job.escrow)));
  return expect(job.escrow == 2_cr, "the budget is in escrow at once");
}

// Half way through the first epoch.
Result<> misfortune(Demo& d) {
  auto& tower = *std::next(d.machines.begin());
  tower.agent.signal(SIGKILL);
  d.event("tower loses power: no goodbye, no more heartbeats");
  return lend(d, "ada", "garage", "0.2", "0.5");
}

Result<> watch(Demo& d) {
  SOUK_ASSIGN(auto cleo, d.api("cleo"));
  const auto path = path_of("/v1/jobs", to_string(d.job));
  std::optional<Progress> bar(std::in_place, "training", "%", 100, d.c.err());
  bool struck = false;
  for (std::size_t told = 0;; std::this_thread::sleep_for(kStoryLook)) {
    SOUK_ASSIGN(const auto job, parsed<wire::Job>(cleo.get(path)));
    SOUK_ASSIGN(const auto t, parsed<wire::Training>(cleo.get(path + "/training")));
    for (; told < t.rows.size(); ++told) {
      bar.reset();
      const auto& r = t.rows[told];
      d.event(fmt::format("epoch {}: {:.2f}% right, loss {:.3f}, {}", r.epoch,
                          100 * r.accuracy.value_or(0), r.loss, plural(r.workers, "worker")));
      bar.emplace("training", "%", 100, d.c.err());
    }
    bar->say(fmt::format("epoch {} of {} at most, {}, {} credits", t.epoch, t.epochs,
                         plural(t.workers, "worker"), brief(job.spent)));
    bar->update(static_cast<std::uint64_t>(100 * t.progress));
    if (!struck && t.progress * t.epochs > 0.5) {
      struck = true;
      bar.reset();
      SOUK_TRY(misfortune(d));
      bar.emplace("training", "%", 100, d.c.err());
    }
    if (job.ended) {
      bar.reset();
      d.event(fmt::format("{} {}: {}", to_string(d.job), to_string(job.state), job.reason));
      return expect(job.state == base::JobState::succeeded && struck,
                    fmt::format("the job succeeds, and is {}", to_string(job.state)));
    }
    if (interrupted) return failed("interrupted");
    SOUK_TRY(expect(d.c.now() - d.start < kStoryWithin, "the job ends in time"));
  }
}

Result<> show_model(Demo& d) {
  const auto folder = d.server.folder() + "/model";
  auto options = command(d, "cleo", "results", {"results", to_string(d.job), "-o", folder});
  SOUK_ASSIGN(auto fetch, DemoProcess::start(options));
  if (fetch.reap_within(std::chrono::minutes(1)) != 0)
    return failed(fmt::format("the results could not be fetched: {}", text_of(options.log)));
  SOUK_ASSIGN(auto cleo, d.api("cleo"));
  SOUK_ASSIGN(const auto t,
              parsed<wire::Training>(cleo.get(path_of("/v1/jobs", to_string(d.job), "/training"))));
  d.title("The model");
  std::error_code error;
  d.line(fmt::format("model.safetensors, {}: {:.2f}% of 10,000 digits it never saw are right",
                     bytes_text(std::filesystem::file_size(folder + "/model.safetensors", error)),
                     100 * t.accuracy.value_or(0)));
  d.line(fmt::format("{} steps were folded, {} were lost with their machine", t.useful_steps,
                     t.wasted_steps));
  SOUK_TRY(expect(t.accuracy.value_or(0) >= kTarget, "the target is reached"));
  return expect(!error, "the model is in the results");
}

Result<> settle_up(Demo& d) {
  SOUK_ASSIGN(auto cleo, d.api("cleo"));
  SOUK_ASSIGN(auto omar, d.api("omar"));
  const auto path = path_of("/v1/jobs", to_string(d.job));
  SOUK_ASSIGN(const auto job, parsed<wire::Job>(cleo.get(path)));
  SOUK_ASSIGN(const auto leases, parsed<wire::Page<wire::Lease>>(cleo.get(path + "/leases")));
  SOUK_ASSIGN(const auto ledger, parsed<wire::Ledger>(omar.get("/v1/ledger")));
  std::map<base::MachineId, std::string> names;
  for (const auto* owner : {"ada", "bob"}) {
    SOUK_ASSIGN(auto api, d.api(owner));
    SOUK_ASSIGN(const auto page, parsed<wire::Page<wire::Machine>>(api.get("/v1/machines")));
    for (const auto& m : page.items) names[m.id] = m.name;
  }
  d.title("Settlement");
  using enum Column::Align;
  Table paid({{"machine"}, {"lender"}, {"ended"}, {"earned", right}});
  bool lost = false;
  for (const auto& l : leases.items) {
    paid.add({names[l.machine], l.lender, l.outcome ? word(*l.outcome) : Cell("open"),
              to_string(l.earned)});
    lost = lost || l.outcome == base::LeaseOutcome::lost;
  }
  d.c.print(paid);
  d.title("Ledger");
  Table table({{"account"}, {"available", right}, {"escrow", right}});
  std::map<std::string, wire::Balance> by_name;
  for (const auto& b : ledger.accounts) {
    table.add({b.name, to_string(b.available), to_string(b.escrow)});
    by_name[b.name] = b;
  }
  d.c.print(table);
  d.c.print(fmt::format("sum {}\n", to_string(ledger.sum)));
  d.title("Earnings");
  for (const auto* name : {"ada", "bob"})
    d.line(fmt::format("{} earned {}", name, to_string(by_name[name].available)));
  d.line(fmt::format("cleo spent {}; the rest of her escrow came back", to_string(job.spent)));
  SOUK_TRY(expect(lost, "tower's lease is lost"));
  SOUK_TRY(expect(ledger.sum == Credits(), "the ledger sums to zero"));
  SOUK_TRY(expect(by_name["cleo"].available == 10_cr - job.spent, "the rest comes back"));
  SOUK_TRY(expect(by_name["cleo"].escrow == Credits(), "nothing stays in escrow"));
  SOUK_TRY(expect(by_name["bob"].available > Credits(), "bob is paid for accepted work"));
  return expect(by_name["ada"].available + by_name["bob"].available == job.spent,
                "lenders earn what the borrower spent");
}

// A config file with cleo's token, so that the command line needs no password.
Result<> hand_over(Demo& d) {
  const auto home = d.server.folder() + "/config";
  Config config{.server = d.server.url(), .servers = {}};
  config.servers[d.server.url()] = {.account = "cleo", .token = d.people["cleo"].token};
  SOUK_TRY(save_config(home + "/souk/config.yaml", config));
  d.server.release();
  d.title("The market goes on");
  d.line(fmt::format("{} (process {}), in {}", d.server.url(), d.server.pid(), d.server.folder()));
  d.line(fmt::format("export XDG_CONFIG_HOME={}   # you are cleo", home));
  d.line("souk offers; souk jobs; souk ledger --statement; souk prices c1");
  d.line(fmt::format("in a browser: {}, as cleo with the password {}", d.server.url(),
                     d.people["cleo"].password));
  d.line(fmt::format("kill {}; rm -r {}   # when you are done", d.server.pid(), d.server.folder()));
  return {};
}

Result<> check_journal(Demo& d, bool running) {
  if (!running) SOUK_TRY(d.server.stop());
  SOUK_ASSIGN(const auto verdict, verify_journal(d.server.data()));
  d.title("Journal");
  d.line(fmt::format("{} events replayed, state {}...: {}", verdict.events,
                     verdict.state_hash.substr(0, 16), verdict.ok ? "all well" : "DAMAGED"));
  return expect(verdict.ok,
                verdict.problems.empty() ? "the journal verifies" : verdict.problems.front());
}

Result<> run_demo(Context& c, bool keep) {
  const auto began = c.now();
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = true; });
  SOUK_ASSIGN(auto server, DemoServer::start(keep));
  Demo d{.c = c, .server = std::move(server)};
  c.print(fmt::format("a market at {}\n", d.server.url()));
  SOUK_TRY(open_accounts(d));
  d.title("Machines");
  d.start = c.now();
  SOUK_TRY(lend(d, "ada", "desk", "0.2", "0.8"));
  SOUK_TRY(lend(d, "bob", "tower", "0.2", "0.4"));
  SOUK_TRY(lend(d, "bob", "attic", "0.2", "0.2"));
  d.title("Training");
  SOUK_TRY(submit(d));
  d.start = c.now();
  SOUK_TRY(watch(d));
  SOUK_TRY(show_model(d));
  SOUK_TRY(settle_up(d));
  d.machines.clear();
  SOUK_TRY(check_journal(d, keep));
  if (keep) SOUK_TRY(hand_over(d));
  c.print(fmt::format("\nthe demo took {:.0f}s and all was as it should be\n",
                      (c.now() - began).seconds()));
  return {};
}

}  // namespace

Command demo_command() {
  auto keep = std::make_shared<bool>(false);
  Command out{.name = "demo",
              .summary = "a whole market on this machine: a model trained on three others",
              .examples = {"demo", "demo --keep"}};
  out.common = Common::none;
  out.options = {flag("--keep", "leave the server running and say how to use it", *keep)};
  out.details =
      "Starts a server in a temporary folder and three machines of different speed, trains LeNet "
      "on "
      "MNIST on them, cuts one off and lets another join half way, settles, prints who earned what "
      "and verifies the journal. Fails if anything is not as it should be.";
  out.run = [keep](Context& c) { return run_demo(c, *keep); };
  return out;
}

}  // namespace souk::cli
