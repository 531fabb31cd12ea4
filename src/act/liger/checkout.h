// A Liger checkout on the disk: is it one, and may this op be written into it? What someone else wrote there is never
// replaced.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "act/liger/contribution.h"

namespace kw::act::liger {

// The folder in "liger:DIR".
Result<std::string> checkout_directory(const std::string& into);

struct Checkout {
  std::string directory;
  Files edited;                      // the three files that every contribution edits
  std::vector<std::string> changed;  // paths that differ from the last commit, or that git does not know
};

// Refuses a folder that is no checkout of Liger.
Result<Checkout> read_checkout(const std::string& directory);

// `files`: what is to be written; `written`: SHA-256 of every text that kw wrote into a checkout before. Refuses
// another kernel of that name, and local changes that are not kw's own.
Status may_write(const Checkout& checkout, const LigerForm& form, const Files& files,
                 const std::set<std::string>& written);

}  // namespace kw::act::liger
