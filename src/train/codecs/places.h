#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// What the codecs share that send only the largest values of a block: which values those are, and
// how their places are written.

namespace souk::train {

// Chooses a share of a block's values, at least one: the largest, and of equal ones the first. What
// is no number counts as infinite. A zero is never chosen, as it says nothing.
class Largest {
 public:
  // 0 < `share` <= 1; `block` is not empty.
  Largest(std::span<const float> block, double share);
  // Is the next value of the block chosen? To be asked about all of them, in their order.
  [[nodiscard]] bool take(float value);
  [[nodiscard]] float most() const { return most_; }  // The largest size of all values.

 private:
  float least_ = 0, most_ = 0;
  std::size_t ties_ = 0;  // How many as large as the smallest chosen one are still to be taken.
};

// A gap is a byte: up to 254 values are left out before the next that is sent; kSkip leaves out 255
// and goes on. A share of 1/64 takes 8.15 bits for each value sent. No code can do with less than
// 7.43 where the places are random, so it is left at whole bytes, which are fast to read.
inline constexpr unsigned char kSkip = 255;

// Appends gaps to `out`, which outlives it.
class GapWriter {
 public:
  explicit GapWriter(std::string& out) : out_(out), from_(out.size()) {}
  void leave_out() { ++skipped_; }
  void send() {
    for (; skipped_ >= kSkip; skipped_ -= kSkip) out_ += static_cast<char>(kSkip);
    out_ += static_cast<char>(skipped_);
    skipped_ = 0;
  }
  [[nodiscard]] std::size_t bytes() const { return out_.size() - from_; }

 private:
  std::string& out_;
  std::size_t from_, skipped_ = 0;
};

// Are these the gaps of exactly `values` places among `size`?
[[nodiscard]] bool are_gaps(std::string_view gaps, std::size_t values, std::size_t size);

// Calls `visit` with each place, in their order. Requires are_gaps().
template <class Visit>
void for_each_place(std::string_view gaps, Visit visit) {
  std::size_t place = 0;
  for (const auto gap : gaps) {
    const auto skipped = static_cast<unsigned char>(gap);
    place += skipped;
    if (skipped != kSkip) visit(place++);
  }
}

}  // namespace souk::train
