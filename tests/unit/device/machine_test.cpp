#include "device/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "device/nvidia.h"

namespace kw::device {
namespace {

const Tool& tool(const Machine& machine, const std::string& name) {
  return *std::find_if(machine.tools.begin(), machine.tools.end(), [&](const Tool& t) { return t.name == name; });
}

TEST(MachineTest, KnowsTheProcessorAndTheToolsThatBuiltIt) {
  const Machine machine = look_around();
  EXPECT_GE(machine.processor.cores, 1);
  EXPECT_GT(machine.processor.memory_bytes, std::uint64_t{1} << 28);
  EXPECT_TRUE(tool(machine, "compiler").present);
  EXPECT_FALSE(tool(machine, "compiler").version.empty());
  EXPECT_TRUE(tool(machine, "python").version.starts_with("3."));
}

TEST(MachineTest, ReportsWhatIsMissingWithWhatInstallsIt) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const Machine machine = look_around({});
  ::setenv("PATH", path.c_str(), 1);
  for (const char* name : {"compiler", "python", "torch", "triton"}) {
    EXPECT_FALSE(tool(machine, name).present) << name;
    EXPECT_FALSE(tool(machine, name).install.empty()) << name;
  }
}

TEST(NvidiaTest, AFileThatIsNoLibraryIsNotTakenForNvrtc) {
  const Tool plain = look_for_nvrtc({});
  const Tool misled = look_for_nvrtc({"/etc/passwd", "/no/such/file", "libm.so.6"});
  EXPECT_EQ(plain.present, misled.present);
  EXPECT_EQ(plain.path, misled.path);
}

}  // namespace
}  // namespace kw::device
