#include "job/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "job/testing/now.h"
#include "job/train/training_data.h"
#include "job/work.h"
#include "market/testing/world.h"
#include "wire/json.h"

// What holds for every kind, whoever adds it.

namespace souk::job {

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using testing::kNow;
using ::testing::Not;

// Packs into a folder of its own, and has data of every name.
class TestPacker final : public Packer {
 public:
  TestPacker()
      : folder_(std::filesystem::temp_directory_path() /
                ("souk-kinds-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_ / "files");
    store_ = blob::Store::open((folder_ / "blobs").string(), {}).value();
  }
  ~TestPacker() override { std::filesystem::remove_all(folder_); }
  TestPacker(const TestPacker&) = delete;
  TestPacker& operator=(const TestPacker&) = delete;

  [[nodiscard]] std::string files() const { return (folder_ / "files").string(); }

  blob::Store& store() override { return *store_; }
  blob::OnProgress reading(const std::string&) override { return {}; }
  void splitting(std::string_view, std::size_t, std::size_t) override {}
  void packed(std::string, blob::Packed packed) override { kept_.push_back(std::move(packed)); }
  base::Result<Shards> shards(const DataSource&, const DataSplit& split) override {
    train::Dataset set{.shape = {1}};
    for (std::int64_t i = 0; i < 100; ++i) {
      set.x.push_back(static_cast<char>(i));
      set.y.push_back(i % 2);
    }
    return split_data({set, set}, split, *this);
  }
  base::Result<std::string> python_package() override { return files(); }

 private:
  const std::filesystem::path folder_;
  std::unique_ptr<blob::Store> store_;
  std::vector<blob::Packed> kept_;  // Their pins hold what is in the store.
};

class EveryKind : public ::testing::TestWithParam<Kind> {
 protected:
  base::Result<JobFile> read(const std::string& more = "") {
    const PathRules rules{.place = [this](const std::string&) -> base::Result<std::string> {
      return packer_.files();
    }};
    return read_job_file(std::string(GetParam().example) + more, "job.yaml", kNow, rules);
  }
  // The example, as it is submitted.
  JobFile packed() {
    auto file = read();
    EXPECT_TRUE(file) << file.error().message;
    const auto done = pack_files(*file, packer_);
    EXPECT_TRUE(done) << done.error().message;
    return *std::move(file);
  }

  TestPacker packer_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, ::testing::ValuesIn(kinds().begin(), kinds().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(EveryKind, ItsExampleIsAJobFileOfThatKind) {
  const auto file = read();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->job.kind, GetParam().name);
  EXPECT_TRUE(file->job.batch);
}

TEST_P(EveryKind, ItsExampleMayBeSubmittedOncePacked) {
  const auto file = packed();
  auto command = command_for(file.job);
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->kind, GetParam().name);
  EXPECT_EQ(command->pay, GetParam().pay);
  const auto added = add_work(file.job, *command);
  ASSERT_TRUE(added) << added.error().message;
  const auto intent = GetParam().describe(file);
  EXPECT_FALSE(intent.verb.empty());
  EXPECT_FALSE(intent.object.empty());
}

TEST_P(EveryKind, ItsWorkIsReadAsItWasWrittenAndNamesFilesThatAreThere) {
  const auto file = packed();
  auto command = *command_for(file.job);
  ASSERT_TRUE(add_work(file.job, command));
  const auto work = wire::from_json<wire::Batch>(command.work);
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_EQ(wire::to_json(*work), command.work);
  const auto blobs = blobs_of(file.job.kind, *work);
  EXPECT_FALSE(blobs.empty());
  for (const auto& name : blobs)
    EXPECT_TRUE(blob::read_manifest(blob::parse_digest(name).value(), packer_.store())) << name;
}

TEST_P(EveryKind, ItsLeaseHasATaskThatSaysTheKind) {
  if (GetParam().sweeps) GTEST_SKIP() << "its trials have the leases";
  market::testing::World w;
  const auto lena = w.account("lena"), bob = w.account("bob", base::Credits(9'000'000));
  const auto machine = w.machine(
      lena, {.cores = 8,
             .memory_mib = 65'536,
             .packages = {std::string("@torch"), std::string("@gangs"), std::string("@ports")}});
  w.offer(machine, {.slots = 4});
  const auto file = packed();
  auto command = *command_for(file.job);
  command.slot_class = w.slot_class();
  command.terms = {.workers = {1, file.job.workers.max},
                   .limit = base::Credits(1'000'000),
                   .budget = base::Credits(5'000'000)};
  ASSERT_TRUE(add_work(file.job, command));
  w.run(market::testing::user(bob), command);
  w.clear();
  const auto& job = w.s.jobs.at(w.s.jobs.before(w.s.jobs.next()));
  ASSERT_FALSE(job.leases.empty());
  const auto work = wire::from_json<wire::Batch>(job.work);
  ASSERT_TRUE(work);
  const auto task = task_of(w.s, w.s.leases.at(job.leases.front()), *work);
  EXPECT_EQ(task.kind, GetParam().name);
  EXPECT_EQ(wire::to_json(task.batch), command.work);
  EXPECT_EQ(*kind_of(task), find_kind(GetParam().name));
}

TEST_P(EveryKind, AnUnknownKeyIsNamedWithItsLineAndTheNearest) {
  const auto lines = std::ranges::count(GetParam().example, '\n') + 1;
  ASSERT_FALSE(GetParam().keys.empty());
  for (const auto key : GetParam().keys) {
    const auto file = read(std::string(key) + "x: 1\n");
    ASSERT_FALSE(file) << key;
    EXPECT_THAT(file.error().message, AllOf(HasSubstr("job.yaml:" + std::to_string(lines) + ":"),
                                            HasSubstr("unknown key '" + std::string(key) + "x'")));
    EXPECT_THAT(file.error().hint, HasSubstr("'" + std::string(key) + "'")) << key;
  }
}

TEST_P(EveryKind, AKeyOfAnotherKindSaysWhich) {
  for (const auto& other : kinds())
    for (const auto key : other.keys) {
      if (std::ranges::find(GetParam().keys, key) != GetParam().keys.end()) continue;
      const auto file = read(std::string(key) + ": 1\n");
      ASSERT_FALSE(file) << key;
      EXPECT_THAT(file.error().message,
                  HasSubstr(std::string(key) + ": it belongs to jobs of kind "));
      EXPECT_THAT(file.error().hint, HasSubstr("add kind: "));
    }
}

TEST_P(EveryKind, OnlyThoseThatLoseNothingWithAWorkerMayNameSeveralClasses) {
  const auto command =
      command_for({.kind = std::string(GetParam().name), .class_ = "c1", .also_classes = {"c4"}});
  EXPECT_EQ(command.has_value(), GetParam().pay == market::Pay::work);
  if (!command) EXPECT_EQ(command.error().field, "also_classes");
}

TEST(Kinds, AnUnknownKindIsRefusedWithTheListOfKinds) {
  const auto in_a_file = read_job_file("name: x\nkind: magic\n", "job.yaml", kNow);
  ASSERT_FALSE(in_a_file);
  EXPECT_EQ(in_a_file.error().message, "job.yaml:2: kind: 'magic' is not a kind of job");
  const auto submitted = command_for({.kind = "magic"});
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().code, base::Code::invalid);
  EXPECT_EQ(submitted.error().field, "kind");
  for (const auto& hint : {in_a_file.error().hint, submitted.error().hint})
    for (const auto& kind : kinds()) EXPECT_THAT(hint, HasSubstr(std::string(kind.name)));
  EXPECT_EQ(find_kind("magic"), nullptr);
  EXPECT_FALSE(trains("magic"));
}

TEST(Kinds, AServiceThatRunsItsLendersTrainerGoesWhereThereIsOne) {
  wire::Batch work{.run = "true"};
  EXPECT_THAT(demands_of("service", work), ElementsAre("@ports"));
  work.env["SOUK_TORCH"] = "/work/mine";
  EXPECT_THAT(demands_of("service", work), ElementsAre("@ports"));
  work.env["SOUK_TORCH"] = "lender";
  EXPECT_THAT(demands_of("service", work), ElementsAre("@ports", "@torch"));
}

TEST(Kinds, ATaskThatAMachineCannotDoIsNotBegun) {
  wire::BatchAssignment task{.kind = "magic"};
  task.batch.run = "true";
  EXPECT_THAT(kind_of(task).error().message, HasSubstr("no jobs of kind 'magic'"));
  task.kind = "train";  // Without anything to train.
  EXPECT_EQ(kind_of(task).error().code, base::Code::invalid);
  task.kind = "batch";
  EXPECT_TRUE(kind_of(task));
}

TEST(Kinds, WhatOneKindNeedsIsRefusedInAnother) {
  wire::NewJob training{.kind = "train"};
  EXPECT_EQ(find_kind("train")->check(training).error().field, "batch");
  training.batch.emplace().run = "true";
  EXPECT_EQ(find_kind("train")->check(training).error().field, "batch");
  training.batch->train.emplace();
  EXPECT_EQ(find_kind("train")->check(training).error().field, "batch.train.shards");
  EXPECT_EQ(find_kind("batch")->check(training).error().field, "batch");
  EXPECT_TRUE(find_kind("batch")->check({}));
}

TEST(Kinds, WhatBelongsToOneKindIsRefusedInTheOthers) {
  for (const auto& kind : kinds()) {
    wire::NewJob job{.kind = std::string(kind.name)};
    auto& work = job.batch.emplace();
    work.run = "true";
    if (kind.together) work.gang.emplace();
    if (kind.serves) work.service = wire::BatchService{.name = "x", .port = 80};
    if (kind.attended) work.session.emplace();
    auto command = *command_for(job);
    if (!kind.trains && !kind.sweeps) ASSERT_TRUE(add_work(job, command)) << kind.name;
    EXPECT_EQ(command.gang, kind.together);
    if (kind.serves || kind.trains || kind.sweeps) continue;
    work.service = wire::BatchService{.name = "x", .port = 80};
    EXPECT_EQ(add_work(job, command).error().field, "batch.service") << kind.name;
  }
  wire::NewJob job{.kind = "batch", .per_request = base::Credits(1)};
  job.batch.emplace().run = "true";
  auto command = *command_for(job);
  EXPECT_EQ(add_work(job, command).error().field, "per_request");
}

TEST(Kinds, AGangServiceOrSessionThatCannotWorkIsRefused) {
  const auto refused = [](std::string_view text) {
    const auto file = read_job_file(text, "job.yaml", kNow);
    if (!file) return file.error().message;
    const auto checked = find_kind(file->job.kind)->check(file->job);
    return checked ? std::string() : checked.error().field;
  };
  EXPECT_EQ(refused("kind: gang\nrun: x\nworkers: 4..8\n"), "");
  EXPECT_EQ(refused("kind: gang\nrun: x\nuntil: worker-0\n"), "");
  EXPECT_THAT(refused("kind: gang\nrun: x\nuntil: worker-1\n"), HasSubstr("job.yaml:3: until"));
  EXPECT_EQ(refused("kind: gang\nrun: x\nworkers: 257\n"), "workers");
  EXPECT_EQ(refused("kind: gang\nrun: x\nimage: python:3\n"), "batch.image");
  EXPECT_EQ(refused("kind: gang\nrun: x\nreplicate: 2\noutputs: [o]\n"), "batch.replicate");
  EXPECT_EQ(refused("kind: service\nname: a\nrun: x\nservice: {port: 80}\n"), "");
  EXPECT_THAT(refused("kind: service\nname: a\nrun: x\n"), HasSubstr("where the program listens"));
  EXPECT_THAT(refused("kind: service\nname: a b\nrun: x\nservice: {port: 80}\n"),
              HasSubstr("'a b'"));
  EXPECT_EQ(refused("kind: service\nname: a\nrun: x\nservice: {port: 0}\n"), "batch.service.port");
  EXPECT_EQ(refused("kind: service\nname: a\nrun: x\nservice: {port: 80, health: x}\n"),
            "batch.service.health");
  EXPECT_EQ(refused("kind: service\nname: a\nrun: x\nservice: {port: 80, at_once: 0}\n"),
            "batch.service.at_once");
  EXPECT_EQ(refused("kind: service\nname: a\nrun: x\nservice: {port: 80, timeout: 2h}\n"),
            "batch.service.timeout");
  EXPECT_EQ(refused("kind: session\nidle: 5m\n"), "");
  EXPECT_EQ(refused("kind: session\nidle: 8d\n"), "batch.session.idle");
  EXPECT_EQ(refused("kind: session\nworkers: 2\n"), "workers");
  EXPECT_THAT(refused("kind: session\nport: 8888\n"), HasSubstr("nothing listens"));
  EXPECT_EQ(refused("kind: session\nvolumes: [a/../b]\n"), "batch.volumes");
  EXPECT_EQ(refused("run: x\nprice: {request: 1}\n").find("job.yaml:2"), 0u);
}

TEST(Kinds, ATrainingThatCannotBeCountedIsRefused) {
  wire::NewJob job{.kind = "train"};
  auto& train = job.batch.emplace().train.emplace();
  job.batch->run = "souk-torch";
  const auto refused = [&](std::vector<wire::TrainShard> shards,
                           std::vector<wire::TrainShard> validation = {}) {
    train.shards = std::move(shards);
    train.validation = std::move(validation);
    const auto checked = find_kind("train")->check(job);
    return checked ? std::string() : checked.error().field;
  };
  constexpr auto huge = std::int64_t{1} << 62;
  EXPECT_EQ(refused({{"a", 100}}, {{"v", 10}}), "");
  EXPECT_EQ(refused({{"a", huge}, {"b", huge}, {"c", huge}, {"d", huge}}), "batch.train.shards");
  EXPECT_EQ(refused({{"a", 100}}, {{"v", huge}, {"w", huge}}), "batch.train.shards");
  EXPECT_EQ(refused({{"a", 0}}), "batch.train.shards");
  job.batch->setup = "sleep 700";
  EXPECT_EQ(refused({{"a", 100}}), "batch.setup");
  train.trainer = wire::Trainer::python;
  EXPECT_EQ(refused({{"a", 100}}), "");
}

TEST(Kinds, DemandsOfTheWorkStandAmongThePackages) {
  wire::NewJob job{.kind = "train", .workers = {1, 2}};
  auto& work = job.batch.emplace();
  work.run = "souk-torch";
  work.network = wire::Network::internet;
  work.image = "python:3.12";
  work.train = {.shards = {{"aa", 9}}};
  market::SubmitJob command = *command_for(job);
  ASSERT_TRUE(add_work(job, command));
  EXPECT_THAT(command.terms.constraints.packages,
              IsSupersetOf({"@internet", "@containers", "@torch"}));
  work.train->trainer = wire::Trainer::python;
  command = *command_for(job);
  ASSERT_TRUE(add_work(job, command));
  EXPECT_THAT(command.terms.constraints.packages, Not(Contains("@torch")));
}

TEST(Kinds, AJobThatBringsPackagesDemandsAPythonLikeTheirs) {
  wire::NewJob job;
  job.batch = wire::Batch{.run = "x"};
  auto& e = job.batch->environment.emplace();
  e = {.blob = std::string(64, 'a'), .python = "3.11"};
  auto command = *command_for(job);
  ASSERT_TRUE(add_work(job, command));
  EXPECT_THAT(command.terms.constraints.packages, IsSupersetOf({"python>=3.11,<3.12", "@x86_64"}));
  EXPECT_THAT(blobs_of("batch", *job.batch), Contains(e.blob));
  const auto refused = [&] { return add_work(job, command).error().field; };
  job.batch->image = "x";
  EXPECT_EQ(refused(), "batch.environment");
  job.batch->image.reset();
  for (const auto* python : {"", "3", "3.", "3.x", "2.7", "3.1", "3.123", "3.011", "../3.1"}) {
    e.python = python;
    EXPECT_EQ(refused(), "batch.environment.python") << python;
  }
  e.python = "3.12";
  for (const auto* blob : {"", "/etc/passwd", "../../x"}) {
    e.blob = blob;
    EXPECT_EQ(refused(), "batch.environment.blob") << blob;
  }
  e.blob = "ab";
  e.arch = "/x";
  EXPECT_EQ(refused(), "batch.environment.arch");
}

// Names of kinds in messages and help come from the table.
TEST(Kinds, TheirNamesAreListedLikeAPersonWould) {
  EXPECT_EQ(kind_names(), "batch, train, sweep, gang, service or session");
  EXPECT_EQ(kind_names([](const Kind& kind) { return kind.may_move(); }), "train");
}

}  // namespace
}  // namespace souk::job
