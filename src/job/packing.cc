#include "job/packing.h"

#include <filesystem>

#include "job/kinds.h"

namespace souk::job {

using base::Result;

Result<std::string> pack_path(const std::string& path, Packer& packer, std::string ignore) {
  SOUK_ASSIGN(auto packed,
              blob::pack(path, packer.store(),
                         {.ignore = std::move(ignore), .on_progress = packer.reading(path)}));
  auto name = to_string(packed.root);
  packer.packed(path, std::move(packed));
  return name;
}

Result<> pack_files(JobFile& file, Packer& packer) {
  SOUK_ASSIGN(const auto* kind, kind_named(file.job.kind));
  if (kind->pack != nullptr) SOUK_TRY(kind->pack(file, packer));
  auto& work = *file.job.batch;
  if (file.environment) {
    SOUK_ASSIGN(work.environment, packer.environment(*file.environment));
  }
  if (file.workdir) {
    SOUK_ASSIGN(work.workdir, pack_path(*file.workdir, packer));
  }
  for (const auto& input : file.inputs) {
    if (!input.blob.empty()) {
      work.inputs.push_back({.path = input.path, .blob = input.blob});
      continue;
    }
    if (input.by_lender) {
      work.inputs.push_back(
          {.path = input.path, .file = true, .url = input.source, .sha256 = input.hash});
      continue;
    }
    const bool is_file = std::filesystem::is_regular_file(input.source);
    SOUK_ASSIGN(auto name, pack_path(input.source, packer));
    work.inputs.push_back({.path = input.path, .blob = std::move(name), .file = is_file});
  }
  return {};
}

}  // namespace souk::job
