#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace souk::agent {

// A layer as it is stored (gzip, zstd, or a plain tar) to the tar in it, in pieces of bounded size:
// whoever takes them says when it is too much. By its first bytes, whatever it is called.
class Inflater {
 public:
  using OnPiece = std::function<base::Result<>(std::string_view)>;
  explicit Inflater(OnPiece on_piece);
  ~Inflater();

  base::Result<> add(std::string_view bytes);
  // Call at the end: what ends in the middle is damaged.
  [[nodiscard]] base::Result<> end() const;

  class Way;  // One of the three.

 private:
  const OnPiece on_piece_;
  std::string first_;  // Until it is known what it is.
  std::unique_ptr<Way> way_;
};

}  // namespace souk::agent
