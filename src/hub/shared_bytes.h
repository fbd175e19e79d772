#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/buffers.h"
#include "net/http.h"
#include "train/kept_bytes.h"
#include "train/pull.h"

// How bytes pass between requests and trainings without being copied.

namespace souk::hub {

// A body that was read into a buffer.
class BytesInBuffer final : public train::KeptBytes {
 public:
  explicit BytesInBuffer(std::shared_ptr<const base::Buffer> buffer) : buffer_(std::move(buffer)) {}
  [[nodiscard]] std::string_view bytes() const override {
    return {buffer_->data(), buffer_->size()};
  }
  void let_go(std::size_t /*at*/, std::size_t /*length*/) const override {}

 private:
  const std::shared_ptr<const base::Buffer> buffer_;
};

// Parameters as an answer that is written from the blocks themselves. A fold meanwhile copies those
// that it changes.
[[nodiscard]] net::Response parameters_response(train::PackedBlocks packed);

}  // namespace souk::hub
