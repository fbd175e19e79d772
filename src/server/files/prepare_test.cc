#include "server/files/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>

#include "server/routes/samples.h"
#include "server/testing/uploads.h"
#include "train/aggregators/aggregator.h"
#include "train/validators/validator.h"

// From a job file to a job, over HTTP, as a browser does it.

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using testing::Answer;
using testing::Fair;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::send_chunk;
using testing::send_files;
using testing::send_manifest;
using ::testing::StartsWith;

void write(const std::string& path, std::string_view text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string idx(std::initializer_list<unsigned char> shape, std::size_t bytes) {
  std::string out("\0\0\x08", 3);
  out += static_cast<char>(shape.size());
  for (const auto n : shape) out += std::string("\0\0\0", 3) + static_cast<char>(n);
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(i % 10);
  return out;
}

// As the package of MNIST has it, but of 40 and 10 digits of 4 by 4.
void write_digits(const std::string& folder) {
  for (const auto& [name, n] : {std::pair{"train", 40}, std::pair{"t10k", 10}}) {
    const auto count = static_cast<unsigned char>(n);
    const auto file = folder + "/data/" + name;
    write(file + "-images-idx3-ubyte", idx({count, 4, 4}, 16u * count));
    write(file + "-labels-idx1-ubyte", idx({count}, count));
  }
}

std::string json_of(const std::string& text) { return wire::to_json(text); }

// A market on disk whose server has the digits and a Python package, and counts how often it is
// asked for the digits.
struct DigitsMarket {
  DigitsMarket() : fair(options()) {}

  Options options() {
    write_digits(folder / "mnist");
    write(folder / "python/souk/__init__.py", "def worker(): pass\n");
    auto out = testing::in_folder(folder / "market");
    out.built_in_data = [this](const job::BuiltInData& data) -> base::Result<std::string> {
      ++fetched;
      if (data.name == "mnist") return folder / "mnist";
      return base::fail(base::Code::conflict, "npm failed in " + (folder / "secret"));
    };
    out.python_package = [this]() -> base::Result<std::string> { return folder / "python"; };
    return out;
  }
  Answer prepare(const std::string& yaml, const std::string& files = "") {
    return fair.caller().send(
        "POST", "/v1/jobs/prepare", fair.borrower.token,
        files.empty() ? fmt::format(R"({{"yaml":{}}})", json_of(yaml))
                      : fmt::format(R"({{"yaml":{},"files":"{}"}})", json_of(yaml), files));
  }
  std::string upload(const std::map<std::string, std::string>& files) {
    return send_files(fair, fair.borrower.token, files);
  }
  // The files of a folder on the server, with their contents.
  std::map<std::string, std::string> content(const std::string& root) {
    const auto chunk = [&](const blob::Digest& name) {
      const auto got = fair.must("GET", "/v1/blobs/" + to_string(name), fair.borrower.token);
      return blob::decode(got.body, name).value();
    };
    std::map<std::string, std::string> out;
    const auto manifest = blob::parse_manifest(chunk(blob::parse_digest(root).value())).value();
    for (const auto& entry : manifest.entries)
      for (const auto& name : entry.chunks) out[entry.path] += chunk(name);
    return out;
  }
  // Plans and submits what was prepared, as it came.
  Answer submit(const Answer& prepared) {
    const auto job = prepared.at("job");
    fair.must("POST", "/v1/plan", fair.borrower.token, job);
    return fair.must("POST", "/v1/jobs", fair.borrower.token, job);
  }
  void expect_no_scratch() {
    EXPECT_TRUE(fs::is_empty(folder / "market/prepare")) << "strangers' files stay on disk";
  }

  Folder folder;
  std::atomic<int> fetched = 0;
  Fair fair;
};

constexpr const char* kDigits = R"(
name: digits
kind: train
model: lenet
data: mnist
epochs: 2
workers: 1..2
price: {limit: 1, budget: 3}
)";

TEST(Prepare, ATrainingOnBuiltInDataNeedsNothingFromTheBrowser) {
  DigitsMarket m;
  const auto prepared = m.prepare(kDigits);
  ASSERT_EQ(prepared.status, 200) << prepared;
  EXPECT_EQ(prepared.at("job.budget"), "3");
  EXPECT_EQ(prepared.at("job.batch.train.config.input"), "[1,4,4]");
  EXPECT_EQ(prepared.at("job.batch.train.config.classes"), "10");
  EXPECT_EQ(prepared.at("notes.0"), "trains on 40 samples in 8 shards, and is checked on 10");
  EXPECT_THAT(m.content(prepared.at("job.batch.train.shards.7.blob")).at("shard"),
              HasSubstr("I64"));
  const auto job = m.submit(prepared);
  EXPECT_EQ(job.at("kind"), "train");
  EXPECT_EQ(job.at("escrow"), "3");
}

TEST(Prepare, DataIsCutOnceForEachWayToCutIt) {
  DigitsMarket m;
  const auto first = m.prepare(kDigits), again = m.prepare(kDigits);
  EXPECT_EQ(first.body, again.body);
  EXPECT_EQ(m.fetched, 1);
  const auto finer = m.prepare(std::string(kDigits) + "shards: 5\n");
  EXPECT_EQ(finer.at("notes.0"), "trains on 40 samples in 5 shards, and is checked on 10");
  const auto shuffled = m.prepare(std::string(kDigits) + "seed: 2\n");
  EXPECT_NE(shuffled.at("job.batch.train.shards.0.blob"),
            first.at("job.batch.train.shards.0.blob"));
  EXPECT_EQ(m.fetched, 3);
}

TEST(Prepare, ManyAtOnceFetchOnce) {
  DigitsMarket m;
  std::vector<std::future<int>> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(std::async(std::launch::async, [&] {
      return m.fair.another()
          .send("POST", "/v1/jobs/prepare", m.fair.borrower.token,
                fmt::format(R"({{"yaml":{}}})", json_of(kDigits)))
          .status;
    }));
  for (auto& one : all) EXPECT_EQ(one.get(), 200);
  EXPECT_EQ(m.fetched, 1);
}

TEST(Prepare, DataThatCannotBeHadIsSaidSoWithoutThePathsOfTheServer) {
  DigitsMarket m;
  const std::string clothes =
      std::string(kDigits).replace(std::string(kDigits).find("mnist"), 5, "fashion-mnist");
  const auto refused = m.prepare(clothes);
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, Not(HasSubstr("secret")));
  EXPECT_THAT(refused.at("hint"), HasSubstr("operator"));

  Fair without;
  const auto none = without.caller().send("POST", "/v1/jobs/prepare", without.borrower.token,
                                          fmt::format(R"({{"yaml":{}}})", json_of(kDigits)));
  EXPECT_EQ(none.status, 409);
  EXPECT_THAT(none.at("detail"), HasSubstr("no built-in data"));
}

TEST(Prepare, EverySampleIsAJobThatThisServerCanMake) {
  DigitsMarket m;
  const auto list = m.fair.must("GET", "/v1/samples", m.fair.borrower.token);
  EXPECT_GE(list.count(), 4u);
  for (std::size_t i = 0; i < list.count(); ++i) {
    const auto of = [&](std::string_view key) {
      return list.at(fmt::format("items.{}.{}", i, key));
    };
    EXPECT_NE(of("title"), "") << of("name");
    EXPECT_NE(of("description"), "") << of("name");
    EXPECT_THAT(of("name"), Not(HasSubstr("script"))) << "it needs a file";
    if (of("yaml").find("fashion") != std::string::npos) continue;  // Not here.
    const auto prepared = m.prepare(of("yaml"));
    ASSERT_EQ(prepared.status, 200) << of("name") << prepared;
    m.submit(prepared);
  }
}

TEST(Prepare, TheServersOwnDiskIsNobodysToRead) {
  DigitsMarket m;
  const auto folder = m.upload({{"train.csv", "1,2,0\n"}, {"project/run.py", "pass"}});
  const struct {
    std::string yaml, detail, hint;
    bool uploaded = true;
  } rows[] = {
      {"run: x\nworkdir: /etc\n", "job.yaml:2: workdir: '/etc' is not a path inside", ""},
      {"run: x\nworkdir: ..\n", "job.yaml:2: workdir: '..' is not a path inside", ""},
      {"run: x\nworkdir: project/../../market\n", "job.yaml:2: workdir: 'project/../..", ""},
      {"run: x\ninputs:\n  - /etc/passwd\n", "job.yaml:3: inputs[0]: '/etc/passwd'", ""},
      {"run: x\ninputs: [{path: a, file: ../../journal.db}]\n", "job.yaml:2: inputs[0]: '../..",
       ""},
      {"run: x\nworkdir: \"a\\0b\"\n", "job.yaml:2: workdir: ", ""},
      {"run: x\nworkdir: ''\n", "job.yaml:2: workdir: '' is not a path inside", ""},
      {"kind: train\nmodel: mlp\ndata: {format: csv, train: /etc/passwd}\n",
       "job.yaml:3: data.train: '/etc/passwd'", ""},
      {"kind: train\nmodel: mlp\ndata:\n  format: csv\n  train: train.csv\n  test: [../t.csv]\n",
       "job.yaml:6: data.test: '../t.csv'", ""},
      {"kind: train\nscript: /etc/passwd\ndata: mnist\n", "job.yaml:2: script: '/etc/passwd'", ""},
      {"run: x\ninputs:\n  - {path: a, url: 'http://127.0.0.1/x', hash: ab}\n",
       "job.yaml:3: inputs[0]: this server fetches nothing", "souk run"},
      {"run: x\nworkdir: missing\n", "job.yaml:2: workdir: there is no 'missing'", ""},
      {"run: x\nworkdir: proj\n", "job.yaml:2: workdir: there is no 'proj'", ""},
      {"run: x\nworkdir: project\n", "job.yaml:2: workdir: the server does not have 'project'",
       "upload the folder first", false},
      {"kind: train\nmodel: mlp\ndata: {format: csv, train: train.csv}\n",
       "job.yaml:3: data.train: the server does not have 'train.csv'", "upload", false},
  };
  for (const auto& row : rows) {
    const auto a = m.prepare(row.yaml, row.uploaded ? folder : "");
    EXPECT_EQ(a.status, 400) << row.yaml << a;
    EXPECT_THAT(a.at("detail"), StartsWith(row.detail)) << row.yaml;
    EXPECT_THAT(a.at("hint"), HasSubstr(row.hint)) << row.yaml;
  }
  m.expect_no_scratch();
}

TEST(Prepare, AMistakeInTheFileIsNamedWithItsLine) {
  DigitsMarket m;
  const std::pair<const char*, const char*> rows[] = {
      {"name: x\nprice:\n  bugdet: 5\n", "job.yaml:3: "},
      {"run: x\nworkers: 4..1\n", "job.yaml:2: workers: '4..1'"},
      {"run: [\n", "job.yaml:"},
      {"name: x\n", "job.yaml:1: it does not say what to run"},
      {"", "job.yaml:1: the file is empty"},
      {"kind: train\nmodel: lenet\ndata: mnits\n", "there is no built-in data 'mnits'"},
      {"kind: train\nmodel: lenet\ndata: mnist\nshards: 100000000\n", "100000000 shards"},
      {"kind: train\nmodel: lenet\ndata: mnist\nvalidate: {shards: -1}\n", "4 shards, and -1"},
  };
  for (const auto& [yaml, detail] : rows) {
    const auto a = m.prepare(yaml);
    EXPECT_EQ(a.status, 400) << yaml << a;
    EXPECT_THAT(a.at("detail"), StartsWith(detail)) << yaml;
  }
  EXPECT_EQ(m.fair.caller()
                .send("POST", "/v1/jobs/prepare", m.fair.borrower.token, R"({"yml":"run: x"})")
                .at("field"),
            "yml");
}

TEST(Prepare, ATrainingOnNumbersOfOnesOwn) {
  DigitsMarket m;
  std::string rows = "height,weight,kind\n";
  for (int i = 0; i < 50; ++i) rows += fmt::format("{},{},{}\n", i, 2 * i, i % 2 ? "cat" : "dog");
  const auto folder = m.upload({{"data/train.csv", rows}});
  const auto prepared = m.prepare(
      "kind: train\nmodel: logistic\ndata: {format: csv, train: ./data//train.csv, label: kind}\n",
      folder);
  ASSERT_EQ(prepared.status, 200) << prepared;
  EXPECT_EQ(prepared.at("job.batch.train.config.labels"), R"(["cat","dog"])");
  EXPECT_EQ(prepared.at("job.batch.train.config.input"), "[2]");
  EXPECT_EQ(prepared.at("notes.0"), "trains on 45 samples in 4 shards, and is checked on 5");
  EXPECT_THAT(prepared.at("notes.1"), HasSubstr("names no budget"));
  m.submit(prepared);
  m.expect_no_scratch();
}

TEST(Prepare, DataThatIsNoneIsRefusedByItsOwnName) {
  DigitsMarket m;
  const auto folder = m.upload({{"bad.csv", "a,b\nx,1\n"}, {"empty.txt", ""}, {"d/f", "x"}});
  const auto train = [&](std::string_view format, std::string_view file) {
    return m.prepare(
        fmt::format("kind: train\nmodel: mlp\ndata: {{format: {}, train: {}}}\n", format, file),
        folder);
  };
  for (const auto& [answer, detail] :
       {std::pair{train("csv", "bad.csv"), "bad.csv: line 2"},
        std::pair{train("text", "empty.txt"), "empty.txt has no samples"},
        std::pair{train("idx", "bad.csv"), "bad.csv: idx data is"},
        std::pair{train("csv", "d"), "cannot read d: it is a folder"}}) {
    EXPECT_EQ(answer.status, 400) << answer;
    EXPECT_THAT(answer.at("detail"), StartsWith(detail));
    EXPECT_THAT(answer.body, Not(HasSubstr("/prepare/"))) << "where the server keeps things";
  }
  m.expect_no_scratch();
}

TEST(Prepare, FoldersAndFilesBecomeInputs) {
  DigitsMarket m;
  const auto folder = m.upload({{"project/run.py", "print()"},
                                {"project/notes.tmp", "left out"},
                                {"project/.soukignore", "*.tmp\n"},
                                {"w.bin", "weights"}});
  const auto prepared = m.prepare(
      "run: python3 run.py\nworkdir: project/\ninputs:\n  - {path: in/w.bin, file: w.bin}\n"
      "  - {path: all, folder: .}\nprice: {budget: 1}\n",
      folder);
  ASSERT_EQ(prepared.status, 200) << prepared;
  const auto workdir = m.content(prepared.at("job.batch.workdir"));
  EXPECT_EQ(workdir.at("run.py"), "print()");
  EXPECT_FALSE(workdir.contains("notes.tmp"));
  EXPECT_EQ(prepared.at("job.batch.inputs.0.file"), "true");
  EXPECT_EQ(m.content(prepared.at("job.batch.inputs.0.blob")).at("w.bin"), "weights");
  EXPECT_EQ(m.content(prepared.at("job.batch.inputs.1.blob")).at("project/run.py"), "print()");
  m.submit(prepared);
  m.expect_no_scratch();
}

TEST(Prepare, AScriptComesWithThePackageThatItImports) {
  DigitsMarket m;
  const auto folder = m.upload({{"mine.py", "import souk"}});
  const auto prepared =
      m.prepare("kind: train\nscript: mine.py\ndata: mnist\nprice: {budget: 1}\n", folder);
  ASSERT_EQ(prepared.status, 200) << prepared;
  EXPECT_EQ(prepared.at("job.batch.run"), "python3 trainer.py");
  EXPECT_TRUE(m.content(prepared.at("job.batch.inputs.0.blob")).contains("souk/__init__.py"));
  EXPECT_EQ(m.content(prepared.at("job.batch.inputs.1.blob")).at("trainer.py"), "import souk");
  m.submit(prepared);
}

TEST(Prepare, AFolderThatIsTooLargeOrNotThereIsRefused) {
  DigitsMarket m;
  const std::string chunk(blob::kChunkBytes, 'x');
  send_chunk(m.fair, m.fair.borrower.token, chunk);
  const blob::Entry much{
      .path = "much", .size = 257 * chunk.size(), .chunks = std::vector(257, blob::name_of(chunk))};
  const std::string yaml = "run: x\nworkdir: .\n";
  const auto large = m.prepare(yaml, send_manifest(m.fair, m.fair.borrower.token, {{much}}));
  EXPECT_EQ(large.status, 413) << large;
  EXPECT_THAT(large.at("hint"), HasSubstr("souk run"));

  const blob::Entry lost{.path = "lost", .size = 4, .chunks = {blob::name_of("lost")}};
  const auto torn = m.prepare(yaml, send_manifest(m.fair, m.fair.borrower.token, {{lost}}));
  EXPECT_EQ(torn.status, 400) << torn;
  EXPECT_EQ(torn.at("field"), "files");
  for (const auto& digest : {std::string("abc"), std::string(64, '0'),
                             send_chunk(m.fair, m.fair.borrower.token, "no manifest")}) {
    const auto refused = m.prepare(yaml, digest);
    EXPECT_EQ(refused.status, 400) << refused;
    EXPECT_EQ(refused.at("field"), "files");
  }
  m.expect_no_scratch();
}

TEST(Prepare, WithoutABudgetAnHourOrWhatThereIs) {
  DigitsMarket m;
  const std::string yaml = "run: x\nworkers: 2\nprice: {limit: 0.5}\n";
  EXPECT_EQ(m.prepare(yaml).at("job.budget"), "1");
  const auto poor = m.fair.caller().send("POST", "/v1/jobs/prepare", m.fair.lender.token,
                                         fmt::format(R"({{"yaml":{}}})", json_of(yaml)));
  EXPECT_EQ(poor.at("job.budget"), "0");
  EXPECT_THAT(poor.at("notes.0"), HasSubstr("no credits"));
}

TEST(Prepare, WhatACrashLeftIsRemovedAtTheNextStart) {
  Folder folder;
  write(folder / "market/prepare/7/secret", "x");
  Fair fair(testing::in_folder(folder / "market"));
  EXPECT_TRUE(fs::is_empty(folder / "market/prepare"));
}

TEST(TrainingChoices, AreTheTablesThatTrainingsAreCheckedAgainst) {
  DigitsMarket m;
  const auto all = m.fair.must("GET", "/v1/training/choices", m.fair.borrower.token);
  EXPECT_EQ(all.count("rules"), train::aggregators().size());
  EXPECT_EQ(all.at("codecs.0.name"), "fp32");
  EXPECT_EQ(all.count("validators"), train::validators().size());
  EXPECT_EQ(all.at("rules.0.name"), train::kDefaultAggregator);
  EXPECT_EQ(all.at("rules.0.parameters.0.name"), "eta");
  EXPECT_EQ(all.at("data.0.name"), "mnist");
  for (std::size_t i = 0; i < all.count("models"); ++i)
    EXPECT_NE(all.at(fmt::format("models.{}.summary", i)), "");
}

}  // namespace
}  // namespace souk::server
