#include "device/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "device/cuda/nvrtc.h"
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

// A variable of the environment, until the end of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(NvidiaTest, NvrtcIsLookedForInToolkitsAndInWhatPyTorchAndItsOwnPackageBring) {
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(folder);
  const std::string packages = folder->path() + "/env/lib/python3.11/site-packages/nvidia/";
  const std::vector<std::string> files = {folder->path() + "/toolkit/lib64/libnvrtc.so",
                                          packages + "cu13/lib/libnvrtc.so.13",
                                          packages + "cuda_nvrtc/lib/libnvrtc.so.12"};
  for (const std::string& file : files) {
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    ASSERT_TRUE(write_file_atomically(file, "no library"));
  }
  const Variable toolkit("CUDA_HOME", folder->path() + "/toolkit"), active("VIRTUAL_ENV", folder->path() + "/env");
  const std::vector<std::string> all = cuda::nvrtc_candidates();
  auto last = std::find(all.begin(), all.end(), "libnvrtc.so.13");  // of the system
  for (const std::string& file : files) {
    ASSERT_NE(last, all.end());
    last = std::find(last, all.end(), file);
    EXPECT_NE(last, all.end()) << file;
  }
}

}  // namespace
}  // namespace kw::device
