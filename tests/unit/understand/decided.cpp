#include "decided.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "understand/read_source.h"

namespace kw::understand {

Reading reading_of(const std::string& math) {
  Reading reading;
  Result<ir::Graph> graph = ir::text::parse(math, "norm.kw");
  EXPECT_TRUE(graph.has_value()) << render(graph.error());
  if (graph) reading.graph = *std::move(graph);
  reading.sources = {{"norm.kw", math}};
  reading.extension = ".kw";
  reading.axes_are_named = true;
  return reading;
}

profile::Profile decided(const std::string& math, const Pins& pins) {
  const Result<profile::Profile> profile =
      decide(reading_of(math), "norm", {"math", "source.kw", "", "norm.kw", std::string(64, '0'), {}}, pins);
  EXPECT_TRUE(profile.has_value()) << render(profile.error());
  return profile ? *profile : profile::Profile{};
}

std::string error_of(const std::string& math, const Pins& pins) {
  const Result<profile::Profile> profile = decide(reading_of(math), "norm", {}, pins);
  return profile ? "no error" : render(profile.error());
}

profile::Profile decided_torch(const std::string& source, const profile::ReadingOptions& options, const Pins& pins) {
  const Result<Reading> reading = read_source({"torch", "source.py", "", "source.py", source, ""}, options);
  EXPECT_TRUE(reading.has_value()) << render(reading.error());
  if (!reading) return {};
  profile::Source fields{"torch", "source.py", reading->entry, "source.py", std::string(64, '0'), options};
  const Result<profile::Profile> profile = decide(*reading, "op", fields, pins);
  EXPECT_TRUE(profile.has_value()) << render(profile.error());
  return profile ? *profile : profile::Profile{};
}

const profile::Decision& decision(const profile::Profile& profile, const std::string& id) {
  static const profile::Decision kNone;
  const profile::Decision* found = profile.find(id);
  EXPECT_NE(found, nullptr) << "no decision " << id;
  return found ? *found : kNone;
}

std::string value(const profile::Profile& profile, const std::string& id) { return decision(profile, id).value; }

}  // namespace kw::understand
