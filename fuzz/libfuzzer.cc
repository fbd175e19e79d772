#include <string>
#include <vector>

#include "fuzz/target.h"

// Between libFuzzer and the one target of this program.

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  CHECK(souk::fuzz::targets().size() == 1);
  const auto& bounds = souk::fuzz::targets().front().bounds;
  // Before what the caller gave, which so comes last and decides.
  static std::vector<std::string> own{"-max_len=" + std::to_string(bounds.input_bytes),
                                      "-malloc_limit_mb=" + std::to_string(bounds.malloc_mb),
                                      "-timeout=10"};
  static std::vector<char*> all;
  all.assign(*argv, *argv + *argc);
  for (auto& option : own) all.insert(all.begin() + 1, option.data());
  *argc = static_cast<int>(all.size());
  all.push_back(nullptr);
  *argv = all.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  souk::fuzz::targets().front().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
