#include "net/outbox.h"

#include <string_view>
#include <utility>

#include "base/check.h"

namespace souk::net {

std::size_t Outbox::Piece::size() const {
  std::size_t all = head.size() + body.size() + (shared ? shared->size() : 0) + (crlf ? 2 : 0);
  for (const auto& part : parts) all += part.bytes.size();
  return all;
}

void Outbox::push(std::string head, std::string body, std::vector<SharedBytes> parts) {
  pieces_.push_back({.head = std::move(head), .body = std::move(body), .parts = std::move(parts)});
}

void Outbox::push(std::string before, std::shared_ptr<const std::string> data, bool crlf) {
  pieces_.push_back({.head = std::move(before), .shared = std::move(data), .crlf = crlf});
}

std::size_t Outbox::gather(std::span<iovec> out) const {
  std::size_t used = 0;
  std::size_t skip = written_;
  const auto add = [&](std::string_view bytes) {
    if (skip >= bytes.size()) {
      skip -= bytes.size();
    } else if (used < out.size()) {
      out[used++] = {const_cast<char*>(bytes.data()) + skip, bytes.size() - skip};
      skip = 0;
    }
  };
  for (std::size_t i = first_; i < pieces_.size() && used < out.size(); ++i) {
    add(pieces_[i].head);
    add(pieces_[i].body);
    for (const auto& part : pieces_[i].parts) add(part.bytes);
    if (pieces_[i].shared) add(*pieces_[i].shared);
    if (pieces_[i].crlf) add("\r\n");
  }
  return used;
}

void Outbox::consume(std::size_t bytes) {
  written_ += bytes;
  while (first_ < pieces_.size() && written_ >= pieces_[first_].size()) {
    written_ -= pieces_[first_].size();
    pieces_[first_++] = {};  // Gives its memory back now.
  }
  CHECK(first_ < pieces_.size() || written_ == 0);
  if (empty()) clear();
}

void Outbox::clear() {
  if (pieces_.capacity() > 4)
    pieces_ = {};
  else
    pieces_.clear();
  first_ = written_ = 0;
}

}  // namespace souk::net
