#include "server/core/program_rounds.h"

#include <gtest/gtest.h>

#include "server/testing/market.h"

// Classes that a program clears, in a real server: what waits for the program, and what does not.

namespace souk::server {
namespace {

using journal::testing::spill;
using testing::eventually;
using testing::Folder;

// A market whose class c1 a program clears. The program notes each question in the file `asked`,
// waits for the file `go`, and gives a slot of the first ask to the first bid.
struct ProgramFair {
  explicit ProgramFair(std::string_view pays = "0.9") : fair(options()) {
    const auto path = folder / "slow";
    spill(path, fmt::format(R"(#!/bin/sh
while read -r book; do
  echo 1 >> "$0.asked"
  while [ ! -e "$0.go" ]; do sleep 0.01; done
  echo '{{"trades":[{{"bid":"b1","ask":"s1","pays":{0},"gets":{0}}}]}}'
done
)",
                            pays));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    set_mechanism("external", R"("program":"slow","timeout_ms":"60000","fallback":"posted",)"
                              R"("price":"0.7")");
    offer = fair.offer(fair.agent, fair.box);
  }

  void set_mechanism(std::string_view name, std::string_view params) {
    fair.must("PUT", "/v1/classes/c1", fair.boss.token,
              fmt::format(R"({{"cores":1,"memory_mib":1024,"price":0.0002,"mechanism":"{}",)"
                          R"("params":{{{}}}}})",
                          name, params));
  }
  void wait_until_asked() {
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "slow.asked"); }));
  }
  void let_it_answer() const { spill(folder / "slow.go", ""); }
  // The price of the job's first lease, once it has one.
  std::string price(const std::string& job) {
    testing::Answer leases;
    EXPECT_TRUE(eventually([&] {
      leases = fair.get("/v1/jobs/" + job + "/leases", fair.borrower.token);
      return leases.count() > 0;
    }));
    return leases.at("items.0.price");
  }
  std::size_t leases(const std::string& job) {
    return fair.get("/v1/jobs/" + job + "/leases", fair.borrower.token).count();
  }

  Folder folder;
  testing::Fair fair;
  std::string offer;

 private:
  [[nodiscard]] Options options() const {
    auto out = testing::in_memory();
    out.mechanisms = folder.path();
    return out;
  }
};

TEST(ProgramRounds, AProgramThatHangsDelaysNeitherOtherClassesNorRequests) {
  ProgramFair p;
  const auto waits = p.fair.job(p.fair.borrower);
  p.wait_until_asked();
  p.fair.must("POST", "/v1/offers", p.fair.agent,
              fmt::format(R"({{"machine":"{}","class":"c4","slots":1,"price":0.5}})", p.fair.box));
  const auto other = p.fair.must("POST", "/v1/jobs", p.fair.borrower.token,
                                 R"({"class":"c4","limit":1,"budget":10})");
  EXPECT_NE(p.price(other.at("id")), "");
  EXPECT_EQ(p.leases(waits), 0u);
  // The server ends here without waiting a minute for the answer.
}

TEST(ProgramRounds, AnAnswerThatCameLateIsTheRoundsAllTheSame) {
  ProgramFair p;
  const auto job = p.fair.job(p.fair.borrower);
  p.wait_until_asked();
  EXPECT_EQ(p.leases(job), 0u);
  p.let_it_answer();
  EXPECT_EQ(p.price(job), "0.9");
}

TEST(ProgramRounds, AJobThatIsCancelledBetweenQuestionAndAnswerGetsNoLease) {
  ProgramFair p;
  const auto gone = p.fair.job(p.fair.borrower);
  p.wait_until_asked();
  p.fair.must("POST", "/v1/jobs/" + gone + "/cancel", p.fair.borrower.token, "{}");
  const auto next = p.fair.job(p.fair.borrower);
  p.let_it_answer();
  EXPECT_EQ(p.price(next), "0.9") << "the answer to the question after that";
  EXPECT_EQ(p.leases(gone), 0u);
}

TEST(ProgramRounds, AnOfferThatIsWithdrawnBetweenQuestionAndAnswerIsNotLeased) {
  ProgramFair p;
  const auto job = p.fair.job(p.fair.borrower);
  p.wait_until_asked();
  p.fair.must("DELETE", "/v1/offers/" + p.offer, p.fair.agent);
  const auto fresh = p.fair.offer(p.fair.agent, p.fair.box);
  p.let_it_answer();
  EXPECT_EQ(p.price(job), "0.9");
  EXPECT_EQ(p.fair.get("/v1/jobs/" + job + "/leases", p.fair.borrower.token).at("items.0.offer"),
            fresh);
}

TEST(ProgramRounds, AWrongAnswerIsReplacedByTheFallback) {
  ProgramFair p("5");  // More than the bid.
  p.let_it_answer();
  EXPECT_EQ(p.price(p.fair.job(p.fair.borrower)), "0.7");
}

TEST(ProgramRounds, AProgramThatIsNotThereIsReplacedByTheFallback) {
  ProgramFair p;
  p.set_mechanism("external", R"("program":"none","fallback":"posted","price":"0.7")");
  EXPECT_EQ(p.price(p.fair.job(p.fair.borrower)), "0.7");
}

TEST(ProgramRounds, AnAnswerOfAProgramThatNoLongerClearsTheClassIsDropped) {
  ProgramFair p;
  const auto job = p.fair.job(p.fair.borrower);
  p.wait_until_asked();
  p.set_mechanism("posted", R"("price":"0.8")");
  EXPECT_EQ(p.price(job), "0.8") << "another mechanism clears while the program still thinks";
}

}  // namespace
}  // namespace souk::server
