#include "agent/sandbox/porter.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agent/sandbox/sandbox_place.h"

namespace souk::agent {

namespace {

enum : int { kControl = 3, kGo = 4 };
constexpr int kConnectMs = 2'000;

void answer(PorterReport report, int fd = -1) {
  iovec part{&report, sizeof report};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  static_cast<void>(sendmsg(kControl, &message, MSG_NOSIGNAL));
}

void name(ifreq& request, const char* interface) {
  std::memset(&request, 0, sizeof request);
  std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
}

bool bring_up(int socket, const char* interface) {
  ifreq request;
  name(request, interface);
  if (ioctl(socket, SIOCGIFFLAGS, &request) != 0) return false;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  return ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

bool set_address(int socket, const char* interface, unsigned long what, std::uint32_t address) {
  ifreq request;
  name(request, interface);
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(address);
  std::memcpy(&request.ifr_addr, &in, sizeof in);
  return ioctl(socket, what, &request) == 0;
}

// The device of a gang's network, up and with its address; -1: it could not be made.
int make_device(int socket, const NetworkDevice& device) {
  const int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tun < 0) return -1;
  ifreq request;
  name(request, device.interface);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(tun, TUNSETIFF, &request) != 0) return -1;
  // Packets are authenticated on their way: nobody needs to compute checksums.
  if (ioctl(tun, TUNSETOFFLOAD, static_cast<unsigned long>(TUN_F_CSUM)) != 0) return -1;
  name(request, device.interface);
  request.ifr_mtu = device.mtu;
  if (ioctl(socket, SIOCSIFMTU, &request) != 0) return -1;
  const auto mask = ~std::uint32_t{0} << (32 - device.bits);
  if (!set_address(socket, device.interface, SIOCSIFADDR, device.address) ||
      !set_address(socket, device.interface, SIOCSIFNETMASK, mask) ||
      !bring_up(socket, device.interface))
    return -1;
  return tun;
}

PorterReport failed(Step step) { return {'n', step, errno, 0}; }

// Enters the program's network and makes it what it is to be.
void set_up(const KeepPlan& plan, pid_t program) {
  char path[64] = "/proc/";
  char number[16];
  write_number(number, program);
  std::strncat(path, number, sizeof path - 1 - std::strlen(path));
  std::strncat(path, "/ns/net", sizeof path - 1 - std::strlen(path));
  const int network = open(path, O_RDONLY | O_CLOEXEC);
  if (network < 0 || setns(network, CLONE_NEWNET) != 0) return answer(failed(Step::own_network));
  close(network);
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0 || !bring_up(socket, "lo")) return answer(failed(Step::own_network));
  turn_off_ipv6();
  int device = -1;
  if (plan.device) {
    device = make_device(socket, *plan.device);
    if (device < 0) return answer(failed(Step::network_device));
  }
  close(socket);
  answer({'n', Step::none, 0, 0}, device);
  if (device >= 0) close(device);
}

// A program that does not take connections is waited for, a moment.
void connect_to(const PorterOrder& order) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(order.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int error = fd < 0 ? errno : 0;
  if (error == 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    error = errno;
  if (error == EINPROGRESS) {
    pollfd event{fd, POLLOUT, 0};
    socklen_t size = sizeof error;
    error = ETIMEDOUT;
    if (poll(&event, 1, kConnectMs) > 0) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  answer({'c', Step::none, error, order.number}, error == 0 ? fd : -1);
  if (fd >= 0) close(fd);
}

}  // namespace

void porter(const KeepPlan& plan, pid_t program, int go) {
  // Out of the way of each other first: either may lie where the other belongs.
  const int control = fcntl(plan.porter_fd, F_DUPFD, 20);
  const int begin = fcntl(go, F_DUPFD, 20);
  dup2(control, kControl);
  dup2(begin, kGo);
  syscall(SYS_close_range, kGo + 1, ~0U, 0);
  set_up(plan, program);
  while (true) {
    PorterOrder order;
    const auto got = recv(kControl, &order, sizeof order, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof order)) _exit(0);
    if (order.what == 'g') static_cast<void>(!write(kGo, "g", 1));
    if (order.what == 'c') connect_to(order);
  }
}

}  // namespace souk::agent
