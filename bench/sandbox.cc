// What the sandbox costs: the time until a program says its first word, and the speed of a program
// that only computes, in bubblewrap and without it, turn by turn. See README.md.

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sandbox/sandbox.h"
#include "bench/report.h"

namespace souk::bench {
namespace {

constexpr int kPatience_ms = 60'000;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

using Words = std::vector<std::string>;

// Both ends of what a program prints.
class Pipe {
 public:
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) give_up("no pipe");
    read_ = ends[0];
    write_ = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(read_);
    close_write();
  }
  [[nodiscard]] int write_end() const { return write_; }
  void close_write() {
    if (write_ >= 0) ::close(std::exchange(write_, -1));
  }
  // What is printed next; "" at the end.
  std::string next() {
    pollfd ready{.fd = read_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPatience_ms) != 1) give_up("a program was silent for a minute");
    char bytes[256];
    const auto n = ::read(read_, bytes, sizeof bytes);
    if (n < 0) give_up("cannot read what a program prints");
    return {bytes, static_cast<std::size_t>(n)};
  }

 private:
  int read_ = -1, write_ = -1;
};

struct Run {
  double first_byte_s = 0;  // From the start to the first byte.
  double rest_s = 0;        // From there to the last byte.
  double whole_s = 0;       // From nothing to nothing left.
  double cpu_s = 0;
};

// Reads to the end of what is printed.
void listen(Pipe& pipe, const Stopwatch& started, Run& run) {
  if (pipe.next().empty()) give_up("a program printed nothing");
  run.first_byte_s = started.seconds();
  for (std::string text = "-"; !text.empty(); text = pipe.next())
    run.rest_s = started.seconds() - run.first_byte_s;
}

// fork and exec, nothing else.
Run run_bare(const Words& words) {
  Run run;
  Pipe pipe;
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const Stopwatch watch;
  const pid_t child = ::fork();
  if (child < 0) give_up("cannot fork");
  if (child == 0) {
    ::dup2(pipe.write_end(), STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  pipe.close_write();
  listen(pipe, watch, run);
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  if (status != 0) give_up(fmt::format("{} ended with status {}", words[0], status));
  run.whole_s = watch.seconds();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  run.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  return run;
}

// With the limits a lease has: a core, memory, scratch, processes.
Run run_in(const agent::Sandbox& sandbox, const Words& words, double& prepare_s) {
  Run run;
  Pipe pipe;
  const Stopwatch whole;
  {
    const auto process = must(sandbox.prepare(
        {.argv = words,
         .limits = {.cores = 1, .memory_bytes = 512 * kMiB, .scratch_bytes = 64 * kMiB, .pids = 64},
         .output_fd = pipe.write_end()}));
    prepare_s = whole.seconds();
    const Stopwatch started;
    must(process->start());
    pipe.close_write();
    listen(pipe, started, run);
    const auto exit = process->wait(base::seconds(60));
    if (!exit || exit->code != 0 || exit->signal != 0)
      give_up(exit ? exit->text : "the program did not end");
    run.cpu_s = process->usage().cpu_seconds;
  }
  run.whole_s = whole.seconds();
  return run;
}

void measure_start(const agent::Sandbox& sandbox, std::size_t runs, Report& report) {
  const Words echo{"/bin/echo", "hello"};
  std::vector<double> bare, bare_whole, start, prepare_start, whole;
  for (std::size_t i = 0; i <= runs; ++i) {
    double prepare_s = 0;
    const auto boxed = run_in(sandbox, echo, prepare_s);
    const auto plain = run_bare(echo);
    if (i == 0) continue;  // Warms the page cache.
    bare.push_back(plain.first_byte_s * 1e3);
    bare_whole.push_back(plain.whole_s * 1e3);
    start.push_back(boxed.first_byte_s * 1e3);
    prepare_start.push_back((prepare_s + boxed.first_byte_s) * 1e3);
    whole.push_back(boxed.whole_s * 1e3);
  }
  report.add({.what = "start() to the first byte",
              .result = median(start),
              .unit = "ms",
              .baseline = median(bare),
              .baseline_is = "fork + exec"});
  report.add({.what = "  prepare() and start()",
              .result = median(prepare_start),
              .unit = "ms",
              .baseline = median(bare),
              .baseline_is = "fork + exec"});
  report.add({.what = "  until nothing of it is left",
              .result = median(whole),
              .unit = "ms",
              .baseline = median(bare_whole),
              .baseline_is = "fork + exec"});
}

// Says one word, counts, and says another. Only what lies between is measured: no system calls.
Words counting(std::size_t steps) {
  return {"/bin/sh", "-c",
          fmt::format("echo a; i=0; while [ $i -lt {} ]; do i=$((i+1)); done; echo b", steps)};
}

void measure_speed(const agent::Sandbox& sandbox, std::size_t runs, double seconds,
                   Report& report) {
  constexpr std::size_t probe = 200'000;
  const auto steps = static_cast<std::size_t>(probe * seconds / run_bare(counting(probe)).rest_s);
  const auto program = counting(steps);
  std::vector<double> bare, boxed, bare_cpu, boxed_cpu;
  for (std::size_t i = 0; i < runs; ++i) {
    double prepare_s = 0;
    const auto plain = run_bare(program);
    const auto limited = run_in(sandbox, program, prepare_s);
    bare.push_back(plain.rest_s);
    bare_cpu.push_back(plain.cpu_s);
    boxed.push_back(limited.rest_s);
    boxed_cpu.push_back(limited.cpu_s);
  }
  report.add({.what = "a program that computes",
              .result = median(boxed),
              .unit = "s",
              .baseline = median(bare),
              .baseline_is = "fork + exec",
              .bar = 1.02,
              .at_most = true,
              .bar_on_ratio = true});
  report.add({.what = "  its processor time, start included",
              .result = median(boxed_cpu),
              .unit = "s",
              .baseline = median(bare_cpu),
              .baseline_is = "fork + exec"});
  report.note(fmt::format("seconds of each run: {:.3f}; without a sandbox: {:.3f}",
                          fmt::join(boxed, " "), fmt::join(bare, " ")));
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"sandbox", "starts", "runs", "seconds"});
  const auto starts = flags.number("starts", 30), runs = flags.number("runs", 5);
  const auto seconds = flags.number("seconds", 2);
  const auto name = flags.text("sandbox", "bubblewrap");
  const auto sandbox = must(agent::make_sandbox(name));
  agent::sweep();
  for (const auto& finding : sandbox->findings())
    if (finding.subject == "runs" && !finding.limited) give_up(finding.text);
  Report report(fmt::format("sandbox_bench: {}: median of {} starts of /bin/echo, and of {} runs "
                            "of {} s of arithmetic in /bin/sh, turn by turn",
                            name, starts, runs, seconds),
                flags);
  measure_start(*sandbox, starts, report);
  measure_speed(*sandbox, runs, static_cast<double>(seconds), report);
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
