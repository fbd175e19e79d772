#include "blob/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

#include "base/check.h"
#include "base/containment.h"
#include "base/random.h"
#include "blob/folder.h"

namespace souk::blob {
namespace {

constexpr std::size_t kMostConnections = 16;

struct Chunk {
  Digest name;
  std::uint64_t bytes = 0;  // Of content.
};

// The different chunks of a manifest's files, in the order in which a reader needs them.
std::vector<Chunk> chunks_of(const Manifest& manifest) {
  std::vector<Chunk> out;
  std::unordered_set<Digest, DigestHash> seen;
  for (const auto& entry : manifest.entries) {
    for (std::size_t i = 0; i < entry.chunks.size(); ++i)
      if (seen.insert(entry.chunks[i]).second)
        out.push_back({entry.chunks[i], entry.chunk_bytes(i)});
  }
  return out;
}

std::vector<Digest> names_of_chunks(std::span<const Chunk> chunks) {
  std::vector<Digest> out;
  out.reserve(chunks.size() + 1);
  for (const auto& chunk : chunks) out.push_back(chunk.name);
  return out;
}

// One transfer: its connections, what is left to do, and how far it is. The threads of each() share
// it; all else is the caller's thread.
class Transfer {
 public:
  // Moves one chunk over one connection; the encoded bytes it took.
  using Move = std::function<Result<std::uint64_t>(Remote&, const Chunk&)>;

  explicit Transfer(const TransferOptions& options) : options_(options) {}

  Result<> connect(const RemoteFactory& factory) {
    if (options_.connections < 1 || options_.connections > kMostConnections)
      return base::fail(base::Code::invalid,
                        fmt::format("{} connections at once", options_.connections),
                        fmt::format("1 to {}", kMostConnections));
    for (std::size_t i = 0; i < options_.connections; ++i) {
      SOUK_ASSIGN(auto remote, factory());
      CHECK(remote != nullptr);
      remotes_.push_back(std::move(remote));
    }
    return {};
  }

  [[nodiscard]] Remote& first() { return *remotes_.front(); }
  [[nodiscard]] TransferStats stats() const { return stats_; }

  void expect(std::span<const Chunk> chunks) {
    for (const auto& chunk : chunks) stats_.bytes_total += chunk.bytes;
  }

  void skip(const Chunk& chunk) {
    const std::lock_guard lock(mutex_);
    ++stats_.chunks_skipped;
    advance(chunk.bytes);
  }

  // Tries `request`, and again while the remote is unavailable.
  template <class Request>
  auto retried(Request request) -> decltype(request()) {
    auto wait = options_.retry_wait;
    for (int tries = 0;; ++tries, wait *= 2) {
      auto result = request();
      if (result || result.error().code != base::Code::unavailable || tries >= options_.retries)
        return result;
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, wait, [&] { return error_.has_value(); })) return result;
    }
  }

  Result<> one(Remote& remote, const Chunk& chunk, const Move& move) {
    const auto moved =
        retried([&] { return base::contained([&] { return move(remote, chunk); }); });
    const std::lock_guard lock(mutex_);
    if (!moved) {
      if (!error_) error_ = moved.error();
      changed_.notify_all();
      return std::unexpected(moved.error());
    }
    stats_.bytes_moved += *moved;
    ++stats_.chunks_moved;
    advance(chunk.bytes);
    return {};
  }

  // Moves all chunks over all connections. The first error stops the others after what they are
  // at; it is the one returned.
  Result<> each(std::span<const Chunk> chunks, const Move& move) {
    std::size_t next = 0;
    const auto take = [&]() -> const Chunk* {
      const std::lock_guard lock(mutex_);
      return error_ || next == chunks.size() ? nullptr : &chunks[next++];
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < std::min(remotes_.size(), chunks.size()); ++i)
        threads.emplace_back([&, remote = remotes_[i].get()] {
          for (const auto* chunk = take(); chunk != nullptr; chunk = take())
            if (!one(*remote, *chunk, move)) return;
        });
    }
    if (error_) return std::unexpected(*error_);
    return {};
  }

 private:
  // Requires mutex_, which also keeps calls of on_progress apart.
  void advance(std::uint64_t bytes) {
    bytes_done_ += bytes;
    if (options_.on_progress)
      options_.on_progress({bytes_done_, stats_.bytes_total, stats_.chunks_skipped});
  }

  const TransferOptions& options_;
  std::vector<std::unique_ptr<Remote>> remotes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<base::Error> error_;
  TransferStats stats_;
  std::uint64_t bytes_done_ = 0;
};

// The chunks that the remote does not have; the others count as skipped.
Result<std::vector<Chunk>> ask_missing(Transfer& transfer, std::span<const Chunk> chunks) {
  std::vector<Chunk> out;
  for (std::size_t at = 0; at < chunks.size(); at += kMostNamesAsked) {
    const auto batch = chunks.subspan(at, std::min(kMostNamesAsked, chunks.size() - at));
    const auto names = names_of_chunks(batch);
    SOUK_ASSIGN(const auto missing,
                transfer.retried([&] { return transfer.first().missing(names); }));
    const std::unordered_set<Digest, DigestHash> wanted(missing.begin(), missing.end());
    for (const auto& chunk : batch) {
      if (wanted.contains(chunk.name))
        out.push_back(chunk);
      else
        transfer.skip(chunk);
    }
  }
  return out;
}

Transfer::Move sending(const Store& local) {
  return [&local](Remote& remote, const Chunk& chunk) -> Result<std::uint64_t> {
    SOUK_ASSIGN(const auto encoded, local.get(chunk.name));
    auto sent = remote.put(chunk.name, encoded);
    if (!sent) {
      // Perhaps it is our own disk that damaged it: then that is what to say, and to clear away.
      if (sent.error().code == base::Code::damaged) SOUK_TRY(local.content(chunk.name));
      return std::unexpected(std::move(sent).error());
    }
    return encoded.size();
  };
}

Transfer::Move fetching(Store& local) {
  return [&local](Remote& remote, const Chunk& chunk) -> Result<std::uint64_t> {
    SOUK_ASSIGN(const auto encoded, remote.get(chunk.name));
    SOUK_TRY(local.put(chunk.name, encoded));
    return encoded.size();
  };
}

}  // namespace

Result<TransferStats> upload(const Digest& root, const Store& local, const RemoteFactory& factory,
                             const TransferOptions& options) {
  auto pin = local.pin({root});
  SOUK_ASSIGN(const auto bytes, local.content(root));
  SOUK_ASSIGN(const auto manifest, parse_manifest(bytes));
  const auto chunks = chunks_of(manifest);
  const auto content_pin = local.pin(names_of_chunks(chunks));
  const Chunk last{root, bytes.size()};

  Transfer transfer(options);
  SOUK_TRY(transfer.connect(factory));
  transfer.expect(chunks);
  transfer.expect({&last, 1});
  SOUK_ASSIGN(const auto missing, ask_missing(transfer, chunks));
  SOUK_TRY(transfer.each(missing, sending(local)));
  SOUK_ASSIGN(const auto manifest_missing, ask_missing(transfer, {&last, 1}));
  SOUK_TRY(transfer.each(manifest_missing, sending(local)));
  return transfer.stats();
}

Result<Downloaded> download(const Digest& root, Store& local, const RemoteFactory& factory,
                            const TransferOptions& options) {
  Downloaded out;
  out.pin = local.pin({root});
  Transfer transfer(options);
  SOUK_TRY(transfer.connect(factory));
  auto bytes = local.content(root);
  if (bytes) {
    const Chunk first{root, bytes->size()};
    transfer.expect({&first, 1});
    transfer.skip(first);
  } else {
    // Its size is known when it is here, so it counts for nothing in the progress.
    const Chunk first{root, 0};
    SOUK_TRY(transfer.each({&first, 1}, fetching(local)));
    bytes = local.content(root);
  }
  if (!bytes) return std::unexpected(std::move(bytes).error());
  SOUK_ASSIGN(out.manifest, parse_manifest(*bytes));
  SOUK_TRY(check_size(out.manifest, options.most_bytes));
  const auto chunks = chunks_of(out.manifest);
  for (const auto& chunk : chunks) out.pin.add(chunk.name);
  transfer.expect(chunks);
  std::vector<Chunk> absent;
  for (const auto& chunk : chunks) {
    if (local.has(chunk.name))
      transfer.skip(chunk);
    else
      absent.push_back(chunk);
  }
  if (base::Random random(options.shuffle); options.shuffle != 0)
    for (std::size_t i = absent.size(); i > 1; --i)
      std::swap(absent[i - 1], absent[random.next() % i]);
  SOUK_TRY(transfer.each(absent, fetching(local)));
  out.stats = transfer.stats();
  return out;
}

}  // namespace souk::blob
