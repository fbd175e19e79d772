#include "agent/sandbox/seccomp.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "agent/sandbox/sandbox_testing.h"

// The filter as programs meet it: each call is made inside bubblewrap and tells its errno.

namespace souk::agent {
namespace {

using testing::python;
using testing::run;
using testing::sandbox;

struct Call {
  const char* name;
  std::string arguments;  // Of syscall(2), after the number.
  long number;
  int expected;
};

std::string script(const std::vector<Call>& calls) {
  std::string text =
      "import ctypes,os,pty\n"
      "libc=ctypes.CDLL(None,use_errno=True)\n"
      "L=ctypes.c_long\n"
      "def call(name,number,*a):\n"
      "  ctypes.set_errno(0)\n"
      "  r=libc.syscall(L(number),*[L(x) for x in a])\n"
      "  print(name, 0 if r>=0 else ctypes.get_errno(), flush=True)\n"
      "master,slave=os.openpty()\n"
      "char=ctypes.addressof(ctypes.create_string_buffer(b'x'))\n";
  for (const auto& call : calls)
    text += std::string("call('") + call.name + "'," + std::to_string(call.number) + "," +
            call.arguments + ")\n";
  return text;
}

TEST(Seccomp, DangerousCallsAreDeniedInTheSandbox) {
  const auto high = std::to_string((1LL << 32));
  const auto sti = std::to_string(TIOCSTI);
  const std::vector<Call> calls{
      {"getpid", "0", SYS_getpid, 0},  // The script itself works.
      {"unshare_user", "0x10000000", SYS_unshare, EPERM},
      {"unshare_mount", "0x00020000", SYS_unshare, EPERM},
      {"clone_user", "0x10000011,0,0,0,0", SYS_clone, EPERM},
      {"clone_net", "0x40000011,0,0,0,0", SYS_clone, EPERM},
      {"clone3", "0,0", SYS_clone3, ENOSYS},
      {"setns", "0,0", SYS_setns, EPERM},
      {"mount", "char,char,char,0,0", SYS_mount, EPERM},
      {"umount2", "char,0", SYS_umount2, EPERM},
      {"pivot_root", "char,char", SYS_pivot_root, EPERM},
      {"fsopen", "char,0", SYS_fsopen, ENOSYS},
      {"open_tree", "-100,char,1", SYS_open_tree, ENOSYS},
      {"move_mount", "0,char,0,char,0", SYS_move_mount, ENOSYS},
      {"mount_setattr", "0,char,0,0,0", 442, ENOSYS},
      {"keyctl", "0,-3,1", SYS_keyctl, EPERM},
      {"add_key", "char,char,0,0,-3", SYS_add_key, EPERM},
      {"request_key", "char,char,0,0", SYS_request_key, EPERM},
      {"bpf", "0,0,0", SYS_bpf, EPERM},
      {"io_uring_setup", "1,0", SYS_io_uring_setup, EPERM},
      {"perf_event_open", "0,0,-1,-1,0", SYS_perf_event_open, EPERM},
      {"userfaultfd", "1", SYS_userfaultfd, EPERM},
      {"ptrace", "0,0,0,0", SYS_ptrace, EPERM},
      {"process_vm_readv", "1,0,0,0,0,0", SYS_process_vm_readv, EPERM},
      {"open_by_handle_at", "0,0,0", SYS_open_by_handle_at, EPERM},
      {"syslog", "3,0,0", SYS_syslog, EPERM},
      {"tiocsti", "slave," + sti + ",char", SYS_ioctl, EPERM},
      {"tiocsti_high", "slave," + high + "+" + sti + ",char", SYS_ioctl, EPERM},
      {"tioclinux", "slave," + std::to_string(TIOCLINUX) + ",char", SYS_ioctl, EPERM},
      {"af_alg", "38,5,0", SYS_socket, EAFNOSUPPORT},
      {"af_alg_high", high + "+38,5,0", SYS_socket, EAFNOSUPPORT},
      {"af_vsock", "40,1,0", SYS_socket, EAFNOSUPPORT},
      {"af_packet", "17,3,0", SYS_socket, EAFNOSUPPORT},
      {"netfilter", "16,3,12", SYS_socket, EPERM},
      {"af_inet", "2,1,0", SYS_socket, 0},
      {"af_unix", "1,1,0", SYS_socket, 0},
  };
  const auto ran = run(*sandbox("bubblewrap"), python(script(calls)));
  std::string expected;
  for (const auto& call : calls)
    expected += std::string(call.name) + " " + std::to_string(call.expected) + "\n";
  EXPECT_EQ(ran.output, expected) << ran.exit.text;
}

TEST(Seccomp, ForeignArchitecturesAreKilled) {
#if defined(__x86_64__)
  // mov eax, 20 (getpid); int 0x80; ret
  const auto ran =
      run(*sandbox("bubblewrap"), python("import ctypes,mmap\n"
                                         "m=mmap.mmap(-1,4096,prot=7)\n"
                                         "m.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n"
                                         "a=ctypes.addressof(ctypes.c_char.from_buffer(m))\n"
                                         "print('calling',flush=True)\n"
                                         "print('PID',ctypes.CFUNCTYPE(ctypes.c_int)(a)())\n"));
  EXPECT_EQ(ran.output, "calling\n");
  EXPECT_TRUE(ran.exit.signal == SIGSYS || ran.exit.signal == SIGSEGV) << ran.exit.text;
  const auto x32 = run(*sandbox("bubblewrap"),
                       python("import ctypes\nprint(ctypes.CDLL(None).syscall(0x40000000+39))"));
  EXPECT_TRUE(x32.exit.signal == SIGSYS || x32.output == "-1\n") << x32.output;
#else
  GTEST_SKIP() << "written for x86_64";
#endif
}

TEST(Seccomp, OrdinaryProgramsStillRun) {
  const auto ran =
      run(*sandbox("bubblewrap"),
          python("import threading,subprocess,multiprocessing as mp,socket,ssl,sqlite3\n"
                 "t=threading.Thread(target=print,args=('thread',),kwargs={'flush':1})\n"
                 "t.start(); t.join()\n"
                 "subprocess.run(['echo','child'],check=True)\n"
                 "a,b=socket.socketpair(); a.send(b'x'); b.recv(1)\n"
                 "q=mp.Queue(); p=mp.Process(target=q.put,args=('queue',)); p.start()\n"
                 "print(q.get()); p.join()\n"
                 "with mp.Pool(2) as pool: print(sum(pool.map(abs,[-1,-2])))\n"));
  EXPECT_EQ(ran.output, "thread\nchild\nqueue\n3\n");
  EXPECT_EQ(ran.exit.code, 0);
}

TEST(Seccomp, NumpyRuns) {
  const auto ran =
      run(*sandbox("bubblewrap"), python("try: import numpy\n"
                                         "except ImportError: print('absent'); raise SystemExit\n"
                                         "a=numpy.ones((300,300)); print(int((a@a)[0,0]))"));
  if (ran.output == "absent\n") GTEST_SKIP() << "numpy is not installed for /usr/bin/python3";
  EXPECT_EQ(ran.output, "300\n");
}

}  // namespace
}  // namespace souk::agent
