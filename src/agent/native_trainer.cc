#include "agent/native_trainer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "agent/fetch/sha256.h"
#include "agent/image/layers.h"
#include "base/fd.h"
#include "base/text.h"
#include "blob/files.h"
#include "wire/problem.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr auto kTrainerName = "souk-torch";
constexpr auto kTrainerLoader = "/lib/ld-linux-x86-64.so.2";
constexpr std::string_view kTreePrefix = "trainer-";
constexpr std::string_view kTrainerRoute = "/v1/agent/trainer";
constexpr int kFruitlessTries =
    9;  // Without a byte between them; two minutes, as a download gives its place.
constexpr std::chrono::milliseconds kFirstTrainerPause{500}, kLongestTrainerPause{30'000},
    kPauseGlance{100};

bool is_whole(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder.string() + kTrainerLoader, none) &&
         fs::is_regular_file(folder / "lib" / kTrainerName, none);
}

// An archive has one folder.
std::optional<NativeTrainer> trainer_in(const fs::path& tree) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(tree, none))
    if (is_whole(entry.path())) return NativeTrainer{entry.path().string(), true};
  return std::nullopt;
}

// What is left of downloads of earlier trainers.
void remove_others(const std::string& folder, const std::string& kept) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const bool archive = entry.path().filename().string().starts_with(kTreePrefix);
    if (archive && entry.path() != kept) fs::remove(entry.path(), none);
  }
}

// A file on its way, with what is there of it.
class TrainerDownload {
 public:
  TrainerDownload(const OfferedTrainer& wanted, std::string path,
                  const std::function<bool()>& give_up)
      : wanted_(wanted), path_(std::move(path)), give_up_(give_up) {}

  Result<> run(const LinkOptions& link) {
    SOUK_ASSIGN(auto client, net::Client::make({.base_url = link.servers.front(),
                                                .ca_file = link.ca_file,
                                                .pinned_sha256 = link.pin,
                                                .user_agent = "souk-agent"}));
    SOUK_TRY(open());
    auto done = check();
    for (int tries = 1; !done && tries < kFruitlessTries; ++tries) {
      const auto before = have_;
      done = attempt(client);
      if (done) done = check();
      if (done || done.error().code != Code::unavailable) break;
      if (have_ > before) tries = 1;
      if (!wait(std::min(kFirstTrainerPause * (1 << tries), kLongestTrainerPause)))
        return stopped();
    }
    if (!done && done.error().code == Code::damaged) ::unlink(path_.c_str());
    return done;
  }

 private:
  static base::Failure stopped() { return fail(Code::conflict, "stopped"); }

  bool wait(std::chrono::milliseconds pause) const {
    for (; pause.count() > 0 && !give_up_(); pause -= kPauseGlance)
      std::this_thread::sleep_for(kPauseGlance);
    return !give_up_();
  }

  Result<> open() {
    file_ = base::Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_) return blob::system_failure("create", path_);
    std::string piece(1 << 20, '\0');
    for (;;) {
      const auto got = ::read(file_.get(), piece.data(), piece.size());
      if (got < 0) return blob::system_failure("read", path_);
      if (got == 0) break;
      hash_.add({piece.data(), static_cast<std::size_t>(got)});
      have_ += got;
    }
    if (have_ > wanted_.bytes) return start_again();
    return {};
  }

  Result<> start_again() {
    if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
      return blob::system_failure("write", path_);
    have_ = 0;
    hash_ = Sha256();
    return {};
  }

  Result<> check() {
    if (have_ < wanted_.bytes)
      return fail(Code::unavailable,
                  fmt::format("it ended after {} of {} bytes", have_, wanted_.bytes));
    if (hash_.hex() == wanted_.sha256) return {};
    return fail(Code::damaged, "it is not the one that the market announced: SHA-256 differs");
  }

  Result<> attempt(net::Client& client) {
    net::Headers headers;
    const bool resumed = have_ > 0;
    if (resumed) headers.emplace_back("Range", fmt::format("bytes={}-", have_));
    Result<> taken;
    SOUK_ASSIGN(const auto answer,
                client.stream(kTrainerRoute, headers, [&](std::string_view piece) {
                  taken = take(piece);
                  return taken.has_value();
                }));
    const bool sent_whole = resumed && answer.status == 200;
    if (sent_whole) {  // By a proxy that knows no ranges: what was added is its beginning.
      SOUK_TRY(start_again());
      return fail(Code::unavailable, "it was sent from its beginning");
    }
    if (!taken || answer.status / 100 == 2) return taken;
    auto refused = wire::refusal(answer.status, answer.body);
    if (answer.status == 429 || answer.status >= 500) refused.code = Code::unavailable;
    return std::unexpected(std::move(refused));
  }

  Result<> take(std::string_view piece) {
    if (give_up_()) return stopped();
    if (std::ssize(piece) > wanted_.bytes - have_)
      return fail(Code::damaged, fmt::format("it is larger than the {} bytes that the market "
                                             "announced",
                                             wanted_.bytes));
    SOUK_TRY(blob::write_all(file_.get(), piece, path_));
    hash_.add(piece);
    have_ += std::ssize(piece);
    return {};
  }

  const OfferedTrainer& wanted_;
  const std::string path_;
  const std::function<bool()>& give_up_;
  base::Fd file_;
  Sha256 hash_;
  std::int64_t have_ = 0;
};

}  // namespace

std::vector<std::string> NativeTrainer::command(const std::string& at) const {
  if (!folder) return {at};
  const auto library = at + "/lib";
  return {at + kTrainerLoader, "--argv0", kTrainerName,
          "--library-path",    library,   library + "/" + kTrainerName};
}

std::string NativeTrainer::program(const std::string& at) const {
  return folder ? at + "/bin/" + kTrainerName : at;
}

NativeTrainer trainer_at(const std::string& path) {
  if (path.empty()) return {};
  std::error_code none;
  const auto file = fs::canonical(path, none);
  if (!none && is_whole(file)) return {file.string(), true};
  const auto above = file.parent_path().parent_path();
  if (!none && file.parent_path().filename() == "bin" && is_whole(above))
    return {above.string(), true};
  return {path, false};
}

Result<> fetch_trainer(const LinkOptions& link, const OfferedTrainer& wanted,
                       const std::string& path, const std::function<bool()>& give_up) {
  return TrainerDownload(wanted, path, give_up).run(link);
}

Result<KeptTrainer> get_trainer(Trees& trees, const LinkOptions& link, const OfferedTrainer& wanted,
                                const std::string& folder,
                                const std::function<void()>& before_fetching,
                                const std::function<bool()>& give_up) {
  const bool is_name = wanted.sha256.size() == 64 && std::ranges::all_of(wanted.sha256, [](char c) {
                         return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                       });
  if (!is_name || wanted.bytes <= 0)
    return fail(Code::invalid, "the market announces it without a SHA-256 and a size");
  const auto make = [&](const std::string& tree, const Reserve& reserve) -> Result<> {
    before_fetching();
    if (wanted.bytes > trees.max_bytes())
      return fail(Code::too_large, "it does not fit into this machine's cache (--cache)");
    const auto archive = fmt::format("{}/{}{}", folder, kTreePrefix, wanted.sha256);
    remove_others(folder, archive);
    SOUK_TRY(fetch_trainer(link, wanted, archive, give_up));
    SOUK_ASSIGN(auto unpacked, LayerTree::open(tree, reserve));
    auto done = unpacked.apply(archive, give_up);
    std::error_code none;
    fs::remove(archive, none);
    if (done && !trainer_in(tree)) done = fail(Code::damaged, "there is no trainer in it");
    return done;
  };
  SOUK_ASSIGN(auto use, trees.use(std::string(kTreePrefix) + wanted.sha256, make));
  auto trainer = trainer_in(use.path());
  if (!trainer) return fail(Code::damaged, fmt::format("{} has no trainer", use.path()));
  return KeptTrainer{std::move(use), *std::move(trainer)};
}

std::optional<NativeTrainer> find_kept_trainer(const std::string& trees) {
  std::optional<NativeTrainer> out;
  fs::file_time_type newest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(trees, none)) {
    const auto name = entry.path().filename().string();
    const bool half = name.contains('.');
    if (half || !name.starts_with(kTreePrefix)) continue;
    const auto when = entry.last_write_time(none);
    if (out && when <= newest) continue;
    if (auto found = trainer_in(entry.path())) {
      out = std::move(found);
      newest = when;
    }
  }
  return out;
}

}  // namespace souk::agent
