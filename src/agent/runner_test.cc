#include "agent/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/leases.h"
#include "agent/testing/played_trainer.h"
#include "agent/testing/workshop.h"

namespace souk::agent {
namespace {

using base::Code;
using base::seconds;
using base::testing::eventually;
using testing::bad_gateway;
using testing::batch_lease;
using ::testing::ElementsAre;
using testing::field;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::refused;
using ::testing::SizeIs;

constexpr const char* kStartLease = "POST /v1/leases/l1/start";
constexpr const char* kCheckpoint = "POST /v1/leases/l1/checkpoint";
constexpr const char* kFinish = "POST /v1/leases/l1/finish";

class RunnerTest : public ::testing::Test, protected testing::FakeWorkshop {
 protected:
  void start(wire::Lease lease) { runner.emplace(std::move(lease), shop); }
  // A program that the test plays, once the market knows that it runs.
  std::shared_ptr<testing::FakeProgram> start_and_wait(wire::Lease lease) {
    start(std::move(lease));
    auto program = sandbox->program();
    EXPECT_TRUE(eventually([&] { return market.count(kStartLease) > 0; }));
    return program;
  }
  [[nodiscard]] bool ends() const {
    return eventually([&] { return runner->finished(); });
  }

  std::optional<Runner> runner;
};

wire::Batch with_checkpoint(base::Duration every = base::hours(1)) {
  return {.checkpoint = wire::BatchCheckpoint{"state/", every}};
}

TEST_F(RunnerTest, AProgramGetsItsFilesAndItsOutputsAndLogComeBack) {
  use_real_programs();
  wire::Batch batch{.outputs = {"out/", "more"}, .env = {{"WHO", "bob"}}};
  batch.workdir = market.add_folder({{"main.sh", "echo from $WHO $SOUK_INDEX of $SOUK_WORKERS"}});
  batch.inputs = {{.path = "data", .blob = market.add_folder({{"a", "input"}})}};
  start(batch_lease("sh main.sh; mkdir out; cat data/a > out/copy; echo 1 > more; echo 2 > less",
                    batch));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(runner->succeeded());
  EXPECT_EQ(finish("outcome"), "completed") << finish("detail");
  EXPECT_EQ(finish("epoch"), "7");
  EXPECT_THAT(market.folder(finish("result")),
              ElementsAre(Pair("more", "1\n"), Pair("out/copy", "input")));
  EXPECT_EQ(market.log("l1"), "from bob 0 of 1\n");
  EXPECT_NE(finish("usage.received_bytes"), "0");
  EXPECT_EQ(market.count(kStartLease), 1U);
}

TEST_F(RunnerTest, HowAProgramEndedIsReportedAndItsOutputsAreKept) {
  use_real_programs();
  struct Row {
    const char* run;
    const char* detail;
  };
  for (const auto& [run, detail] :
       {Row{"echo 1 > out; exit 3", "3"}, Row{"echo 1 > out; kill -9 $$", "signal 9"}}) {
    start(batch_lease(run, {.outputs = {"out"}}));
    ASSERT_TRUE(ends());
    EXPECT_FALSE(runner->succeeded());
    EXPECT_EQ(finish("outcome"), "failed") << run;
    EXPECT_THAT(finish("detail"), HasSubstr(detail)) << run;
    EXPECT_THAT(market.folder(finish("result")), ElementsAre(Pair("out", "1\n"))) << run;
  }
}

TEST_F(RunnerTest, ASetUpThatFailsIsTheJobsFailureAndIsBilled) {
  use_real_programs();
  start(batch_lease("echo never", {.setup = "echo no such package; exit 4"}));
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "failed");
  EXPECT_THAT(finish("detail"), HasSubstr("4"));
  EXPECT_THAT(market.log("l1"), HasSubstr("no such package"));
  EXPECT_EQ(market.count(kStartLease), 1U) << "billing begins at the start";
}

TEST_F(RunnerTest, BillingBeginsWithTheSetUp) {
  start(batch_lease("train", {.setup = "pip install x"}));
  const auto program = sandbox->program();
  EXPECT_TRUE(eventually([&] { return market.count(kStartLease) == 1; }));
  EXPECT_TRUE(eventually([&] { return runner->held().doing == "running"; }));
}

TEST_F(RunnerTest, WhatIsThrownEndsThisLeaseWithAReport) {
  sandbox->throw_when_preparing();
  start(batch_lease("x"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "unstarted");
  EXPECT_THAT(finish("detail"), HasSubstr("there is not enough memory"));
  EXPECT_FALSE(runner->succeeded());
}

TEST_F(RunnerTest, WhatIsThrownWhileAProgramRunsGivesItBack) {
  const auto program = start_and_wait(batch_lease("x"));
  program->throw_when_measured();
  clock.advance(seconds(2));  // To the next look at what it uses.
  ASSERT_TRUE(ends());
  EXPECT_TRUE(program->gone());
  EXPECT_EQ(finish("outcome"), "released");
  EXPECT_THAT(finish("detail"), HasSubstr("there is not enough memory"));
}

TEST_F(RunnerTest, FilesThatCannotBeUnpackedAreNotTheMachinesFault) {
  auto lease = batch_lease("x");
  lease.task->batch.workdir = market.add_folder({{"main", "m"}});
  sandbox->litter("main");  // Stands for a scratch that is too small: it cannot be written.
  start(lease);
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "unstarted");
  EXPECT_EQ(finish("fault"), "job");
}

TEST_F(RunnerTest, FilesThatTheMarketLacksAreNotTheJobsFault) {
  start(batch_lease("x", {.workdir = std::string(64, 'a')}));
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "unstarted");
  EXPECT_EQ(finish("fault"), "machine");
}

// The agent sees the scratch from outside, where a link of the program's leads into the host.
TEST_F(RunnerTest, LinksInTheScratchLeadNowhere) {
  use_real_programs();
  const auto secret = folder / "secret";
  std::filesystem::create_directory(secret);
  blob::testing::spill(secret / "key", "private");
  const auto plant = fmt::format(
      "ln -s {0} out; ln -s {0} state; mkdir deep; ln -s {0}/key deep/key; mkfifo pipe; echo 1 > "
      "good",
      secret.string());
  auto batch = with_checkpoint(base::milliseconds(1));
  batch.outputs = {"out", "deep", "pipe", "good"};
  start(batch_lease(plant + "; sleep 0.3", batch));
  ASSERT_TRUE(eventually([&] {
    clock.advance(seconds(1));  // Checkpoints are due.
    return runner->finished();
  }));
  EXPECT_EQ(finish("outcome"), "completed") << finish("detail");
  for (const auto& [name, text] : market.folder(finish("result"))) EXPECT_NE(text, "private");
  EXPECT_EQ(market.folder(finish("result")).at("good"), "1\n");
  for (const auto& body : market.bodies(kCheckpoint))
    EXPECT_THAT(market.folder(field(body, "checkpoint")), ::testing::IsEmpty());
}

TEST_F(RunnerTest, ATrainerGivesBackNothingButItsUpdates) {
  auto lease = testing::training_lease();
  lease.task->batch.outputs = {"mined"};
  start(lease);
  const auto program = sandbox->program();
  program->write("mined", "computed for nothing");
  {
    testing::PlayedTrainer trainer(
        program->take_talk(), program->scratch(), 4,
        {{"hello", [](const auto&) { return R"({"ok":false,"error":"no such model"})"; }}});
    ASSERT_TRUE(eventually([&] { return trainer.count("bye") == 1; }));
  }
  program->end({});
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("result"), "");
}

TEST_F(RunnerTest, WhatCannotBeginHereGoesToSomebodyElse) {
  struct Row {
    const char* about;
    wire::Lease lease;
    const char* detail;
    const char* fault = "machine";
  };
  const auto absent = std::string(64, 'a');
  auto gpus = batch_lease("x");
  gpus.task->gpus = 1;
  auto torch = testing::training_lease();
  torch.task->batch.train->trainer = wire::Trainer::torch;
  const Row rows[] = {
      {"files", batch_lease("x", {.workdir = absent}), "there is no blob"},
      {"input", batch_lease("x", {.inputs = {{"data", absent}}}), "there is no blob"},
      {"image", batch_lease("x", {.image = "alpine"}), "this machine has no podman"},
      {"internet", batch_lease("x", {.network = wire::Network::internet}),
       "this machine lends no internet", "job"},
      {"gpus", gpus, "GPU"},
      {"torch", torch, "this machine has no native trainer", "job"},
  };
  for (const auto& row : rows) {
    start(row.lease);
    ASSERT_TRUE(ends());
    EXPECT_EQ(finish("outcome"), "unstarted") << row.about;
    EXPECT_THAT(finish("detail"), HasSubstr(row.detail)) << row.about;
    EXPECT_EQ(finish("fault"), row.fault) << row.about;
  }
  sandbox->refuse({Code::exhausted, "no space for a scratch folder"});
  start(batch_lease("x"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "unstarted");
  EXPECT_EQ(finish("detail"), "no space for a scratch folder");
  EXPECT_EQ(sandbox->count(), 0U) << "nothing ran";
  EXPECT_EQ(market.count(kStartLease), 0U);
}

TEST_F(RunnerTest, ATrainerThatBringsItsLibrariesIsShownWholeAndStartedByItsOwnLoader) {
  shop.torch = {folder / "given", true};
  auto lease = testing::training_lease();
  lease.task->batch.train->trainer = wire::Trainer::torch;
  start(lease);
  const auto program = sandbox->program();
  EXPECT_EQ(program->program().argv.front(), "/work/.souk-torch/lib/ld-linux-x86-64.so.2");
  EXPECT_EQ(program->program().argv.back(), "/work/.souk-torch/lib/souk-torch");
  ASSERT_THAT(program->program().inputs, SizeIs(1));
  EXPECT_EQ(program->program().inputs[0].from, folder / "given");
  EXPECT_EQ(program->program().inputs[0].to, "/work/.souk-torch");
}

TEST_F(RunnerTest, AJobThatAsksForMoreRoomThanMemoryHasGetsADisk) {
  shop.scratch_bytes = std::int64_t{1} << 30;
  shop.disk_scratch_bytes = std::int64_t{200} << 30;
  shop.scratch_folder = folder / "scratch";
  std::size_t number = 0;
  for (const std::int64_t asked_gib : {1, 150}) {
    start(batch_lease("x", {.scratch_mib = asked_gib << 10}));
    const auto program = sandbox->program(number++);
    const auto& limits = program->program().limits;
    EXPECT_EQ(limits.disk_bytes, asked_gib > 1 ? asked_gib << 30 : 0)
        << "small ones stay in memory";
    EXPECT_EQ(limits.scratch_bytes, shop.scratch_bytes);
    program->end({});
    ASSERT_TRUE(ends());
  }
  start(batch_lease("x", {.scratch_mib = 300 << 10}));
  ASSERT_TRUE(ends());
  EXPECT_THAT(finish("detail"), HasSubstr("lends 200 GiB of scratch to a worker, not 300 GiB"));
}

TEST_F(RunnerTest, AProgramSeesItsGpuByUuidAndItsUseIsReported) {
  const auto smi = folder / "nvidia-smi";
  blob::testing::spill(smi, "#!/bin/sh\necho 'GPU-aa, 100, 2048'\n");
  std::filesystem::permissions(smi, std::filesystem::perms::owner_all);
  shop.gpus = std::make_unique<Gpus>(std::vector<Gpus::Unit>{{"GPU-aa", {}}});
  shop.gpu_meter = std::make_unique<GpuMeter>(smi, base::milliseconds(20));
  auto lease = batch_lease("x");
  lease.task->gpus = 1;
  const auto program = start_and_wait(lease);
  EXPECT_EQ(program->program().env.at("CUDA_VISIBLE_DEVICES"), "GPU-aa");
  const auto use = [&] {
    clock.advance(base::seconds(1));
    return runner->held().usage.value_or(wire::Usage{});
  };
  EXPECT_TRUE(eventually([&] { return use().gpu_seconds.value_or(0) > 0.05; }));
  EXPECT_EQ(use().gpu_memory_bytes, std::int64_t{2} << 30);
  program->end({});
  ASSERT_TRUE(ends());
  EXPECT_NE(finish("usage.gpu_seconds"), "");
}

TEST_F(RunnerTest, AProgramWithoutAGpuInItsLeaseSeesNone) {
  shop.gpus = std::make_unique<Gpus>(std::vector<Gpus::Unit>{{"GPU-aa", {}}});
  const auto program = start_and_wait(batch_lease("x", {.env = {{"CUDA_VISIBLE_DEVICES", "0"}}}));
  EXPECT_EQ(program->program().env.at("CUDA_VISIBLE_DEVICES"), "");
  program->end({});
  ASSERT_TRUE(ends());
}

TEST_F(RunnerTest, AProgramThatTheSandboxCannotStartGoesToSomebodyElse) {
  start(batch_lease("x"));
  sandbox->program()->end({.code = 127, .started = false, .text = "no such program: x"});
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "unstarted");
  EXPECT_EQ(finish("detail"), "no such program: x");
  EXPECT_THAT(market.log("l1"), HasSubstr("no such program: x"));
}

TEST_F(RunnerTest, ADrainGivesNoticeAndKillsOnlyWhenTheTimeToSaveIsNear) {
  const auto program = start_and_wait(batch_lease("x"));
  runner->drain(clock.now() + seconds(40), "the market needs the machine");
  ASSERT_TRUE(eventually([&] { return program->terminated(); }));
  EXPECT_EQ(runner->held().doing, "draining");
  clock.advance(seconds(29));
  EXPECT_FALSE(program->killed());
  clock.advance(seconds(2));  // Ten seconds are for saving.
  ASSERT_TRUE(ends());
  EXPECT_TRUE(program->killed());
  EXPECT_EQ(finish("outcome"), "released");
  EXPECT_EQ(finish("detail"), "the market needs the machine");
  EXPECT_FALSE(runner->succeeded());
}

TEST_F(RunnerTest, EvenADrainWithoutTimeGivesASecondsNotice) {
  const auto program = start_and_wait(batch_lease("x"));
  runner->drain(clock.now(), "now");
  ASSERT_TRUE(eventually([&] { return program->terminated(); }));
  EXPECT_FALSE(program->killed());
  clock.advance(seconds(1));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(program->killed());
}

TEST_F(RunnerTest, ASecondDrainCanOnlyBringTheEndForward) {
  const auto program = start_and_wait(batch_lease("x"));
  runner->drain(clock.now() + seconds(100), "first");
  runner->drain(clock.now() + seconds(1'000), "later");
  runner->drain(clock.now() + seconds(50), "sooner");
  ASSERT_TRUE(eventually([&] { return program->terminated(); }));
  clock.advance(seconds(41));
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("detail"), "sooner");
}

TEST_F(RunnerTest, WhatWasDoneUntilADrainIsSavedBeforeTheReport) {
  const auto program = start_and_wait(batch_lease("x", with_checkpoint()));
  program->write("state/step", "41");
  program->write("other", "not kept");
  runner->drain(clock.now() + seconds(100), "the owner is back");
  ASSERT_TRUE(eventually([&] { return program->terminated(); }));
  program->write("state/step", "42");
  program->end({.code = 143, .text = "exit 143"});
  ASSERT_TRUE(ends());
  ASSERT_EQ(market.count(kCheckpoint), 1U);
  const auto saved = field(market.bodies(kCheckpoint)[0], "checkpoint");
  EXPECT_THAT(market.folder(saved), ElementsAre(Pair("state/step", "42")));
  EXPECT_EQ(finish("outcome"), "released");
  std::vector<std::string> posts;
  for (const auto& r : market.server().asked())
    if (r.path.starts_with("/v1/leases/l1/") && !r.path.ends_with("/log")) posts.push_back(r.path);
  EXPECT_THAT(posts, ElementsAre("/v1/leases/l1/start", "/v1/leases/l1/checkpoint",
                                 "/v1/leases/l1/finish"));
}

TEST_F(RunnerTest, AProgramThatWasEndedTogetherWithTheComputerGivesItsLeaseBack) {
  const auto program = start_and_wait(batch_lease("x", with_checkpoint()));
  program->write("state/step", "42");
  program->end({.signal = SIGTERM, .text = "ended by signal 15"});
  runner->drain(clock.now() + seconds(50), "the computer is shut down");
  ASSERT_TRUE(ends());
  EXPECT_EQ(market.count(kCheckpoint), 1U);
  EXPECT_EQ(finish("outcome"), "released");
}

TEST_F(RunnerTest, AProgramThatWasEndedAloneHasFailed) {
  const auto program = start_and_wait(batch_lease("x", with_checkpoint()));
  program->end({.signal = SIGTERM, .text = "ended by signal 15"});
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "failed");
}

TEST_F(RunnerTest, ACheckpointIsSavedEverySoOftenAndAFailedOneEndsNothing) {
  const auto program = start_and_wait(batch_lease("x", with_checkpoint(seconds(60))));
  program->write("state/step", "1");
  market.on(kCheckpoint, {refused(Code::exhausted, "the store is full")});
  clock.advance(seconds(61));
  ASSERT_TRUE(eventually([&] { return market.count(kCheckpoint) == 1; }));
  program->write("state/step", "2");
  ASSERT_TRUE(eventually([&] {
    clock.advance(seconds(61));  // The minute begins when the answer has arrived.
    return market.count(kCheckpoint) >= 2;
  }));
  const auto saved = field(market.bodies(kCheckpoint)[1], "checkpoint");
  EXPECT_THAT(market.folder(saved), ElementsAre(Pair("state/step", "2")));
  program->end({});
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "completed");
  EXPECT_THAT(market.log("l1"), HasSubstr("no checkpoint this time: the store is full"));
}

TEST_F(RunnerTest, AProgramGoesOnFromItsCheckpointInsteadOfTheFilesItCameWith) {
  auto lease = batch_lease("x", with_checkpoint());
  lease.task->batch.workdir = market.add_folder({{"main", "m"}, {"state/step", "0"}});
  lease.task->checkpoint = market.add_folder({{"state/step", "42"}});
  lease.task->tries = 2;
  start(lease);
  const auto program = sandbox->program();
  EXPECT_EQ(program->file("main"), "m");
  EXPECT_EQ(program->file("state/step"), "42");
  EXPECT_EQ(program->program().env.at("SOUK_TRY"), "2");
}

TEST_F(RunnerTest, ALeaseThatIsNoLongerOursEndsWithoutAReportButItsLogIsKept) {
  const auto program = start_and_wait(batch_lease("x"));
  program->print("half way\n");
  runner->stop();
  ASSERT_TRUE(ends());
  EXPECT_TRUE(program->gone());
  EXPECT_EQ(finish("outcome"), "no report");
  EXPECT_EQ(market.log("l1"), "half way\n");
}

TEST_F(RunnerTest, AStartThatTheMarketRefusesEndsTheProgram) {
  market.on(kStartLease, {refused(Code::conflict, "the lease is closed")});
  start(batch_lease("x"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(sandbox->count(), 1U);
  EXPECT_TRUE(sandbox->program()->gone());
  EXPECT_EQ(finish("outcome"), "no report");
}

TEST_F(RunnerTest, AMarketThatIsAwayDelaysTheReportAndNothingElse) {
  const auto program = start_and_wait(batch_lease("x", {.outputs = {"out"}}));
  market.on(kFinish, {bad_gateway(), bad_gateway()});
  program->write("out", "result");
  program->print("printed\n");
  program->end({});
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "completed");
  EXPECT_THAT(market.folder(finish("result")), ElementsAre(Pair("out", "result")));
  EXPECT_EQ(market.log("l1"), "printed\n");
  EXPECT_EQ(market.count(kFinish), 3U);
  EXPECT_THAT(market.server().keys(kFinish), SizeIs(1)) << "so that it is counted once";
}

TEST_F(RunnerTest, AMarketThatStaysAwayIsGivenUpAndTheLenderIsTold) {
  shop.grace = base::milliseconds(50);
  const auto program = start_and_wait(batch_lease("x"));
  market.set_away(true);
  program->end({});
  ASSERT_TRUE(ends());
  EXPECT_THAT(told(), HasSubstr("lease l1: completed"));
  EXPECT_THAT(told(), HasSubstr("not reported"));
}

TEST_F(RunnerTest, AProgramWhoseResultsCannotBeKeptHasFailed) {
  const auto program = start_and_wait(batch_lease("x", {.outputs = {"out"}}));
  program->write("out", "result");
  market.on("POST /v1/blobs/missing", {refused(Code::forbidden, "your space is full")});
  program->end({});
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "failed");
  EXPECT_EQ(finish("detail"), "the results could not be kept: your space is full");
  EXPECT_FALSE(runner->succeeded());
}

TEST_F(RunnerTest, OneThatIsDroppedLeavesNoProgram) {
  const auto program = start_and_wait(batch_lease("x"));
  runner.reset();
  EXPECT_TRUE(program->gone());
  EXPECT_EQ(finish("outcome"), "no report");
}

TEST_F(RunnerTest, ATrainerThatCannotBeUsedIsAFailureWhateverItsExitCode) {
  start(testing::training_lease());
  const auto program = sandbox->program();
  {
    testing::PlayedTrainer trainer(
        program->take_talk(), program->scratch(), 4,
        {{"hello", [](const auto&) { return R"({"ok":false,"error":"no such model"})"; }}});
    ASSERT_TRUE(eventually([&] { return trainer.count("bye") == 1; }));
  }
  program->end({});
  ASSERT_TRUE(ends());
  EXPECT_EQ(finish("outcome"), "failed");
  EXPECT_EQ(finish("detail"), "the trainer: no such model");
  EXPECT_EQ(program->program().env.at("OMP_NUM_THREADS"), "1");
}

TEST_F(RunnerTest, ATrainerThatDoesNotLeaveAfterItsGoodbyeIsEnded) {
  market.usually("POST /v1/leases/l1/units", [](const net::Request&) {
    wire::Unit unit;
    unit.kind = base::UnitKind::finish;
    return net::Response{.body = wire::to_json(unit)};
  });
  start(testing::training_lease());
  const auto program = sandbox->program();
  testing::PlayedTrainer trainer(program->take_talk(), program->scratch(), 4);
  ASSERT_TRUE(eventually([&] { return trainer.count("bye") == 1; }));
  // The clock moves on as the test does not know when the runner has looked at it.
  ASSERT_TRUE(eventually([&] {
    clock.advance(seconds(5));
    return runner->finished();
  }));
  EXPECT_TRUE(program->killed());
  EXPECT_EQ(finish("outcome"), "failed");
}

}  // namespace
}  // namespace souk::agent
