#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "blob/folder.h"

namespace souk::blob {

// Puts files into a store as a folder, piece by piece, so that none of them need be in memory: one
// file after the other. A chunk that the store has already is not written again. One thread. After
// an error it is of no use; what it added is let go with it.
class FolderWriter {
 public:
  explicit FolderWriter(Store& store);  // Outlives this.

  // What follows belongs to a new file.
  Result<> begin(std::string path);
  Result<> append(std::string_view bytes);
  // A whole file.
  Result<> add(std::string path, std::string_view content);
  // The folder. The same content gives the same one, however it was cut into pieces.
  [[nodiscard]] Result<Packed> finish();

 private:
  Result<> end_file();
  // The next chunk, of so many bytes of the rest.
  Result<> put(std::size_t bytes, bool by_content);
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(at_); }

  Store& store_;
  Packed out_;
  bool in_file_ = false;
  Bytes buffer_;        // What the file has beyond its last chunk ...
  std::size_t at_ = 0;  // ... from here on.
};

}  // namespace souk::blob
