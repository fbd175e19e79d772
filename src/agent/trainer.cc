#include "agent/trainer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "wire/json.h"
#include "wire/safetensors.h"

namespace souk::agent {
namespace {

namespace json = boost::json;
using base::Code;
using base::Duration;
using base::fail;
using base::Fd;
using base::Result;

constexpr std::size_t kMostLine = 4 << 20;
constexpr std::size_t kMostQuoted = 400;
constexpr int kLookEveryMs = 20;
constexpr auto kToBegin = base::minutes(3);  // Frameworks load slowly from cold disks.

std::string text_of(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v != nullptr && v->is_string() ? std::string(v->get_string()) : std::string();
}

double number_in(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (v == nullptr || !v->is_number()) return 0;
  return v->is_double()  ? v->get_double()
         : v->is_int64() ? static_cast<double>(v->get_int64())
                         : static_cast<double>(v->get_uint64());
}

std::int64_t count_in(const json::object& o, std::string_view key) {
  const auto n = number_in(o, key);
  return n >= 0 && n < 1e15 ? static_cast<std::int64_t>(n) : 0;
}

Result<std::vector<wire::TensorInfo>> tensors_in(const json::object& o, std::size_t most) {
  std::vector<wire::TensorInfo> out;
  const auto* list = o.if_contains("tensors");
  if (list == nullptr || !list->is_array()) return out;
  const auto too_many = [&] {
    return fail(Code::too_large,
                fmt::format("the trainer says that its model has more than {} parameters, which is "
                            "what the memory of the lease has room for",
                            most),
                "lease more memory, or train a smaller model");
  };
  std::size_t total = 0;
  for (const auto& item : list->get_array()) {
    const auto* t = item.if_object();
    const auto* shape = t == nullptr ? nullptr : t->if_contains("shape");
    if (shape == nullptr || !shape->is_array())
      return fail(Code::invalid, "a tensor without a shape");
    const auto* state = t->if_contains("state");
    wire::TensorInfo info{.name = text_of(*t, "name"),
                          .state = state != nullptr && state->is_bool() && state->get_bool()};
    std::size_t n = 1;
    for (const auto& d : shape->get_array()) {
      const auto size = d.is_int64() ? d.get_int64() : 0;
      if (size < 1)
        return fail(Code::invalid, fmt::format("tensor '{}' has a dimension of {}",
                                               info.name.substr(0, 80), size));
      if (static_cast<std::size_t>(size) > most / n) return too_many();
      n *= static_cast<std::size_t>(size);
      info.shape.push_back(size);
    }
    total += n;
    if (total > most) return too_many();
    out.push_back(std::move(info));
  }
  return out;
}

Result<TrainerAnswer> parse_answer(std::string_view line, std::size_t most_floats) {
  boost::system::error_code error;
  const auto value = json::parse({line.data(), line.size()}, error);
  const auto* o = error ? nullptr : value.if_object();
  const auto* ok = o == nullptr ? nullptr : o->if_contains("ok");
  if (ok == nullptr || !ok->is_bool())
    return fail(
        Code::invalid,
        fmt::format("the trainer said '{}'", line.substr(0, std::min(line.size(), kMostQuoted))),
        "it must answer with a line of JSON: docs/worker-protocol.md");
  if (!ok->get_bool())
    return fail(Code::invalid, "the trainer: " + text_of(*o, "error").substr(0, kMostQuoted));
  TrainerAnswer out{.name = text_of(*o, "name"),
                    .framework = text_of(*o, "framework"),
                    .device = text_of(*o, "device"),
                    .steps = count_in(*o, "steps"),
                    .samples = count_in(*o, "samples"),
                    .loss = number_in(*o, "loss"),
                    .seconds = number_in(*o, "seconds")};
  SOUK_ASSIGN(out.tensors, tensors_in(*o, most_floats));
  if (const auto* metrics = o->if_contains("metrics"); metrics != nullptr && metrics->is_object())
    for (const auto& [name, v] : metrics->get_object())
      if (v.is_number()) out.metrics[std::string(name)] = number_in(metrics->get_object(), name);
  return out;
}

std::unexpected<base::Error> cannot_write(const std::string& name) {
  return fail(errno == ENOSPC ? Code::exhausted : Code::invalid,
              fmt::format("cannot write {}: {}", name, std::strerror(errno)));
}

Result<> write_at(int file, std::size_t offset, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot_write(name);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
  return {};
}

}  // namespace

Trainer::Trainer(Fd socket, std::string folder, std::size_t most_floats,
                 std::function<bool()> give_up, std::function<bool()> hurry)
    : socket_(std::move(socket)),
      folder_(std::move(folder)),
      most_floats_(most_floats),
      give_up_(std::move(give_up)),
      hurry_(std::move(hurry)) {}

Result<> Trainer::send(std::string_view line) {
  std::string text(line);
  text.push_back('\n');
  for (std::string_view rest = text; !rest.empty();) {
    const auto sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(Code::invalid, "the trainer has ended");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::string> Trainer::receive(Duration patience) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::microseconds(patience.us);
  bool hurried = false;
  while (true) {
    if (const auto end = arrived_.find('\n'); end != std::string::npos) {
      auto line = arrived_.substr(0, end);
      arrived_.erase(0, end + 1);
      return line;
    }
    if (arrived_.size() > kMostLine) return fail(Code::too_large, "the trainer's line has no end");
    if (give_up_()) return fail(Code::invalid, "stopped");
    if (steady_clock::now() > deadline) return fail(Code::invalid, "the trainer does not answer");
    if (!hurried && hurry_()) {
      hurried = true;
      SOUK_TRY(send(R"({"op":"stop"})"));
    }
    pollfd event{socket_.get(), POLLIN, 0};
    if (::poll(&event, 1, kLookEveryMs) <= 0) continue;
    char piece[64 << 10];
    const auto got = ::recv(socket_.get(), piece, sizeof piece, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(Code::invalid, "the trainer has ended");
    arrived_.append(piece, static_cast<std::size_t>(got));
  }
}

Result<TrainerAnswer> Trainer::ask(std::string_view request, Duration patience) {
  SOUK_TRY(send(request));
  SOUK_ASSIGN(const auto line, receive(patience));
  return parse_answer(line, most_floats_);
}

Result<TrainerAnswer> Trainer::hello(const std::map<std::string, std::string>& config) {
  std::string request = R"({"op":"hello","protocol":1,"config":{)";
  for (bool first = true; const auto& [name, value] : config) {
    if (!std::exchange(first, false)) request.push_back(',');
    wire::write_text(request, name);
    request.append(":").append(value);
  }
  SOUK_ASSIGN(auto answer, ask(request + "}}", kToBegin));
  if (answer.tensors.empty()) return fail(Code::invalid, "the trainer names no tensors");
  std::vector<wire::SafeTensor> tensors;
  for (const auto& t : answer.tensors) {
    tensors.push_back({.name = t.name, .dtype = "F32", .shape = t.shape});
    size_ += static_cast<std::size_t>(tensors.back().count());
  }
  head_ = wire::safetensors_head(std::move(tensors));
  tensors_ = answer.tensors;
  return answer;
}

void Trainer::bye() { (void)ask(R"({"op":"bye"})", base::seconds(5)); }

// Whatever the program put at this name is not followed and not written to.
Result<Fd> Trainer::create(const std::string& name) const {
  const auto path = folder_ + "/" + name;
  ::unlink(path.c_str());
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file || ::fchmod(file.get(), 0644) != 0) return cannot_write(name);
  return file;
}

Result<> Trainer::write_bytes(const std::string& name, std::string_view bytes) const {
  SOUK_ASSIGN(const auto file, create(name));
  return write_at(file.get(), 0, bytes, name);
}

// Is what we wrote under this name still there?
bool Trainer::is_ours(const std::string& name) const {
  const auto it = written_.find(name);
  if (it == written_.end()) return false;
  struct stat ours{}, there{};
  return ::fstat(it->second.get(), &ours) == 0 &&
         ::lstat((folder_ + "/" + name).c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
         ours.st_ino == there.st_ino &&
         static_cast<std::size_t>(ours.st_size) == head_.size() + size_ * sizeof(float);
}

Result<int> Trainer::ours(const std::string& name) {
  if (!is_ours(name)) {
    SOUK_ASSIGN(auto file, create(name));
    written_.insert_or_assign(name, std::move(file));
  }
  return written_.at(name).get();
}

Result<> Trainer::write_part(const std::string& name, std::size_t at, std::string_view floats) {
  CHECK(at * sizeof(float) + floats.size() <= size_ * sizeof(float));
  const bool new_file = !is_ours(name);
  SOUK_ASSIGN(const int file, ours(name));
  if (new_file) {
    const auto size = static_cast<off_t>(head_.size() + size_ * sizeof(float));
    if (::ftruncate(file, size) != 0) return cannot_write(name);
    SOUK_TRY(write_at(file, 0, head_, name));
  }
  return write_at(file, head_.size() + at * sizeof(float), floats, name);
}

Result<> Trainer::write(const std::string& name, std::span<const float> values) {
  SOUK_ASSIGN(const int file, ours(name));
  auto done = write_at(file, 0, head_, name);
  if (done)
    done = write_at(file, head_.size(),
                    {reinterpret_cast<const char*>(values.data()), values.size_bytes()}, name);
  if (!done) remove(name);
  return done;
}

void Trainer::remove(const std::string& name) {
  written_.erase(name);
  ::unlink((folder_ + "/" + name).c_str());
}

Result<> Trainer::read(const std::string& name, std::vector<float>& values) const {
  const auto path = folder_ + "/" + name;
  // Not blocking, or a pipe that the program put there would hold us up.
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Code::invalid, fmt::format("the trainer wrote no file {}", name));
  const auto data = size_ * sizeof(float);
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size < data || size > data + kMostLine)
    return fail(Code::invalid, fmt::format("{} has {} bytes", name, size));
  std::string head(size - data, '\0');
  values.resize(size_);
  const iovec parts[2] = {{head.data(), head.size()}, {values.data(), data}};
  // Memory behind it, so it comes whole or the program cut it meanwhile.
  std::size_t got = 0;
  if (const auto n = ::preadv(file.get(), parts, 2, 0); n > 0) got = static_cast<std::size_t>(n);
  while (got < size && got >= head.size()) {
    const auto n = ::pread(file.get(), reinterpret_cast<char*>(values.data()) + (got - head.size()),
                           size - got, static_cast<off_t>(got));
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  if (got != size) return fail(Code::invalid, fmt::format("cannot read all of {}", name));
  SOUK_ASSIGN(const auto read, wire::read_safetensors(head, size));
  bool same = read.tensors.size() == tensors_.size();
  for (std::size_t i = 0; same && i < tensors_.size(); ++i)
    same = read.tensors[i].name == tensors_[i].name && read.tensors[i].dtype == "F32" &&
           read.tensors[i].shape == tensors_[i].shape;
  if (!same)
    return fail(Code::invalid,
                fmt::format("{} has other tensors than hello named, or another order", name));
  return {};
}

Result<> Trainer::read_update(const std::string& name, double state_scale,
                              std::vector<float>& values) const {
  SOUK_TRY(read(name, values));
  if (state_scale == 1) return {};
  std::size_t at = 0;
  for (const auto& t : tensors_) {
    std::size_t count = 1;
    for (const auto d : t.shape) count *= static_cast<std::size_t>(d);
    if (t.state)
      for (std::size_t i = at; i < at + count; ++i) values[i] *= static_cast<float>(state_scale);
    at += count;
  }
  return {};
}

}  // namespace souk::agent
