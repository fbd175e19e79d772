#include "lab/worlds/external.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/fd.h"
#include "base/text.h"
#include "market/decide/program_books.h"
#include "market/types.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using Clock = std::chrono::steady_clock;
using base::Code;
using base::fail;
using base::Fd;
using base::Result;

constexpr std::size_t kMostComplaint = 4 << 10;  // Of its stderr, the end of which is kept.
constexpr std::size_t kQuoted = 200;             // Of what it says, in an error.

base::Failure no_room(const char* what) {
  return fail(Code::exhausted, fmt::format("cannot make a {}: {}", what, std::strerror(errno)));
}

struct Ends {
  Fd ours, theirs;
};

// Close-on-exec, so that programs started by other threads do not hold them open.
Result<Ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_room("pipe");
  Ends out{Fd(ends[0]), Fd(ends[1])};
  CHECK(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);  // Of our end only.
  return out;
}

// A socket rather than a pipe, because writing to a program that is gone must not signal us.
Result<Ends> make_input() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return no_room("socket");
  return Ends{Fd(ends[0]), Fd(ends[1])};
}

Result<pid_t> spawn(const std::string& program, const Fd& in, const Fd& out, const Fd& err) {
  std::string shell = "/bin/sh", flag = "-c", text = program;
  const std::array<char*, 4> argv{shell.data(), flag.data(), text.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  CHECK(::posix_spawn_file_actions_init(&files) == 0);
  CHECK(::posix_spawnattr_init(&attributes) == 0);
  ::posix_spawn_file_actions_adddup2(&files, in.get(), 0);
  ::posix_spawn_file_actions_adddup2(&files, out.get(), 1);
  ::posix_spawn_file_actions_adddup2(&files, err.get(), 2);
  ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, shell.c_str(), &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return fail(Code::exhausted, fmt::format("cannot run /bin/sh: {}", std::strerror(error)));
  return pid;
}

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  const auto code = WEXITSTATUS(status);
  return fmt::format("ended with status {}{}", code,
                     code == 126 || code == 127 ? ": it was not found or may not be run" : "");
}

// What a program said, as it may stand in a message.
std::string printable(std::string_view text) {
  std::string out(text.substr(0, kQuoted));
  out.resize(base::whole_characters(out));
  for (auto& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text.size() > kQuoted ? out + "..." : out;
}

base::Failure refused(const base::Error& error) {
  return fail(Code::conflict, "the program's answer was refused: " + error.message, error.hint);
}

// What a person needs of a traceback: its last line.
std::string_view last_line(std::string_view text) {
  text = base::trim(text);
  const auto at = text.rfind('\n');
  return at == std::string_view::npos ? text : base::trim(text.substr(at + 1));
}

}  // namespace

// A started program. When it goes, it and its process group are killed and waited for.
class External::Process {
 public:
  static Result<std::unique_ptr<Process>> start(const std::string& program) {
    SOUK_ASSIGN(auto in, make_input());
    SOUK_ASSIGN(auto out, make_pipe());
    SOUK_ASSIGN(auto err, make_pipe());
    SOUK_ASSIGN(const auto pid, spawn(program, in.theirs, out.theirs, err.theirs));
    auto process = std::make_unique<Process>();
    process->pid_ = pid;
    process->in_ = std::move(in.ours);
    process->out_ = std::move(out.ours);
    process->err_ = std::move(err.ours);
    return process;
  }

  ~Process() { (void)finish(); }

  // Sends `line` and waits for one line in return, which it gives without its end.
  // Fails soon once `interrupted` is set.
  Result<std::string> exchange(std::string_view line, int timeout_ms,
                               const std::atomic<bool>& interrupted) {
    (void)receive();  // What was said unasked since the last answer.
    if (!answer_.empty()) return complain("spoke without being asked", quoted());
    const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
    std::string text(line);
    text += '\n';
    std::string_view unsent = text;
    while (true) {
      send_some(unsent);
      const auto before = answer_.size();
      const bool open = receive();
      if (const auto end = answer_.find('\n', before); end != std::string::npos) {
        if (end + 1 != answer_.size())
          return complain("answered with more than one line", quoted());
        answer_.pop_back();
        return std::exchange(answer_, {});
      }
      if (answer_.size() > kMostAnswer)
        return complain("answered too much",
                        fmt::format("at most {} in one line", base::bytes_text(kMostAnswer)));
      if (!open) return ended();
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0)
        return complain(fmt::format("gave no answer in {} ms", timeout_ms),
                        "raise timeout_ms, or write the answer's line at once (flush)");
      std::array<pollfd, 3> watched{{{unsent.empty() ? -1 : in_.get(), POLLOUT, 0},
                                     {out_.get(), POLLIN, 0},
                                     {err_.get(), POLLIN, 0}}};
      if (interrupted) return complain("was not waited for", "this process is ending");
      ::poll(watched.data(), watched.size(), static_cast<int>(std::min(left, kLookEveryMs)));
    }
  }

 private:
  // Takes what can be sent now off `unsent`; all of it when nobody reads any more, which the end of
  // the answer or the deadline will tell.
  void send_some(std::string_view& unsent) const {
    while (!unsent.empty()) {
      const auto n = ::send(in_.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      unsent.remove_prefix(n < 0 ? unsent.size() : static_cast<std::size_t>(n));
    }
  }

  // Takes what has come, of the answer no more than is needed to refuse it. False once no more can
  // come.
  bool receive() {
    // One piece each time: a flood of complaints must not keep us from the deadline.
    drain(err_, complaint_, complaint_.size() + 1);
    if (complaint_.size() > kMostComplaint) complaint_.erase(0, complaint_.size() - kMostComplaint);
    drain(out_, answer_, kMostAnswer + 1);
    return static_cast<bool>(out_);
  }

  // Reads until there is no more for now, or `into` has `enough`.
  static void drain(Fd& from, std::string& into, std::size_t enough) {
    std::array<char, 65536> buffer;
    while (from && into.size() < enough) {
      const auto n = ::read(from.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0)
        from.reset();
      else
        into.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }

  std::string quoted() const { return fmt::format("it said '{}'", printable(answer_)); }

  // An error of the program's, with the last thing that it said on stderr.
  base::Failure complain(std::string what, std::string hint) const {
    if (const auto said = last_line(complaint_); !said.empty())
      what += fmt::format("; its stderr ends with: {}", printable(said));
    return fail(Code::conflict, "the program " + what, std::move(hint));
  }

  base::Failure ended() {
    const int status = finish();
    (void)receive();
    return complain(end_text(status), "it must answer one line to each line, until its stdin ends");
  }

  // Kills what is left of it, and reaps it. Its number is ours until then.
  int finish() {
    if (pid_ <= 0) return status_;
    // One that closed its output is on its way out: its own end says more than ours would.
    in_.reset();
    for (int waited = 0; !out_ && waited < kGraceMs && !reap(WNOHANG); waited += 5) ::usleep(5'000);
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      reap(0);
    }
    return status_;
  }

  // Whether it has ended. The rest of its group goes with it.
  bool reap(int options) {
    siginfo_t info{};
    // Still a zombie when the group is killed, so that its number cannot come to mean another.
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | options) != 0 &&
           errno == EINTR) {
    }
    if (info.si_pid != pid_) return false;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return true;
  }

  static constexpr int kGraceMs = 200;
  static constexpr std::chrono::milliseconds::rep kLookEveryMs = 50;  // At `interrupted`.

  pid_t pid_ = -1;
  int status_ = 0;
  Fd in_, out_, err_;
  std::string answer_;     // Of stdout, not yet taken.
  std::string complaint_;  // Of stderr, the end.
};

External::External(Options options, std::unique_ptr<mechanism::Mechanism> fallback)
    : options_(std::move(options)), fallback_(std::move(fallback)) {
  CHECK(fallback_ && !options_.program.empty());
  CHECK(options_.timeout_ms > 0 && options_.timeout_ms <= kMostTimeoutMs);
  CHECK(options_.start_ms > 0 && options_.start_ms <= kMostTimeoutMs);
}

External::~External() = default;

Result<mechanism::Outcome> External::judged(const NamedBook& book, std::uint64_t seed) const {
  auto patience_ms = options_.timeout_ms;
  if (!process_) {
    SOUK_ASSIGN(process_, Process::start(options_.program));
    ++counts_.starts;
    patience_ms += options_.start_ms;
  }
  SOUK_ASSIGN(const auto answer,
              process_->exchange(book_line(book, seed), patience_ms, interrupted_));
  auto outcome = read_outcome(book, answer);
  if (!outcome) return refused(outcome.error());
  for (const auto& t : outcome->trades)
    if (t.pays < t.gets)
      return refused(
          {.message = fmt::format("'{}' pays {} but '{}' gets {}", book.bids[t.bid],
                                  to_string(t.pays), book.asks[t.ask], to_string(t.gets)),
           .hint = "nobody makes up for the difference"});
  if (const auto good = mechanism::verify(book.book, *outcome); !good) return refused(good.error());
  if (const auto good = mechanism::fit_to_settle(*outcome); !good) return refused(good.error());
  return outcome;
}

Result<mechanism::Outcome> External::ask(const NamedBook& book, std::uint64_t seed) const {
  auto outcome = judged(book, seed);
  if (!outcome) {
    counts_.last_reason = wire::one_line(outcome.error());
    process_.reset();
  }
  return outcome;
}

std::optional<mechanism::Outcome> External::attempt(const mechanism::Book& book,
                                                    std::uint64_t seed) const {
  ++counts_.calls;
  if (skip_ > 0) {
    --skip_;
  } else if (auto outcome = ask(with_names(book), seed)) {
    failures_ = 0;
    return *std::move(outcome);
  } else {
    skip_ = std::min(kMostSkipped, (std::uint64_t{1} << std::min(failures_, 32u)) - 1);
    ++failures_;
  }
  ++counts_.fallbacks;
  return std::nullopt;
}

mechanism::Outcome External::clear(const mechanism::Book& book, base::Random& random) const {
  // 53 bits, which every language's JSON reader keeps.
  if (auto outcome = attempt(book, random.next() >> 11)) return *std::move(outcome);
  return fallback_->clear(book, random);
}

Result<> External::accepts(const mechanism::Book& book) const {
  SOUK_TRY(Mechanism::accepts(book));
  return fallback_->accepts(book);
}

Result<> External::fit_for_live() const { return fallback_->fit_for_live(); }

Result<std::unique_ptr<External>> make_external(const mechanism::Params& params) {
  auto rest = params;
  mechanism::Params own;
  for (const auto& row : kExternalParameters)
    if (auto node = rest.extract(std::string(row.name))) own.insert(std::move(node));
  if (const auto at = own.find("program"); at == own.end() || base::trim(at->second).empty())
    return fail(Code::invalid, "the mechanism 'external' needs a program",
                "program='python3 examples/mechanisms/mcafee.py'", "program");
  SOUK_ASSIGN(const auto given,
              base::Arguments::read("the mechanism external", kExternalParameters, own));
  auto fallback = mechanism::make(given.text("fallback"), rest);
  if (!fallback) {
    auto error = std::move(fallback).error();
    error.message = "the fallback: " + error.message;
    return std::unexpected(std::move(error));
  }
  SOUK_TRY((*fallback)->fit_for_live());
  External::Options options{.program = given.text("program"),
                            .timeout_ms = static_cast<int>(given.whole("timeout_ms")),
                            .start_ms = static_cast<int>(given.whole("start_ms"))};
  return std::make_unique<External>(std::move(options), *std::move(fallback));
}

Result<std::unique_ptr<mechanism::Mechanism>> make_mechanism(const std::string& name,
                                                             const mechanism::Params& params) {
  if (name != market::kExternal) return mechanism::make(name, params);
  return make_external(params);
}

std::unique_ptr<External> program_of(const std::string& name, const mechanism::Params& params) {
  if (name != market::kExternal) return nullptr;
  auto made = make_external(params);
  CHECK(made);
  return *std::move(made);
}

std::map<std::string, std::string> class_params(const std::string& name,
                                                const mechanism::Params& params) {
  std::map<std::string, std::string> out(params.begin(), params.end());
  if (name == market::kExternal) out["program"] = "here";
  return out;
}

market::Clear with_answer(const External* program, const market::State& s, base::Time now,
                          market::Clear round) {
  if (program == nullptr) return round;
  auto books = market::program_books(s, now, round);
  round.answer =
      market::ask_all(std::move(books), [&](const mechanism::Book& book, std::uint64_t seed) {
        return program->attempt(book, seed);
      });
  return round;
}

}  // namespace souk::lab
