#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <future>

#include "base/credits.h"
#include "market/types.h"
#include "net/sse.h"
#include "server/testing/stack.h"

// What people do with a market, from one end to the other, and what they hear of it.

namespace souk::server {
namespace {

using testing::Answer;
using ::testing::Contains;
using testing::eventually;
using testing::Fair;
using ::testing::HasSubstr;

base::Credits credits(const std::string& text) {
  // Answer::at spells small numbers as 7e-06.
  return base::Credits(std::llround(std::stod(text) * 1e6));
}

std::string epoch_body(const std::string& epoch, std::string_view more = "") {
  return fmt::format(R"({{"epoch":{}{}}})", epoch, more);
}

// A job of bob's that runs on lena's machine. The time is the test's: however long its steps take,
// nobody is silent but in the time that it lets pass.
struct Running : testing::Stack, testing::People, testing::Cast {
  explicit Running(std::string_view settings = "{}")
      : Stack({.round = base::milliseconds(100)}),
        People(url()),
        Cast(static_cast<People&>(*this)) {
    must("PATCH", "/v1/settings", boss.token, settings);
    offer_id = offer(agent, box);
    job_id = job(borrower);
    Answer found;
    EXPECT_TRUE(eventually([&] {
      clock.move(base::milliseconds(100));
      must("POST", "/v1/machines/" + box + "/heartbeat", agent, R"({"leases":[]})");
      found = get("/v1/machines/" + box + "/work", agent);
      return found.count("leases") == 1;
    }));
    lease = found.at("leases.0.id");
    epoch = found.at("leases.0.epoch");
    must("POST", "/v1/leases/" + lease + "/start", agent, epoch_body(epoch));
  }
  Answer heartbeat() {
    return must("POST", "/v1/machines/" + box + "/heartbeat", agent,
                fmt::format(R"({{"leases":[{{"lease":"{}","epoch":{}}}]}})", lease, epoch));
  }
  Answer finish(std::string_view outcome) {
    return call("POST", "/v1/leases/" + lease + "/finish", agent,
                epoch_body(epoch, fmt::format(R"(,"outcome":"{}")", outcome)));
  }
  std::string offer_id, job_id, lease, epoch;
};

TEST(Life, LendersArePaidForTheWorkThatBorrowersGet) {
  Fair fair;
  const auto& f = fair;
  fair.offer(f.agent, f.box);
  // The agent waits for work before there is any.
  auto agent = fair.another();
  const auto version = fair.get("/v1/machines/" + f.box + "/work", f.agent).at("version");
  auto waiting = std::async(std::launch::async, [&] {
    return agent.call("GET", "/v1/machines/" + f.box + "/work?wait=20s&seen=" + version, f.agent);
  });
  const auto job = fair.job(f.borrower);
  EXPECT_EQ(fair.get("/v1/me", f.borrower.token).at("escrow"), "10");
  const auto work = waiting.get();
  ASSERT_EQ(work.count("leases"), 1u) << work;
  const auto lease = work.at("leases.0.id"), epoch = work.at("leases.0.epoch");
  EXPECT_EQ(work.at("leases.0.state"), "granted");
  EXPECT_GE(credits(work.at("leases.0.price")), credits("0.5"));
  EXPECT_LE(credits(work.at("leases.0.price")), credits("1"));
  EXPECT_EQ(fair.get("/v1/jobs/" + job, f.borrower.token).at("spent"), "0") << "setting up is free";

  fair.must("POST", "/v1/leases/" + lease + "/start", f.agent, epoch_body(epoch));
  const auto orders =
      fair.must("POST", "/v1/machines/" + f.box + "/heartbeat", f.agent,
                fmt::format(R"({{"leases":[{{"lease":"{}","epoch":{}}}]}})", lease, epoch));
  EXPECT_EQ(orders.at("orders.0.action"), "run");
  // A moment of work, so that there is something to pay for.
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - began < std::chrono::milliseconds(50))
    fair.get("/v1/jobs/" + job, f.borrower.token);
  const auto done = fair.must("POST", "/v1/leases/" + lease + "/finish", f.agent,
                              epoch_body(epoch, R"(,"outcome":"completed","detail":"exit 0")"));
  EXPECT_EQ(done.at("state"), "closed");
  EXPECT_EQ(done.at("outcome"), "completed");

  const auto ended = fair.get("/v1/jobs/" + job, f.borrower.token);
  EXPECT_EQ(ended.at("state"), "succeeded");
  const auto spent = credits(ended.at("spent"));
  EXPECT_GT(spent, base::Credits());
  const auto lender = fair.get("/v1/me", f.lender.token),
             borrower = fair.get("/v1/me", f.borrower.token);
  EXPECT_EQ(credits(lender.at("available")), spent);
  EXPECT_EQ(credits(borrower.at("available")), credits("100") - spent);
  EXPECT_EQ(borrower.at("escrow"), "0");
  EXPECT_EQ(fair.get("/v1/ledger", f.boss.token).at("sum"), "0");

  const auto statement = fair.get("/v1/ledger/statement", f.borrower.token);
  for (const auto* kind : {"grant", "reserve", "spend", "refund"})
    EXPECT_THAT(statement.body, HasSubstr(fmt::format(R"("kind":"{}")", kind)));
  EXPECT_EQ(fair.get("/v1/ledger/statement", f.lender.token).at("lines.0.kind"), "earn");
  const auto prices = fair.get("/v1/prices?class=c1", f.borrower.token);
  EXPECT_EQ(prices.at("last"), work.at("leases.0.price"));
  EXPECT_EQ(prices.at("summary.volume"), "1");
  EXPECT_EQ(prices.count("ahead"), 24u);
  EXPECT_THAT(fair.get("/v1/audit", f.boss.token).body, HasSubstr("grant"));
}

TEST(Life, AWaitForWorkEndsEmptyWhenThereIsNone) {
  Fair fair;
  const auto path = "/v1/machines/" + fair.box + "/work";
  const auto before = fair.get(path, fair.agent);
  const auto after = fair.get(path + "?wait=10ms&seen=" + before.at("version"), fair.agent);
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(after.body, before.body);
}

TEST(Life, AMachineThatFallsSilentLosesItsLease) {
  Running r(R"({"silence":"1s"})");
  const auto stranger = r.sign_up("sly");
  const auto theirs = r.machine(stranger);
  const auto state = [&] { return r.get("/v1/jobs/" + r.job_id + "/leases", r.borrower.token); };
  EXPECT_TRUE(eventually([&] {
    r.clock.move(base::milliseconds(100));
    // Nobody keeps a dead machine alive from elsewhere.
    r.must("POST", "/v1/machines/" + theirs + "/heartbeat", stranger.token,
           fmt::format(R"({{"leases":[{{"lease":"{}","epoch":{}}}]}})", r.lease, r.epoch));
    return state().at("items.0.state") == "closed";
  }));
  EXPECT_EQ(state().at("items.0.outcome"), "lost");
  EXPECT_EQ(r.get("/v1/jobs/" + r.job_id, r.borrower.token).at("state"), "queued");
  EXPECT_EQ(r.get("/v1/offers/" + r.offer_id, r.borrower.token).at("state"), "offline");
  EXPECT_EQ(r.finish("completed").status, 409) << "a late report is not paid";
  EXPECT_EQ(r.get("/v1/me", r.lender.token).at("available"), "0");
  EXPECT_EQ(r.heartbeat().at("orders.0.action"), "stop");
  EXPECT_EQ(r.get("/v1/offers/" + r.offer_id, r.borrower.token).at("state"), "open");
}

TEST(Life, AnIdleMachineThatFallsSilentIsNotOnSale) {
  Running r(R"({"silence":"1s"})");
  ASSERT_EQ(r.finish("completed").status, 200);
  const auto state = [&] {
    return r.get("/v1/offers/" + r.offer_id, r.borrower.token).at("state");
  };
  EXPECT_EQ(state(), "open");
  EXPECT_TRUE(eventually([&] {
    r.clock.move(base::milliseconds(100));
    return state() == "offline";
  }));
  r.must("GET", "/v1/machines/" + r.box + "/work", r.agent);
  EXPECT_EQ(state(), "open") << "whatever its agent says";
}

TEST(Life, AMachineThatIsHeardKeepsItsLease) {
  Running r(R"({"silence":"2s","settle_every":"1s"})");
  for (int i = 0; i < 20; ++i) {  // Ten seconds in all.
    r.clock.move(base::milliseconds(500));
    EXPECT_EQ(r.heartbeat().at("orders.0.action"), "run");
  }
  const auto lease = r.get("/v1/machines/" + r.box + "/work", r.agent);
  EXPECT_GT(credits(lease.at("leases.0.paid")), credits("0.0006")) << "2.2 s at least";
  EXPECT_EQ(r.finish("completed").status, 200);
}

TEST(Life, HeartbeatsThatChangeNothingAreNotJournaled) {
  Running r;
  const auto events = r.get("/readyz").at("events");
  for (int i = 0; i < 5; ++i) r.heartbeat();
  EXPECT_EQ(r.get("/readyz").at("events"), events);
}

TEST(Life, OldReportsAreFencedOff) {
  Running r;
  const auto stale = epoch_body("99", R"(,"outcome":"completed")");
  EXPECT_EQ(r.call("POST", "/v1/leases/" + r.lease + "/finish", r.agent, stale).status, 409);
  EXPECT_EQ(r.finish("vanished").status, 400);
  EXPECT_EQ(r.finish("lost").status, 400) << "only the market says that a lease was lost";
  EXPECT_EQ(r.call("POST", "/v1/leases/" + r.lease + "/finish", r.borrower.token,
                   epoch_body(r.epoch, R"(,"outcome":"completed")"))
                .status,
            403);
  EXPECT_EQ(r.finish("failed").status, 200);
  EXPECT_EQ(r.get("/v1/jobs/" + r.job_id, r.borrower.token).at("state"), "failed");
  EXPECT_EQ(r.finish("failed").status, 409);
}

TEST(Life, AJobThatDoesNotRunIsToldWhyAndWhatWouldHelp) {
  Fair fair;
  fair.offer(fair.agent, fair.box, 2, R"(,"price":3)");
  const auto why = fair.get("/v1/jobs/" + fair.job(fair.borrower) + "/why", fair.borrower.token);
  EXPECT_EQ(why.at("state"), "queued");
  EXPECT_THAT(why.at("groups"), HasSubstr("price"));
  EXPECT_EQ(why.at("relaxations.0.flag"), "--price 3");
}

TEST(Life, AnOfferPausedByItsOwnerIsLeft) {
  Running r;
  EXPECT_EQ(r.must("POST", "/v1/offers/" + r.offer_id + "/pause", r.lender.token, "{}").at("state"),
            "paused");
  EXPECT_EQ(r.heartbeat().at("orders.0.action"), "drain");
  EXPECT_EQ(r.call("DELETE", "/v1/offers/" + r.offer_id, r.lender.token).status, 409);
  EXPECT_EQ(r.finish("released").status, 200);
  r.must("DELETE", "/v1/offers/" + r.offer_id, r.lender.token);
}

TEST(Life, FeedbackReachesTheOperator) {
  Fair fair;
  fair.must("POST", "/v1/feedback", fair.borrower.token,
            R"({"category":"problem","text":"too slow"})");
  EXPECT_EQ(fair.get("/v1/feedback", fair.boss.token).at("items.0.text"), "too slow");
  EXPECT_EQ(fair.get("/v1/feedback", fair.lender.token).count(), 0u);
  EXPECT_EQ(
      fair.call("POST", "/v1/feedback", fair.borrower.token, R"({"category":"rant","text":"x"})")
          .status,
      400);
}

// --- What the first markets of this kind got wrong -----------------------------------------------

TEST(Regression, ANegativePriceDoesNotMintCredits) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const auto offer = fmt::format(R"({{"machine":"{}","class":"c1","price":-1}})", fair.box);
  EXPECT_EQ(fair.call("POST", "/v1/offers", fair.lender.token, offer).status, 400);
  for (const auto* body : {R"({"budget":-5})", R"({"budget":0})", R"({"budget":5,"limit":-1})",
                           R"({"budget":1e300})", R"({"budget":5,"workers":{"min":-1,"max":1}})"})
    EXPECT_EQ(fair.call("POST", "/v1/jobs", bob, body).status, 400) << body;
  EXPECT_EQ(fair.call("POST", "/v1/accounts/bob/grant", fair.boss.token, R"({"amount":-1})").status,
            400);
  EXPECT_EQ(fair.get("/v1/me", bob).at("available"), "100");
  EXPECT_EQ(fair.get("/v1/ledger", fair.boss.token).at("sum"), "0");
}

TEST(Regression, AJobThatCannotBePaidIsNeitherSavedNorCharged) {
  Fair fair;
  EXPECT_EQ(fair.call("POST", "/v1/jobs", fair.borrower.token, R"({"budget":100.000001})").status,
            409);
  EXPECT_EQ(fair.get("/v1/jobs", fair.borrower.token).count(), 0u);
  EXPECT_EQ(fair.get("/v1/me", fair.borrower.token).at("escrow"), "0");
}

TEST(Regression, PricesAreNotForStrangers) {
  Fair fair;
  EXPECT_EQ(fair.get("/v1/prices").status, 401);
  EXPECT_EQ(fair.call("PUT", "/v1/classes/c1", fair.lender.token,
                      R"({"cores":1,"memory_mib":2048,"price":0.01,"params":{},"retired":false})")
                .status,
            403);
}

TEST(Regression, WindowsAreSentShownAndHonoured) {
  Fair fair;
  // Opens in about a day and a half, whenever this test runs.
  const auto from = base::SystemClock().now() + base::hours(36);
  const auto id =
      fair.offer(fair.lender.token, fair.box, 1,
                 fmt::format(R"(,"from":"{}","weekly":["daily 0:00-24:00 America/Los_Angeles"])",
                             to_string(base::Time(from.us / 1'000'000 * 1'000'000))));
  const auto shown = fair.get("/v1/offers/" + id, fair.borrower.token);
  EXPECT_THAT(shown.at("weekly.0"), HasSubstr("America/Los_Angeles"));
  EXPECT_NE(shown.at("from"), "");
  EXPECT_EQ(shown.at("opens"), shown.at("from"));
  EXPECT_EQ(shown.at("state"), "closed");
  const auto job = fair.job(fair.borrower);
  // Rounds go by: an offer that is open is taken, this one is not.
  fair.offer(fair.lender.token, fair.machine(fair.lender, "open"), 1);
  EXPECT_TRUE(eventually(
      [&] { return fair.get("/v1/jobs/" + job, fair.borrower.token).at("held") == "1"; }));
  EXPECT_NE(fair.get("/v1/jobs/" + job, fair.borrower.token).at("leases.0.offer"), id);
  EXPECT_EQ(fair.get("/v1/offers/" + id, fair.borrower.token).at("free"), "1");
}

TEST(Regression, AJobStateHasOneSpelling) {
  Fair fair;
  const auto job = fair.job(fair.borrower);
  fair.must("POST", "/v1/jobs/" + job + "/cancel", fair.borrower.token, "{}");
  EXPECT_EQ(fair.get("/v1/jobs/" + job, fair.borrower.token).at("state"), "cancelled");
  for (const auto state : names_of(market::JobState{})) {
    const auto found =
        fair.must("GET", fmt::format("/v1/jobs?state={}", state), fair.borrower.token);
    EXPECT_EQ(found.count(), state == "cancelled" ? 1u : 0u) << state;
  }
  const auto wrong = fair.get("/v1/jobs?state=canceled", fair.borrower.token);
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.at("hint"), HasSubstr("'cancelled'"));
}

// --- Events --------------------------------------------------------------------------------------

// Reads a stream of events on a thread of its own until `enough` says so.
class Reader {
 public:
  Reader(const testing::Market& market, const std::string& token, std::string last_id = "",
         std::function<bool(const net::Event&)> enough = {})
      : caller_(market.another()) {
    done_ = std::async(std::launch::async, [=, this] {
      net::Headers headers{{"Authorization", "Bearer " + token}};
      if (!last_id.empty()) headers.emplace_back("Last-Event-ID", last_id);
      net::EventParser parser;
      std::vector<net::Event> out;
      (void)caller_.http().stream("/v1/events", headers, [&](std::string_view bytes) {
        if (!std::exchange(open_, true)) opened_.set_value();
        const auto more = parser.feed(bytes, [&](const net::Event& event) {
          out.push_back(event);
          return !(enough && enough(event));
        });
        return more.value_or(false);
      });
      if (!open_) opened_.set_value();
      return out;
    });
    opened_.get_future().wait();  // The first bytes are there: from now on nothing is missed.
  }
  ~Reader() { caller_.http().cancel(); }
  [[nodiscard]] bool ended() const {
    return done_.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
  }
  std::vector<net::Event> events() { return done_.get(); }

 private:
  testing::Caller caller_;
  std::promise<void> opened_;
  bool open_ = false;
  std::future<std::vector<net::Event>> done_;
};

auto until(std::string kind) {
  return [kind = std::move(kind)](const net::Event& e) { return e.event == kind; };
}

std::vector<std::string> kinds(const std::vector<net::Event>& events) {
  std::vector<std::string> out;
  for (const auto& e : events) out.push_back(e.event);
  return out;
}

TEST(Events, ComeInOrderAndGoOnWhereAReaderLeftOff) {
  Fair fair;
  Reader all(fair, fair.borrower.token, "", until("FeedbackGiven"));
  fair.offer(fair.agent, fair.box);
  const auto job = fair.job(fair.borrower);
  ASSERT_EQ(fair.work(fair.agent, fair.box).count("leases"), 1u);
  fair.must("POST", "/v1/feedback", fair.borrower.token, R"({"category":"praise","text":"nice"})");
  ASSERT_TRUE(all.ended());
  const auto seen = all.events();
  EXPECT_THAT(kinds(seen), ::testing::ElementsAre("OfferPosted", "JobSubmitted", "RoundCleared",
                                                  "LeaseGranted", "FeedbackGiven"));
  for (std::size_t i = 1; i < seen.size(); ++i)
    EXPECT_LT(std::stoul(seen[i - 1].id), std::stoul(seen[i].id));
  EXPECT_THAT(seen[1].data, HasSubstr(fmt::format(R"("job":"{}")", job)));

  Reader rest(fair, fair.borrower.token, seen[1].id, until("FeedbackGiven"));
  ASSERT_TRUE(rest.ended());
  EXPECT_EQ(rest.events(), std::vector(seen.begin() + 2, seen.end()));
}

TEST(Events, OtherPeoplesBusinessStaysTheirs) {
  Fair fair;
  Reader lender(fair, fair.lender.token, "", until("OfferPosted"));
  Reader boss(fair, fair.boss.token, "", until("OfferPosted"));
  fair.job(fair.borrower);
  fair.grant(fair.boss, fair.borrower, "1");
  fair.offer(fair.agent, fair.box);
  ASSERT_TRUE(lender.ended() && boss.ended());
  EXPECT_THAT(kinds(lender.events()), ::testing::ElementsAre("OfferPosted"));
  EXPECT_THAT(kinds(boss.events()), Contains("CreditsGranted"));
}

TEST(Events, ALongPollReturnsWithWhatHappenedOrEmptyInTime) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const auto empty = fair.get("/v1/events?wait=10ms", bob);
  EXPECT_EQ(empty.count(), 0u);
  const auto next = empty.at("next");
  auto other = fair.another();
  auto waiting = std::async(std::launch::async, [&] {
    return other.call("GET", "/v1/events?wait=20s&after=" + next, bob);
  });
  fair.job(fair.borrower);
  const auto found = waiting.get();
  ASSERT_EQ(found.count(), 1u) << found;
  EXPECT_EQ(found.at("items.0.kind"), "JobSubmitted");
  EXPECT_EQ(fair.get("/v1/events?wait=10ms&after=" + next, bob).at("items"), found.at("items"))
      << "it can be read again";
  const auto json =
      fair.call("GET", "/v1/events?after=" + next, bob, "", {{"Accept", "application/json"}});
  EXPECT_EQ(json.count(), 1u);
}

TEST(Events, ARevokedTokenHearsNothingMore) {
  Fair fair;
  const auto phone = fair.log_in("lena");
  Reader stolen(fair, phone.token);
  auto other = fair.another();
  auto poll = std::async(std::launch::async,
                         [&] { return other.call("GET", "/v1/events?wait=60s", phone.token); });
  fair.must("DELETE", "/v1/tokens/" + phone.token_id, fair.lender.token);
  EXPECT_TRUE(stolen.ended());
  const auto answer = poll.get();
  EXPECT_TRUE(answer.status == 401 || answer.count() == 0) << answer;
}

TEST(Events, WhoComesBackAfterARestartIsToldOfTheGap) {
  testing::Folder folder;
  std::string token;
  {
    testing::Market market(testing::in_folder(folder / "data"));
    token = market.sign_up("boss").token;
  }
  testing::Market market(testing::in_folder(folder / "data"));
  EXPECT_EQ(market.get("/v1/events?wait=10ms&after=2", token).at("items.0.kind"), "missed");
  Reader back(market, token, "2", until("missed"));
  ASSERT_TRUE(back.ended());
  const auto seen = back.events();
  EXPECT_EQ(market.get("/v1/events?wait=10ms&after=" + seen.front().id, token).count(), 0u)
      << "it is told once";
}

}  // namespace
}  // namespace souk::server
