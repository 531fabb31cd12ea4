// Writes what act makes of a profile: the kernels of a target and their manifest.
//
//   generate_files PROFILE.yaml TARGET FOLDER
#include <cstdio>
#include <filesystem>

#include "act/act.h"
#include "base/file.h"
#include "profile/yaml.h"

namespace {

using namespace kw;

Status write(const std::string& profile_path, const std::string& target, const std::filesystem::path& folder) {
  KW_TRY(const std::string text, read_text(profile_path));
  KW_TRY(const profile::Profile profile, profile::from_yaml(text, profile_path));
  const kernel::Target kind = target == "cpu"    ? kernel::Target::Cpu
                              : target == "cuda" ? kernel::Target::Cuda
                                                 : kernel::Target::Triton;
  KW_TRY(const act::Generated generated, act::act(profile, {}, kind));
  for (const auto& [path, content] : generated.files)
    KW_CHECK(write_file_atomically((folder / path).string(), content));
  return write_file_atomically((folder / "manifest.json").string(), kernel::to_json(generated.manifest));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("generate_files PROFILE.yaml TARGET FOLDER\n", stderr);
    return 2;
  }
  Status status = write(argv[1], argv[2], argv[3]);
  if (!status) std::fputs(render(status.error()).c_str(), stderr);
  return status ? 0 : 1;
}
