#pragma once

#include <stdexcept>
#include <string>

namespace souk::trainer {

// What a request, a file or a flag can cause. libtorch reports by exception, so this program does
// too; main() and the worker's loop, which turns them into answers, are where they are caught.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace souk::trainer
