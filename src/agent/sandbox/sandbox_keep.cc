#include "agent/sandbox/sandbox_keep.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/sandbox/porter.h"
#include "agent/sandbox/sandbox_place.h"

namespace souk::agent {

namespace {

constexpr int kNotStarted = 127;

void report(int control, KeepReport r) {
  // Nobody to tell it to if this fails: the agent is gone, which the loop sees next.
  static_cast<void>(send(control, &r, sizeof r, MSG_NOSIGNAL));
}

void reset_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int i = 1; i < NSIG; ++i) sigaction(i, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Who ends a whole computer or batch job ends all its processes at once. The agent is told as well,
// and decides: until then the keeper stays, with what the program has written.
void ignore_what_the_agent_is_told() {
  for (const int s : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::signal(s, SIG_IGN);
}

// Closes all but what is needed, and lets go of the agent's terminal.
void let_go(const std::vector<int>& kept) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  int from = 3;
  for (const int fd : kept) {
    if (fd > from) syscall(SYS_close_range, from, fd - 1, 0);
    from = fd + 1;
  }
  syscall(SYS_close_range, from, ~0U, 0);
}

void close_programs_descriptors(const KeepPlan& plan) {
  close(plan.output_fd);
  if (plan.talk_fd >= 0) close(plan.talk_fd);
  for (const int fd : plan.passed) close(fd);
  for (const int fd : plan.entrances) close(fd);
  if (plan.porter_fd >= 0) close(plan.porter_fd);
}

// A machine that runs out of memory ends what is borrowed before what is the owner's.
void go_first_when_memory_ends() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "1000", 4) != 4) errno = 0;  // Then it does not.
  close(fd);
}

Step enter_and_limit(const KeepPlan& plan) {
  go_first_when_memory_ends();
  for (const int fd : plan.entrances)
    if (write(fd, "0", 1) != 1) return Step::enter_group;
  for (const auto& [what, value] : plan.rlimits) {
    rlimit limit{value, value};
    rlimit now{};
    getrlimit(static_cast<__rlimit_resource>(what), &now);
    limit.rlim_max = std::min(limit.rlim_max, now.rlim_max);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    if (setrlimit(static_cast<__rlimit_resource>(what), &limit) != 0) return Step::limits;
  }
  if (plan.cpus && sched_setaffinity(0, sizeof *plan.cpus, &*plan.cpus) != 0) return Step::limits;
  return Step::none;
}

// The program's descriptors, and no others after exec. `control` stays until then.
void arrange_descriptors(const KeepPlan& plan) {
  if (plan.talk_fd >= 0) dup2(plan.talk_fd, 0);
  dup2(plan.talk_fd >= 0 ? plan.talk_fd : plan.output_fd, 1);
  dup2(plan.output_fd, 2);
  int next = 3;
  for (const int fd : plan.passed) dup2(fd, next++);
  syscall(SYS_close_range, next, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */);
}

// What the program waits for where it has a network of its own: -1, or the ends of pipes.
struct Gates {
  int announce = -1, ready = -1, go = -1;
};

// Becomes the program.
[[noreturn]] void become_program(KeepArguments& arguments, int control, pid_t keeper, Gates gates) {
  const auto& plan = arguments.plan;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(kNotStarted);
  setsid();
  reset_signals();
  Step step = enter_and_limit(plan);
  if (step == Step::none && gates.announce >= 0)
    step = join_own_network(gates.announce, gates.ready, gates.go);
  if (step == Step::none) {
    arrange_descriptors(plan);
    if (chdir(plan.folder.c_str()) == 0)
      execve(arguments.argv[0], arguments.argv.data(), arguments.env.data());
    step = Step::exec;
  }
  report(control, {Word::failed, step, errno, 0});
  _exit(kNotStarted);
}

pid_t spawn(char* const* argv, char* const* env) {
  const pid_t keeper = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == keeper) execve(argv[0], argv, env);
  _exit(kNotStarted);
}

class Keeping {
 public:
  Keeping(KeepArguments& arguments, int control) : arguments_(arguments), control_(control) {}

  [[noreturn]] void run() {
    while (true) {
      pollfd events[2] = {{control_, POLLIN, 0}, {child_fd_, POLLIN, 0}};
      if (poll(events, 2, -1) < 0) continue;
      if (events[0].revents != 0) obey();
      if (child_fd_ >= 0 && events[1].revents != 0) collect();
    }
  }

 private:
  void obey() {
    char order = 0;
    const auto got = recv(control_, &order, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got != 1) end();
    if (order == kStart && !started_) start();
    if (order == kKill && child_ > 0) stop();
  }

  void start() {
    started_ = true;
    const auto& plan = arguments_.plan;
    int announce[2] = {-1, -1};
    int ready[2] = {-1, -1};
    int go[2] = {-1, -1};
    const bool internet = !plan.network.empty(), own = plan.porter_fd >= 0;
    if (((internet || own) && pipe2(announce, O_CLOEXEC) != 0) ||
        (internet && pipe2(ready, O_CLOEXEC) != 0) || (own && pipe2(go, O_CLOEXEC) != 0))
      return refuse(Step::own_network, errno);
    const pid_t me = getpid();
    child_ = fork();
    if (child_ == 0) {
      close(ready[1]);  // Or it would wait for itself if slirp4netns fails.
      close(go[1]);
      become_program(arguments_, control_, me, {announce[1], ready[0], go[0]});
    }
    const int error = errno;
    if (child_ < 0) {
      close_programs_descriptors(plan);
      return refuse(Step::fork, error);
    }
    child_fd_ = static_cast<int>(syscall(SYS_pidfd_open, child_, 0));
    close(announce[1]);
    close(ready[0]);
    close(go[0]);
    char byte = 0;
    if ((internet || own) && read(announce[0], &byte, 1) == 1) {
      if (internet) start_network(ready[1]);
      if (own) start_porter(go[1]);
    }
    for (const int fd : {announce[0], ready[1], go[1]})
      if (fd >= 0) close(fd);
    close_programs_descriptors(plan);
  }

  void start_porter(int go) {
    const pid_t keeper = getpid();
    if (fork() != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "souk-porter");
    if (getppid() != keeper) _exit(kNotStarted);
    porter(arguments_.plan, child_, go);
  }

  void refuse(Step step, int error) {
    report(control_, {Word::failed, step, error, 0});
    report(control_, {Word::ended, Step::none, 0, kNotStarted << 8});
  }

  // The program waits at `ready`, which closes unwritten if slirp4netns fails.
  void start_network(int ready) {
    write_number(arguments_.network_pid, child_);
    const pid_t keeper = getpid();
    if (fork() != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(kNotStarted);
    dup2(ready, 3);
    syscall(SYS_close_range, 4, ~0U, 0);
    execve(arguments_.network[0], arguments_.network.data(), arguments_.env.data());
    _exit(kNotStarted);
  }

  void clean_up() {
    if (arguments_.plan.cleanup.empty()) return;
    const pid_t pid = spawn(arguments_.cleanup.data(), arguments_.env.data());
    if (pid > 0) waitpid(pid, nullptr, 0);
  }

  void stop() {
    clean_up();
    ::kill(child_, SIGKILL);
  }

  // Kills until no descendant is left. Orphans come to the keeper, who is their subreaper; the
  // first process of a PID namespace is only reaped when all others in it are gone.
  void kill_all() {
    while (true) {
      kill_children_of(getpid());
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
      poll(nullptr, 0, 1);
    }
  }

  void collect() {
    int status = 0;
    if (waitpid(child_, &status, WNOHANG) != child_) return;
    close(child_fd_);
    child_fd_ = child_ = -1;
    clean_up();
    kill_all();
    report(control_, {Word::ended, Step::none, 0, status});
  }

  [[noreturn]] void end() {
    if (child_ > 0) stop();
    kill_all();
    _exit(0);
  }

  KeepArguments& arguments_;
  int control_;
  pid_t child_ = -1;
  int child_fd_ = -1;
  bool started_ = false;
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

KeepArguments::KeepArguments(KeepPlan p, int control) : plan(std::move(p)) {
  kept = plan.passed;
  kept.insert(kept.end(), plan.entrances.begin(), plan.entrances.end());
  kept.push_back(plan.output_fd);
  if (plan.talk_fd >= 0) kept.push_back(plan.talk_fd);
  if (plan.porter_fd >= 0) kept.push_back(plan.porter_fd);
  kept.push_back(control);
  std::ranges::sort(kept);
  argv = pointers(plan.argv);
  env = pointers(plan.env);
  cleanup = pointers(plan.cleanup);
  network = pointers(plan.network);
  network.back() = network_pid;
  static char interface[] = "tap0";
  network.push_back(interface);
  network.push_back(nullptr);
  const uid_t uid = plan.become != 0 ? plan.become : geteuid();
  const gid_t gid = plan.become != 0 ? plan.become : getegid();
  uid_map = "0 " + std::to_string(uid) + " 1";
  gid_map = "0 " + std::to_string(gid) + " 1";
}

void keep(KeepArguments& arguments, int control) {
  reset_signals();
  ignore_what_the_agent_is_told();
  setsid();  // A Ctrl-C in the agent's terminal is for the agent to handle.
  let_go(arguments.kept);
  prctl(PR_SET_NAME, "souk-keeper");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (const Step step = make_place(arguments); step != Step::none) {
    report(control, {Word::failed, step, errno, 0});
    _exit(1);
  }
  report(control, {});
  Keeping(arguments, control).run();
}

}  // namespace souk::agent
