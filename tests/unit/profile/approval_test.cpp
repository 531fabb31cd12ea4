#include "profile/approval.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "example_profile.h"
#include "profile/folder.h"
#include "profile/yaml.h"

namespace kw::profile {
namespace {

KernelFolder written(const TemporaryDirectory& place, const Profile& profile) {
  KernelFolder folder(place.path(), profile.name);
  const Status status = folder.write({{"profile.yaml", to_yaml(profile)}, {"source.py", "x = 1\n"}});
  EXPECT_TRUE(status.has_value()) << render(status.error());
  return folder;
}

TEST(Approval, LinesReadBackEqual) {
  const std::vector<Approval> approvals = {{Stage::Profile, std::string(64, '0'), "ada", "2024-05-01T12:00:00Z"},
                                           {Stage::Perf, std::string(64, 'f'), "--yes", "2024-05-02T12:00:00Z"}};
  const Result<std::vector<Approval>> back =
      read_approvals(to_line(approvals[0]) + "\n" + to_line(approvals[1]) + "\n", "approvals.jsonl");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(*back, approvals);
}

TEST(Approval, ABrokenLineIsRefusedWithItsNumber) {
  const std::string good = to_line({Stage::Files, std::string(64, '0'), "ada", "2024-05-01T12:00:00Z"});
  for (const char* bad :
       {"{", "[]", "{\"stage\": \"profile\"}", "{\"stage\":\"x\",\"hash\":\"\",\"by\":\"\",\"when\":\"\"}",
        "{\"stage\":\"files\",\"hash\":\"12\",\"by\":\"a\",\"when\":\"b\"}", "{\"extra\":1}"}) {
    const Result<std::vector<Approval>> result = read_approvals(good + "\n" + bad + "\n", "approvals.jsonl");
    ASSERT_FALSE(result.has_value()) << bad;
    EXPECT_EQ(result.error().place->line, 2);
  }
}

TEST(Approval, AnEditedCommentKeepsItAndAnEditedDecisionVoidsIt) {
  const TemporaryDirectory place = *TemporaryDirectory::make();
  Profile profile = example_profile();
  const KernelFolder folder = written(place, profile);
  EXPECT_EQ(*folder.profile_approval(profile), ApprovalState::Missing);
  ASSERT_TRUE(folder.approve_profile(profile, "ada", "2024-05-01T12:00:00Z").has_value());
  EXPECT_EQ(*folder.profile_approval(profile), ApprovalState::Current);

  ASSERT_TRUE(write_file_atomically(folder.file("profile.yaml"), "# a word of mine\n" + to_yaml(profile)).has_value());
  EXPECT_EQ(*folder.profile_approval(*folder.read_profile()), ApprovalState::Current);

  profile.decisions[0].because = "another reason";
  ASSERT_TRUE(write_file_atomically(folder.file("profile.yaml"), to_yaml(profile)).has_value());
  EXPECT_EQ(*folder.profile_approval(*folder.read_profile()), ApprovalState::Void);
  EXPECT_EQ((*folder.approved_profile())->decisions[0].because, example_profile().decisions[0].because);
}

TEST(Approval, ItIsAddedToTheLogAndNeverReplacesALine) {
  const TemporaryDirectory place = *TemporaryDirectory::make();
  const Profile profile = example_profile();
  const KernelFolder folder = written(place, profile);
  ASSERT_TRUE(folder.approve_profile(profile, "ada", "2024-05-01T12:00:00Z").has_value());
  ASSERT_TRUE(folder.approve_profile(profile, "--yes", "2024-05-01T12:00:01Z").has_value());
  const std::vector<Approval> log = *folder.read_approvals();
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].by, "ada");
  EXPECT_EQ(last_approval(log, Stage::Profile)->by, "--yes");
  EXPECT_EQ(last_approval(log, Stage::Files), nullptr);
}

TEST(KernelFolder, AFailedWriteLeavesNothingBehind) {
  const TemporaryDirectory place = *TemporaryDirectory::make();
  const KernelFolder folder(place.path(), "norm");
  // A file name that cannot be written (its parent is a file) makes the second write fail.
  const Status status = folder.write({{"a", "1"}, {"a/b", "2"}});
  EXPECT_FALSE(status.has_value());
  EXPECT_FALSE(std::filesystem::exists(folder.path()));
  EXPECT_TRUE(std::filesystem::is_empty(place.path() + "/kernels"));
}

TEST(KernelFolder, AFailedRewriteKeepsTheOldFiles) {
  const TemporaryDirectory place = *TemporaryDirectory::make();
  const KernelFolder folder = written(place, example_profile());
  EXPECT_FALSE(folder.write({{"profile.yaml", "new"}, {"z", "1"}, {"z/b", "2"}}).has_value());
  EXPECT_EQ(*read_text(folder.file("profile.yaml")), to_yaml(example_profile()));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(place.path() + "/kernels")) ++entries;
  EXPECT_EQ(entries, 1u);
}

TEST(KernelFolder, AnUnknownKernelNamesTheNearest) {
  const TemporaryDirectory place = *TemporaryDirectory::make();
  written(place, example_profile());
  const Result<Profile> result = KernelFolder(place.path(), "rms_nrom").read_profile();
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().hint.find("rms_norm"), std::string::npos);
}

TEST(KernelFolder, ANameThatIsNoFolderIsRefused) {
  for (const char* name : {"", "..", "a/b", "Upper", "1st", "a b", "-x"})
    EXPECT_FALSE(check_kernel_name(name).has_value()) << name;
  EXPECT_TRUE(check_kernel_name("rms_norm2").has_value());
}

}  // namespace
}  // namespace kw::profile
