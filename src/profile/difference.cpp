#include "profile/difference.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "profile/decision.h"
#include "profile/yaml.h"

namespace kw::profile {
namespace {

void compare(std::vector<Change>& changes, std::string what, const std::string& before, const std::string& after) {
  if (before != after) changes.push_back({std::move(what), before, after});
}

void compare_decisions(std::vector<Change>& changes, const Profile& before, const Profile& after) {
  std::vector<std::string> ids;
  for (const Decision& decision : after.decisions) ids.push_back(decision.id);
  for (const Decision& decision : before.decisions)
    if (!after.find(decision.id)) ids.push_back(decision.id);
  for (const std::string& id : ids) {
    const Decision* a = before.find(id);
    const Decision* b = after.find(id);
    if (!a || !b || a->value != b->value) {
      changes.push_back({id, a ? a->value : "", b ? b->value : ""});
      continue;
    }
    compare(changes, id + " because", a->because, b->because);
    compare(changes, id + " at", a->at, b->at);
    compare(changes, id + " instead_of", list_text(a->instead_of), list_text(b->instead_of));
    compare(changes, id + " if_wrong", a->if_wrong, b->if_wrong);
    compare(changes, id + " set by", std::string(to_text(a->set_by)), std::string(to_text(b->set_by)));
  }
}

bool is_text_of_many_lines(const Change& change) {
  return change.before.find('\n') != std::string::npos || change.after.find('\n') != std::string::npos;
}

}  // namespace

std::vector<Change> difference(const Profile& before, const Profile& after) {
  std::vector<Change> changes;
  compare_decisions(changes, before, after);
  compare(changes, "math as read", before.math.read, after.math.read);
  compare(changes, "forward math", before.math.forward, after.math.forward);
  compare(changes, "backward math", before.math.backward, after.math.backward);
  compare(changes, "source", before.source.sha256, after.source.sha256);
  // Fields that no decision covers (the order of inputs, a saved value's shape) still show, as lines of the file.
  Profile rest_before = before;
  Profile rest_after = after;
  for (Profile* profile : {&rest_before, &rest_after}) {
    profile->decisions.clear();
    profile->math.read = profile->math.forward = profile->math.backward = "";
    profile->source.sha256 = "";
  }
  if (rest_before != rest_after && changes.empty())
    changes.push_back({"other fields", canonical_text(rest_before), canonical_text(rest_after)});
  return changes;
}

std::vector<std::string> line_difference(const std::string& before, const std::string& after) {
  const std::vector<std::string> a = split_lines(before);
  const std::vector<std::string> b = split_lines(after);
  // Longest common subsequence; math texts are short.
  std::vector<std::vector<int>> longest(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      longest[i][j] = a[i] == b[j] ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
  std::vector<std::string> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back("  " + a[i++]);
      ++j;
    } else if (i < a.size() && (j == b.size() || longest[i + 1][j] >= longest[i][j + 1])) {
      lines.push_back("- " + a[i++]);
    } else {
      lines.push_back("+ " + b[j++]);
    }
  }
  return lines;
}

std::string to_text(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    if (is_text_of_many_lines(change)) {
      text += change.what + ":\n";
      for (const std::string& line : line_difference(change.before, change.after)) text += "  " + line + "\n";
      continue;
    }
    const std::string before = change.before.empty() ? "(nothing)" : change.before;
    const std::string after = change.after.empty() ? "(nothing)" : change.after;
    if (change.what.size() + before.size() + after.size() < 100)
      text += change.what + ": " + before + " → " + after + "\n";
    else
      text += change.what + ":\n  - " + before + "\n  + " + after + "\n";
  }
  return text;
}

}  // namespace kw::profile
