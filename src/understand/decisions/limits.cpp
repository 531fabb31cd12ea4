// What the search may spend, and under which licence the generated files stand.
#include <fmt/format.h>

#include "base/text.h"
#include "profile/decision.h"
#include "understand/decisions/deciders.h"

namespace kw::understand {
namespace {

Status take_number(Subject& subject, const std::string& id, int& field, const std::string& because,
                   const std::string& if_wrong) {
  if (const std::string* pin = subject.pinned(id)) {
    const std::optional<std::int64_t> value = parse_integer(*pin);
    if (!value || *value < 0 || *value > 1000) return bad_value(id, *pin, "a whole number up to 1000");
    field = static_cast<int>(*value);
  }
  subject.record({id, std::to_string(field), because, "", {}, if_wrong});
  return {};
}

// The licence that the source names by its SPDX line.
struct Licence {
  std::string name;
  int line = 0;
};

Licence licence_of(const Reading& reading) {
  if (reading.sources.empty()) return {};
  constexpr std::string_view kMark = "SPDX-License-Identifier:";
  const std::vector<std::string> lines = split_lines(reading.sources[0].text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const std::size_t at = lines[i].find(kMark); at != std::string::npos)
      return {std::string(trim(lines[i].substr(at + kMark.size()))), static_cast<int>(i) + 1};
  return {};
}

}  // namespace

Status decide_limits(Subject& subject) {
  profile::Limits& limits = subject.profile.limits;
  if (const std::string* pin = subject.pinned("limits.targets")) {
    limits.targets.clear();
    for (const std::string& part : split(*pin, ',')) {
      const std::string target(trim(part));
      if (target != "cpu" && target != "cuda" && target != "triton")
        return bad_value("limits.targets", target, "cpu, cuda or triton");
      limits.targets.push_back(target);
    }
  }
  subject.record({"limits.targets",
                  profile::list_text(limits.targets),
                  "one profile serves every target; cpu runs everywhere",
                  "",
                  {},
                  "files are generated that nobody uses, or the ones you need are not"});
  KW_CHECK(take_number(subject, "limits.variants", limits.variants,
                       "the usual budget: parameters first, then techniques",
                       "the search stops early, or goes on when nothing more is gained"));
  KW_CHECK(take_number(subject, "limits.minutes", limits.minutes, "the usual budget of one sitting",
                       "the search stops early, or holds the machine too long"));
  if (const std::string* pin = subject.pinned("limits.spills")) {
    if (*pin != "yes" && *pin != "no") return bad_value("limits.spills", *pin, "yes or no");
    limits.spills = *pin == "yes";
  }
  subject.record({"limits.spills",
                  limits.spills ? "yes" : "no",
                  "registers that spill go through memory and are almost never worth it",
                  "",
                  {limits.spills ? "no" : "yes"},
                  "a slower kernel passes, or a faster one is refused"});

  const Licence found = licence_of(subject.reading);
  std::string licence = found.name.empty() ? "Apache-2.0" : found.name;
  if (const std::string* pin = subject.pinned("licence")) licence = *pin;
  subject.profile.licence = licence;
  subject.record(
      {"licence",
       licence,
       found.name.empty() ? "the source names none; generated code is yours to license" : "the source's own licence",
       found.line > 0 ? subject.at(Place{subject.reading.sources[0].path, found.line, 1, 0}) : "",
       {},
       "the generated files carry a licence header that is not yours"});
  return {};
}

}  // namespace kw::understand
