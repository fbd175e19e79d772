#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "agent/native_trainer.h"
#include "agent/remote.h"
#include "agent/sandbox/sandbox_process.h"
#include "blob/folder.h"
#include "blob/transfer.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/commands/language_model.h"
#include "cli/commands/upload.h"
#include "cli/shell/config.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"
#include "cli/shell/table.h"
#include "job/train/training_file.h"
#include "job/train/training_work.h"

// A trained model on this machine, and files to begin from.

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

struct Predict : OneJob {
  std::optional<std::int32_t> length;
};

// The model's folder, fetched once.
Result<std::string> model_folder(Context& c, const wire::Job& job) {
  const auto folder = fs::path(cache_folder(c.env())) / "models" / *job.result;
  std::error_code error;
  if (fs::exists(folder / "model.safetensors", error)) return folder.string();
  fs::remove_all(folder, error);
  fs::create_directories(folder.parent_path(), error);
  SOUK_ASSIGN(const auto store, user_store(c));
  SOUK_ASSIGN(const auto root, blob::parse_digest(*job.result));
  SOUK_ASSIGN(const auto* market, c.target());
  SOUK_ASSIGN(
      const auto got,
      blob::download(root, *store, agent::blobs_at(link_to(*market), "job=" + to_string(job.id))));
  SOUK_TRY(blob::unpack(got.manifest, *store, folder.string()));
  return folder.string();
}

std::vector<std::string> with_model(std::vector<std::string> trainer, const std::string& folder) {
  trainer.insert(trainer.end(), {"predict", "--config", folder + "/trainer.json", "--model",
                                 folder + "/model.safetensors"});
  return trainer;
}

// A trainer that a market gave sees the model and nothing else of this machine: it needs nothing.
Result<std::vector<std::string>> kept_apart(const agent::NativeTrainer& trainer,
                                            const std::string& folder) {
  const auto bwrap = agent::find_tool({"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"});
  if (bwrap.empty())
    return failed("the trainer that the market gave runs under bubblewrap, which is not installed",
                  "apt install bubblewrap");
  std::vector<std::string> out{bwrap, "--unshare-all", "--die-with-parent", "--new-session",
                               "--clearenv"};
  for (const auto& [from, to] : {std::pair(trainer.path, "/trainer"), {folder, "/model"}})
    out.insert(out.end(), {"--ro-bind", from, to});
  out.insert(out.end(), {"--proc", "/proc", "--dev", "/dev", "--ro-bind-try",
                         "/sys/devices/system/cpu", "/sys/devices/system/cpu", "--"});
  std::ranges::move(with_model(trainer.command("/trainer"), "/model"), std::back_inserter(out));
  return out;
}

// The built-in trainer: this machine's own, or else the one that its agent got from the market.
Result<std::vector<std::string>> native_words(Context& c, const wire::Job& job) {
  const auto own = agent::trainer_at(torch_trainer(c.env()));
  const auto given = agent::find_kept_trainer(trees_folder(usual_lending_folder(c.env())));
  if (own.path.empty() && !given)
    return failed("the built-in trainer (souk-torch) is not on this machine",
                  "install the package souk-torch and set SOUK_TORCH to its program, or lend once: "
                  "`souk lend` fetches it from a market that has it");
  SOUK_ASSIGN(const auto folder, model_folder(c, job));
  if (own.path.empty()) return kept_apart(*given, folder);
  return with_model(own.command(own.path), folder);
}

// What runs the model, with its files.
Result<std::vector<std::string>> program_of(Context& c, const wire::Job& job) {
  if (job.batch && job::has_transformers_trainer(*job.batch)) {
    SOUK_ASSIGN(const auto folder, model_folder(c, job));
    return predict_words(c, job, folder);
  }
  if (job.batch && job.batch->train && !job::has_native_trainer(*job.batch))
    return failed("models of scripts do not run here",
                  fmt::format("souk results {} brings the parameters: load them in your script",
                              to_string(job.id)));
  return native_words(c, job);
}

Result<> predict(Context& c, const Predict& o) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto job, parsed<wire::Job>(api->get(o.path())));
  if (!job.result)
    return failed(
        fmt::format("job {} has no model yet: it is {}", to_string(o.id), to_string(job.state)),
        fmt::format("souk job wait {}", to_string(o.id)));
  SOUK_ASSIGN(auto words, program_of(c, job));
  if (o.length) words.insert(words.end(), {"--length", std::to_string(*o.length)});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(words.front().c_str(), argv.data());
  return failed(fmt::format("cannot run {}: {}", words.front(), std::strerror(errno)));
}

// "# Train LeNet on MNIST.": the first line of an example says what it is.
std::string first_comment(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.starts_with("# ") ? line.substr(2) : "";
}

}  // namespace

Command predict_command() {
  auto o = std::make_shared<Predict>();
  Command out{.name = "predict",
              .summary = "run a trained model here, on what comes in",
              .examples = {"predict j1 < samples.jsonl", "predict j1 --length 200 < prompt.txt"}};
  out.options = {job_argument(*o), flag("--length N", "text: how much to write", o->length)};
  out.details =
      "Reads one sample a line, a JSON array of its numbers (an image's bytes, 0 to 255, or a "
      "row's features), and writes one line for each: {\"label\":7,\"probabilities\":[...]}, with "
      "the \"name\" of the label where the data had names, or {\"value\":250000} from a model that "
      "estimates amounts. A model that writes goes on with the text that comes in; one of trainer: "
      "transformers needs a Python with torch and transformers here (SOUK_PYTHON).";
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    return predict(c, *o);
  };
  return out;
}

Command examples_command() {
  auto name = std::make_shared<std::string>();
  Command out{.name = "examples",
              .summary = "job files to begin from",
              .examples = {"examples", "examples mnist > mnist.yaml"},
              .common = Common::local};
  out.options = {optional(argument("NAME", "print this one; or `list`", *name))};
  out.run = [name](Context& c) -> Result<> {
    if (*name == "list") name->clear();
    const auto folder = examples_folder(c.env());
    if (!folder) return failed(folder.error().message, folder.error().hint);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(*folder))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    Table table({{"name"}, {"what"}});
    std::string json;
    for (const auto& file : files) {
      if (file.stem() == *name) {
        std::ifstream in(file);
        c.print(std::string(std::istreambuf_iterator<char>(in), {}));
        return {};
      }
      table.add({file.stem().string(), first_comment(file)});
      json += fmt::format(R"({}{{"name":{},"file":{},"what":{}}})", json.empty() ? "" : ",",
                          wire::to_json(file.stem().string()), wire::to_json(file.string()),
                          wire::to_json(first_comment(file)));
    }
    if (!name->empty())
      return failed(fmt::format("there is no example '{}'", *name), "`souk examples` lists them");
    if (c.json()) return c.print_json("{\"items\":[" + json + "]}");
    c.print(table);
    c.note(fmt::format("in {}", *folder));
    return {};
  };
  return out;
}

}  // namespace souk::cli
