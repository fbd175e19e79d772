#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/time.h"

namespace souk::agent {

// What a program prints, on its way to the market: one thread reads it from a pipe into a file, so
// that the program never waits for the network; another sends it on in pieces. A market that cannot
// be reached delays nothing; what it lacks is sent when it is back. Where there is no memory for a
// piece, that piece is dropped.
class LogSpool {
 public:
  // Sends one piece, valid UTF-8, that begins at byte `offset` of the log. Returns what the market
  // has from then on; less than was sent means that it wants no more. Called on the sending thread,
  // and by finish().
  using Send =
      std::function<base::Result<std::int64_t>(std::int64_t offset, std::string_view text)>;

  // The log goes to `path`, which is replaced, until it has `most` bytes; the rest is dropped with
  // a line that says so.
  static base::Result<std::unique_ptr<LogSpool>> open(const std::string& path, std::int64_t most,
                                                      Send send);
  ~LogSpool();

  // The end of the pipe to give to the program.
  [[nodiscard]] int program_end() const { return write_fd_; }
  // The program has it (or never will): close ours, so that the end is seen.
  void close_program_end();
  // A line of the agent's own.
  void say(std::string_view line);
  // Reads what is left in the pipe and sends all, for at most `patience`. Once, at the end.
  base::Result<> finish(base::Duration patience);

 private:
  LogSpool(int file, int read_fd, int write_fd, std::int64_t most, Send send);
  void start();
  void read();
  void ship();
  void take(std::string_view bytes, bool last = false);
  void keep(std::string_view text);  // These require mutex_.
  void write(std::string_view text);
  bool send_some();

  const int file_, read_fd_;
  int write_fd_;
  const std::int64_t most_;
  const Send send_;
  std::mutex mutex_;  // Guards what follows.
  std::string cut_;   // The beginning of a character.
  std::int64_t size_ = 0, sent_ = 0;
  bool full_ = false;    // The file has `most_` bytes.
  bool enough_ = false;  // The market keeps less than we do: the rest is for nobody.
  bool ended_ = false, stopping_ = false;
  std::condition_variable wake_;
  std::mutex sending_;  // One at a time.
  std::thread reader_, shipper_;
};

}  // namespace souk::agent
