#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "agent/sandbox/sandbox_testing.h"

// Programs with internet: what they still cannot reach. That the internet itself answers is not
// tested, as the machine that runs these tests may have none.

namespace souk::agent {
namespace {

using testing::alive;
using testing::as_ordinary_user;
using testing::Box;
using testing::eventually;
using testing::Leftovers;
using testing::python;
using testing::run;
using testing::sandbox;
using testing::shell;

class Internet : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    bool usable = access("/usr/bin/slirp4netns", X_OK) == 0 && access("/dev/net/tun", W_OK) == 0;
    struct stat device{};
    if (GetParam() && stat("/dev/net/tun", &device) == 0)
      usable = usable && (device.st_mode & S_IWOTH) != 0;
    if (!usable) GTEST_SKIP() << "slirp4netns or /dev/net/tun cannot be used by this user";
  }
  static void as_user(const std::function<void()>& body) {
    GetParam() ? as_ordinary_user(body) : body();
  }
};
INSTANTIATE_TEST_SUITE_P(As, Internet, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "ordinary" : "this_user"; });

TEST_P(Internet, OwnersNetworkStaysClosed) {
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in any{.sin_family = AF_INET};
  ASSERT_EQ(bind(tcp, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  socklen_t size = sizeof any;
  getsockname(tcp, reinterpret_cast<sockaddr*>(&any), &size);
  ASSERT_EQ(listen(tcp, 8), 0);
  as_user([&] {
    auto program = python(
        "import socket,os,errno\n"
        "def go(h,p,quick=True):\n"
        "  s=socket.socket(); s.settimeout(5)\n"
        "  try: s.connect((h,p)); print('REACHED',h)\n"
        "  except OSError as e:\n"
        "    if quick and e.errno!=errno.EHOSTUNREACH: print('OPEN',h,e)\n"
        "port=" +
        std::to_string(ntohs(any.sin_port)) +
        "\n"
        "for h in ['10.1.2.3','172.16.0.1','172.31.255.254','192.168.1.1','169.254.169.254',\n"
        "  '100.64.0.1','192.0.2.2','198.18.0.1','224.0.0.1','240.0.0.1']: go(h,port)\n"
        "for h in ['127.0.0.1','10.0.2.2','10.0.2.3']: go(h,port,False)\n"
        "print(sorted(n for _,n in socket.if_nameindex()))\n"
        "routes=[l.split() for l in open('/proc/net/route')][1:]\n"
        "print(sum(r[0]=='tap0' and r[1]=='00000000' for r in routes))\n"
        "print(open('/etc/resolv.conf').read().strip())\n"
        "print([l.split()[-1] for l in open('/proc/net/if_inet6')] if "
        "os.path.exists('/proc/net/if_inet6') else [])\n"
        "os.system('ip route del 10.0.0.0/8 2>/dev/null && echo REMOVED')\n");
    program.internet = true;
    const Leftovers before;
    const auto ran = run(*sandbox("bubblewrap"), program);
    EXPECT_EQ(ran.output, "['lo', 'tap0']\n1\nnameserver 10.0.2.3\n[]\n") << ran.exit.text;
    EXPECT_EQ(ran.exit.code, 0);
    EXPECT_EQ(Leftovers(), before);
  });
  EXPECT_LT(accept(tcp, nullptr, nullptr), 0);
  close(tcp);
}

// In a network of its own, where a public address is really the test's.
TEST(InternetAccess, PublicAddressesAreReached) {
  if (geteuid() != 0 || access("/usr/bin/slirp4netns", X_OK) != 0 ||
      access("/dev/net/tun", W_OK) != 0)
    GTEST_SKIP() << "needs root, slirp4netns and /dev/net/tun";
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNET) != 0 ||
        std::system("ip link set lo up && ip addr add 93.184.215.14/32 dev lo") != 0)
      _exit(2);
    const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in any{.sin_family = AF_INET, .sin_port = htons(8080)};
    EXPECT_EQ(bind(tcp, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    EXPECT_EQ(listen(tcp, 8), 0);
    auto program = python(
        "import socket\n"
        "s=socket.create_connection(('93.184.215.14',8080),5); print(s.recv(5), flush=True)\n"
        "import time; time.sleep(100)");
    program.internet = true;
    Box box(*sandbox("bubblewrap"), program);
    box.start();
    EXPECT_TRUE(eventually([&] {
      const int peer = accept(tcp, nullptr, nullptr);
      return peer >= 0 && write(peer, "hello", 5) == 5;
    })) << box.output();
    EXPECT_TRUE(box.prints("hello")) << box.output();
    const auto usage = box->usage();
    EXPECT_GT(usage.received_bytes, 5);  // With what carries it.
    EXPECT_GT(usage.sent_bytes, 0);
    box.destroy();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no network namespace for the test";
  EXPECT_EQ(status, 0);
}

TEST_P(Internet, DestructionEndsTheNetworkToo) {
  as_user([&] {
    auto program = shell("echo up; sleep 1000");
    program.internet = true;
    Box box(*sandbox("bubblewrap"), program);
    ASSERT_TRUE(box);
    box.start();
    ASSERT_TRUE(box.prints("up")) << box.output();
    const auto tree = tree_of(getpid());
    int networks = 0;
    for (const auto& task : tree)
      networks +=
          testing::slurp("/proc/" + std::to_string(task.pid) + "/comm").starts_with("slirp4netns");
    EXPECT_EQ(networks, 1);
    box.destroy();
    for (const auto& task : tree) EXPECT_TRUE(task.pid == getpid() || !alive(task.pid));
  });
}

}  // namespace
}  // namespace souk::agent
