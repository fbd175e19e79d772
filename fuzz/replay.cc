#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/target.h"

// Runs kept inputs through one target, without libFuzzer: what `make test` does with the corpus.
//
//   fuzz_corpus_test NAME FOLDER

namespace {

std::string current = "the empty input";

// Only what a signal handler may do.
void name_input(int signal) {
  constexpr std::string_view what = "\nfuzz: it was fed ";
  (void)!::write(STDERR_FILENO, what.data(), what.size());
  (void)!::write(STDERR_FILENO, current.data(), current.size());
  (void)!::write(STDERR_FILENO, "\n", 1);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

int replay(const souk::fuzz::Target& target, const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  std::ranges::sort(files);
  target.run({});
  for (const auto& file : files) {
    current = file.string();
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (bytes.size() > target.bounds.input_bytes) {
      std::fprintf(stderr, "fuzz: %s has %zu bytes; the target takes %zu\n", current.c_str(),
                   bytes.size(), target.bounds.input_bytes);
      return 1;
    }
    target.run(bytes);
  }
  std::printf("%zu inputs\n", files.size() + 1);
  if (!files.empty()) return 0;
  std::fprintf(stderr, "fuzz: there is no input in %s\n", folder.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(signal, name_input);
  for (const auto& target : souk::fuzz::targets())
    if (argc == 3 && target.name == argv[1]) return replay(target, argv[2]);
  std::fprintf(stderr, "usage: %s NAME FOLDER; names:", argv[0]);
  for (const auto& target : souk::fuzz::targets())
    std::fprintf(stderr, " %s", std::string(target.name).c_str());
  std::fprintf(stderr, "\n");
  return 2;
}
