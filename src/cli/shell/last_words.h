#pragma once

#include <csignal>
#include <string_view>

namespace souk::cli {

// While it lives, Ctrl-C ends the program with these words on stderr. One at a time.
class LastWords {
 public:
  explicit LastWords(std::string_view words);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace souk::cli
