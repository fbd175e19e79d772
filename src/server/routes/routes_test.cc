#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
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
      {"services", "x"},
      {"{name}", "y"},
      {"volumes", "work"},
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
  EXPECT_THAT(open, ElementsAre("createAccount", "getAgent", "getAgentBundle", "getAgentTrainer",
                                "getEarnings", "getFaq", "getHealth", "getLendScript", "getMetrics",
                                "getOpenApi", "getReady", "login"));
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

Options with_bundle(const testing::Folder& folder) {
  auto out = testing::in_memory();
  out.bundle = folder / "souk.tar.gz";
  std::ofstream(out.bundle, std::ios::binary) << "\x1f\x8b\x08";
  out.trainer = out.bundle;
  return out;
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

  const testing::Folder folder;
  Fair fair{with_bundle(folder)};

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
  t.go("getBudgets", f.lender.token, {"lena"});
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
  const auto sweep = t.go("submitJob", f.borrower.token, {},
                          R"({"name":"tries","kind":"sweep","budget":1,"resources":{"cores":1},
                              "batch":{"run":"true","sweep":{"of":"batch","metric":"score","method":"grid","trials":2,
                              "parameters":{"SEED":{"values":["1","2"]}}}}})");
  t.go("getSweep", f.borrower.token, {sweep.at("id")});
  t.go("cancelJob", f.borrower.token, {sweep.at("id")}, "{}");
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
  t.go("shareChunks", f.agent, {f.box},
       fmt::format(R"({{"port":7075,"key":"{0:0>64}","pin":"{0:0>64}"}})", "a"));
  t.go("findPeers", f.agent, {l}, fmt::format(R"({{"names":["{:0>64}"]}})", "a"));
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
  EXPECT_EQ(t.go("getBlob", f.borrower.token, {name}).body, encoded);
  t.go("cleanBlobs", f.boss.token, {}, R"({"bytes":0})");
  EXPECT_EQ(f.get("/v1/blobs/" + name, f.agent).status, 404) << "a name is no right to the content";

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
                   R"({"id":"7","results":["00"]})")
                .status,
            409);  // Nothing was asked.
  t.cover("answerChallenge");
  t.go("putBlob", f.agent, {name}, encoded);
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
  t.go("listForecasts", f.boss.token, {}, "", "?limit=3");
  t.go("giveFeedback", f.borrower.token, {}, R"({"category":"idea","text":"more GPUs"})");
  t.go("listFeedback", f.boss.token);
  t.go("requestCredits", f.borrower.token, {}, R"({"amount":5,"why":"a first job"})");
  t.go("listCreditRequests", f.boss.token);
  t.go("answerCreditRequest", f.boss.token, {"bob"}, R"({"amount":2,"word":"to begin with"})");
  t.go("getEarnings", "", {}, "", "?cores=4&memory_mib=8192");
  t.go("getFaq", "");
  t.go("getHealth", "");
  t.go("getReady", "");
  t.go("getEvents", f.borrower.token, {}, "", "?after=1&wait=1ms");
  EXPECT_THAT(t.go("getMetrics", "").type, HasSubstr("text/plain"));
  EXPECT_EQ(t.go("getOpenApi", "").at("openapi"), "3.1.0");
  t.go("getAgent", "");
  EXPECT_EQ(t.go("getAgentBundle", "").type, "application/gzip");
  EXPECT_EQ(t.go("getAgentTrainer", "").type, "application/octet-stream");
  EXPECT_THAT(t.go("getLendScript", "").type, HasSubstr("text/plain"));
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

// A lease of the fair's machine for a job that was submitted with `body`, running.
std::pair<std::string, std::string> run_lease(Tour& t, std::string_view body) {
  auto& f = t.fair;
  t.go("submitJob", f.borrower.token, {}, body);
  f.work(f.agent, f.box);
  const auto work = t.go("getWork", f.agent, {f.box});
  return {work.at("leases.0.id"), work.at("leases.0.epoch")};
}

void finish_lease(Tour& t, const std::string& l, const std::string& epoch) {
  t.go("finishLease", t.fair.agent, {l},
       fmt::format(R"({{"epoch":{},"outcome":"completed"}})", epoch));
}

void tour_gangs(Tour& t) {
  auto& f = t.fair;
  t.go("editMachine", f.lender.token, {f.box},
       R"({"spec":{"cores":8,"memory_mib":16384,"packages":["@gangs","@ports"]}})");
  const auto [l, epoch] = run_lease(t, R"({"class":"c1","kind":"gang","budget":5,"limit":1,
      "batch":{"run":"true","gang":{}}})");
  const auto key = std::string(64, 'a');
  const auto join = fmt::format(R"({{"epoch":{},"key":"{}","port":7}})", epoch, key);
  EXPECT_EQ(t.go("joinNetwork", f.agent, {l}, join).at("world"), "1");
  EXPECT_EQ(f.call("PUT", "/v1/leases/" + l + "/network", f.borrower.token, join).status, 404);
  EXPECT_EQ(f.call("PUT", "/v1/leases/" + l + "/network", f.agent,
                   fmt::format(R"({{"epoch":{},"key":"short"}})", epoch))
                .status,
            400);
  EXPECT_EQ(f.get("/v1/leases/" + l + "/tunnel?to=1", f.agent).status, 409) << "nobody is there";
  t.cover("meetWorker");
  t.go("startLease", f.agent, {l}, fmt::format(R"({{"epoch":{}}})", epoch));
  finish_lease(t, l, epoch);
  t.go("announceRelay", f.boss.token, {},
       fmt::format(R"({{"url":"http://10.0.0.1:7071","key":"{}","region":"eu"}})", key));
  EXPECT_EQ(t.go("listRelays", f.boss.token).at("items.0.url"), "http://10.0.0.1:7071");
}

void tour_services(Tour& t) {
  auto& f = t.fair;
  const auto [l, epoch] = run_lease(t, R"({"class":"c1","kind":"service","budget":5,"limit":1,
      "batch":{"run":"true","service":{"name":"hello","port":80,"model":"parrot","timeout":"1s"}}})");
  t.go("startLease", f.agent, {l}, fmt::format(R"({{"epoch":{}}})", epoch));
  EXPECT_EQ(t.go("listServices", f.borrower.token).at("items.0.name"), "bob.hello");
  EXPECT_EQ(t.go("listServices", f.lender.token).count(), 0u) << "its owner calls it, nobody else";
  EXPECT_EQ(t.go("listModels", f.borrower.token).at("data.0.id"), "parrot");
  for (const auto* id : {"callServiceDelete", "callServiceGet", "callServicePatch",
                         "callServicePost", "callServicePut"})
    t.cover(id);
  // No machine has a line to it: it waits as long as a request may take.
  EXPECT_EQ(f.get("/v1/services/hello/x?y=1", f.borrower.token).status, 504);
  EXPECT_EQ(f.get("/v1/services/bob.hello/x", f.lender.token).status, 404);
  for (const auto* id : {"chatCompletions", "completions"}) t.cover(id);
  EXPECT_EQ(f.call("POST", "/v1/chat/completions", f.borrower.token, R"({"model":"x"})").status,
            404);
  EXPECT_EQ(f.call("POST", "/v1/completions", f.borrower.token, "{}").status, 400);
  t.cover("parkLine");  // tests/test_services.py
  t.cover("connectJob");
  t.go("finishLease", f.agent, {l}, fmt::format(R"({{"epoch":{},"outcome":"released"}})", epoch));
  const auto job = t.go("listJobs", f.borrower.token).at("items.0.id");
  EXPECT_EQ(f.get("/v1/jobs/" + job + "/connect", f.borrower.token).status, 409) << "not running";
  t.go("cancelJob", f.borrower.token, {job}, "{}");
}

void tour_volumes(Tour& t) {
  auto& f = t.fair;
  const auto [l, epoch] = run_lease(t, R"({"class":"c1","kind":"session","budget":5,"limit":1,
      "batch":{"run":"sh","session":{},"volumes":["work"]}})");
  t.go("startLease", f.agent, {l}, fmt::format(R"({{"epoch":{}}})", epoch));
  const auto kept = testing::send_files(f, f.agent, {{"work/notes", "42"}});
  t.go("saveVolume", f.agent, {l},
       fmt::format(R"({{"epoch":{},"name":"work","blob":"{}"}})", epoch, kept));
  EXPECT_EQ(t.go("listVolumes", f.borrower.token).at("items.0.blob"), kept);
  EXPECT_EQ(t.go("listVolumes", f.lender.token).count(), 0u);
  finish_lease(t, l, epoch);
  t.go("removeVolume", f.borrower.token, {"work"});
}

TEST(Document, EveryAnswerIsWhatTheDocumentPromises) {
  Tour tour;
  tour_accounts(tour);
  tour_supply(tour);
  tour_jobs(tour);
  tour_files(tour);
  tour_gangs(tour);
  tour_services(tour);
  tour_volumes(tour);
  tour_training(tour);  // Its lease stays open.
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

}  // namespace
}  // namespace souk::server
