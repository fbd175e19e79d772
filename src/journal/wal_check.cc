#include "journal/wal_check.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "journal/files.h"

// The format (https://sqlite.org/fileformat2.html#the_write_ahead_log); integers are big-endian
// u32:
//
//   header, 32 bytes: magic (0x377f0682, or ..83 if checksums read words big-endian), version
//     3007000, page size, checkpoint number, salt 1, salt 2, checksum 1, checksum 2
//   frames, each 24 bytes + one page: page number, commit (pages in the database after the
//     transaction that this frame ends; 0 in its other frames), salt 1, salt 2, checksum 1,
//     checksum 2, the page
//
// A frame counts if its salts are the header's and its checksum is right. The checksum runs on: the
// header's covers its first 24 bytes, a frame's continues from the frame before over the first 8
// bytes of its own header and the page. It does not cover the salts.
//
// After a checkpoint the log is written again from the start with new salts, over the old frames,
// so the usual end of a log is the end of the file or a stale frame: other salts and, as its
// checksum continued from something else, a wrong checksum. SQLite takes every bad frame for that
// end. To tell damage from it we read on: a later frame can be checked from the checksum stored in
// the frame before it or computed from its content, which is why one bad frame does not blind us.
//
// Each transaction is synced before the next begins. So a crash leaves at most one transaction
// incomplete, with any of its frames missing, at the end: a whole transaction after a bad one
// proves that the bad one was durable once.
//
// SQLite writes a frame's header first, then its page. A kill between the two leaves, at the very
// end, a header that commits and a page that is what lay there before. A frame that was durable and
// decayed differs by a word; so where one word cannot be what is wrong, it was never finished.

namespace souk::journal {
namespace {

constexpr std::size_t kWalHeader = 32;
constexpr std::size_t kFrameHeader = 24;
constexpr std::uint32_t kWalMagic = 0x377f0682;
constexpr std::uint32_t kVersion = 3'007'000;

std::uint32_t big(const char* p) {
  std::uint32_t v = 0;
  std::memcpy(&v, p, sizeof v);
  return std::endian::native == std::endian::little ? std::byteswap(v) : v;
}

struct Checksum {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  bool operator==(const Checksum&) const = default;
};

struct LogHeader {
  bool big_words = false;
  std::uint32_t page_size = 0;
  std::uint32_t salt_a = 0;
  std::uint32_t salt_b = 0;
  Checksum sum;
};

Checksum extend(Checksum sum, std::string_view bytes, bool big_words) {
  const bool swap = big_words == (std::endian::native == std::endian::little);
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    std::array<std::uint32_t, 2> words{};
    std::memcpy(words.data(), bytes.data() + i, 8);
    if (swap) words = {std::byteswap(words[0]), std::byteswap(words[1])};
    sum.a += words[0] + sum.b;
    sum.b += words[1] + sum.a;
  }
  return sum;
}

// 1 / odd, of 32 bits: each step doubles the bits that are right, which are three at first.
std::uint32_t inverse(std::uint32_t odd) {
  auto x = odd;
  for (int i = 0; i < 4; ++i) x *= 2 - odd * x;
  return x;
}

// Would another value of one word among `count`, or of one of both sums, explain it that their sum
// is off by `a` and `b`? A word's share in both is a product with two neighbours in Fibonacci's
// row, of which never both are even.
bool one_word_explains(std::uint32_t a, std::uint32_t b, std::size_t count) {
  if (a == 0 || b == 0) return true;
  struct Share {
    std::uint32_t a, b;
  };
  Share first{1, 1}, second{0, 1};  // Of the words that the two sums took last.
  for (std::size_t i = 0; i < count; i += 2) {
    for (auto* share : {&first, &second}) {
      const auto word = share->a % 2 == 1 ? a * inverse(share->a) : b * inverse(share->b);
      if (word * share->a == a && word * share->b == b) return true;
      share->a += share->b;
      share->b += share->a;
    }
  }
  return false;
}

// Empty if the header is not one that SQLite wrote.
std::unique_ptr<LogHeader> parse_header(std::string_view bytes) {
  const auto magic = big(bytes.data());
  if ((magic & ~1U) != kWalMagic || big(bytes.data() + 4) != kVersion) return nullptr;
  auto header = std::make_unique<LogHeader>();
  header->big_words = (magic & 1) != 0;
  header->page_size = big(bytes.data() + 8);
  header->salt_a = big(bytes.data() + 16);
  header->salt_b = big(bytes.data() + 20);
  header->sum = {big(bytes.data() + 24), big(bytes.data() + 28)};
  if (extend({}, bytes.substr(0, 24), header->big_words) != header->sum) return nullptr;
  if (!std::has_single_bit(header->page_size) || header->page_size < 512 ||
      header->page_size > 65'536)
    return nullptr;
  return header;
}

// Takes the frames one by one and keeps what the verdict needs.
class FrameScan {
 public:
  explicit FrameScan(const LogHeader& header)
      : header_(header), stored_(header.sum), computed_(header.sum) {}

  void take(std::string_view frame) {
    ++frames_;
    const bool commits = big(frame.data() + 4) != 0;
    const bool current = salts_match(frame);
    const Checksum stored{big(frame.data() + 16), big(frame.data() + 20)};
    const auto sum = extend_by(stored_, frame);
    // After a bad frame, its stored checksum may be the bad part: try what it should have been.
    const bool sums =
        big(frame.data()) != 0 &&
        (sum == stored || (computed_ != stored_ && extend_by(computed_, frame) == stored));
    computed_ = sums ? stored : sum;
    stored_ = stored;
    if (current && sums) {
      if (first_bad_ == 0) {
        good_ = frames_;
        if (commits) good_commit_ = frames_;
      } else {
        seen_after_ = true;
        if (commits) ++commits_after_;
      }
    } else if (first_bad_ == 0) {
      first_bad_ = frames_;
      stale_ = !current && !sums;
      // What a stale frame says about commits belongs to another time.
      bad_commits_ = commits && !stale_;
      torn_ = current && !sums &&
              !one_word_explains(stored.a - sum.a, stored.b - sum.b,
                                 (8 + header_.page_size) / sizeof(std::uint32_t));
    }
  }

  // The file ends within a frame, of which these bytes are there.
  void take_rest(std::string_view rest) {
    rest_ = rest.size() < 16 || salts_match(rest);
    if (rest.empty()) rest_ = false;
  }

  [[nodiscard]] WalReport report() const {
    WalReport out{.state = WalState::clean, .good_frames = good_commit_};
    // The first commit after a bad frame completes its own transaction, unless it did so itself.
    const auto later = commits_after_ - (bad_commits_ || commits_after_ == 0 ? 0 : 1);
    if (first_bad_ != 0 && later > 0) {
      out.state = WalState::damaged;
      out.what = fmt::format("frame {} is bad, and whole transactions follow it", first_bad_);
    } else if (first_bad_ != 0 && ((bad_commits_ && !torn_) || commits_after_ > 0)) {
      out.state = WalState::flipped;
      out.what = fmt::format("frame {}, in the last transaction, is bad", first_bad_);
    } else if (good_ > good_commit_ || (first_bad_ != 0 && !stale_) || seen_after_ || rest_) {
      out.state = WalState::unfinished;
      out.what = fmt::format("the transaction after frame {} was not finished", good_commit_);
    }
    return out;
  }

 private:
  [[nodiscard]] bool salts_match(std::string_view frame) const {
    return big(frame.data() + 8) == header_.salt_a && big(frame.data() + 12) == header_.salt_b;
  }

  [[nodiscard]] Checksum extend_by(Checksum sum, std::string_view frame) const {
    sum = extend(sum, frame.substr(0, 8), header_.big_words);
    return extend(sum, frame.substr(kFrameHeader), header_.big_words);
  }

  LogHeader header_;
  Checksum stored_;    // In the frame before, right or wrong...
  Checksum computed_;  // ... and what its content gives.
  std::uint64_t frames_ = 0;
  std::uint64_t good_ = 0;           // Frames before the first bad one.
  std::uint64_t good_commit_ = 0;    // The last of them that ends a transaction.
  std::uint64_t first_bad_ = 0;      // Counted from 1; 0 if none.
  bool stale_ = false;               // The first bad one may be just an old one.
  bool bad_commits_ = false;         // The first bad one ends a transaction.
  bool torn_ = false;                // Of the first bad one, the page may never have been written.
  bool seen_after_ = false;          // A good frame after it...
  std::uint64_t commits_after_ = 0;  // ... and good ones that end a transaction.
  bool rest_ = false;
};

base::Result<std::size_t> read(std::FILE* file, const std::string& path, std::string& into) {
  const auto size = std::fread(into.data(), 1, into.size(), file);
  if (std::ferror(file) != 0) return system_failure("read", path);
  return size;
}

}  // namespace

base::Result<WalReport> check_wal(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (!file && errno == ENOENT) return WalReport{};
  if (!file) return system_failure("open", path);
  std::string bytes(kWalHeader, '\0');
  SOUK_ASSIGN(const auto head, read(file.get(), path, bytes));
  if (head == 0) return WalReport{};
  const bool more = std::fgetc(file.get()) != EOF;
  const auto header = head == kWalHeader ? parse_header(bytes) : nullptr;
  // Without a frame nothing was ever committed to it. With one, the header was synced before.
  if (!header && !more) return WalReport{WalState::unfinished, "its header was not finished", 0};
  if (!header) return WalReport{WalState::damaged, "its header is bad, and frames follow it", 0};
  if (std::fseek(file.get(), kWalHeader, SEEK_SET) != 0) return system_failure("read", path);
  FrameScan scan(*header);
  bytes.resize(kFrameHeader + header->page_size);
  while (true) {
    SOUK_ASSIGN(const auto size, read(file.get(), path, bytes));
    if (size < bytes.size()) {
      scan.take_rest(std::string_view(bytes).substr(0, size));
      return scan.report();
    }
    scan.take(bytes);
  }
}

}  // namespace souk::journal
