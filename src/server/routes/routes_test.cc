#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "blob/chunk.h"
#include "server/http/router.h"
#include "server/testing/uploads.h"
#include "train/codecs/codec.h"
#include "train/update.h"
#include "wire/jsonschema_check.h"

// The whole table of routes: who may call what, and that every answer is what the document says.

namespace souk::server {
namespace {

using testing::Answer;
using ::testing::ElementsAre;
using testing::Fair;
using ::testing::HasSubstr;
using testing::Market;

// A plausible path of a route: ids of things of the right kind.
std::string filled(const wire::Operation& doc) {
  static const std::map<std::string_view, std::string_view> things{
      {"machines", "m1"},
      {"offers", "o1"},
      {"jobs", "j1"},
      {"leases", "l1"},
      {"units", "1"},
      {"tokens", "t9999"},
      {"accounts", "lena"},
      {"classes", "c1"},
      {"runs", "r1"},
      {"blobs", "0000000000000000000000000000000000000000000000000000000000000000"}};
  std::string out;
  const auto parts = base::split(doc.path, '/');
  for (std::size_t i = 1; i < parts.size(); ++i)
    out += "/" + std::string(parts[i].starts_with('{') ? things.at(parts[i - 1]) : parts[i]);
  // A short answer instead of an endless stream.
  return doc.id == "getEvents" ? out + "?wait=1ms" : out;
}

TEST(Access, OnlyTheseRoutesAnswerStrangers) {
  std::set<std::string> open;
  for (const auto& route : all_routes().all())
    if (route.access == Access::everybody) open.insert(route.doc.id);
  // A route added here is open to the whole world.
  EXPECT_THAT(open, ElementsAre("createAccount", "getFaq", "getHealth", "getMetrics", "getOpenApi",
                                "getReady", "login"));
}

TEST(Access, NoRouteServesAnybodyItIsNotMeantFor) {
  Fair fair;
  fair.offer(fair.agent, fair.box);
  fair.job(fair.borrower);
  const auto refused = [](const Answer& a) { return a.status == 401 || a.status == 403; };
  for (const auto& route : all_routes().all()) {
    const auto& doc = route.doc;
    SCOPED_TRACE(doc.method + " " + doc.path);
    // Without an Idempotency-Key, so that nothing changes on the way.
    const auto as = [&](const std::string& token) {
      return fair.caller().send(doc.method, filled(doc), token);
    };
    const bool open = route.access == Access::everybody;
    const auto nobody = as(""), forger = as("souk_" + std::string(43, 'A'));
    if (open) {
      EXPECT_FALSE(refused(nobody)) << nobody;
      EXPECT_FALSE(refused(forger)) << forger;
    } else {
      EXPECT_EQ(nobody.status, 401) << nobody;
      EXPECT_EQ(net::find_header(nobody.headers, "WWW-Authenticate"), "Bearer");
      EXPECT_EQ(forger.status, 401) << forger;
    }
    const auto machine = as(fair.agent);
    if (open || route.access == Access::agent)
      EXPECT_FALSE(refused(machine)) << machine;
    else
      EXPECT_EQ(machine.status, 403) << machine;
    const auto user = as(fair.lender.token);
    if (route.access == Access::operator_)
      EXPECT_EQ(user.status, 403) << user;
    else
      EXPECT_FALSE(refused(user)) << user;
    EXPECT_FALSE(refused(as(fair.boss.token)));
  }
}

TEST(Access, MetricsAreForThisComputerAndForOperators) {
  Fair fair;
  const net::Headers forwarded{{"X-Forwarded-For", "203.0.113.9"}};
  EXPECT_EQ(fair.call("GET", "/metrics").status, 200);
  EXPECT_EQ(fair.call("GET", "/metrics", "", "", forwarded).status, 401);
  EXPECT_EQ(fair.call("GET", "/metrics", "", "", {{"Forwarded", "for=203.0.113.9"}}).status, 401);
  EXPECT_EQ(fair.call("GET", "/metrics", fair.lender.token, "", forwarded).status, 403);
  EXPECT_EQ(fair.call("GET", "/metrics", fair.boss.token, "", forwarded).status, 200);
}

TEST(Access, MetricsCanBeOpened) {
  auto options = testing::in_memory();
  options.metrics_public = true;
  Market market(options);
  EXPECT_EQ(market.call("GET", "/metrics", "", "", {{"X-Forwarded-For", "203.0.113.9"}}).status,
            200);
}

// Calls routes by their names and holds each answer against the document that is served.
class Tour {
 public:
  Tour() : document_(fair.get("/v1/openapi.json").json()) {
    for (const auto& route : routes_.all()) {
      auto doc = route.doc;
      route.describe(schemas_, doc);
      operations_[doc.id] = doc;
    }
  }

  // `path` fills the {parameters} in order; a query may follow the last.
  Answer go(const std::string& id, const std::string& token, std::vector<std::string> params = {},
            std::string_view body = "", const std::string& query = "") {
    const auto& doc = operations_.at(id);
    std::string path;
    for (const auto part : base::split(std::string_view(doc.path).substr(1), '/')) {
      path += '/';
      if (!part.starts_with('{')) {
        path += part;
        continue;
      }
      path += params.front();
      params.erase(params.begin());
    }
    const auto answer = fair.call(doc.method, path + query, token, body);
    EXPECT_EQ(answer.status, doc.status) << id << ": " << answer;
    if (doc.request) expect_fits(*doc.request, body, id + " (request)");
    if (!doc.response.empty()) {
      EXPECT_EQ(answer.type, "application/json") << id;
      expect_fits(doc.response, answer.body, id);
    }
    covered_.insert(id);
    return answer;
  }

  void expect_fits(const std::string& schema, std::string_view body, const std::string& what) {
    const auto value = wire::parse(body);
    ASSERT_TRUE(value) << what << ": " << body;
    for (const auto& p : wire::check_against_component(*value, schema, document_))
      ADD_FAILURE() << what << ": " << schema << " at '" << p.path << "': " << p.message << "\n"
                    << body;
  }

  void cover(const std::string& id) { covered_.insert(id); }

  void expect_complete() const {
    for (const auto& [id, doc] : operations_)
      EXPECT_TRUE(covered_.contains(id)) << id << " is not on the tour: add it";
  }

  Fair fair;

 private:
  const Routes routes_ = all_routes();
  wire::Schemas schemas_;
  std::map<std::string, wire::Operation> operations_;
  const boost::json::value document_;
  std::set<std::string> covered_;
};

void tour_accounts(Tour& t) {
  auto& f = t.fair;
  t.go("createAccount", "", {}, Market::sign_up_body("carol"));
  const auto carol = t.go("login", "", {}, Market::sign_up_body("carol")).at("token");
  t.go("changePassword", carol, {},
       R"({"old_password":"correct horse battery","password":"another good one"})");
  t.go("getMe", carol);
  t.go("listAccounts", f.boss.token, {}, "", "?limit=2");
  t.go("getAccount", f.boss.token, {"carol"});
  t.go("grantCredits", f.boss.token, {"carol"}, R"({"amount":5,"memo":"welcome"})");
  t.go("freezeAccount", f.boss.token, {"carol"}, R"({"reason":"a test"})");
  t.go("thawAccount", f.boss.token, {"carol"});
  const auto token = t.go("createToken", carol, {}, R"({"label":"laptop","expires_in":"1h"})");
  t.go("listTokens", carol);
  t.go("revokeToken", carol, {token.at("id")});
  t.go("revokeTokens", carol);
  t.go("logout", f.log_in("boss").token);
}

void tour_supply(Tour& t) {
  auto& f = t.fair;
  t.go("listClasses", f.lender.token);
  t.go(
      "setClass", f.boss.token, {"huge"},
      R"({"cores":64,"memory_mib":262144,"price":9,"mechanism":"posted","params":{},"retired":false,)"
      R"("trial":{"mechanism":"mcafee","slice":"1h"}})");
  t.go("listMechanisms", f.lender.token);
  const auto m =
      t.go("addMachine", f.lender.token, {},
           R"({"name":"old","spec":{"cores":2,"memory_mib":4096,"packages":["numpy"]}})");
  t.go("listMachines", f.lender.token);
  t.go("getMachine", f.lender.token, {m.at("id")});
  t.go("editMachine", f.lender.token, {m.at("id")}, R"({"name":"older"})");
  const auto o = t.go("postOffer", f.lender.token, {},
                      fmt::format(R"({{"machine":"{}","class":"c1","price":0.25,
                                      "weekly":["daily 0:00-24:00 Europe/Berlin"]}})",
                                  m.at("id")));
  t.go("listOffers", f.borrower.token, {}, "", "?where=class%3Dc1%20and%20price%3C%3D0.5");
  t.go("getOffer", f.borrower.token, {o.at("id")});
  t.go("editOffer", f.lender.token, {o.at("id")}, R"({"market":true,"always":false})");
  t.go("pauseOffer", f.lender.token, {o.at("id")}, R"({"for":"1h"})");
  t.go("resumeOffer", f.lender.token, {o.at("id")});
  t.go("drainOffer", f.lender.token, {o.at("id")});
  t.go("removeOffer", f.lender.token, {o.at("id")});
  t.go("removeMachine", f.lender.token, {m.at("id")});
}

void tour_jobs(Tour& t) {
  auto& f = t.fair;
  const auto waiting = t.go("submitJob", f.borrower.token, {},
                            R"({"name":"first","budget":5,"resources":{"cores":1},
                                "constraints":{"regions":["moon"],"min_reliability":0.5}})");
  t.go("planJob", f.borrower.token, {}, R"({"name":"first","budget":5,"resources":{"cores":1}})");
  t.go("prepareJob", f.borrower.token, {}, R"({"yaml":"run: echo hello\nworkers: 1..2\n"})");
  t.go("listSamples", f.borrower.token);
  t.go("listTrainingChoices", f.borrower.token);
  const auto id = waiting.at("id");
  t.go("getJob", f.borrower.token, {id});
  t.go("whyJob", f.borrower.token, {id});
  t.go("editJob", f.borrower.token, {id}, R"({"limit":2,"priority":3})");
  t.go("pauseJob", f.borrower.token, {id});
  t.go("resumeJob", f.borrower.token, {id});
  t.go("cancelJob", f.borrower.token, {id}, R"({"reason":"changed my mind"})");

  f.offer(f.agent, f.box);
  const auto job = f.job(f.borrower);
  f.work(f.agent, f.box);
  const auto lease = t.go("getWork", f.agent, {f.box});
  const auto l = lease.at("leases.0.id"), epoch = lease.at("leases.0.epoch");
  t.go("listJobs", f.borrower.token, {}, "", "?state=running");
  t.go("startLease", f.agent, {l}, fmt::format(R"({{"epoch":{}}})", epoch));
  t.go("heartbeat", f.agent, {f.box},
       fmt::format(R"({{"leases":[{{"lease":"{}","epoch":{}}}]}})", l, epoch));
  t.go("listLeases", f.lender.token);
  t.go("finishLease", f.agent, {l}, fmt::format(R"({{"epoch":{},"outcome":"completed"}})", epoch));
  t.go("listJobLeases", f.borrower.token, {job});
}

void tour_files(Tour& t) {
  auto& f = t.fair;
  const std::string content = "print('hello')";
  const auto encoded = blob::encode(content);
  const auto name = to_string(blob::name_of(content));
  const auto ask = fmt::format(R"({{"names":["{}"]}})", name);
  EXPECT_EQ(t.go("missingBlobs", f.borrower.token, {}, ask).at("names.0"), name);
  t.go("putBlob", f.borrower.token, {name}, encoded);
  EXPECT_EQ(t.go("getBlob", f.agent, {name}).body, encoded);

  const auto job = t.go("submitJob", f.borrower.token, {},
                        R"({"class":"c1","budget":5,"limit":1,"batch":{"run":"true","inputs":[],
                            "outputs":[],"env":{}}})")
                       .at("id");
  f.work(f.agent, f.box);
  const auto lease = t.go("getWork", f.agent, {f.box});
  EXPECT_EQ(lease.at("leases.0.task.batch.run"), "true");
  const auto l = lease.at("leases.0.id"), epoch = lease.at("leases.0.epoch");
  t.go("startLease", f.agent, {l}, fmt::format(R"({{"epoch":{}}})", epoch));
  t.go("heartbeat", f.agent, {f.box},
       fmt::format(R"({{"leases":[{{"lease":"{}","epoch":{},"doing":"running","usage":
                      {{"cpu_seconds":1.5,"memory_bytes":1,"memory_peak_bytes":2,
                        "scratch_bytes":3,"received_bytes":4,"sent_bytes":5}}}}]}})",
                   l, epoch));
  t.go("appendLog", f.agent, {l}, fmt::format(R"({{"epoch":{},"offset":0,"text":"hi"}})", epoch));
  EXPECT_EQ(t.go("getLog", f.borrower.token, {l}, "", "?from=1").at("text"), "i");
  EXPECT_EQ(f.call("POST", "/v1/machines/" + f.box + "/challenge", f.agent,
                   R"({"seed":"7","checksum":"00"})")
                .status,
            409);  // Nothing was asked.
  t.cover("answerChallenge");
  t.go("checkpointLease", f.agent, {l},
       fmt::format(R"({{"epoch":{},"checkpoint":"{}"}})", epoch, name));
  const auto parts = t.go("listParts", f.borrower.token, {job});
  EXPECT_EQ(parts.at("items.0.doing"), "running");
  EXPECT_EQ(parts.at("items.0.checkpoint"), name);
  EXPECT_EQ(t.go("getUsage", f.borrower.token, {job}).at("items.0.samples.0.usage.cpu_seconds"),
            "1.5");
  for (const auto& token : {f.lender.token, f.agent, f.boss.token}) {
    const auto used = t.go("getMachineUsage", token, {f.box});
    EXPECT_EQ(used.count(), 1u) << "the lease before it said nothing";
    EXPECT_EQ(used.at("items.0.lease"), l);
    EXPECT_EQ(used.at("items.0.samples.0.usage.cpu_seconds"), "1.5");
  }
  EXPECT_EQ(f.get("/v1/machines/" + f.box + "/usage", f.borrower.token).status, 404);
  const auto leases = t.go("listLeases", f.lender.token, {}, "", "?machine=" + f.box);
  EXPECT_EQ(leases.at("items.0.id"), l);
  EXPECT_EQ(leases.at("items.0.doing"), "running");
  EXPECT_EQ(t.go("listLeases", f.lender.token, {}, "", "?machine=m99").count(), 0u);
  EXPECT_EQ(f.get("/v1/leases?machine=box", f.lender.token).status, 400);
  EXPECT_EQ(t.go("getJob", f.borrower.token, {job}).at("batch.run"), "true");
  const auto left = testing::send_files(f, f.agent, {{"answer", "42"}});
  t.go("finishLease", f.agent, {l},
       fmt::format(R"({{"epoch":{},"outcome":"completed","result":"{}"}})", epoch, left));
  EXPECT_EQ(t.go("listFiles", f.borrower.token, {job}).at("items.0.path"), "answer");
  EXPECT_EQ(t.go("getFile", f.borrower.token, {job}, "", "?path=answer&part=0").body, "42");
}

void tour_training(Tour& t) {
  auto& f = t.fair;
  const std::string content = "samples";
  const auto name = to_string(blob::name_of(content));
  t.go("putBlob", f.borrower.token, {name}, blob::encode(content));
  const auto job =
      t.go("submitJob", f.borrower.token, {},
           fmt::format(
               R"({{"class":"c1","also_classes":["c4"],"kind":"train","budget":5,"limit":1,
               "batch":{{"run":"x",
               "train":{{"trainer":"python","epochs":1,"shards":[{{"blob":"{}","samples":9}}]}}}}}})",
               name))
          .at("id");
  EXPECT_EQ(t.go("getJob", f.borrower.token, {job}).at("classes.1"), "c4");
  EXPECT_EQ(t.go("getTraining", f.borrower.token, {job}).at("state"), "waiting");
  f.work(f.agent, f.box);
  const auto work = t.go("getWork", f.agent, {f.box});
  const auto l = work.at("leases.0.id"), epoch = work.at("leases.0.epoch");
  EXPECT_EQ(work.at("leases.0.task.batch.train.trainer"), "python");
  t.go("startLease", f.agent, {l}, fmt::format(R"({{"epoch":{}}})", epoch));
  const auto ask = fmt::format(R"({{"epoch":{}}})", epoch);
  auto unit = t.go("askUnit", f.agent, {l}, ask);
  EXPECT_EQ(unit.at("kind"), "init");
  const auto fp32 = train::make_codec("fp32");
  const auto values = train::pack(std::vector<float>(6, 1.0f), **fp32, {});
  const auto query = fmt::format("?epoch={}&offset=0", epoch);
  t.go("putUnit", f.agent, {l, unit.at("id")}, values, query);
  auto verdict =
      t.go("finishUnit", f.agent, {l, unit.at("id")},
           fmt::format(R"({{"epoch":{},"tensors":[{{"name":"w","shape":[6]}}]}})", epoch));
  EXPECT_EQ(verdict.at("accepted"), "true") << verdict;
  unit = t.go("askUnit", f.agent, {l}, ask);
  EXPECT_EQ(unit.at("kind"), "train");
  EXPECT_EQ(unit.at("shard"), name);
  EXPECT_GT(t.go("getParameters", f.agent, {l}, "", fmt::format("?epoch={}", epoch)).body.size(),
            6 * sizeof(float));
  t.go("putUnit", f.agent, {l, unit.at("id")}, values, query);
  verdict = t.go("finishUnit", f.agent, {l, unit.at("id")},
                 fmt::format(R"({{"epoch":{},"steps":1,"samples":9,"loss":0.5}})", epoch));
  EXPECT_EQ(verdict.at("accepted"), "true") << verdict;
  EXPECT_EQ(t.go("getTraining", f.borrower.token, {job}).at("samples"), "9");
  // Another's lease is nobody's business, and an old epoch is over.
  EXPECT_EQ(f.call("POST", "/v1/leases/" + l + "/units", f.borrower.token, ask).status, 404);
  EXPECT_EQ(f.call("POST", "/v1/leases/" + l + "/units", f.agent, R"({"epoch":99})").status, 409);
}

void tour_market(Tour& t) {
  auto& f = t.fair;
  t.go("compareMechanisms", f.lender.token, {"c1"});
  t.go("getPrices", f.borrower.token, {}, "", "?class=c1&days=2&by=day");
  t.go("getBook", f.borrower.token, {}, "", "?class=c1");
  t.go("getLedger", f.borrower.token);
  t.go("getStatement", f.boss.token, {}, "", "?account=bob");
  t.go("getSettings", f.borrower.token);
  t.go("editSettings", f.boss.token, {}, R"({"fee":0.01})");
  t.go("listAudit", f.boss.token, {}, "", "?limit=3");
  t.go("giveFeedback", f.borrower.token, {}, R"({"category":"idea","text":"more GPUs"})");
  t.go("listFeedback", f.boss.token);
  t.go("getFaq", "");
  t.go("getHealth", "");
  t.go("getReady", "");
  t.go("getEvents", f.borrower.token, {}, "", "?after=1&wait=1ms");
  EXPECT_THAT(t.go("getMetrics", "").type, HasSubstr("text/plain"));
  EXPECT_EQ(t.go("getOpenApi", "").at("openapi"), "3.1.0");
}

void tour_lab(Tour& t) {
  auto& f = t.fair;
  const auto& ada = f.lender.token;
  t.go("listLabScenarios", ada);
  const auto id =
      t.go("newLabRun", ada, {},
           R"({"scenario":"{name: x, world: book, horizon: 9, seeds: 2,)"
           R"( mechanisms: [k-double], borrowers: [{values: 1}], lenders: [{costs: 0}]}",)"
           R"("mechanisms":["k-double","posted"]})")
          .at("id");
  EXPECT_TRUE(
      testing::eventually([&] { return f.get("/v1/lab/runs/" + id, ada).at("state") == "done"; }));
  const auto run = t.go("getLabRun", ada, {id});
  EXPECT_NE(run.at("comparisons.0.metrics.0.difference"), "");
  EXPECT_THAT(run.at("scenario"), HasSubstr("{name: x, world: book"));
  EXPECT_THAT(t.go("listLabRuns", ada).body, Not(HasSubstr("\"scenario\":\"{")));
  EXPECT_THAT(t.go("getLabReport", ada, {id}).type, HasSubstr("text/html"));
  EXPECT_THAT(t.go("getLabTrades", ada, {id}).type, HasSubstr("text/csv"));
  t.go("removeLabRun", ada, {id});
  // A market in memory has no history; lab_runs_test.cc has one on disk.
  EXPECT_EQ(f.call("POST", "/v1/lab/replays", f.boss.token, R"({"mechanisms":["posted"]})").status,
            409);
  t.cover("newLabReplay");
}

TEST(Document, EveryAnswerIsWhatTheDocumentPromises) {
  Tour tour;
  tour_accounts(tour);
  tour_supply(tour);
  tour_jobs(tour);
  tour_files(tour);
  tour_training(tour);
  tour_market(tour);
  tour_lab(tour);
  tour.expect_complete();
}

TEST(Document, EveryRefusalIsAProblemDocument) {
  Tour tour;
  auto& f = tour.fair;
  f.offer(f.agent, f.box);
  const auto& bob = f.borrower.token;
  const std::string too_much(2 << 20, ' ');
  const std::vector<std::pair<int, Answer>> refusals{
      {400, f.call("POST", "/v1/jobs", bob, "{")},
      {400, f.call("POST", "/v1/jobs", bob, R"({"budget":10,"limit":-1})")},
      {401, f.get("/v1/me")},
      {403, f.get("/v1/audit", bob)},
      {404, f.get("/v1/jobs/j77", bob)},
      {404, f.get("/v1/nowhere")},
      {405, f.call("DELETE", "/v1/jobs", bob)},
      {409, f.call("POST", "/v1/accounts", "", Market::sign_up_body("bob"))},
      {413, f.call("POST", "/v1/jobs", bob, too_much)}};
  for (const auto& [status, answer] : refusals) {
    EXPECT_EQ(answer.status, status) << answer;
    tour.expect_fits("Problem", answer.body, std::to_string(status));
  }
}

// --- Requests that cannot be right ---------------------------------------------------------------

TEST(Requests, AMisspeltFieldIsNamedAndNothingIsDone) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const auto a = fair.call("POST", "/v1/jobs", bob, R"({"class":"c1","limt":1,"budget":10})");
  EXPECT_EQ(a.status, 400);
  EXPECT_EQ(a.at("field"), "limt");
  EXPECT_THAT(a.at("hint"), HasSubstr("limit"));
  EXPECT_EQ(fair.get("/v1/jobs", bob).count(), 0u);
}

TEST(Requests, WhatIsNotUnderstoodIsRefusedWithItsPlace) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const struct {
    std::string_view method, path, body, field;
  } rows[] = {
      {"POST", "/v1/jobs", R"({"budget":"lots"})", "budget"},
      {"POST", "/v1/jobs", R"({"budget":10,"workers":{"min":"1","max":2}})", "workers.min"},
      {"POST", "/v1/jobs", R"({"budget":10,"workers":{"min":1,"max":99999999999}})", "workers.max"},
      {"POST", "/v1/jobs", R"({"budget":10,"deadline":"tomorrow"})", "deadline"},
      {"POST", "/v1/jobs", R"({"class":"c1"})", "budget"},
      {"POST", "/v1/jobs", R"({"budget":10,"class":"c1","also_classes":["c5"]})", "also_classes"},
      {"POST", "/v1/plan", R"({"budget":10,"class":"c1","also_classes":["c4"]})", "also_classes"},
      {"POST", "/v1/jobs", R"({"budget":10,"budget":20})", ""},
      {"POST", "/v1/jobs", "", ""},
      {"POST", "/v1/jobs", "[1,2", ""},
      {"POST", "/v1/jobs/j1/pause", R"({"for":"1h"})", ""},
      {"GET", "/v1/jobs?stat=running", "", "stat"},
      {"GET", "/v1/jobs?state=runing", "", "state"},
      {"GET", "/v1/jobs?limit=0", "", "limit"},
      {"GET", "/v1/jobs?limit=many", "", "limit"},
      {"GET", "/v1/jobs?all=yes", "", "all"},
      {"GET", "/v1/jobs?after=o1", "", "after"},
      {"GET", "/v1/prices?days=-1", "", "days"},
      {"GET", "/v1/prices?by=week", "", "by"},
      {"GET", "/v1/offers?where=prize%3C1", "", ""},
      {"GET", "/v1/offers?where=state%3Dopne", "", ""},
      {"POST", "/v1/tokens", R"({"scope":"root"})", "scope"},
      {"POST", "/v1/feedback", R"({"category":"rant","text":"x"})", "category"},
      {"POST", "/v1/leases/l1/finish", R"({"epoch":1,"outcome":"lost"})", "outcome"},
      {"POST", "/v1/jobs", R"({"budget":10,"batch":{"run":"x","network":"lan"}})", "batch.network"},
      {"POST", "/v1/jobs", R"({"budget":10,"batch":{"run":"x","retry":{"on":["los"]}}})",
       "batch.retry.on[0]"},
      {"GET", "/v1/events?after=x", "", "after"},
      {"GET", "/v1/me?verbose=1", "", "verbose"},
  };
  for (const auto& row : rows) {
    const auto a = fair.call(row.method, std::string(row.path), bob, row.body);
    EXPECT_EQ(a.status, 400) << row.path << ' ' << row.body << ": " << a;
    if (!row.field.empty()) EXPECT_EQ(a.at("field"), row.field) << row.path << ' ' << row.body;
  }
}

// Generated clients know every word: a state is one of a list, not any text.
TEST(Requests, TheDocumentListsTheWordsThatAreAccepted) {
  Market market;
  const auto d = market.get("/v1/openapi.json");
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"Job.properties.state", "JobState"},
      {"Lease.properties.outcome", "LeaseOutcome"},
      {"Offer.properties.state", "OfferState"},
      {"Token.properties.scope", "Scope"},
      {"Unit.properties.kind", "UnitKind"},
      {"Train.properties.trainer", "Trainer"},
      {"LeaseFinish.properties.outcome", "ReportedOutcome"}};
  for (const auto& [property, list] : rows) {
    const auto at = fmt::format("components.schemas.{}", property);
    EXPECT_EQ(d.at(at + ".$ref"), fmt::format("#/components/schemas/{}", list)) << property;
    EXPECT_NE(d.at(fmt::format("components.schemas.{}.enum.0", list)), "") << list;
  }
}

TEST(Requests, AWrongMethodIsToldTheRightOnes) {
  Market market;
  const auto a = market.call("PUT", "/v1/jobs");
  EXPECT_EQ(a.status, 405);
  EXPECT_EQ(net::find_header(a.headers, "Allow"), "GET, POST");
  for (const auto* path : {"/v1", "/v1/", "/v1/jobs/", "/v1/jobs/j1/x", "/v1//jobs"})
    EXPECT_EQ(market.get(path).status, 404) << path;
}

TEST(Requests, AChangeWithoutAUsableKeyIsNotMade) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const auto submit = [&](const net::Headers& headers) {
    return fair.caller().send("POST", "/v1/jobs", bob, R"({"class":"c1","limit":1,"budget":1})",
                              headers);
  };
  for (const auto& bad : {std::string(), std::string(201, 'x'), std::string("a b")}) {
    const auto a = submit({{"Idempotency-Key", bad}});
    EXPECT_EQ(a.status, 400) << bad;
    EXPECT_EQ(a.at("field"), "Idempotency-Key");
  }
  EXPECT_EQ(submit({}).at("field"), "Idempotency-Key");
  EXPECT_EQ(fair.get("/v1/jobs", bob).count(), 0u);
  EXPECT_EQ(submit({{"Idempotency-Key", std::string(200, 'x')}}).status, 201);
}

// --- Repeats -------------------------------------------------------------------------------------

TEST(Repeats, ALostAnswerIsGivenAgainAndNothingIsDoneTwice) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const net::Headers key{{"Idempotency-Key", "only-once"}};
  const std::string body = R"({"class":"c1","limit":1,"budget":10})";
  const auto first = fair.must("POST", "/v1/jobs", bob, body, key);
  fair.must("PATCH", "/v1/jobs/" + first.at("id"), bob, R"({"priority":7})");
  for (int i = 0; i < 3; ++i) {
    const auto again = fair.call("POST", "/v1/jobs", bob, body, key);
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(net::find_header(again.headers, "Idempotent-Replay"), "true");
  }
  EXPECT_EQ(fair.get("/v1/jobs", bob).count(), 1u);
  EXPECT_EQ(fair.get("/v1/me", bob).at("escrow"), "10");
  const auto other =
      fair.call("POST", "/v1/jobs", bob, R"({"class":"c1","limit":1,"budget":11})", key);
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.at("field"), "Idempotency-Key");
  EXPECT_EQ(fair.call("POST", "/v1/feedback", bob, R"({"category":"idea","text":"x"})", key).status,
            409);
  EXPECT_EQ(fair.call("POST", "/v1/machines", fair.lender.token,
                      R"({"name":"x","spec":{"cores":1,"memory_mib":1}})", key)
                .status,
            201)
      << "another account's keys are its own";
}

TEST(Repeats, ARefusalCanBeTriedAgain) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "later"}};
  const std::string body = R"({"class":"c1","limit":1,"budget":150})";
  EXPECT_EQ(fair.call("POST", "/v1/jobs", fair.borrower.token, body, key).status, 409);
  fair.grant(fair.boss, fair.borrower, "100");
  EXPECT_EQ(fair.call("POST", "/v1/jobs", fair.borrower.token, body, key).status, 201);
}

TEST(Repeats, ARestartDoesNotMakeARepeatANewChange) {
  testing::Folder folder;
  const net::Headers key{{"Idempotency-Key", "across"}}, up{{"Idempotency-Key", "me"}};
  const std::string grant = R"({"amount":10})";
  std::string first, token;
  {
    Market market(testing::in_folder(folder / "data"));
    token = market.must("POST", "/v1/accounts", "", Market::sign_up_body("boss"), up).at("token");
    first = market.must("POST", "/v1/accounts/boss/grant", token, grant, key).body;
  }
  Market market(testing::in_folder(folder / "data"));
  const auto again = market.must("POST", "/v1/accounts/boss/grant", token, grant, key);
  EXPECT_EQ(again.body, first);
  EXPECT_EQ(market.get("/v1/me", token).at("available"), "10");
  EXPECT_EQ(market.call("POST", "/v1/accounts/boss/grant", token, R"({"amount":11})", key).status,
            409);
  const auto session = market.must("POST", "/v1/accounts", "", Market::sign_up_body("boss"), up);
  EXPECT_EQ(session.at("account.id"), "a1");
}

TEST(Repeats, ARepeatedSignUpIsTheSameAccountForWhoKnowsThePassword) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "carol-1"}};
  const auto first = fair.must("POST", "/v1/accounts", "", Market::sign_up_body("carol"), key);
  const auto again = fair.must("POST", "/v1/accounts", "", Market::sign_up_body("carol"), key);
  EXPECT_EQ(again.at("account.id"), first.at("account.id"));
  EXPECT_NE(again.at("token"), first.at("token"));
  EXPECT_EQ(fair.get("/v1/me", again.at("token")).at("name"), "carol");
  const auto thief = fair.call("POST", "/v1/accounts", "",
                               R"({"name":"carol","password":"not hers at all"})", key);
  EXPECT_EQ(thief.status, 401);
  EXPECT_EQ(thief.at("token"), "");
}

TEST(Repeats, ASecretIsShownOnceAndMadeOnce) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "token"}};
  const auto& lena = fair.lender.token;
  fair.must("POST", "/v1/tokens", lena, R"({"label":"one"})", key);
  const auto tokens = fair.get("/v1/tokens", lena).count();
  const auto again = fair.call("POST", "/v1/tokens", lena, R"({"label":"one"})", key);
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.at("detail"), HasSubstr("secret"));
  EXPECT_EQ(fair.get("/v1/tokens", lena).count(), tokens);
}

TEST(Repeats, ALongAnswerIsNotKeptButItsChangeIsNotMadeTwice) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "long"}};
  std::string packages;
  for (int i = 0; i < 1'000; ++i)
    packages += fmt::format(R"({}"package-{}-{}")", i > 0 ? "," : "", i, std::string(80, 'x'));
  const auto body = fmt::format(
      R"({{"name":"full","spec":{{"cores":1,"memory_mib":1024,"packages":[{}]}}}})", packages);
  fair.must("POST", "/v1/machines", fair.lender.token, body, key);
  EXPECT_EQ(fair.call("POST", "/v1/machines", fair.lender.token, body, key).status, 409);
  EXPECT_EQ(fair.get("/v1/machines", fair.lender.token).count(), 2u);
}

// --- Lists ---------------------------------------------------------------------------------------

TEST(Lists, PagesTogetherHoldEverythingOnce) {
  Fair fair;
  for (int i = 0; i < 7; ++i) fair.job(fair.borrower);
  std::vector<std::string> seen;
  std::string after;
  for (int pages = 0; pages < 5; ++pages) {
    const auto page = fair.get("/v1/jobs?limit=3" + after, fair.borrower.token);
    for (std::size_t i = 0; i < page.count(); ++i)
      seen.push_back(page.at(fmt::format("items.{}.id", i)));
    if (page.at("next").empty()) break;
    after = "&after=" + page.at("next");
  }
  EXPECT_THAT(seen, ElementsAre("j7", "j6", "j5", "j4", "j3", "j2", "j1"));
  EXPECT_EQ(fair.get("/v1/jobs", fair.lender.token).count(), 0u) << "jobs are their owner's";
  EXPECT_EQ(fair.get("/v1/jobs?all=true", fair.lender.token).count(), 0u);
  EXPECT_EQ(fair.get("/v1/jobs?all=true", fair.boss.token).count(), 7u);
}

TEST(Lists, AQueryIsEchoedAsItWasUnderstood) {
  Fair fair;
  fair.offer(fair.lender.token, fair.box, 1, R"(,"price":0.25)");
  fair.offer(fair.lender.token, fair.box, 1, R"(,"price":2)");
  const auto a = fair.must("GET", "/v1/offers?where=price%3C%3D1", fair.borrower.token);
  EXPECT_EQ(a.count(), 1u);
  EXPECT_EQ(a.at("items.0.price"), "0.25");
  EXPECT_THAT(a.at("query"), HasSubstr("price"));
}

}  // namespace
}  // namespace souk::server
