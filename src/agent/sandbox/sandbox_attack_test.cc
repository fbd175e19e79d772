#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

#include "agent/limits/cgroup.h"
#include "agent/sandbox/sandbox_testing.h"

// Programs that try to see or change what is not theirs, or to stay (those that take too much are
// in sandbox_greed_test.cc). Each runs for real, once under this user and once, where that is root,
// under an ordinary one.

namespace souk::agent {
namespace {

using testing::alive;
using testing::as_ordinary_user;
using testing::Box;
using testing::eventually;
using testing::find_process;
using testing::ProgramResult;
using testing::python;
using testing::run;
using testing::sandbox;
using testing::sandbox_mounts;
using testing::shell;

class Attack : public ::testing::TestWithParam<bool> {
 protected:
  // Runs `body` as the user this test is about.
  static void as_user(const std::function<void()>& body) {
    GetParam() ? as_ordinary_user(body) : body();
  }
  static ProgramResult attack(Program program) {
    return run(*sandbox("bubblewrap"), std::move(program));
  }
};
INSTANTIATE_TEST_SUITE_P(As, Attack, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "ordinary" : "this_user"; });

// As root without capabilities these files could be written, and core_pattern runs a program
// outside: the reason why a root agent runs programs as another user.
TEST_P(Attack, KernelSettingsCannotBeWritten) {
  as_user([] {
    const auto ran = attack(python(
        "import os\n"
        "for root,dirs,files in os.walk('/proc/sys'):\n"
        "  for f in files:\n"
        "    try: os.close(os.open(root+'/'+f,os.O_WRONLY)); print('WROTE',root,f)\n"
        "    except OSError: pass\n"
        "for f in ['sysrq-trigger','irq/0/smp_affinity','mtrr','kcore','kmsg','1/environ']:\n"
        "  try: os.close(os.open('/proc/'+f,os.O_WRONLY)); print('WROTE',f)\n"
        "  except OSError: pass\n"
        "print('end')"));
    EXPECT_EQ(ran.output, "end\n");
  });
}

TEST_P(Attack, ProgramsAreNeverRootOutside) {
  as_user([] {
    Box box(*sandbox("bubblewrap"), shell("echo up; sleep 1000"));
    ASSERT_TRUE(box);
    box.start();
    ASSERT_TRUE(box.prints("up"));
    for (const auto& task : tree_of(getpid())) {
      if (task.pid == getpid()) continue;
      const auto status = testing::slurp("/proc/" + std::to_string(task.pid) + "/status");
      EXPECT_FALSE(status.contains("Uid:\t0\t")) << status;
      EXPECT_FALSE(status.contains("Gid:\t0\t")) << status;
    }
  });
}

TEST_P(Attack, OwnersFilesAreInvisible) {
  const auto secret = "/tmp/souk-secret-" + std::to_string(getpid());
  std::ofstream(secret) << "hunter2";
  as_user([&] {
    const auto ran = attack(python(
        "import os\n"
        "for p in ['/home','/root','/var','/run','/mnt','/opt','/srv','/media','/boot','/sys',\n"
        "  '/etc/shadow','/etc/ssh','/etc/sudoers','/etc/hostname','/etc/machine-id',\n"
        "  '/etc/ssl/private','/dev/shm/in','/dev/kmsg','/dev/mem','/dev/net','/dev/vda',\n"
        "  '" +
        secret +
        "','/proc/1/root/root','/work/../root']:\n"
        "  if os.path.lexists(p): print('SEES',p)\n"
        "print(sorted(os.listdir('/')), os.listdir('/work'), os.listdir('/tmp'), os.getuid())"));
    EXPECT_TRUE(ran.output.starts_with("['bin', 'dev', 'etc', 'lib'")) << ran.output;
    EXPECT_TRUE(ran.output.ends_with("'tmp', 'usr', 'work'] [] [] 1000\n")) << ran.output;
  });
  std::filesystem::remove(secret);
}

TEST_P(Attack, AgentsEnvironmentDescriptorsAndProcessesAreInvisible) {
  setenv("OWNERS_SECRET", "hunter2", 1);
  const int leak = open("/etc/hostname", O_RDONLY);  // Without close-on-exec, as libraries do.
  as_user([] {
    const auto agent = std::to_string(getpid());
    const auto ran = attack(python(
        "import os,signal\n"
        "pids=[p for p in os.listdir('/proc') if p.isdigit()]\n"
        "print(len(pids))\n"
        "for p in pids:\n"
        "  for what in ['environ','cmdline']:\n"
        "    try:\n"
        "      if b'hun'+b'ter2' in open(f'/proc/{p}/{what}','rb').read(): print('SECRET',p,what)\n"
        "    except OSError: pass\n"
        "  try:\n"
        "    for fd in os.listdir(f'/proc/{p}/fd'):\n"
        "      to=os.readlink(f'/proc/{p}/fd/{fd}')\n"
        "      if not to.startswith(('/dev/null','pipe:','/proc','anon_inode:[eventfd]')): "
        "print('FD',p,fd,to)\n"
        "  except OSError: pass\n"
        "try: os.kill(" +
        agent +
        ",signal.SIGKILL)\n"
        "except ProcessLookupError: print('no agent')\n"
        "print(sorted(os.listdir('/proc/self/fd')))\n"
        "try: os.kill(-1,signal.SIGKILL)\n"
        "except ProcessLookupError: pass\n"
        "print('alone')\n"));
    EXPECT_EQ(ran.output, "2\nno agent\n['0', '1', '2', '3']\nalone\n");
    EXPECT_EQ(ran.exit.code, 0);
  });
  close(leak);
  unsetenv("OWNERS_SECRET");
}

TEST_P(Attack, OwnersNetworkIsUnreachable) {
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in any{.sin_family = AF_INET};
  ASSERT_EQ(bind(tcp, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  socklen_t size = sizeof any;
  getsockname(tcp, reinterpret_cast<sockaddr*>(&any), &size);
  ASSERT_EQ(listen(tcp, 8), 0);
  const int local = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_un name{.sun_family = AF_UNIX};
  const auto abstract = "souk-test-" + std::to_string(getpid());
  abstract.copy(name.sun_path + 1, abstract.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract.size());
  ASSERT_EQ(bind(local, reinterpret_cast<sockaddr*>(&name), length), 0);
  ASSERT_EQ(listen(local, 8), 0);
  as_user([&] {
    const auto ran =
        attack(python("import socket\n"
                      "def go(f,a):\n"
                      "  s=socket.socket(f); s.settimeout(3)\n"
                      "  try: s.connect(a); print('REACHED',a)\n"
                      "  except OSError: pass\n"
                      "for h in ['127.0.0.1','192.0.2.2','169.254.169.254','10.0.2.2','8.8.8.8']:\n"
                      "  go(socket.AF_INET,(h," +
                      std::to_string(ntohs(any.sin_port)) +
                      "))\n"
                      "go(socket.AF_INET,('169.254.169.254',80))\n"
                      "go(socket.AF_UNIX,'\\0" +
                      abstract +
                      "')\n"
                      "print([n for _,n in socket.if_nameindex()])"));
    EXPECT_EQ(ran.output, "['lo']\n");
  });
  EXPECT_LT(accept(tcp, nullptr, nullptr), 0);
  EXPECT_LT(accept(local, nullptr, nullptr), 0);
  close(tcp);
  close(local);
}

TEST_P(Attack, DaemonDoesNotOutliveItsProgram) {
  as_user([] {
    const auto mark = "9" + std::to_string(getpid()) + "7.25";
    Box box(*sandbox("bubblewrap"),
            shell("(setsid sh -c 'trap \"\" TERM HUP; touch up; sleep " + mark +
                  "' &) ; until [ -e up ]; do sleep 0.01; done; echo up"));
    ASSERT_TRUE(box);
    box.start();
    EXPECT_TRUE(box.prints("up"));
    box.finish();
    EXPECT_EQ(find_process(mark), 0);
  });
}

TEST_P(Attack, NothingOutlivesAKilledAgent) {
  const auto mark = "8" + std::to_string(getpid()) + "6.25";
  const auto mounts = sandbox_mounts();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t agent = fork();
  if (agent == 0) {
    setsid();
    as_user([&] {
      static_cast<void>(write(ends[1], "x", 1));
      Box box(*sandbox("bubblewrap"), shell("(setsid sleep " + mark + " &) ; sleep " + mark));
      box.start();
      box.finish();
    });
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  close(ends[1]);
  ASSERT_TRUE(eventually([&] {
    int found = 0;
    for (const auto& task : tree_of(agent))
      found +=
          testing::slurp("/proc/" + std::to_string(task.pid) + "/cmdline").starts_with("sleep");
    return found == 2;
  }));
  const auto tree = tree_of(agent);
  ASSERT_GE(tree.size(), 5U);  // Agent, keeper, bwrap twice, sleeps.
  std::vector<pid_t> agents;   // As an ordinary user the agent is a child of the child.
  for (const auto& task : tree)
    if (task.pid == agent || (GetParam() && geteuid() == 0 && task.parent == agent))
      agents.push_back(task.pid);
  for (const pid_t pid : agents) ::kill(pid, SIGKILL);
  waitpid(agent, nullptr, 0);
  for (const auto& task : tree)
    EXPECT_TRUE(eventually([&] { return !alive(task.pid); })) << task.pid;
  EXPECT_EQ(find_process(mark), 0);
  sweep();
  EXPECT_EQ(sandbox_mounts(), mounts);
}

TEST(AttackOnReader, PlantedSymlinkIsRefusedByAReaderWhoDoesNotFollow) {
  Box box(*sandbox("bubblewrap"), shell("ln -s /etc/shadow out; ln -s / up"));
  ASSERT_TRUE(box);
  box.start();
  EXPECT_EQ(box.finish().code, 0);
  EXPECT_LT(open((box->scratch() + "/out").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC), 0);
  EXPECT_EQ(errno, ELOOP);
}

TEST(Sweep, RemovesGroupsOfKilledAgents) {
  if (Cgroups::find().places().empty()) GTEST_SKIP() << "no control groups here";
  const pid_t agent = fork();
  if (agent == 0) {
    auto group = Cgroups::find().create({});
    ::kill(getpid(), SIGKILL);
  }
  waitpid(agent, nullptr, 0);
  const auto left = [&] {
    int count = 0;
    for (const auto& place : Cgroups::find().places())
      for (const auto& entry : std::filesystem::directory_iterator(place.folder))
        count +=
            entry.path().filename().string().starts_with("souk-lease-" + std::to_string(agent));
    return count;
  };
  EXPECT_GT(left(), 0);
  sweep();
  EXPECT_EQ(left(), 0);
}

}  // namespace
}  // namespace souk::agent
