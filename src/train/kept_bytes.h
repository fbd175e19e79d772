#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace souk::train {

// Bytes that lie still, in memory or in a file that is mapped (hub/spill.h), for as long as this
// lives. May be read on any thread.
class KeptBytes {
 public:
  KeptBytes() = default;
  virtual ~KeptBytes() = default;
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;

  [[nodiscard]] virtual std::string_view bytes() const = 0;
  // This part is not needed soon. Memory that can be had again from a disk is given back; what was
  // read stays as it was.
  virtual void let_go(std::size_t at, std::size_t length) const = 0;
};

class BytesInMemory final : public KeptBytes {
 public:
  explicit BytesInMemory(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::string_view bytes() const override { return bytes_; }
  void let_go(std::size_t /*at*/, std::size_t /*length*/) const override {}

 private:
  const std::string bytes_;
};

[[nodiscard]] inline std::shared_ptr<const KeptBytes> kept(std::string bytes) {
  return std::make_shared<const BytesInMemory>(std::move(bytes));
}

}  // namespace souk::train
