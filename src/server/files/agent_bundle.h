#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/time.h"
#include "net/server.h"

namespace souk::server {

// The program that a market gives to people who want to lend: an archive that `make package` made,
// for computers that have no souk. Read whole when it is opened, so that what is sent is what was
// hashed, also while its file is being replaced. Immutable, hence thread-safe.
class AgentBundle {
 public:
  static constexpr std::uint64_t kMostBytes = 256ull << 20;

  // An error names the file and says what is wrong with it.
  [[nodiscard]] static base::Result<std::shared_ptr<const AgentBundle>> open(
      const std::string& path);

  [[nodiscard]] const std::string& sha256() const { return sha256_; }  // 64 hex digits.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // In order; shared by all who download it.
  using Piece = std::shared_ptr<const std::string>;
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::string sha256_;
  std::uint64_t bytes_ = 0;
  std::vector<Piece> pieces_;
};

// The bundle of a server, read when somebody first asks for it: most servers are never asked, and
// start sooner without. Thread-safe; get() may block on the disk.
class BundleFile {
 public:
  explicit BundleFile(std::string path) : path_(std::move(path)) {}

  // Null when the server has none.
  [[nodiscard]] base::Result<std::shared_ptr<const AgentBundle>> get();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::shared_ptr<const AgentBundle> bundle_;
};

// Downloads under way, so that slow readers cannot keep everybody else from theirs. Thread-safe.
class OpenDownloads {
 public:
  explicit OpenDownloads(const base::Clock& clock) : clock_(clock) {}

  void add(const net::Stream& stream);
  // Cuts the oldest, if it has taken longer than anybody needs who is not in the way.
  void make_room();

 private:
  static constexpr base::Duration kTimeEnough = base::minutes(2);
  struct Entry {
    net::Stream stream;
    base::Time began;
  };
  const base::Clock& clock_;
  std::mutex mutex_;
  std::list<Entry> open_;  // Oldest first; those that have ended go when somebody comes.
};

// "https://market.example:7443" for a request with this Host. An error for what is no name or
// address with an optional port: it would become part of a script.
[[nodiscard]] base::Result<std::string> address_of(std::string_view host, bool secure);
// An address of a market that its operator wrote: the same, after http:// or https://, and
// optionally a path of plain letters.
[[nodiscard]] base::Result<> check_public_url(std::string_view url);

// The text as one word of a POSIX shell, whatever is in it.
[[nodiscard]] std::string shell_word(std::string_view text);

// What `curl MARKET/lend | sh` runs: dist/lend.sh for this market and bundle. Without a bundle, a
// script that says so and fails.
[[nodiscard]] std::string lend_script(const AgentBundle* bundle, std::string_view market);

}  // namespace souk::server
