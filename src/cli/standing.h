// How far a kernel has come: which of its stages have run, and which of them a person has approved as they are now.
#pragma once

#include <optional>
#include <string>

#include "act/act.h"
#include "profile/folder.h"

namespace kw::cli {

struct Standing {
  profile::ApprovalState profile = profile::ApprovalState::Missing;
  profile::ApprovalState files = profile::ApprovalState::Missing;
  profile::ApprovalState report = profile::ApprovalState::Missing;
  bool generated = false;     // there are files
  std::string outdated;       // the target whose files are of an earlier profile; empty: none
  bool files_after = false;   // the files were approved after the profile was
  bool judged = false;        // the report is about these files
  bool passed = false;        // and says that they are right
  std::string report_target;  // that it judged
};

Result<Standing> standing_of(const profile::KernelFolder& folder, const profile::Profile& profile);

struct NextStep {
  std::string stage;    // "the profile waits for review"
  std::string command;  // "kw review rms_norm"; empty: nothing is left to do
};
NextStep next_step(const profile::KernelFolder& folder, const Standing& standing);

// The files that act made for a target, or that a person put in their place; nothing where there are none.
Result<std::optional<act::Generated>> files_on_disk(const profile::KernelFolder& folder, const std::string& target);

// made/TARGET.json: which profile the files were made from, and their hash as they were made.
std::string made_from(const profile::Profile& profile, const act::Generated& files);
// The files are as act made them, and of another profile than this one.
bool are_outdated(const profile::KernelFolder& folder, const std::string& target, const profile::Profile& profile,
                  const act::Generated& files);

// The files are no longer as act made them.
bool are_edited(const profile::KernelFolder& folder, const std::string& target, const act::Generated& files);

// Of what a stage left, as an approval records it; empty where there is nothing yet.
Result<std::string> hash_of_files(const profile::KernelFolder& folder);  // of every target
Result<std::string> hash_of_report(const profile::KernelFolder& folder);

}  // namespace kw::cli
