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
  Result<> put(std::string_view chunk);

  Store& store_;
  Packed out_;
  bool in_file_ = false;
  Bytes rest_;  // Of the file: less than a chunk.
};

}  // namespace souk::blob
