#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "agent/gpu/board.h"
#include "base/time.h"

namespace souk::agent::testing {

// GPUs that this computer plays, for tests of small sizes: what they answer is computed, the time
// that they take is counted on a clock of their own.
class PlayedGpus final : public GpuBoard {
 public:
  struct How {
    int shown = 1;                 // So many GPUs can be opened,
    int real = 1;                  // and these do the work: the others use them too.
    std::int64_t memory_mib = 10;  // Of each; more cannot be filled,
    bool pretends = false;         // or is not filled, and nothing is said.
    int rows_in = 1;               // Computes one row in so many.
    base::Duration step = base::milliseconds(50);
  };
  explicit PlayedGpus(How how) : how_(how), busy_(static_cast<std::size_t>(how.real)) {}

  base::Result<std::unique_ptr<GpuDevice>> open(int index) override {
    if (index >= how_.shown) return base::fail(base::Code::not_found, "there is no such GPU");
    return std::make_unique<Device>(*this, static_cast<std::size_t>(index % how_.real));
  }
  // Since the beginning, on the one that has worked most.
  base::Duration clock() {
    const std::lock_guard lock(mutex_);
    return std::ranges::max(busy_);
  }

 private:
  class Device final : public GpuDevice {
   public:
    Device(PlayedGpus& board, std::size_t real) : board_(board), real_(real) {}

    base::Result<std::vector<std::uint64_t>> product(const base::GpuProduct& p) override {
      SOUK_TRY(base::check_product(p));
      board_.work(real_, board_.how_.step * p.steps);
      const auto n = static_cast<std::uint32_t>(p.size);
      size_ = n;
      product_.assign(std::size_t{n} * n, 0);
      std::vector<std::uint64_t> hashes;
      for (std::uint32_t i = 0; i < n; ++i) {
        std::vector<std::uint32_t> row(n), next(n);
        const bool computes = i % static_cast<std::uint32_t>(board_.how_.rows_in) == 0;
        if (computes) {
          for (std::uint32_t j = 0; j < n; ++j)
            row[j] = base::matrix_entry(base::matrix_key(p.seed, 0), i * n + j);
          for (std::int32_t step = 1; step <= p.steps; ++step) {
            const auto key = base::matrix_key(p.seed, step);
            std::ranges::fill(next, 0);
            for (std::uint32_t k = 0; k < n; ++k)
              for (std::uint32_t j = 0; j < n; ++j)
                next[j] += row[k] * base::matrix_entry(key, k * n + j);
            row.swap(next);
          }
        }
        std::ranges::copy(row, product_.begin() + i * n);
        hashes.push_back(base::row_hash(p.seed, row));
      }
      return hashes;
    }
    base::Result<std::vector<std::uint32_t>> row(std::int32_t index) override {
      if (index < 0 || static_cast<std::uint32_t>(index) >= size_)
        return base::fail(base::Code::invalid, "no such row");
      const auto at = product_.begin() + static_cast<std::ptrdiff_t>(index) * size_;
      return std::vector(at, at + size_);
    }
    base::Result<> fill(std::uint64_t seed, std::int64_t mib) override {
      if (mib > board_.how_.memory_mib && !board_.how_.pretends)
        return base::fail(base::Code::exhausted, "so much memory is not here");
      mib_ = mib;
      numbers_.clear();
      const auto held = base::chains_of(std::min(mib, board_.how_.memory_mib));
      for (std::uint64_t chain = 0; chain < held; ++chain)
        for (auto [i, x] = std::pair(0, base::chain_begin(seed, chain)); i < base::kChainNumbers;
             ++i, x = base::chain_next(x))
          numbers_.push_back(x);
      return {};
    }
    base::Result<std::vector<std::uint64_t>> read(std::uint64_t seed, std::int64_t reads) override {
      std::vector<std::uint64_t> out(base::kGpuGroups);
      for (std::int32_t group = 0; group < base::kGpuGroups; ++group)
        for (std::int64_t i = 0; i < reads; ++i) {
          const auto counter = base::read_counter(group, reads, i);
          const auto place = base::gpu_place(seed, mib_, counter);
          const auto value = place < numbers_.size() ? numbers_[place] : 0;
          out[static_cast<std::size_t>(group)] += base::gpu_read_value(value, counter);
        }
      return out;
    }

   private:
    PlayedGpus& board_;
    const std::size_t real_;
    std::uint32_t size_ = 0;
    std::vector<std::uint32_t> product_;
    std::int64_t mib_ = 0;
    std::vector<std::uint64_t> numbers_;
  };

  void work(std::size_t real, base::Duration time) {
    const std::lock_guard lock(mutex_);
    busy_[real] = busy_[real] + time;
  }

  const How how_;
  std::mutex mutex_;
  std::vector<base::Duration> busy_;
};

}  // namespace souk::agent::testing
