#include "server/core/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "codec/snapshot.h"
#include "journal/open.h"
#include "journal/snapshot.h"
#include "net/tls.h"
#include "server/record/recovery.h"
#include "server/testing/market.h"

// Restarts, damage, TLS and what operators watch.

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using testing::eventually;
using testing::Fair;
using testing::Folder;
using ::testing::HasSubstr;
using testing::in_folder;
using testing::Market;
using ::testing::StartsWith;

// The state that the journal alone gives, read without touching anything.
std::string replayed(const std::string& data) {
  auto opened = journal::open(data, {.read_only = true});
  CHECK(opened.has_value());
  auto state = codec::base_state(opened->journal->base().value()).value();
  CHECK(catch_up(state, *opened->journal).has_value());
  return to_string(codec::state_hash(state));
}

// The state that a server had when it stopped.
std::string saved(const std::string& data) {
  const auto loaded = journal::load_snapshot(data + "/snapshot");
  CHECK(loaded.snapshot.has_value());
  return to_string(base::blake2b(loaded.snapshot->bytes));
}

void some_trade(Fair& fair) {
  fair.offer(fair.agent, fair.box);
  fair.job(fair.borrower);
  EXPECT_EQ(fair.work(fair.agent, fair.box).count("leases"), 1u);
}

TEST(Restart, FindsTheMarketThatWasThere) {
  Folder folder;
  const auto data = folder / "data";
  std::string token, ledger, job, events;
  {
    Fair fair(in_folder(data));
    some_trade(fair);
    token = fair.boss.token;
    ledger = fair.get("/v1/ledger", token).body;
    job = fair.get("/v1/jobs/j1", token).body;
    events = fair.get("/healthz").at("events");
  }
  EXPECT_EQ(saved(data), replayed(data));
  Market again(in_folder(data));
  EXPECT_EQ(again.get("/v1/ledger", token).body, ledger);
  EXPECT_EQ(again.get("/v1/jobs/j1", token).body, job);
  EXPECT_EQ(again.get("/healthz").at("events"), events);
  EXPECT_EQ(again.server().bootstrap(), "") << "there is an operator already";
}

TEST(Restart, APowerCutLosesNothingThatWasAnswered) {
  Folder folder;
  const auto data = folder / "data", copy = folder / "copy";
  std::string token, job;
  {
    Fair fair(in_folder(data));  // Leaves a snapshot behind.
    token = fair.boss.token;
  }
  auto quiet = in_folder(data);
  quiet.round = base::hours(1);  // So that both see the same events.
  Market market(quiet);
  const auto bob = market.log_in("bob");
  job = market.job(bob);
  // What the disk holds while the server runs is what a power cut would leave.
  fs::copy(data, copy);
  {
    quiet.data = copy;
    Market second(quiet);
    EXPECT_EQ(second.get("/v1/jobs/" + job, token).body, market.get("/v1/jobs/" + job, token).body);
    EXPECT_EQ(second.get("/v1/me", bob.token).at("escrow"), "10");
  }
  EXPECT_EQ(saved(copy), replayed(copy)) << "snapshot and tail differ from the whole journal";
  EXPECT_EQ(saved(copy), replayed(data));
}

TEST(Restart, SnapshotsAreTakenWhileTheMarketRuns) {
  Folder folder;
  auto options = in_folder(folder / "data");
  options.snapshot_every = base::milliseconds(1);
  Market market(options);
  const auto boss = market.sign_up("boss");
  const auto events = market.get("/readyz").at("events");
  EXPECT_TRUE(eventually([&] {
    const auto loaded = journal::load_snapshot(folder / "data/snapshot");
    return loaded.snapshot && std::to_string(loaded.snapshot->seq) == events;
  }));
  fs::copy(folder / "data", folder / "copy");
  Market second(in_folder(folder / "copy"));
  EXPECT_EQ(second.get("/v1/me", boss.token).at("name"), "boss");
}

TEST(Restart, ADamagedSnapshotCostsTimeNotData) {
  for (const auto* damage : {"flip", "cut", "another format"}) {
    SCOPED_TRACE(damage);
    Folder folder;
    const auto data = folder / "data", path = data + "/snapshot";
    std::string token;
    {
      Market market(in_folder(data));
      token = market.sign_up("boss").token;
    }
    auto bytes = journal::testing::slurp(path);
    const auto seq = journal::load_snapshot(path).snapshot->seq;
    if (std::string_view(damage) == "flip") bytes[bytes.size() / 2] ^= 1;
    if (std::string_view(damage) == "cut") bytes.resize(bytes.size() / 2);
    journal::testing::spill(path, bytes);
    if (std::string_view(damage) == "another format")
      ASSERT_TRUE(journal::save_snapshot(path, seq, "souk state 999\n..."));
    Market market(in_folder(data));
    EXPECT_EQ(market.get("/v1/me", token).at("name"), "boss");
  }
}

TEST(Restart, AnOlderCopyOfTheJournalIsNoticed) {
  Folder folder;
  const auto data = folder / "data";
  {
    Market market(in_folder(data));
  }
  const auto known = journal::load_snapshot(data + "/snapshot");
  ASSERT_TRUE(known.snapshot);
  ASSERT_TRUE(
      journal::save_snapshot(data + "/snapshot", known.snapshot->seq + 100, known.snapshot->bytes));
  const auto started = Server::start(in_folder(data));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, base::Code::damaged);
  EXPECT_THAT(started.error().hint, HasSubstr("snapshot"));
}

TEST(Restart, ADamagedJournalIsNotGuessedAt) {
  Folder folder;
  const auto data = folder / "data";
  {
    Fair fair(in_folder(data));
  }
  auto bytes = journal::testing::slurp(data + "/journal.db");
  // The stored name of an account, in the middle of the history.
  const auto at = bytes.find("lena");
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  journal::testing::spill(data + "/journal.db", bytes);
  fs::remove(data + "/snapshot");
  EXPECT_FALSE(Server::start(in_folder(data)));
}

TEST(Restart, TwoServersNeverShareAJournal) {
  Folder folder;
  Market market(in_folder(folder / "data"));
  const auto second = Server::start(in_folder(folder / "data"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::conflict);
}

TEST(Restart, AJournalThatWasCutLeadsToTheSameMarket) {
  Folder folder;
  const auto data = folder / "data";
  auto options = in_folder(data);
  options.snapshot_every = base::milliseconds(20);
  options.keep_journal = base::milliseconds(50);
  std::string token, ledger, statement, audit;
  {
    Fair fair(options);
    some_trade(fair);
    token = fair.boss.token;
    const auto events = std::stoull(fair.get("/healthz").at("events"));
    EXPECT_TRUE(eventually([&] {
      return journal::open(data, {.read_only = true})->journal->first() > events;
    })) << "what is old enough stays in the journal";
    ledger = fair.get("/v1/ledger", token).body;
    statement = fair.get("/v1/ledger/statement?account=bob", token).body;
    audit = fair.get("/v1/audit", token).body;
  }
  EXPECT_EQ(saved(data), replayed(data)) << "the base and what is left give another state";
  for (const bool with_snapshot : {true, false}) {
    if (!with_snapshot) fs::remove(data + "/snapshot");
    Market again(in_folder(data));
    EXPECT_EQ(again.get("/v1/ledger", token).body, ledger);
    EXPECT_EQ(again.get("/v1/ledger/statement?account=bob", token).body, statement);
    EXPECT_EQ(again.get("/v1/audit", token).body, audit);
  }
}

TEST(Restart, ASnapshotFromBeforeTheCutIsNotUsed) {
  Folder folder;
  const auto data = folder / "data";
  {
    Market market(in_folder(data));
    market.sign_up("boss");
  }
  const auto old = journal::testing::slurp(data + "/snapshot");
  std::string token;
  {
    auto options = in_folder(data);
    options.snapshot_every = base::milliseconds(20);
    options.keep_journal = base::milliseconds(50);
    Market market(options);
    token = market.log_in("boss").token;
    const auto events = std::stoull(market.get("/healthz").at("events"));
    EXPECT_TRUE(eventually(
        [&] { return journal::open(data, {.read_only = true})->journal->first() > events; }));
  }
  journal::testing::spill(data + "/snapshot", old);
  Market again(in_folder(data));
  EXPECT_EQ(again.get("/v1/me", token).at("name"), "boss");
}

TEST(Start, WhatCannotWorkIsSaid) {
  Folder folder;
  Market market;
  const auto refused = [](Options options) {
    const auto started = Server::start(options);
    EXPECT_FALSE(started);
    return started ? base::Error{} : started.error();
  };
  auto options = in_folder("");
  EXPECT_EQ(refused(options).field, "data");
  options = in_folder("/proc/nothing/here");
  EXPECT_EQ(refused(options).field, "data");
  options = testing::in_memory();
  options.port = market.server().port();
  EXPECT_THAT(refused(options).hint, HasSubstr("another"));
  options = testing::in_memory();
  options.tls_certificate = folder / "certificate.pem";
  EXPECT_THAT(refused(options).hint, HasSubstr("--tls-key"));
  options.tls_key = folder / "key.pem";
  EXPECT_THAT(refused(options).message, HasSubstr("certificate.pem"));
  options = testing::in_memory();
  options.address = "market.example";
  EXPECT_EQ(refused(options).code, base::Code::invalid);
}

// --- TLS -----------------------------------------------------------------------------------------

TEST(Tls, APinnedClientReachesASelfSignedMarket) {
  Folder folder;
  auto options = in_folder(folder / "data");
  options.self_signed = true;
  std::string pin;
  {
    Market market(options);
    EXPECT_THAT(market.server().url(), StartsWith("https://"));
    pin = market.server().fingerprint();
    EXPECT_EQ(market.get("/healthz").status, 200);
    const auto reached = [&](const std::string& other_pin) {
      auto client =
          net::Client::make({.base_url = market.server().url(), .pinned_sha256 = other_pin});
      return client.has_value() && client->send("GET", "/healthz").has_value();
    };
    EXPECT_TRUE(reached(pin));
    EXPECT_FALSE(reached(std::string(64, 'a'))) << "an impostor";
    EXPECT_FALSE(reached("")) << "without a pin nobody vouches for it";
  }
  Market again(options);
  EXPECT_EQ(again.server().fingerprint(), pin) << "clients' pins stay good";
  const auto rights = fs::status(folder / "data/tls-key.pem").permissions();
  EXPECT_EQ(rights & (fs::perms::group_all | fs::perms::others_all), fs::perms::none);
}

TEST(Tls, AMarketOffLoopbackIsEncryptedUnlessToldOtherwise) {
  auto options = testing::in_memory();
  options.address = "0.0.0.0";
  {
    Market market(options);
    EXPECT_THAT(market.server().url(), StartsWith("https://"));
    EXPECT_NE(market.server().fingerprint(), "");
    EXPECT_EQ(market.get("/healthz").status, 200);
    EXPECT_FALSE(fs::exists("/tls-key.pem")) << "a market in memory leaves no files";
  }
  options.plain_http = true;
  Market market(options);
  EXPECT_THAT(market.server().url(), StartsWith("http://"));
  EXPECT_EQ(market.server().fingerprint(), "");
}

TEST(Tls, AGivenCertificateIsUsed) {
  Folder folder;
  const std::vector<std::string> names{"127.0.0.1"};
  const auto made = net::self_signed(names, 1).value();
  journal::testing::spill(folder / "c.pem", made.certificate_pem);
  journal::testing::spill(folder / "k.pem", made.key_pem);
  auto options = testing::in_memory();
  options.tls_certificate = folder / "c.pem";
  options.tls_key = folder / "k.pem";
  Market market(options);
  EXPECT_EQ(market.server().fingerprint(), net::fingerprint(made.certificate_pem).value());
  EXPECT_EQ(market.get("/readyz").status, 200);
}

// --- Watching ------------------------------------------------------------------------------------

TEST(Metrics, ArePrometheusTextAndShowALedgerThatSumsToZero) {
  Fair fair;
  some_trade(fair);
  const auto metrics = fair.get("/metrics");
  EXPECT_THAT(metrics.type, HasSubstr("text/plain"));
  std::size_t samples = 0;
  for (const auto line : base::split(metrics.body, '\n')) {
    if (line.empty() || line.starts_with("# ")) continue;
    ++samples;
    EXPECT_THAT(
        std::string(line),
        ::testing::MatchesRegex(R"([a-z_]+(\{[a-z]+="[^"]+"(,[a-z]+="[^"]+")*\})? -?[0-9.e+-]+)"));
  }
  EXPECT_GT(samples, 15u);
  for (const auto* line :
       {"souk_ledger_sum_credits 0", "souk_minted_credits 100", "souk_accounts 3", "souk_offers 1",
        "souk_jobs{state=\"running\"} 1", "souk_slots{class=\"c1\",kind=\"leased\"} 1"})
    EXPECT_THAT(metrics.body, HasSubstr(std::string("\n") + line + "\n"));
}

TEST(Stop, EndsPromptlyWithReadersWaiting) {
  Fair fair;
  auto reader = fair.another(), agent = fair.another();
  auto poll = std::async(std::launch::async, [&] {
    return reader.call("GET", "/v1/events?wait=60s", fair.borrower.token);
  });
  const auto version = fair.get("/v1/machines/" + fair.box + "/work", fair.agent).at("version");
  auto work = std::async(std::launch::async, [&] {
    return agent.call("GET", "/v1/machines/" + fair.box + "/work?wait=60s&seen=" + version,
                      fair.agent);
  });
  ASSERT_TRUE(eventually(
      [&] { return fair.get("/metrics").body.find("\nsouk_readers 2\n") != std::string::npos; }));
  fair.server().stop();
  EXPECT_EQ(poll.get().status, 200);
  EXPECT_EQ(work.get().status, 200);
}

}  // namespace
}  // namespace souk::server
