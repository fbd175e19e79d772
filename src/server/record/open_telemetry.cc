#include "server/record/open_telemetry.h"

#include <spdlog/spdlog.h>

#include <filesystem>

namespace souk::server {

base::Result<std::unique_ptr<journal::Records>> open_telemetry(const std::string& folder) {
  const auto path = folder + "/telemetry.db";
  auto opened = journal::open_records("sqlite:" + path);
  if (!opened && opened.error().code == base::Code::exhausted) {
    spdlog::error(
        "{}: what leases use and what experiments come to is not kept until the server is "
        "started again with room on the disk",
        opened.error().message);
    return nullptr;
  }
  if (opened || opened.error().code != base::Code::damaged) return opened;
  spdlog::error("{}: it is now {}.damaged, and what leases used begins anew",
                opened.error().message, path);
  std::error_code ignored;
  std::filesystem::rename(path, path + ".damaged", ignored);
  for (const auto* end : {"-wal", "-shm"}) std::filesystem::remove(path + end, ignored);
  return journal::open_records("sqlite:" + path);
}

}  // namespace souk::server
