#include "cli/shell/last_words.h"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace souk::cli {
namespace {

constexpr int kInterrupted = 130;  // As shells have it.

// Of what a signal's handler may use.
std::array<char, 512> words_now;
std::size_t size_now = 0;

void say_and_end(int /*signal*/) {
  (void)!::write(STDERR_FILENO, words_now.data(), size_now);
  ::_exit(kInterrupted);
}

}  // namespace

LastWords::LastWords(std::string_view words) {
  size_now = std::min(words.size(), words_now.size());
  std::copy_n(words.begin(), size_now, words_now.begin());
  struct sigaction action = {};
  action.sa_handler = &say_and_end;
  ::sigaction(SIGINT, &action, &before_);
}

LastWords::~LastWords() { ::sigaction(SIGINT, &before_, nullptr); }

}  // namespace souk::cli
