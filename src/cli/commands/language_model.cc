#include "cli/commands/language_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "agent/probe/command_output.h"
#include "agent/remote.h"
#include "base/text.h"
#include "blob/folder.h"
#include "blob/transfer.h"
#include "cli/commands/upload.h"
#include "cli/shell/config.h"
#include "cli/shell/session.h"
#include "job/train/training_file.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOutput = 1 << 20;

// With the package beside this program; SOUK_PYTHON names another Python.
Result<std::vector<std::string>> python(Context& c, std::string_view command) {
  SOUK_ASSIGN(const auto sdk, sdk_folder(c.env()));
  return std::vector<std::string>{"/usr/bin/env",
                                  "PYTHONPATH=" + sdk,
                                  "PYTHONSAFEPATH=1",  // Not a souk.py of the folder we are in.
                                  "PYTHONDONTWRITEBYTECODE=1",
                                  c.env()("SOUK_PYTHON").value_or("python3"),
                                  "-m",
                                  "souk.transformers",
                                  std::string(command)};
}

}  // namespace

Result<std::string> input_folder(Context& c, const wire::Job& job, std::string_view path) {
  const auto it = std::ranges::find(job.batch->inputs, path, &wire::BatchInput::path);
  if (it == job.batch->inputs.end()) return std::string();
  const auto folder = fs::path(cache_folder(c.env())) / "models" / it->blob;
  std::error_code error;
  if (fs::exists(folder, error)) return folder.string();
  // Under another name first, so that one that is there is whole.
  const auto part = folder.string() + ".part";
  fs::remove_all(part, error);
  fs::create_directories(folder.parent_path(), error);
  SOUK_ASSIGN(const auto store, user_store(c));
  SOUK_ASSIGN(const auto root, blob::parse_digest(it->blob));
  SOUK_ASSIGN(const auto* market, c.target());
  SOUK_ASSIGN(
      const auto got,
      blob::download(root, *store, agent::blobs_at(link_to(*market), "job=" + to_string(job.id))));
  SOUK_TRY(blob::unpack(got.manifest, *store, part));
  fs::rename(part, folder, error);
  if (error) return failed(fmt::format("cannot make {}: {}", folder.string(), error.message()));
  return folder.string();
}

Result<std::string> export_language_model(Context& c, const wire::Job& job,
                                          const std::string& folder) {
  SOUK_ASSIGN(auto words, python(c, "export"));
  words.push_back(folder);
  SOUK_ASSIGN(const auto model, input_folder(c, job, job::kModelFilesInput));
  if (!model.empty()) words.insert(words.end(), {"--model", model});
  SOUK_ASSIGN(const auto done, agent::run_command(words, base::minutes(10), kMostOutput));
  if (!done.good())
    return failed(fmt::format("the results could not be exported: {}", base::trim(done.err)),
                  "set SOUK_PYTHON to a Python from 3.10 on; model.safetensors is whole");
  return std::string(base::trim(done.out));
}

Result<std::vector<std::string>> predict_words(Context& c, const wire::Job& job,
                                               const std::string& folder) {
  SOUK_ASSIGN(auto words, python(c, "predict"));
  words.push_back(folder);
  SOUK_ASSIGN(const auto model, input_folder(c, job, job::kModelInput));
  if (!model.empty()) words.insert(words.end(), {"--model", model});
  return words;
}

}  // namespace souk::cli
