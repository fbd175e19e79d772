#include "agent/sandbox/sandbox_place.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace souk::agent {

namespace {

bool write_file(const char* path, std::string_view text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(fd);
  errno = error;
  return written;
}

constexpr const char* kLostAndFound = "/dev/shm/work/lost+found";

bool make_private() { return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0; }

// A /work that lies on a disk, over the one in memory.
Step mount_disk(const KeepPlan& plan) {
  const bool device = !plan.disk_device.empty();
  if (!device && plan.disk_folder.empty()) return Step::none;
  const auto* from = device ? plan.disk_device.c_str() : plan.disk_folder.c_str();
  const auto flags = device ? MS_NOSUID | MS_NODEV : MS_BIND;
  if (mount(from, kWork, device ? "ext4" : nullptr, flags, nullptr) != 0) return Step::disk_mount;
  if (device) rmdir(kLostAndFound);
  if (chmod(kWork, 0700) != 0) return Step::disk_mount;
  if (plan.become != 0 && chown(kWork, plan.become, plan.become) != 0) return Step::disk_mount;
  return Step::none;
}

Step mount_scratch(const KeepPlan& plan) {
  if (mount("souk", kScratchPoint, "tmpfs", MS_NOSUID | MS_NODEV, plan.tmpfs_options.c_str()) != 0)
    return Step::scratch_mount;
  umask(0);
  for (const char* folder : {kWork, kTmp, kShm}) {
    if (mkdir(folder, 0700) != 0) return Step::scratch_folders;
    if (plan.become != 0 && chown(folder, plan.become, plan.become) != 0)
      return Step::scratch_folders;
  }
  if (const Step step = mount_disk(plan); step != Step::none) return step;
  if (mkdir(kInputs, 0755) != 0) return Step::scratch_folders;
  for (const auto& input : plan.inputs) {
    const int made = input.folder ? mkdir(input.to.c_str(), 0755)
                                  : close(open(input.to.c_str(), O_CREAT | O_CLOEXEC, 0644));
    if (made != 0) return Step::scratch_folders;
    if (mount(input.from.c_str(), input.to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return Step::input_mount;
  }
  umask(022);
  return Step::none;
}

// slirp4netns runs as the program's user, who may not open the machine's own device everywhere.
Step make_tunnel_device() {
  if (mount("souk", "/dev/net", "tmpfs", MS_NOSUID, "size=4096,nr_inodes=4,mode=0755") != 0)
    return Step::own_network;
  umask(0);
  const int made = mknod("/dev/net/tun", S_IFCHR | 0666, makedev(10, 200));
  umask(022);
  return made == 0 ? Step::none : Step::own_network;
}

// Raw calls: the library's would try to change the agent's other threads, which are not here.
Step change_user(uid_t user) {
  if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, user, user, user) != 0 ||
      syscall(SYS_setresuid, user, user, user) != 0)
    return Step::change_user;
  // Otherwise /proc/self belongs to root and the maps below cannot be written.
  prctl(PR_SET_DUMPABLE, 1);
  return Step::none;
}

Step take_user_namespace(const KeepArguments& arguments) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return Step::own_users;
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", arguments.uid_map) ||
      !write_file("/proc/self/gid_map", arguments.gid_map))
    return Step::user_map;
  return make_private() ? Step::none : Step::own_mounts;
}

struct Range {
  const char* address;
  unsigned char bits;
};

// Not the internet: this network, private, shared (carriers), loopback, link-local (with the
// clouds' metadata), protocol assignments, tests, relays, benchmarks, multicast, reserved.
constexpr Range kClosed[] = {{"0.0.0.0", 8},      {"10.0.0.0", 8},      {"100.64.0.0", 10},
                             {"169.254.0.0", 16}, {"172.16.0.0", 12},   {"192.0.0.0", 24},
                             {"192.0.2.0", 24},   {"192.88.99.0", 24},  {"192.168.0.0", 16},
                             {"198.18.0.0", 15},  {"198.51.100.0", 24}, {"203.0.113.0", 24},
                             {"224.0.0.0", 4},    {"240.0.0.0", 4}};

struct RouteRequest {
  nlmsghdr header;
  rtmsg route;
  rtattr attribute;
  in_addr destination;
};

bool close_range_of_addresses(int netlink, const Range& range) {
  RouteRequest request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_NEWROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  request.route.rtm_family = AF_INET;
  request.route.rtm_dst_len = range.bits;
  request.route.rtm_table = RT_TABLE_MAIN;
  request.route.rtm_protocol = RTPROT_BOOT;
  request.route.rtm_scope = RT_SCOPE_UNIVERSE;
  request.route.rtm_type = RTN_UNREACHABLE;  // Fails at once, where a black hole would hang.
  request.attribute.rta_type = RTA_DST;
  request.attribute.rta_len = sizeof request.attribute + sizeof request.destination;
  inet_pton(AF_INET, range.address, &request.destination);
  if (send(netlink, &request, sizeof request, 0) != sizeof request) return false;
  struct {
    nlmsghdr header;
    nlmsgerr error;
    char rest[256];
  } answer{};
  if (recv(netlink, &answer, sizeof answer, 0) < 0) return false;
  if (answer.header.nlmsg_type != NLMSG_ERROR) return false;
  errno = -answer.error.error;
  return answer.error.error == 0;
}

Step close_owners_network() {
  const int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (netlink < 0) return Step::network_routes;
  bool closed = true;
  for (const auto& range : kClosed) closed = closed && close_range_of_addresses(netlink, range);
  const int error = errno;
  close(netlink);
  errno = error;
  return closed ? Step::none : Step::network_routes;
}

}  // namespace

Step make_place(const KeepArguments& arguments) {
  const auto& plan = arguments.plan;
  if (plan.place == Place::folder) return Step::none;
  // Root mounts scratch as root, so that it can write there, and only then gives up its rights.
  const bool as_root = plan.place == Place::mounts || plan.become != 0;
  if (as_root) {
    if (unshare(CLONE_NEWNS) != 0 || !make_private()) return Step::own_mounts;
    if (const Step step = mount_scratch(plan); step != Step::none) return step;
    if (!plan.network.empty() || plan.device)
      if (const Step step = make_tunnel_device(); step != Step::none) return step;
  }
  if (plan.place == Place::user && plan.become != 0)
    if (const Step step = change_user(plan.become); step != Step::none) return step;
  if (plan.place == Place::user)
    if (const Step step = take_user_namespace(arguments); step != Step::none) return step;
  return as_root ? Step::none : mount_scratch(plan);
}

// It has no routes there.
void turn_off_ipv6() { write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"); }

Step join_own_network(int announce, int ready, int go) {
  if (unshare(CLONE_NEWNET) != 0 || write(announce, "n", 1) != 1) return Step::own_network;
  close(announce);
  char byte = 0;
  errno = 0;
  if (ready >= 0) {
    if (read(ready, &byte, 1) != 1) return Step::network_program;
    turn_off_ipv6();
    if (const Step step = close_owners_network(); step != Step::none) return step;
  }
  errno = 0;
  if (go >= 0 && read(go, &byte, 1) != 1) return Step::own_network;
  return Step::none;
}

void kill_children_of(pid_t parent) {
  const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(8) char entries[8192];
  for (long got = 0; (got = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < got;) {
      // struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name.
      unsigned short length = 0;
      std::memcpy(&length, entries + at + 16, sizeof length);
      const std::string_view name(entries + at + 19);
      at += length;
      int pid = 0;
      const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
      if (parsed.ec != std::errc{} || pid <= 1) continue;
      char path[48] = "/proc/";
      std::memcpy(path + 6, name.data(), name.size());
      std::memcpy(path + 6 + name.size(), "/stat", 6);
      const int fd = open(path, O_RDONLY | O_CLOEXEC);
      if (fd < 0) continue;
      char text[512];
      const auto size = read(fd, text, sizeof text);
      close(fd);
      const std::string_view stat(text, size > 0 ? static_cast<std::size_t>(size) : 0);
      const auto name_end = stat.rfind(')');
      if (name_end == stat.npos || name_end + 4 >= stat.size()) continue;
      int above = 0;
      std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), above);
      if (above == parent) ::kill(pid, SIGKILL);
    }
  }
  close(folder);
}

void write_number(char (&out)[16], long value) {
  *std::to_chars(out, out + sizeof out - 1, value).ptr = '\0';
}

}  // namespace souk::agent
