// The review page: what a person judges in a minute before approving. First the few decisions that change numbers,
// memory or the interface, each with its evidence and its consequence; then the math, the memory, the tests, and what
// comes next. The engine's own choices are folded.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/folder.h"
#include "profile/profile.h"

namespace kw::profile {

struct ReviewOptions {
  bool all = false;  // the engine's own choices too
  // What act will write, each with what it is; empty: not shown.
  std::vector<std::pair<std::string, std::string>> files;
  bool bold = false;  // headings in bold: at a terminal
  int width = 120;
};

// The text of a line of the kept source: ("source.py", 12) → "return self.weight * x"; empty where there is none.
using SourceLine = std::function<std::string(std::string_view file, int line)>;

std::string review_page(const Profile& profile, ApprovalState approval, const SourceLine& source,
                        const ReviewOptions& options);

// Whether a decision belongs on the first screen: it changes numbers, memory or the interface, and could have been
// otherwise.
bool is_key_decision(const Decision& decision);

std::string bytes_text(std::int64_t bytes);  // "32 KiB", "1.50 GiB"

}  // namespace kw::profile
