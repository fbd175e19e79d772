#include "job/job_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/testing/now.h"
#include "job/train/training_file.h"

namespace souk::job {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kNow;
using ::testing::StartsWith;

constexpr std::string_view kEveryKey = R"(
name: resnet
kind: train
model: {name: preresnet, depth: 8}
data: {format: csv, train: a.csv, test: [b.csv, c.csv], label: price}
rule: {name: fedbuff, buffer: 4}
codec: int8
epochs: 3
target: {accuracy: 0.9}
batch: 64
lr: {start: 0.1, end: 0.01, warmup: 0.05}
local_steps: 7
shards: 9
validate: {per_epoch: 2, shards: 3}
options: {augment: true}
resources: {cores: 4, memory: 8G, gpus: 1, gpu_memory: 24G}
workers: 1..4
price: {limit: 0.8, budget: 20}
deadline: 3h
priority: 5
constraints:
  regions: [eu]
  min_reliability: 0.9
)";

TEST(JobFile, EveryKeyIsUnderstood) {
  const auto job = read_job_file(kEveryKey, "job.yaml", kNow);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->job.name, "resnet");
  EXPECT_EQ(job->job.kind, "train");
  const auto* training = training_of(*job);
  ASSERT_NE(training, nullptr);
  const auto& train = training->train;
  EXPECT_EQ(train.trainer, wire::Trainer::torch);
  EXPECT_EQ(train.config.at("model"), "\"preresnet\"");
  EXPECT_EQ(train.config.at("depth"), "8");
  EXPECT_EQ(train.config.at("augment"), "true");
  EXPECT_EQ(train.rule, "fedbuff");
  EXPECT_EQ(train.rule_params.at("buffer"), 4);
  EXPECT_EQ(train.codec, "int8");
  EXPECT_EQ(train.epochs, 3);
  EXPECT_EQ(train.target->accuracy, 0.9);
  EXPECT_EQ(train.batch, 64);
  EXPECT_EQ(train.lr, 0.1);
  EXPECT_EQ(train.lr_end, 0.01);
  EXPECT_EQ(train.lr_warmup, 0.05);
  EXPECT_EQ(train.local_steps, 7);
  EXPECT_EQ(train.validations, 2);
  EXPECT_EQ(training->shards, 9);
  EXPECT_EQ(training->validation_shards, 3);
  EXPECT_THAT(training->data.test, ElementsAre("b.csv", "c.csv"));
  EXPECT_EQ(training->data.label, "price");
  EXPECT_EQ(job->job.resources->cores, 4);
  EXPECT_EQ(job->job.resources->memory_mib, 8192);
  EXPECT_EQ(job->job.resources->gpu_memory_mib, 24 * 1024);
  EXPECT_EQ(job->job.workers.min, 1);
  EXPECT_EQ(job->job.workers.max, 4);
  EXPECT_EQ(job->job.limit, base::Credits(800'000));
  EXPECT_EQ(job->job.budget, base::Credits(20'000'000));
  EXPECT_EQ(job->job.deadline, kNow + base::hours(3));
  EXPECT_EQ(job->job.priority, 5);
  EXPECT_THAT(job->job.constraints.regions, ElementsAre("eu"));
  EXPECT_EQ(job->job.constraints.min_reliability, 0.9);
}

TEST(JobFile, AGpuIsAskedForByMemoryAndModel) {
  const auto read = [](const std::string& text) {
    return read_job_file("run: x\n" + text, "job.yaml", kNow);
  };
  const auto job = read("resources: {gpu: {memory: 40G, model: NVIDIA H200}}\npackages: [torch]\n");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->job.resources->gpus, 1);
  EXPECT_EQ(job->job.resources->gpu_memory_mib, 0) << "whatever class the GPU is lent as";
  EXPECT_THAT(job->job.constraints.packages, ElementsAre("torch", "@gpu-memory:40G", "@gpu:h200"));
  EXPECT_EQ(read("resources: {gpu: {count: 4}}")->job.resources->gpus, 4);
  for (const auto* bad :
       {"resources: {gpu: {memory: 40G}, gpus: 1}", "resources: {gpu: {model: '-'}}",
        "resources: {gpu: {memory: much}}", "resources: {gpu: {vram: 4G}}"})
    EXPECT_FALSE(read(bad)) << bad;
}

TEST(JobFile, ScratchIsRoomForFilesThatAMachineMustHave) {
  const auto job = read_job_file("run: x\nscratch: 200G\n", "job.yaml", kNow);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->job.batch->scratch_mib, 200 << 10);
  EXPECT_FALSE(read_job_file("run: x\nscratch: 200\n", "job.yaml", kNow)) << "200 of what";
}

TEST(JobFile, EveryKeyMayBeLeftOut) {
  const auto job = read_job_file("class: c4\nworkers: 2\n", "job.yaml", kNow);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->job.class_, "c4");
  EXPECT_EQ(job->job.workers.max, 2);
  EXPECT_EQ(job->job.kind, "batch");
  EXPECT_FALSE(job->job.limit);
}

TEST(JobFile, ATrainingThatNamesNoCodecLeavesItToThePlatform) {
  const std::string file = "kind: train\nmodel: mlp\ndata: mnist\n";
  const auto codec_of = [](const std::string& text) {
    const auto job = read_job_file(text, "job.yaml", kNow);
    EXPECT_TRUE(job) << job.error().message;
    return training_of(*job)->train.codec;
  };
  EXPECT_EQ(codec_of(file), "auto");
  EXPECT_EQ(codec_of(file + "codec: auto\n"), "auto");
  EXPECT_EQ(codec_of(file + "codec: fp32\n"), "fp32");
}

TEST(JobFile, SeveralClassesAreTheFirstAndOthers) {
  const auto job = read_job_file("class: [c1, c4, g1]\n", "job.yaml", kNow);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->job.class_, "c1");
  EXPECT_THAT(job->job.also_classes, ElementsAre("c4", "g1"));
  for (const auto* bad : {"class: []\n", "class: {name: c1}\n", "class: [1]\n"}) {
    const auto refused = read_job_file(bad, "job.yaml", kNow);
    ASSERT_FALSE(refused) << bad;
    EXPECT_THAT(refused.error().message, HasSubstr("class: it is not a slot class")) << bad;
  }
}

TEST(JobFile, ABatchJobSaysWhatToRunAndWithWhat) {
  const auto file = read_job_file(R"(
run: true
setup: pip install x
workdir: .
inputs:
  - data/
  - {path: model.bin, file: ../model.bin}
  - {path: old, blob: 00aa}
  - {url: "https://example.org/a/b.tar?x=1", hash: abcd}
outputs: [out, "*.csv"]
env: {LR: 0.1, NAME: x, FLAG: true}
packages: [numpy]
resources: {cores: 2.., memory: 4G.., gpus: 0}
workers: 1..4
checkpoint: {path: ckpt, every: 2m}
network: internet
retry: {on: [lost, failed], max: 3}
)",
                                  "job.yaml", kNow);
  ASSERT_TRUE(file) << file.error().message;
  const auto& batch = file->job.batch.value();
  EXPECT_EQ(batch.run, "true");
  EXPECT_EQ(batch.setup, "pip install x");
  EXPECT_EQ(file->workdir, ".");
  ASSERT_EQ(file->inputs.size(), 4u);
  EXPECT_EQ(file->inputs[0].path, "data");
  EXPECT_EQ(file->inputs[1].source, "../model.bin");
  EXPECT_EQ(file->inputs[2].blob, "00aa");
  EXPECT_EQ(file->inputs[3].path, "b.tar");
  EXPECT_THAT(batch.outputs, ElementsAre("out", "*.csv"));
  EXPECT_EQ(batch.env.at("LR"), "0.1");
  EXPECT_EQ(batch.env.at("FLAG"), "true");
  EXPECT_THAT(file->job.constraints.packages, ElementsAre("numpy"));
  EXPECT_EQ(file->job.resources->cores, 2);
  EXPECT_EQ(file->job.resources->memory_mib, 4096);
  EXPECT_EQ(batch.checkpoint->every, base::minutes(2));
  EXPECT_EQ(batch.network, wire::Network::internet);
  EXPECT_THAT(batch.retry.on, ElementsAre(wire::RetryOn::lost, wire::RetryOn::failed));
  EXPECT_EQ(batch.retry.max, 3);
}

TEST(JobFile, AnInputComesFromExactlyOnePlace) {
  for (const auto* input :
       {"{path: x}", "{folder: a, blob: b}", "{url: \"http://x/y\"}", "..", "/"}) {
    const auto file =
        read_job_file(std::string("run: x\ninputs: [") + input + "]\n", "job.yaml", kNow);
    ASSERT_FALSE(file) << input;
    EXPECT_THAT(file.error().message, StartsWith("job.yaml:2")) << input;
  }
}

TEST(JobFile, ALanguageModelIsAFolderThatBecomesAnInput) {
  const PathRules below{
      .place = [](const std::string& path) -> base::Result<std::string> { return "/top/" + path; }};
  const auto file = read_job_file(
      "kind: train\ntrainer: transformers\n"
      "model: {name: gpt, lora: {r: 4, target: [q_proj]}, context: 100}\n"
      "data: {format: text, train: a.txt}\n",
      "job.yaml", kNow, below);
  ASSERT_TRUE(file) << file.error().message;
  const auto* training = training_of(*file);
  ASSERT_NE(training, nullptr);
  EXPECT_TRUE(training->transformers);
  EXPECT_EQ(training->model_folder, "/top/gpt");
  EXPECT_EQ(training->train.trainer, wire::Trainer::python);
  const auto& config = training->train.config;
  EXPECT_EQ(config.at("model"), "\"model\"");
  EXPECT_EQ(config.at("lora"), R"({"r":4,"target":["q_proj"]})");
  EXPECT_EQ(config.at("sample_bytes"), "400");  // About four bytes a token.
}

TEST(JobFile, AMistakeAboutALanguageModelIsNamed) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "a training needs a model"},
      {"model: {name: new-gpt, context: 1}", "context is 1"},
      {"model: {name: new-gpt, context: x}", "context is"},
      {"model: new-gpt\nscript: a.py", "a script needs trainer: python"},
      {"model: new-gpt\nrun: x", "a training runs its trainer"},
  };
  for (const auto& [more, message] : rows) {
    const auto file = read_job_file(
        std::string("kind: train\ntrainer: transformers\ndata: {format: text, train: a}\n") + more +
            "\n",
        "job.yaml", kNow);
    ASSERT_FALSE(file) << more;
    EXPECT_THAT(file.error().message, HasSubstr(message)) << more;
  }
}

constexpr const char* kManyPaths = R"(
kind: train
script: a.py
data:
  format: csv
  train: [b.csv, c.csv]
  test: d.csv
workdir: e
inputs:
  - f
  - {path: x, blob: 00aa}
  - {url: "http://g/h", hash: abcd}
)";

TEST(JobFile, EveryPathIsWhereTheRulesPutIt) {
  const PathRules below{
      .place = [](const std::string& path) -> base::Result<std::string> { return "/top/" + path; }};
  const auto file = read_job_file(kManyPaths, "job.yaml", kNow, below);
  ASSERT_TRUE(file) << file.error().message;
  const auto* training = training_of(*file);
  ASSERT_NE(training, nullptr);
  EXPECT_EQ(training->script, "/top/a.py");
  EXPECT_THAT(training->data.train, ElementsAre("/top/b.csv", "/top/c.csv"));
  EXPECT_THAT(training->data.test, ElementsAre("/top/d.csv"));
  EXPECT_EQ(file->workdir, "/top/e");
  ASSERT_EQ(file->inputs.size(), 3u);
  EXPECT_EQ(file->inputs[0].source, "/top/f");
  EXPECT_EQ(file->inputs[0].path, "f");
  EXPECT_EQ(file->inputs[1].source, "");
  EXPECT_EQ(file->inputs[2].source, "http://g/h");
}

TEST(JobFile, APathThatTheRulesRefuseIsNamedWithItsLine) {
  const std::pair<const char*, const char*> rows[] = {
      {"a.py", "job.yaml:3: script: no a.py"},
      {"c.csv", "job.yaml:6: data.train: no c.csv"},
      {"d.csv", "job.yaml:7: data.test: no d.csv"},
      {"e", "job.yaml:8: workdir: no e"},
      {"f", "job.yaml:10: inputs[0]: no f"},
      {"http://g/h", "job.yaml:12: inputs[2]: no http"},
  };
  for (const auto& [refused, message] : rows) {
    const auto check = [&](const std::string& path) -> base::Result<> {
      if (path != refused) return {};
      return base::fail(base::Code::invalid, "no " + path);
    };
    const auto file = read_job_file(kManyPaths, "job.yaml", kNow,
                                    {.place = [&](const auto& path) -> base::Result<std::string> {
                                       SOUK_TRY(check(path));
                                       return path;
                                     },
                                     .allow_url = check});
    ASSERT_FALSE(file) << refused;
    EXPECT_THAT(file.error().message, StartsWith(message));
  }
}

TEST(JobFile, FilesWithoutACommandAreAMistake) {
  const auto file = read_job_file("class: c1\noutputs: [x]\n", "job.yaml", kNow);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().hint, HasSubstr("run:"));
}

TEST(JobFile, MistakesAreNamedWithTheirLineAndAnAnswer) {
  struct Row {
    const char* text;
    const char* message;  // Begins with.
    const char* hint;     // Contains.
  };
  const Row rows[] = {
      {"name: x\nprice:\n  bugdet: 5\n", "job.yaml:3: ", "'budget'"},
      {"name: x\nworkes: 2\n", "job.yaml:2: ", "'workers'"},
      {"name: x\nworkers: 4..1\n", "job.yaml:2: workers: '4..1'", "1..4"},
      {"resources:\n  cores: 1\n  memory: 4X\n", "job.yaml:3: resources.memory: '4X'", "4G"},
      {"name: x\n\ndeadline: soon\n", "job.yaml:3: deadline: 'soon'", "3h"},
      {"priority: high\n", "job.yaml:1: ", ""},
      {"constraints: {region: [eu]}\n", "job.yaml:1: ", "'regions'"},
  };
  for (const auto& row : rows) {
    const auto job = read_job_file(row.text, "job.yaml", kNow);
    ASSERT_FALSE(job) << row.text;
    EXPECT_THAT(job.error().message, StartsWith(row.message)) << row.text;
    EXPECT_THAT(job.error().message + job.error().hint, HasSubstr(row.hint)) << row.text;
  }
}

TEST(JobFile, AnEnvironmentIsAFileOrAListOfPackages) {
  const auto read = [](std::string_view environment) {
    return read_job_file(fmt::format("run: x\npackages: [numpy]\nenvironment: {}\n", environment),
                         "job.yaml", kNow,
                         {.place = [](const std::string& path) -> base::Result<std::string> {
                           return "/here/" + path;
                         }});
  };
  const auto file = read("requirements.txt");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->environment->requirements, "/here/requirements.txt");
  EXPECT_EQ(file->environment->python, "");
  const auto list = read("{requirements: ['einops>=0.8', rich], python: 3.12, on: torch>=2}");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(list->environment->packages, ElementsAre("einops>=0.8", "rich"));
  EXPECT_EQ(list->environment->python, "3.12");
  EXPECT_THAT(list->job.constraints.packages, ElementsAre("numpy", "torch>=2"))
      << "what it stands on is demanded";
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"{python: 3.12}", "requirements"},
      {"{requirements: []}", "names no packages"},
      {"{requirements: ['--index-url https://example.org']}", "names no packages"},
      {"{requirements: r.txt, python: 2.7}", "'2.7' is no version of Python"},
      {"{requirements: r.txt, python: 3.12.1}", "'3.12.1' is no version of Python"},
      {"{requirements: r.txt, on: '@internet'}", "is no package"},
      {"{requirements: r.txt, conda: x}", "conda"}};
  for (const auto& [text, message] : wrong) {
    const auto refused = read(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message, HasSubstr(message));
    EXPECT_THAT(refused.error().message, StartsWith("job.yaml:3"));
  }
}

// Rounds by the clock where they were measured to learn more (decision 0094), unless the file names
// a rule or nobody is there to average with.
TEST(TrainingFile, TheRuleFollowsFromWhatIsTrainedUnlessTheFileSays) {
  const auto rule_of = [](const std::string& more) {
    const auto file = read_job_file(
        "kind: train\ndata: {format: text, train: a}\nworkers: 1..4\n" + more, "x.yaml", kNow);
    return file ? training_of(*file)->train.rule : file.error().message;
  };
  EXPECT_EQ(rule_of("model: mlp\n"), "");
  EXPECT_EQ(rule_of("model: mlp\noptions: {optimizer: adam}\n"), "rounds");
  EXPECT_EQ(rule_of("model: {name: char-transformer, optimizer: adam}\n"), "rounds");
  EXPECT_EQ(rule_of("model: resnet20\n"), "rounds");
  EXPECT_EQ(rule_of("model: resnet20\nrule: fedbuff\n"), "fedbuff");
  EXPECT_EQ(rule_of("model: resnet20\nreplicate: 0.5\n"), "");
  EXPECT_EQ(rule_of("model: resnet20\nvalidators: [finite, 'score:0.1']\n"), "");
  const std::string text = "trainer: transformers\n";
  EXPECT_EQ(rule_of(text + "model: new-gpt\n"), "rounds");
  EXPECT_EQ(rule_of(text + "model: {name: ./gpt2, lora: {r: 4, target: [c_attn]}}\n"), "rounds");
  EXPECT_EQ(rule_of(text + "model: ./gpt2\n"), "") << "all parameters of a large model";
  const auto one = read_job_file("kind: train\ndata: mnist\nmodel: resnet20\n", "x.yaml", kNow);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(training_of(*one)->train.rule, "") << "one worker is serial training";
}

}  // namespace
}  // namespace souk::job
