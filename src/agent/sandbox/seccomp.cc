#include "agent/sandbox/seccomp.h"

#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

// A list of denials rather than of permissions: programs of strangers use nearly everything, and
// bwrap already took every capability. Denied is what works without capabilities and has let
// programs out before, or what touches the machine as a whole.

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::uint64_t kLow32 = 0xffffffff;

// Names, because some are unknown to this architecture; those are skipped.
constexpr std::array kForbidden{
    // Kernel interfaces with a history of escapes.
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "fanotify_init", "memfd_secret",
    // Keyrings are not separated by namespaces.
    "keyctl", "add_key", "request_key",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
    // Namespaces and mounts.
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_by_handle_at",
    "name_to_handle_at",
    // The machine as a whole.
    "acct", "adjtimex", "clock_adjtime", "clock_settime", "delete_module", "finit_module",
    "init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "lookup_dcookie",
    "modify_ldt", "nfsservctl", "quotactl", "quotactl_fd", "reboot", "settimeofday", "swapoff",
    "swapon", "syslog", "uselib", "vhangup"};

// Denied as if this kernel did not know them, so that libraries fall back. clone3 hides its flags
// behind a pointer, which a filter cannot follow.
constexpr std::array kUnknown{"clone3",    "open_tree", "open_tree_attr", "move_mount",
                              "fsopen",    "fsconfig",  "fsmount",        "fspick",
                              "statmount", "listmount", "mount_setattr"};

constexpr std::array<std::uint64_t, 8> kNamespaceFlags{CLONE_NEWUSER,   CLONE_NEWNS,  CLONE_NEWPID,
                                                       CLONE_NEWNET,    CLONE_NEWIPC, CLONE_NEWUTS,
                                                       CLONE_NEWCGROUP, 0x80 /* CLONE_NEWTIME */};

// Typing into the terminal that the program was started from.
constexpr std::array<std::uint64_t, 3> kTerminalRequests{TIOCSTI, TIOCLINUX, TIOCSETD};

constexpr bool family_allowed(int family) {
  return family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
}

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW)) {}
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  scmp_filter_ctx get() const { return context_; }
  bool good() const { return context_ != nullptr && good_; }

  void deny(const char* name, int error) {
    const int number = seccomp_syscall_resolve_name(name);
    // Below zero the call is unknown here or only exists on other architectures.
    if (number >= 0) note(seccomp_rule_add(context_, SCMP_ACT_ERRNO(error), number, 0));
  }

  // Denies the call when argument `index` has exactly `value` under `mask`. Always masked: the
  // kernel reads only the low 32 bits of an int, so a program may set the others (CVE-2019-10063).
  void deny_if(int number, unsigned index, std::uint64_t mask, std::uint64_t value, int error) {
    const scmp_arg_cmp compare{index, SCMP_CMP_MASKED_EQ, mask, value};
    note(seccomp_rule_add_array(context_, SCMP_ACT_ERRNO(error), number, 1, &compare));
  }

  void note(int result) { good_ = good_ && result == 0; }

 private:
  scmp_filter_ctx context_;
  bool good_ = true;
};

void add_rules(Filter& filter) {
  filter.note(seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
  filter.note(seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  for (const char* name : kForbidden) filter.deny(name, EPERM);
  for (const char* name : kUnknown) filter.deny(name, ENOSYS);
  for (const auto flag : kNamespaceFlags) filter.deny_if(SCMP_SYS(clone), 0, flag, flag, EPERM);
  for (const auto request : kTerminalRequests)
    filter.deny_if(SCMP_SYS(ioctl), 1, kLow32, request, EPERM);
  for (int family = 0; family < 64; ++family) {
    if (family_allowed(family)) continue;
    const auto value = static_cast<std::uint64_t>(family);
    filter.deny_if(SCMP_SYS(socket), 0, kLow32, value, EAFNOSUPPORT);
    filter.deny_if(SCMP_SYS(socketpair), 0, kLow32, value, EAFNOSUPPORT);
  }
  // Of netlink only routes (protocol 0), which name lookups read.
  for (std::uint64_t protocol = 1; protocol < 32; ++protocol) {
    const std::array compare{scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, kLow32, AF_NETLINK},
                             scmp_arg_cmp{2, SCMP_CMP_MASKED_EQ, kLow32, protocol}};
    filter.note(seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket),
                                       compare.size(), compare.data()));
  }
}

}  // namespace

Result<std::string> seccomp_filter() {
  Filter filter;
  if (filter.good()) add_rules(filter);
  if (!filter.good()) return fail(Code::internal, "libseccomp refused the system call filter");
  const int fd = memfd_create("seccomp", MFD_CLOEXEC);
  if (fd < 0) return fail(Code::unavailable, "cannot create a memory file for the filter");
  std::string bytes;
  struct stat status{};
  if (seccomp_export_bpf(filter.get(), fd) == 0 && fstat(fd, &status) == 0) {
    bytes.resize(static_cast<std::size_t>(status.st_size));
    if (pread(fd, bytes.data(), bytes.size(), 0) != status.st_size) bytes.clear();
  }
  close(fd);
  if (bytes.empty()) return fail(Code::internal, "libseccomp could not write the filter");
  return bytes;
}

}  // namespace souk::agent
