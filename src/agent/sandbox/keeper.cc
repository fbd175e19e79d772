#include "agent/sandbox/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace souk::agent {

using base::Code;
using base::Duration;
using base::Error;
using base::fail;
using base::Result;

namespace {

constexpr int kFirstDescriptor = 10;  // Below lie the program's.
constexpr auto kReadyWithin = base::seconds(10);
constexpr int kEndWithinMs = 10'000;

// Copies of descriptors, out of the way of the program's numbers, closed at the end of launch().
class Copies {
 public:
  Copies() = default;
  ~Copies() { close_all(); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  int add(int fd) {
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, kFirstDescriptor);
    if (copy < 0) return good_ = false, -1;
    fds_.push_back(copy);
    return copy;
  }
  bool good() const { return good_; }
  void close_all() {
    for (const int fd : fds_) close(fd);
    fds_.clear();
  }

 private:
  std::vector<int> fds_;
  bool good_ = true;
};

// No handler of the agent may run in the child before it has reset them.
pid_t fork_keeper(KeepArguments& arguments, int control) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) keep(arguments, control);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

bool readable_within(int fd, int timeout_ms) {
  pollfd event{fd, POLLIN, 0};
  int got = 0;
  do got = ::poll(&event, 1, timeout_ms);
  while (got < 0 && errno == EINTR);
  return got > 0;
}

std::string_view what(Step step) {
  switch (step) {
    case Step::own_mounts:
      return "cannot make a private view of the file system";
    case Step::scratch_mount:
      return "cannot mount the scratch";
    case Step::scratch_folders:
      return "cannot create the scratch's folders";
    case Step::input_mount:
      return "cannot show an input to the program";
    case Step::disk_mount:
      return "cannot mount the scratch on disk";
    case Step::change_user:
      return "cannot become a user without rights";
    case Step::own_users:
      return "cannot create a user namespace";
    case Step::user_map:
      return "cannot map the user namespace";
    case Step::enter_group:
      return "cannot enter the control group";
    case Step::limits:
      return "cannot set the process limits";
    case Step::own_network:
      return "cannot create a network namespace";
    case Step::network_program:
      return "slirp4netns could not connect the program";
    case Step::network_device:
      return "cannot make the network of a gang (/dev/net/tun)";
    case Step::network_routes:
      return "cannot close the owner's network to the program";
    case Step::exec:
      return "cannot execute the program";
    case Step::fork:
      return "cannot start a process";
    case Step::none:
      break;
  }
  return "the keeper ended before it was ready";
}

}  // namespace

Error explain(const KeepReport& failure) {
  auto message = std::string(what(failure.step));
  if (failure.error != 0) message += fmt::format(": {}", std::strerror(failure.error));
  const bool namespaces = failure.step == Step::own_users || failure.step == Step::user_map;
  return {Code::unavailable, message,
          namespaces ? "allow unprivileged user namespaces (sysctl user.max_user_namespaces, and "
                       "kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu)"
                     : ""};
}

Result<std::unique_ptr<Keeper>> Keeper::launch(KeepPlan plan) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Code::exhausted, fmt::format("cannot create a socket: {}", std::strerror(errno)));
  Copies copies;
  const int control = copies.add(ends[1]);
  close(ends[1]);
  plan.output_fd = copies.add(plan.output_fd);
  if (plan.talk_fd >= 0) plan.talk_fd = copies.add(plan.talk_fd);
  if (plan.porter_fd >= 0) plan.porter_fd = copies.add(plan.porter_fd);
  for (int& fd : plan.passed) fd = copies.add(fd);
  for (int& fd : plan.entrances) fd = copies.add(fd);
  if (!copies.good()) {
    close(ends[0]);
    return fail(Code::invalid, "cannot copy the program's descriptors (is output_fd open?)");
  }
  KeepArguments arguments(std::move(plan), control);
  const pid_t pid = fork_keeper(arguments, control);
  if (pid < 0) {
    close(ends[0]);
    return fail(Code::exhausted, fmt::format("cannot fork: {}", std::strerror(errno)));
  }
  std::unique_ptr<Keeper> keeper(new Keeper(pid, ends[0]));
  // Until this copy is closed, the keeper's end of the socket would outlive the keeper.
  copies.close_all();
  const auto report = keeper->next(kReadyWithin);
  if (!report) return fail(Code::unavailable, "the keeper was not ready within 10 s");
  if (report->word != Word::ready) return std::unexpected(explain(*report));
  return keeper;
}

Keeper::~Keeper() {
  close(control_);  // Which the keeper takes as the order to end everything.
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (fd >= 0) {
    if (!readable_within(fd, kEndWithinMs)) ::kill(pid_, SIGKILL);
    close(fd);
  }
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Keeper::order(char what) { static_cast<void>(send(control_, &what, 1, MSG_NOSIGNAL)); }

std::optional<KeepReport> Keeper::next(Duration timeout) {
  if (!readable_within(control_, static_cast<int>((timeout.us + 999) / 1000))) return std::nullopt;
  KeepReport report;
  const auto got = recv(control_, &report, sizeof report, MSG_DONTWAIT);
  if (got == static_cast<ssize_t>(sizeof report)) return report;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  return KeepReport{Word::ended, Step::none, 0, SIGKILL};
}

}  // namespace souk::agent
