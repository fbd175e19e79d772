#include "hub/shared_bytes.h"

namespace souk::hub {
namespace {

// A block that lies in a file is not needed soon once it was sent.
struct SentBlock {
  std::shared_ptr<const train::Block> block;

  explicit SentBlock(std::shared_ptr<const train::Block> b) : block(std::move(b)) {}
  SentBlock(const SentBlock&) = delete;
  SentBlock& operator=(const SentBlock&) = delete;
  ~SentBlock() { block->let_go(); }
};

}  // namespace

net::Response parameters_response(train::PackedBlocks packed) {
  net::Response out{.content_type = "application/octet-stream", .body = std::move(packed.head)};
  out.shared.reserve(packed.blocks.size());
  for (auto& block : packed.blocks) {
    const std::string_view bytes(reinterpret_cast<const char*>(block->data()),
                                 block->size() * sizeof(float));
    if (block->is_elsewhere())
      out.shared.push_back({bytes, std::make_shared<SentBlock>(std::move(block))});
    else
      out.shared.push_back({bytes, std::move(block)});
  }
  return out;
}

}  // namespace souk::hub
