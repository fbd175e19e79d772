#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "net/line.h"

namespace souk::agent {

// The terminal of a session: its program has one end, and whoever is connected the other, as often
// as they come and go. Who comes later sees the last screenfuls first. The program waits for those
// who take what it shows slowly, but not for those who take nothing: they are let go after
// `patience`. Owns a thread.
//
// To the terminal come frames: a kind (1 byte), a length (2 bytes, big endian), and as many bytes:
// what was typed (kind 0), or columns and rows (kind 1; 2 bytes each). From it come plain bytes.
class Terminal {
 public:
  static constexpr std::size_t kMostUnsent = 256 << 10;  // Of one person, before it waits.

  static base::Result<std::unique_ptr<Terminal>> open(
      std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // For the program, until close_program_end().
  [[nodiscard]] int program_end() const { return program_.get(); }
  void close_program_end() { program_.reset(); }

  void connect(std::unique_ptr<net::Line> line);  // Any thread.
  [[nodiscard]] std::uint64_t people() const { return people_; }
  // Typed or shown, in all.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kRemembered = 64 << 10;
  static constexpr std::size_t kMostPeople = 8;

  struct Person {
    std::unique_ptr<net::Line> line;
    std::string typed;  // A frame that is not complete.
    std::string unsent;
    std::chrono::steady_clock::time_point took = std::chrono::steady_clock::now();
  };

  Terminal(base::Fd ours, base::Fd program, std::chrono::milliseconds patience);
  void run();
  [[nodiscard]] bool waits() const;
  void read_program();
  [[nodiscard]] bool serve(Person& person);
  [[nodiscard]] bool obey(std::string& typed);

  const std::chrono::milliseconds patience_;
  base::Fd ours_, program_;
  std::string remembered_;  // Of the thread, as is the next.
  std::list<Person> here_;
  std::atomic<std::uint64_t> people_ = 0, bytes_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::list<std::unique_ptr<net::Line>> fresh_;  // Guarded.
  std::thread thread_;
};

}  // namespace souk::agent
