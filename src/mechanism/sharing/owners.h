#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The bids of a book by whose they are, for mechanisms that share among people. Owners are in order
// of id, bids of one owner in order of position. Bids that can never trade (no units, or a gang
// larger than that) are left out, and so are owners who have no others. Linear in the size of the
// book.
class Owners {
 public:
  explicit Owners(const Book& book);

  [[nodiscard]] std::size_t size() const { return owners_.size(); }
  [[nodiscard]] std::uint64_t id(std::size_t owner) const { return owners_[owner].id; }
  [[nodiscard]] std::span<const std::uint32_t> bids(std::size_t owner) const {
    return std::span(bids_).subspan(owners_[owner].first, owners_[owner].count);
  }

 private:
  struct Owner {
    std::uint64_t id = 0;
    std::size_t first = 0, count = 0;  // In bids_.
  };
  std::vector<std::uint32_t> bids_;
  std::vector<Owner> owners_;
};

}  // namespace souk::mechanism
