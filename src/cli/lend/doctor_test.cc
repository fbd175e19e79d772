#include "cli/lend/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "agent/testing/machine_files.h"
#include "cli/shell/config.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

Diagnosis sample() {
  Diagnosis d;
  d.machine.os = "Debian GNU/Linux 12 (bookworm)";
  d.machine.kernel = "6.1.0-18-amd64";
  d.machine.arch = "x86_64";
  d.machine.cpu = {"AMD EPYC 9654", 16, 8, {"avx2", "fma"}};
  d.machine.memory = {15974, 8192, false};
  d.machine.disk = {"/home/me", 479232, 122880};
  d.machine.gpus = {{"NVIDIA H200", 143771, "550.54.15"}};
  d.machine.pythons = {
      {"/usr/bin/python3",
       "3.11.2",
       "/usr",
       {{"attrs", "23.1"}, {"numpy", "1.26.4"}, {"scikit_learn", "1.5"}, {"torch", "2.4.0"}}}};
  d.machine.power = {agent::PowerSource::battery, 71};
  d.machine.desktop = true;
  d.machine.remarks = {{"cpu", "a control group limits this process to 8 of 16 cores"}};
  d.score = agent::Score{8, 412.3, 38.25, 512.0, 2100.0, {}};
  d.network = {"https://market.example", 12.34, 8.2, "", ""};
  d.sandboxes = {{"bubblewrap", true, "jobs run in namespaces of their own", "", true},
                 {"podman", false, "not installed (optional)", "sudo apt install podman"}};
  conclude(d);
  return d;
}

TEST(Doctor, ThePageSaysEverythingInOneScreen) {
  EXPECT_EQ(render(sample(), false, {}),
            "Hardware\n"
            "  processor   AMD EPYC 9654, 8 of 16 cores usable, avx2 fma\n"
            "  memory      15.6 GiB, 8.0 GiB available\n"
            "  disk        120.0 GiB free of 468.0 GiB at /home/me\n"
            "  gpu         NVIDIA H200, 140.4 GiB, driver 550.54.15\n"
            "  system      Debian GNU/Linux 12 (bookworm), kernel 6.1.0-18-amd64, x86_64\n"
            "  power       on battery, battery at 71%: lending now would empty it\n"
            "  desktop     yes: somebody may be working at this computer\n"
            "\n"
            "Python\n"
            "  3.11.2      /usr/bin/python3, 4 packages\n"
            "              torch 2.4.0, numpy 1.26.4, scikit_learn 1.5\n"
            "              not installed: tensorflow, jax, pandas\n"
            "\n"
            "Score (lower bounds, from the same plain code on every machine)\n"
            "  processor   412 GFLOP/s in 32 bits, 8 threads\n"
            "  memory      38.2 GB/s\n"
            "  disk        writes 512 MB/s, reads 2.1 GB/s\n"
            "\n"
            "Network\n"
            "  server      https://market.example\n"
            "  round trip  12.3 ms, median of 10\n"
            "  download    at least 8.2 MB/s (one small document again and again)\n"
            "\n"
            "Sandboxes and limits\n"
            "  bubblewrap  jobs run in namespaces of their own\n"
            "  podman      no: not installed (optional)\n"
            "              to fix: sudo apt install podman\n"
            "\n"
            "Remarks\n"
            "  cpu         a control group limits this process to 8 of 16 cores\n"
            "\n"
            "This machine can lend.\n");
}

TEST(Doctor, AllPackagesAreListedWhenAskedFor) {
  EXPECT_THAT(render(sample(), false, {}), Not(HasSubstr("attrs")));
  EXPECT_THAT(render(sample(), true, {}), HasSubstr("              attrs 23.1\n"));
}

TEST(Doctor, NamesFromTheMachineCannotCommandTheTerminal) {
  auto d = sample();
  d.machine.cpu.model = "evil\x1b]0;title\x07";
  d.machine.pythons[0].version = "3\x1b[2J";
  d.network.server = "http://a\x1b[1m";
  EXPECT_THAT(render(d, true, {}), Not(HasSubstr("\x1b")));
}

TEST(Doctor, AMachineThatCannotKeepJobsApartMustNotLend) {
  auto d = sample();
  d.sandboxes[0] = {"bubblewrap", false, "bwrap is not installed", "sudo apt install bubblewrap",
                    true};
  conclude(d);
  EXPECT_FALSE(d.can_lend);
  EXPECT_EQ(d.reason, "this machine cannot lend: bubblewrap: bwrap is not installed");
  EXPECT_EQ(d.fix, "sudo apt install bubblewrap");
  EXPECT_THAT(render(d, false, {}), Not(HasSubstr("can lend")));
}

TEST(Doctor, TooLittleMemoryOrDiskIsAReason) {
  auto d = sample();
  d.machine.memory.total_mib = 512;
  conclude(d);
  EXPECT_THAT(d.reason, HasSubstr("512 MiB of memory"));
  d = sample();
  d.machine.disk.free_mib = 100;
  conclude(d);
  EXPECT_THAT(d.reason, HasSubstr("100 MiB are free at /home/me"));
  EXPECT_THAT(d.fix, HasSubstr("--folder"));
}

TEST(Doctor, ScriptsGetTheSameAsJson) {
  const auto back = wire::from_json<Diagnosis>(wire::to_json(sample()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->can_lend);
  EXPECT_EQ(back->machine.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(back->sandboxes[1].fix, "sudo apt install podman");
}

TEST(Doctor, TheWayToTheServerIsMeasured) {
  int health = 0, documents = 0;
  const auto n = check_network(
      "https://market.example",
      [&](std::string_view path) -> base::Result<net::Response> {
        if (path == "/healthz") return ++health, net::Response{};
        if (++documents > 3) return net::Response{.status = 429};
        return net::Response{.body = std::string(1000, 'x')};
      },
      base::seconds(60));
  EXPECT_EQ(health, 11);
  EXPECT_EQ(documents, 4) << "a limit on requests ends it";
  EXPECT_TRUE(n.round_trip_ms);
  EXPECT_GT(n.download_mbs.value_or(0), 0);
  EXPECT_EQ(n.text + n.fix, "");
}

TEST(Doctor, WithoutAServerItSaysWhatToType) {
  const Get refuse = [](std::string_view) -> base::Result<net::Response> {
    return base::fail(base::Code::unavailable, "cannot reach it");
  };
  const auto local = check_network(kDefaultServer, refuse, base::Duration());
  EXPECT_EQ(local.text, "cannot reach it");
  EXPECT_THAT(local.fix, HasSubstr("souk serve"));
  const auto remote = check_network("https://market.example", refuse, base::Duration());
  EXPECT_THAT(remote.fix, HasSubstr("--server"));
  auto d = sample();
  d.network = local;
  conclude(d);
  EXPECT_TRUE(d.can_lend);
  EXPECT_THAT(render(d, false, {}), HasSubstr("souk serve"));
}

class DoctorSandbox : public ::testing::Test, protected agent::testing::MachineFiles {
 protected:
  DoctorSandbox() {
    o_.root = root_;
    o_.search_path = root_ + "/bin";
    o_.program_timeout = base::seconds(30);
  }
  [[nodiscard]] SandboxFinding find(const std::string& name) const {
    for (const auto& f : sandbox_findings(o_))
      if (f.name == name) return f;
    return {};
  }
  agent::ProbeOptions o_;
};

TEST_F(DoctorSandbox, WithoutBubblewrapTheOwnerLearnsHowToGetIt) {
  const auto f = find("bubblewrap");
  EXPECT_FALSE(f.works);
  EXPECT_TRUE(f.required);
  EXPECT_THAT(f.fix, HasSubstr("apt install bubblewrap"));
}

TEST_F(DoctorSandbox, AWorkingBubblewrapIsEnough) {
  program("/bin/bwrap",
          "[ \"$*\" = '--unshare-all --unshare-user --disable-userns --ro-bind / / true' ]");
  EXPECT_TRUE(find("bubblewrap").works);
}

TEST_F(DoctorSandbox, ABubblewrapThatIsTooOldForJobsIsNotEnough) {
  program("/bin/bwrap", "echo 'bwrap: Unknown option --disable-userns' >&2; exit 1");
  EXPECT_FALSE(find("bubblewrap").works);
  EXPECT_THAT(find("bubblewrap").fix, HasSubstr("0.8 or later"));
}

TEST_F(DoctorSandbox, TheSwitchThatForbidsNamespacesIsNamed) {
  struct Row {
    const char* file;
    const char* value;
    const char* fix;
  };
  program("/bin/bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1");
  EXPECT_THAT(find("bubblewrap").text, HasSubstr("Permission denied"));
  for (const auto& row :
       {Row{"/proc/sys/kernel/unprivileged_userns_clone", "0\n",
            "kernel.unprivileged_userns_clone=1"},
        Row{"/proc/sys/user/max_user_namespaces", "0\n", "user.max_user_namespaces="},
        Row{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n",
            "apparmor_restrict_unprivileged_userns=0"}}) {
    fs::remove_all(root_ + "/proc");
    file(row.file, row.value);
    EXPECT_THAT(find("bubblewrap").fix, HasSubstr(row.fix));
  }
}

TEST_F(DoctorSandbox, WhatIsLimitedIsSaidOnceASandboxWorks) {
  EXPECT_EQ(find("memory").text, "");
  program("/bin/bwrap", "true");
  EXPECT_NE(find("memory").text, "");
}

TEST_F(DoctorSandbox, PodmanIsOptional) {
  EXPECT_FALSE(find("podman").works);
  EXPECT_FALSE(find("podman").required);
  program("/bin/podman", "true");
  EXPECT_NE(find("podman").text, "");
}

}  // namespace
}  // namespace souk::cli
