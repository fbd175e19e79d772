#include "agent/trainer.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/target.h"

// A trainer's answers: the first line is what it says to hello, the second to the next question,
// and the rest is the file it wrote. The agent believes none of it.

namespace {

using namespace souk;

constexpr std::size_t kMostFloats = 1 << 18;

// A working folder that goes with the process.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "souk-fuzz-XXXXXX").string();
  Folder() { CHECK(::mkdtemp(path.data()) != nullptr); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

SOUK_FUZZ(trainer, .input_bytes = 8192, .malloc_mb = 4) {
  static const Folder folder;
  auto file = input;
  const auto hello = fuzz::take_line(file), second = fuzz::take_line(file);
  int ends[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const base::Fd program(ends[1]);
  agent::Trainer trainer(
      base::Fd(ends[0]), folder.path, kMostFloats, [] { return false; }, [] { return false; });
  const auto said = std::string(hello) + "\n" + std::string(second) + "\n";
  CHECK(::send(program.get(), said.data(), said.size(), MSG_NOSIGNAL) == std::ssize(said));
  ::shutdown(program.get(), SHUT_WR);
  const auto greeted = trainer.hello({{"lr", "0.1"}});
  if (!greeted) return;
  CHECK(!trainer.tensors().empty() && trainer.size() > 0);
  CHECK(trainer.size() <= kMostFloats);
  if (const auto answer = trainer.ask(R"({"op":"train"})", base::seconds(5)))
    CHECK(answer->steps >= 0 && answer->samples >= 0);
  if (file.empty()) return;
  CHECK(trainer.write_bytes("update.safetensors", file).has_value());
  std::vector<float> values;
  if (trainer.read_update("update.safetensors", 0.5, values))
    CHECK(values.size() == trainer.size());
}
