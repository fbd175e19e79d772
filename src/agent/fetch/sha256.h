#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace souk::agent {

// SHA-256 of what comes in pieces: the name of files that others publish. Ours are blob/chunk.h's.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // 64 hex digits. Nothing can be added after it.
  [[nodiscard]] std::string hex();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace souk::agent
