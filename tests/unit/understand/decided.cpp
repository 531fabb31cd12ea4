#include "decided.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"

namespace kw::understand {

Reading reading_of(const std::string& math) {
  Reading reading;
  Result<ir::Graph> graph = ir::text::parse(math, "norm.kw");
  EXPECT_TRUE(graph.has_value()) << render(graph.error());
  if (graph) reading.graph = *std::move(graph);
  reading.sources = {{"norm.kw", math}};
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

const profile::Decision& decision(const profile::Profile& profile, const std::string& id) {
  static const profile::Decision kNone;
  const profile::Decision* found = profile.find(id);
  EXPECT_NE(found, nullptr) << "no decision " << id;
  return found ? *found : kNone;
}

std::string value(const profile::Profile& profile, const std::string& id) { return decision(profile, id).value; }

}  // namespace kw::understand
