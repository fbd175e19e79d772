#include "agent/probe/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "agent/probe/probe_limits.h"
#include "agent/probe/probe_programs.h"
#include "agent/testing/machine_files.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Probe : public ::testing::Test, protected testing::MachineFiles {
 protected:
  Probe() {
    o_.root = root_;
    o_.disk_path = root_;
    o_.search_path = root_ + "/bin";
    o_.system_python = root_ + "/usr/bin/python3";
    o_.nvidia_smi = {"nvidia-smi"};
    o_.program_timeout = base::seconds(30);
    file("/proc/cpuinfo", kCpuinfo);
    file("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\nMemAvailable: 8192000 kB\n");
    file("/proc/self/status", "Name:\tsouk\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
    file("/sys/devices/system/cpu/online", "0-7\n");
  }
  [[nodiscard]] Machine look() const { return probe(o_); }

  static constexpr const char* kCpuinfo =
      "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\n"
      "flags\t\t: fpu sse2 fma avx2 avx512f avx512bw\n\n"
      "processor\t: 1\nmodel name\t: AMD EPYC 9654 96-Core Processor\n";

  ProbeOptions o_;
};

TEST_F(Probe, ABuyerSeesTheProcessorAndWhatItCanDo) {
  const auto m = look();
  EXPECT_EQ(m.cpu.model, "AMD EPYC 9654 96-Core Processor");
  EXPECT_THAT(m.cpu.features, ElementsAre("avx2", "fma", "avx512f"));
  EXPECT_EQ(m.cpu.cores, 8);
  EXPECT_EQ(m.cpu.usable, 8);
}

TEST_F(Probe, ArmMachinesAreNamedToo) {
  file("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n");
  file("/proc/device-tree/model", std::string("Raspberry Pi 5 Model B\0", 23));
  const auto m = look();
  EXPECT_EQ(m.cpu.model, "Raspberry Pi 5 Model B");
  EXPECT_THAT(m.cpu.features, ElementsAre("neon", "sve"));
}

struct Group {
  const char* what;
  const char* cgroup;
  std::vector<std::pair<std::string, std::string>> files;
  int usable;
  int memory_mib;
  int available_mib;
};

const std::vector<Group> kGroups = {
    {"no groups at all", "", {}, 8, 16000, 8000},
    {"v2, no limits",
     "0::/user.slice\n",
     {{"/user.slice/cpu.max", "max 100000\n"}, {"/user.slice/memory.max", "max\n"}},
     8,
     16000,
     8000},
    {"v2, own group; cache counts as free",
     "0::/user.slice/souk\n",
     {{"/user.slice/souk/cpu.max", "250000 100000\n"},
      {"/user.slice/souk/memory.max", "1073741824\n"},
      {"/user.slice/souk/memory.current", "536870912\n"},
      {"/user.slice/souk/memory.stat", "anon 1\ninactive_file 268435456\n"}},
     2,
     1024,
     768},
    {"v2, the parent is tighter",
     "0::/a/b\n",
     {{"/a/cpu.max", "100000 100000\n"},
      {"/a/b/cpu.max", "400000 100000\n"},
      {"/a/memory.high", "2147483648\n"},
      {"/a/b/memory.max", "4294967296\n"}},
     1,
     2048,
     2048},
    {"v2, less than one core is still one",
     "0::/\n",
     {{"/cpu.max", "50000 100000\n"}},
     1,
     16000,
     8000},
    {"v1, in a container that sees only its own top",
     "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n",
     {{"/cpu,cpuacct/cpu.cfs_quota_us", "400000\n"},
      {"/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
      {"/memory/memory.limit_in_bytes", "3221225472\n"},
      {"/memory/memory.usage_in_bytes", "1073741824\n"},
      {"/memory/memory.stat", "inactive_file 7\ntotal_inactive_file 0\n"}},
     4,
     3072,
     2048},
    {"v1, no limits",
     "5:memory:/\n4:cpu:/\n",
     {{"/cpu/cpu.cfs_quota_us", "-1\n"},
      {"/cpu/cpu.cfs_period_us", "100000\n"},
      {"/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
     8,
     16000,
     8000},
    {"a group outside our namespace",
     "0::/../../x\n",
     {{"/cpu.max", "300000 100000\n"}},
     3,
     16000,
     8000},
};

// The limits of a container are promises we make to buyers: more cannot be lent.
TEST_F(Probe, NoMoreIsOfferedThanControlGroupsAllow) {
  for (const auto& row : kGroups) {
    SCOPED_TRACE(row.what);
    fs::remove_all(root_ + "/sys/fs/cgroup");
    file("/proc/self/cgroup", row.cgroup);
    for (const auto& [path, text] : row.files) file("/sys/fs/cgroup" + path, text);
    const auto m = look();
    EXPECT_EQ(m.cpu.usable, row.usable);
    EXPECT_EQ(m.cpu.cores, 8);
    EXPECT_EQ(m.memory.total_mib, row.memory_mib);
    EXPECT_EQ(m.memory.available_mib, row.available_mib);
    EXPECT_EQ(m.memory.limited, row.memory_mib != 16000);
  }
}

TEST_F(Probe, CoresThatTasksetTookAwayAreNotOffered) {
  file("/proc/self/status", "Cpus_allowed_list:\t0,2-3\n");
  EXPECT_EQ(look().cpu.usable, 3);
}

TEST(CpuList, IsCountedAsTheKernelWritesIt) {
  EXPECT_EQ(count_cpu_list("0\n"), 1);
  EXPECT_EQ(count_cpu_list("0-3,8,10-11"), 7);
  EXPECT_EQ(count_cpu_list(""), 0);
  EXPECT_EQ(count_cpu_list("3-1,x"), 0);
}

TEST_F(Probe, AMachineWithoutFilesStillGivesAnAnswer) {
  fs::remove_all(root_ + "/proc");
  fs::remove_all(root_ + "/sys");
  const auto m = look();
  EXPECT_GE(m.cpu.usable, 1);
  EXPECT_EQ(m.memory.total_mib, 0);
  EXPECT_FALSE(m.kernel.empty());
  EXPECT_THAT(m.remarks, Contains(Field(&Remark::about, "cpu")));
  EXPECT_THAT(m.remarks, Contains(Field(&Remark::about, "memory")));
}

TEST_F(Probe, TheSystemIsNamedAsItsUsersNameIt) {
  file("/etc/os-release", "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  const auto m = look();
  EXPECT_EQ(m.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(m.kernel, "6.1.0-18-amd64");
}

TEST_F(Probe, DiskSpaceIsThatOfTheFolderAskedFor) {
  const auto m = look();
  EXPECT_GT(m.disk.total_mib, 0);
  EXPECT_LE(m.disk.free_mib, m.disk.total_mib);
  o_.disk_path = root_ + "/nowhere";
  EXPECT_THAT(look().remarks, Contains(AllOf(Field(&Remark::about, "disk"),
                                             Field(&Remark::text, HasSubstr("/nowhere")))));
}

TEST_F(Probe, GpusAreListedWithTheirMemory) {
  program("/bin/nvidia-smi",
          "[ \"$1\" = -L ] && exit 0\n"
          "[ \"$1\" = --query-gpu=name,memory.total,driver_version,uuid,pci.bus_id ] || exit 2\n"
          "[ \"$2\" = --format=csv,noheader,nounits ] || exit 2\n"
          "echo 'NVIDIA H200, 143771, 550.54.15, GPU-aa, 00000000:17:00.0'\n"
          "echo 'NVIDIA GB10, [N/A], 580.1, GPU-bb, 00000000:18:00.0'");
  const auto m = look();
  ASSERT_EQ(m.gpus.size(), 2u);
  EXPECT_EQ(m.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(m.gpus[0].memory_mib, 143771);
  EXPECT_EQ(m.gpus[0].driver, "550.54.15");
  EXPECT_EQ(m.gpus[0].uuid, "GPU-aa");
  EXPECT_EQ(m.gpus[0].nodes, std::vector<std::string>{"/dev/nvidia0"});
  EXPECT_EQ(m.gpus[1].nodes, std::vector<std::string>{"/dev/nvidia1"});
  EXPECT_EQ(m.gpus[1].memory_mib, 0);
  EXPECT_THAT(m.remarks, Contains(Field(&Remark::text, HasSubstr("NVIDIA GB10"))));
}

TEST_F(Probe, ABrokenDriverCostsOnlyTheGpus) {
  struct Row {
    const char* script;
    const char* finding;
  };
  for (const auto& row :
       {Row{"echo 'NVIDIA-SMI has failed because it could not communicate'; exit 9",
            "status 9: NVIDIA-SMI has failed"},
        Row{"sleep 1000", "within 300ms"}, Row{"yes 'NVIDIA H200, 1, 2'", "more than"},
        Row{"echo 'No devices were found'", "names no GPU"}}) {
    SCOPED_TRACE(row.script);
    program("/bin/nvidia-smi", row.script);
    o_.program_timeout =
        std::string_view(row.script) == "sleep 1000" ? base::milliseconds(300) : base::seconds(30);
    const auto m = look();
    EXPECT_THAT(m.gpus, IsEmpty());
    EXPECT_THAT(m.remarks, Contains(AllOf(Field(&Remark::about, "gpu"),
                                          Field(&Remark::text, HasSubstr(row.finding)))));
    EXPECT_EQ(m.cpu.usable, 8);
  }
}

TEST_F(Probe, NoGpuIsNothingToReport) {
  const auto m = look();
  EXPECT_THAT(m.gpus, IsEmpty());
  EXPECT_THAT(m.remarks, Not(Contains(Field(&Remark::about, "gpu"))));
}

TEST_F(Probe, PackagesOfBothPythonsAreListedOnce) {
  program("/usr/bin/python3",
          "[ \"$1\" = -I ] || exit 2\nprintf '3.11.2\\n/usr\\n"
          "numpy\\t1.24.2\\nPyYAML\\t6.0\\nattrs\\t23\\nnumpy\\t1.0\\n'");
  program("/bin/python3", "printf '3.11.2\\n/home/me/venv\\ntorch\\t2.4.0+cu121\\n'");
  const auto m = look();
  ASSERT_EQ(m.pythons.size(), 2u);
  EXPECT_EQ(m.pythons[0].path, root_ + "/usr/bin/python3");
  EXPECT_EQ(m.pythons[0].version, "3.11.2");
  EXPECT_THAT(m.pythons[0].packages,
              ElementsAre(AllOf(Field(&Package::name, "attrs"), Field(&Package::version, "23")),
                          AllOf(Field(&Package::name, "numpy"), Field(&Package::version, "1.24.2")),
                          AllOf(Field(&Package::name, "PyYAML"), Field(&Package::version, "6.0"))));
  EXPECT_EQ(m.pythons[1].prefix, "/home/me/venv");
  EXPECT_THAT(m.pythons[1].packages, ElementsAre(Field(&Package::name, "torch")));

  program("/bin/python3", "printf '3.11.2\\n/usr\\nnumpy\\t1.24.2\\n'");
  EXPECT_EQ(look().pythons.size(), 1u) << "a shim of the same installation";
}

TEST_F(Probe, ABrokenPythonIsARemark) {
  program("/bin/python3",
          "printf '3.7.1\\n/opt\\n'; echo 'Traceback' >&2;"
          " echo \"ModuleNotFoundError: No module named 'importlib.metadata'\" >&2;"
          "exit 1");
  const auto m = look();
  ASSERT_EQ(m.pythons.size(), 1u);
  EXPECT_EQ(m.pythons[0].version, "3.7.1");
  EXPECT_THAT(m.remarks, ElementsAre(AllOf(Field(&Remark::about, "python"),
                                           Field(&Remark::text, HasSubstr("importlib")))));
}

TEST_F(Probe, AMachineWithoutPythonSaysSo) {
  EXPECT_THAT(look().remarks, ElementsAre(Field(&Remark::text, "there is no python3")));
}

TEST_F(Probe, TheRealPythonAnswersOurQuestion) {
  o_.search_path = probe_options().search_path;
  if (find_program("python3", o_.search_path).empty()) GTEST_SKIP() << "no python3 here";
  o_.system_python.clear();
  const auto m = look();
  ASSERT_EQ(m.pythons.size(), 1u);
  EXPECT_THAT(m.pythons[0].version, ::testing::StartsWith("3."));
  EXPECT_TRUE(fs::exists(m.pythons[0].prefix));
}

struct Supply {
  const char* what;
  std::vector<std::pair<std::string, std::string>> files;
  PowerSource source;
  std::optional<int> percent;
};

TEST_F(Probe, ALaptopOnItsBatteryIsRecognised) {
  const std::vector<Supply> table = {
      {"a desk machine", {}, PowerSource::mains, std::nullopt},
      {"unplugged",
       {{"/AC/type", "Mains\n"},
        {"/AC/online", "0\n"},
        {"/BAT0/type", "Battery\n"},
        {"/BAT0/status", "Discharging\n"},
        {"/BAT0/capacity", "71\n"}},
       PowerSource::battery,
       71},
      {"plugged in",
       {{"/AC/type", "Mains\n"},
        {"/AC/online", "1\n"},
        {"/BAT0/type", "Battery\n"},
        {"/BAT0/status", "Charging\n"},
        {"/BAT0/capacity", "40\n"}},
       PowerSource::mains,
       40},
      {"a mouse's battery",
       {{"/hid/type", "Battery\n"}, {"/hid/scope", "Device\n"}, {"/hid/status", "Discharging\n"}},
       PowerSource::mains,
       std::nullopt},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.what);
    fs::remove_all(root_ + "/sys/class/power_supply");
    for (const auto& [path, text] : row.files) file("/sys/class/power_supply" + path, text);
    const auto power = look().power;
    EXPECT_EQ(power.source, row.source);
    EXPECT_EQ(power.battery_percent, row.percent);
  }
}

TEST_F(Probe, SomebodyAtTheDesktopIsNoticed) {
  EXPECT_FALSE(look().desktop);
  file("/run/user/1000/wayland-0", "");
  EXPECT_TRUE(look().desktop);
  fs::remove_all(root_ + "/run");
  file("/tmp/.X11-unix/X0", "");
  EXPECT_TRUE(look().desktop);
  fs::remove_all(root_ + "/tmp");
  o_.display_set = true;
  EXPECT_TRUE(look().desktop);
}

TEST_F(Probe, ProgramsInTheFolderAJobWroteToAreNotRun) {
  program("/bin/tool", "true");
  const auto before = fs::current_path();
  fs::current_path(root_ + "/bin");
  EXPECT_EQ(find_program("tool", ".::bin"), "");
  fs::current_path(before);
  EXPECT_EQ(find_program("tool", "/nowhere:" + root_ + "/bin"), root_ + "/bin/tool");
  EXPECT_EQ(find_program(root_ + "/bin/none", ""), "");
}

}  // namespace
}  // namespace souk::agent
