#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "blob/testing/samples.h"
#include "wire/json.h"
#include "wire/safetensors.h"

namespace souk::agent::testing {

// The trainer's side of docs/worker-protocol.md, played on a thread of its own: a model of one
// tensor "w" with `size` floats. A unit adds 1 to each of them. Thread-safe.
class PlayedTrainer {
 public:
  using Object = boost::json::object;
  // Instead of the usual answer to an op; an empty one: the trainer ends here.
  using Answer = std::function<std::string(const Object& request)>;

  PlayedTrainer(base::Fd socket, std::string folder, std::size_t size,
                std::map<std::string, Answer> instead = {})
      : socket_(std::move(socket)),
        folder_(std::move(folder)),
        size_(size),
        instead_(std::move(instead)),
        thread_([this] { play(); }) {}
  ~PlayedTrainer() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }

  // The ops that it was asked for, in order.
  [[nodiscard]] std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  [[nodiscard]] std::size_t count(std::string_view op) const {
    const auto all = asked();
    return static_cast<std::size_t>(std::ranges::count(all, op));
  }
  // The next line, if one comes within a minute.
  [[nodiscard]] std::string hear() {
    while (true) {
      if (const auto end = arrived_.find('\n'); end != std::string::npos) {
        auto line = arrived_.substr(0, end);
        arrived_.erase(0, end + 1);
        return line;
      }
      pollfd event{socket_.get(), POLLIN, 0};
      if (::poll(&event, 1, 60'000) <= 0) return "";
      char piece[4'096];
      const auto n = ::recv(socket_.get(), piece, sizeof piece, 0);
      if (n <= 0) return "";
      arrived_.append(piece, static_cast<std::size_t>(n));
    }
  }

  [[nodiscard]] std::vector<float> read(std::string_view name) const {
    const auto bytes = blob::testing::slurp(folder_ + "/" + std::string(name));
    std::vector<float> out(size_);
    CHECK(bytes.size() > size_ * sizeof(float));
    std::memcpy(out.data(), bytes.data() + bytes.size() - size_ * sizeof(float),
                size_ * sizeof(float));
    return out;
  }
  void write(std::string_view name, const std::vector<float>& values) const {
    auto bytes = wire::safetensors_head(
        {{.name = "w", .dtype = "F32", .shape = {static_cast<std::int64_t>(size_)}}});
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    blob::testing::spill(folder_ + "/" + std::string(name), bytes);
  }

 private:
  void play() {
    for (auto line = hear(); !line.empty(); line = hear()) {
      const auto parsed = wire::parse(line);
      CHECK(parsed.has_value() && parsed->is_object());
      const auto& request = parsed->get_object();
      const std::string op(request.at("op").get_string());
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(op);
      }
      const auto it = instead_.find(op);
      auto answer = it == instead_.end() ? usual(op, request) : it->second(request);
      if (answer.empty()) {
        ::shutdown(socket_.get(), SHUT_RDWR);
        return;
      }
      answer.push_back('\n');
      (void)::send(socket_.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      if (op == "bye") return;
    }
  }

  std::string usual(std::string_view op, const Object& request) const {
    if (op == "hello")
      return fmt::format(
          R"({{"ok":true,"name":"played","device":"cpu","tensors":[{{"name":"w","shape":[{}]}}]}})",
          size_);
    if (op == "init") write(request.at("out").get_string(), std::vector<float>(size_, 0.5F));
    if (op == "train") {
      write(request.at("out").get_string(), std::vector<float>(size_, 1));
      return fmt::format(R"({{"ok":true,"steps":{0},"samples":{0}00,"loss":0.25}})",
                         request.at("steps").get_int64());
    }
    if (op == "evaluate")
      return R"({"ok":true,"samples":50,"loss":0.125,"metrics":{"accuracy":0.75}})";
    return R"({"ok":true})";
  }

  base::Fd socket_;
  const std::string folder_;
  const std::size_t size_;
  const std::map<std::string, Answer> instead_;
  std::string arrived_;  // Of the thread.
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace souk::agent::testing
