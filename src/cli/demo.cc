#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>

#include "base/check.h"
#include "base/hash.h"
#include "cli/commands.h"
#include "cli/demo_agent.h"
#include "cli/demo_server.h"
#include "cli/human.h"
#include "cli/journal.h"

// A whole market on this machine, and a check that it does what it promises: every step that does
// not go as the story says is an error.
//
//   ada lends desk from 0.2 a slot-hour; bob lends tower at the market's price, and attic from 0.3.
//   cleo wants two workers at 1 at most. tower and desk win. desk is unplugged: its lease is lost
//   and attic takes its place. Both workers finish, everybody is paid for what was worked.

namespace souk::cli {
namespace {

using base::Credits;
using base::MachineId;
using namespace base::literals;

std::atomic<bool> interrupted = false;  // By Ctrl-C; ends the demo in order.

constexpr auto kStoryWithin = base::seconds(60);

struct Person {
  std::string name;
  std::string token;
};

struct Lent {
  std::string name;
  std::string owner;
  MachineId machine;
  std::string token;  // The agent's.
};

struct Demo {
  Context& c;
  DemoServer server;
  std::map<std::string, Person> people = {};
  std::vector<Lent> machines = {};
  base::JobId job = {};
  std::uint64_t seen = 0;  // Events printed so far.
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
};

std::string random_password() {
  std::array<char, 18> bytes{};
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
    d.people[name] = {name, session.token};
  }
  SOUK_ASSIGN(auto omar, d.api("omar"));
  const wire::SettingsEdit quick{.term = base::seconds(8),
                                 .shortest_term = base::seconds(1),
                                 .drain = base::seconds(2),
                                 .settle_every = base::seconds(2),
                                 .silence = base::seconds(4)};
  SOUK_TRY(omar.patch("/v1/settings", wire::to_json(quick)));
  SOUK_TRY(omar.post("/v1/accounts/cleo/grant", wire::to_json(wire::Grant{10_cr, "to try it"})));
  d.line("omar operates the market; leases last 8s here, and silence of 4s loses one");
  d.line("ada and bob lend; cleo borrows, and omar granted her 10 credits");
  return {};
}

Result<> lend(Demo& d, const std::string& owner, const std::string& name,
              std::optional<Credits> price) {
  SOUK_ASSIGN(auto api, d.api(owner));
  const wire::NewMachine request{name, {.cores = 2, .memory_mib = 4096, .region = "here"}};
  SOUK_ASSIGN(const auto machine,
              parsed<wire::Machine>(api.post("/v1/machines", wire::to_json(request))));
  const wire::NewToken agent{"machine", machine.id, "agent of " + name, {}};
  SOUK_ASSIGN(const auto token,
              parsed<wire::IssuedToken>(api.post("/v1/tokens", wire::to_json(agent))));
  const wire::NewOffer offer{.machine = machine.id, .class_ = "c1", .slots = 1, .price = price};
  SOUK_ASSIGN(const auto posted, parsed<wire::Offer>(api.post("/v1/offers", wire::to_json(offer))));
  d.machines.push_back({name, owner, machine.id, token.token});
  d.line(fmt::format("{} lends {} ({}): 1 x c1 {}", owner, name, to_string(posted.id),
                     price ? "from " + to_string(*price) + " per slot-hour" : "at market price"));
  return {};
}

Result<> submit(Demo& d) {
  SOUK_ASSIGN(auto cleo, d.api("cleo"));
  const wire::NewJob request{
      .name = "demo", .class_ = "c1", .workers = {2, 2}, .limit = 1_cr, .budget = 1_cr};
  SOUK_ASSIGN(const auto job, parsed<wire::Job>(cleo.post("/v1/jobs", wire::to_json(request))));
  d.job = job.id;
  d.start = d.c.now();
  d.line(fmt::format("cleo submits {}: 2 workers at 1 per slot-hour at most, {} in escrow",
                     to_string(job.id), to_string(job.escrow)));
  return expect(job.escrow == 1_cr, "the budget is in escrow at once");
}

std::string machine_name(const Demo& d, const wire::Notice& n) {
  for (const auto& m : d.machines)
    if (n.machine == m.machine) return m.name;
  return n.machine ? to_string(*n.machine) : "?";
}

// What a notice means in the story; empty for what is not worth a line.
std::string told(const Demo& d, const wire::Notice& n) {
  const auto lease = n.lease ? to_string(*n.lease) : "";
  const auto on = lease + " on " + machine_name(d, n);
  if (n.kind == "RoundCleared")
    return fmt::format("a round of {} clears: {} at {} per slot-hour", n.class_.value_or("?"),
                       n.text.value_or("?"), brief(n.price));
  if (n.kind == "LeaseGranted") return fmt::format("lease {} granted at {}", on, brief(n.price));
  if (n.kind == "LeaseStarted") return fmt::format("lease {} runs, and is paid from now on", on);
  if (n.kind == "LeaseSettled") return fmt::format("lease {} settles {}", on, to_string(*n.amount));
  if (n.kind == "LeaseRenewed")
    return fmt::format("lease {} renews for another term at {}", on, brief(n.price));
  if (n.kind == "LeaseDraining") return fmt::format("lease {} drains: {}", on, n.text.value_or(""));
  if (n.kind == "LeaseClosed") return fmt::format("lease {} ends: {}", on, n.text.value_or(""));
  if (n.kind == "JobEnded")
    return fmt::format("job {} {}", to_string(*n.job), n.text.value_or("ended"));
  return {};
}

// Prints what happens until the job has ended.
Result<> watch(Demo& d, const std::vector<std::unique_ptr<DemoAgent>>& agents) {
  SOUK_ASSIGN(auto omar, d.api("omar"));
  bool told_unplugged = false;
  for (bool ended = false; !ended;) {
    const auto path =
        "/v1/events" + query_string({{"after", std::to_string(d.seen)}, {"wait", "1s"}});
    SOUK_ASSIGN(const auto notices, parsed<wire::Notices>(omar.get(path)));
    d.seen = std::max(d.seen, notices.next);
    for (std::size_t i = 0; i < agents.size(); ++i) {
      if (told_unplugged || !agents[i]->unplugged()) continue;
      told_unplugged = true;
      d.line(fmt::format("{:>5.1f}s  {} is unplugged: no more heartbeats",
                         (d.c.now() - d.start).seconds(), d.machines[i].name));
    }
    for (const auto& n : notices.items) {
      if (const auto text = told(d, n); !text.empty())
        d.line(fmt::format("{:>5.1f}s  {}", std::max(0.0, (n.at - d.start).seconds()),
                           printable(text)));
      ended = ended || (n.kind == "JobEnded" && n.job == d.job);
    }
    if (interrupted) return failed("interrupted");
    SOUK_TRY(expect(ended || d.c.now() - d.start < kStoryWithin, "the job ends in time"));
  }
  return {};
}

Result<> trade(Demo& d) {
  d.title("What happens");
  SOUK_TRY(submit(d));
  std::vector<std::unique_ptr<DemoAgent>> agents;
  for (const auto& m : d.machines) {
    DemoAgent::Plan plan{m.machine, m.name == "tower" ? base::seconds(10) : base::seconds(4), {}};
    if (m.name == "desk") plan.unplugged_after = base::milliseconds(2500);
    agents.push_back(std::make_unique<DemoAgent>(d.as(m.token), plan));
  }
  auto watched = watch(d, agents);
  for (const auto& agent : agents) agent->stop();
  for (const auto& agent : agents)
    if (agent->trouble()) return std::unexpected(*agent->trouble());
  return watched;
}

Result<> check_job(Demo& d, Credits& spent) {
  SOUK_ASSIGN(auto cleo, d.api("cleo"));
  const auto path = path_of("/v1/jobs", to_string(d.job));
  SOUK_ASSIGN(const auto job, parsed<wire::Job>(cleo.get(path)));
  SOUK_ASSIGN(const auto leases, parsed<wire::Page<wire::Lease>>(cleo.get(path + "/leases")));
  std::map<std::string, int> outcomes;
  for (const auto& l : leases.items) ++outcomes[l.outcome.value_or("open")];
  spent = job.spent;
  SOUK_TRY(expect(job.state == "succeeded", "the job succeeds, and is " + job.state));
  SOUK_TRY(expect(job.done == 2, "two workers finish"));
  SOUK_TRY(expect(outcomes["completed"] == 2, "two leases are completed"));
  SOUK_TRY(expect(outcomes["lost"] == 1, "the unplugged machine's lease is lost"));
  return expect(spent > Credits() && spent < 1_cr, "some of the budget is spent, not all");
}

Result<> settle_up(Demo& d) {
  Credits spent;
  SOUK_TRY(check_job(d, spent));
  d.title("Ledger");
  SOUK_ASSIGN(auto omar, d.api("omar"));
  SOUK_ASSIGN(const auto ledger, parsed<wire::Ledger>(omar.get("/v1/ledger")));
  using enum Column::Align;
  Table table({{"account"}, {"available", right}, {"escrow", right}});
  std::map<std::string, wire::Balance> by_name;
  for (const auto& b : ledger.accounts) {
    table.add({b.name, to_string(b.available), to_string(b.escrow)});
    by_name[b.name] = b;
  }
  d.c.print(table);
  d.c.print(fmt::format("sum {}\n", to_string(ledger.sum)));
  const auto earned = by_name["ada"].available + by_name["bob"].available;
  d.title("Earnings");
  for (const auto& m : {"ada", "bob"})
    d.line(fmt::format("{} earned {}", m, to_string(by_name[m].available)));
  d.line(fmt::format("cleo spent {}; the rest of her escrow came back", to_string(spent)));
  SOUK_TRY(expect(ledger.sum == Credits(), "the ledger sums to zero"));
  SOUK_TRY(expect(by_name["cleo"].available == 10_cr - spent, "the rest of the escrow comes back"));
  SOUK_TRY(expect(by_name["cleo"].escrow == Credits(), "nothing stays in escrow"));
  SOUK_TRY(expect(by_name["ada"].available > Credits(), "ada is paid for the time desk worked"));
  return expect(earned == spent, "lenders earn what the borrower spent");
}

Result<> show_prices(Demo& d) {
  SOUK_ASSIGN(auto omar, d.api("omar"));
  SOUK_ASSIGN(const auto prices,
              parsed<wire::Prices>(omar.get("/v1/prices?class=c1&days=1&by=hour")));
  d.title("Prices of c1");
  d.line(fmt::format("{} traded, average {}, last {}; suggested now {}",
                     plural(prices.summary.volume, "slot"), brief(prices.summary.average),
                     brief(prices.last), brief(prices.suggested)));
  return expect(prices.summary.volume >= 3, "the trades are in the price history");
}

// A config file with cleo's token, so that the market can be used without any password.
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
  const auto start = c.now();
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = true; });
  SOUK_ASSIGN(auto server, DemoServer::start(keep));
  Demo d{.c = c, .server = std::move(server)};
  c.print(fmt::format("a market at {}\n", d.server.url()));
  SOUK_TRY(open_accounts(d));
  d.title("Machines");
  SOUK_TRY(lend(d, "ada", "desk", 0.2_cr));
  SOUK_TRY(lend(d, "bob", "tower", std::nullopt));
  SOUK_TRY(lend(d, "bob", "attic", 0.3_cr));
  SOUK_TRY(trade(d));
  SOUK_TRY(settle_up(d));
  SOUK_TRY(show_prices(d));
  SOUK_TRY(check_journal(d, keep));
  if (keep) SOUK_TRY(hand_over(d));
  c.print(fmt::format("\nthe demo took {:.1f}s and all was as it should be\n",
                      (c.now() - start).seconds()));
  return {};
}

}  // namespace

Command demo_command() {
  auto keep = std::make_shared<bool>(false);
  Command out{.name = "demo",
              .summary = "a whole market on this machine, in half a minute",
              .examples = {"demo", "demo --keep"}};
  out.common = Common::none;
  out.options = {flag("--keep", "leave the server running and say how to use it", *keep)};
  out.details =
      "Starts a server in a temporary folder, opens accounts, lends, borrows, unplugs a machine, "
      "settles, prints the ledger and verifies the journal. Fails if anything is not as it should "
      "be.";
  out.run = [keep](Context& c) { return run_demo(c, *keep); };
  return out;
}

}  // namespace souk::cli
