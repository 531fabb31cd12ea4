#include "profile/yaml.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "example_profile.h"
#include "profile/decision.h"

namespace kw::profile {
namespace {

std::string error_of(const std::string& yaml) {
  const Result<Profile> result = from_yaml(yaml, "profile.yaml");
  return result ? "no error" : render(result.error());
}

// The error's place is where `text` stands in the YAML.
void expect_error_at(const std::string& yaml, const std::string& text, const std::string& message) {
  const Result<Profile> result = from_yaml(yaml, "profile.yaml");
  ASSERT_FALSE(result.has_value()) << "expected: " << message;
  EXPECT_EQ(result.error().kind, ErrorKind::BadInput);
  EXPECT_NE(result.error().message.find(message), std::string::npos) << render(result.error());
  const std::size_t at = yaml.find(text);
  ASSERT_NE(at, std::string::npos);
  const std::string before = yaml.substr(0, at);
  const int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const int column = static_cast<int>(at - (before.rfind('\n') + 1)) + 1;
  ASSERT_TRUE(result.error().place.has_value());
  EXPECT_EQ(result.error().place->line, line) << render(result.error());
  EXPECT_EQ(result.error().place->column, column) << render(result.error());
}

TEST(ProfileYaml, WhatIsWrittenReadsBackEqual) {
  const Profile profile = example_profile();
  const Result<Profile> back = from_yaml(to_yaml(profile), "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(*back, profile);
  EXPECT_EQ(to_yaml(*back), to_yaml(profile));
}

TEST(ProfileYaml, TheCanonicalTextReadsBackEqualToo) {
  const Profile profile = example_profile();
  const Result<Profile> back = from_yaml(canonical_text(profile), "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(*back, profile);
}

TEST(ProfileYaml, AnEditedCommentKeepsTheHash) {
  const Profile profile = example_profile();
  std::string yaml = to_yaml(profile);
  yaml = replaced(yaml, "# The profile of", "# My own words about");
  yaml += "# the end\n";
  const Result<Profile> back = from_yaml(yaml, "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(canonical_hash(*back), canonical_hash(profile));
}

TEST(ProfileYaml, AnotherSpellingOfTheSameValuesKeepsTheHash) {
  const Profile profile = example_profile();
  const std::string yaml =
      replaced(to_yaml(profile), "names: {function: rms_norm, module: RmsNorm, autograd: RmsNormFunction}",
               "names:\n    autograd: 'RmsNormFunction'\n    module:   \"RmsNorm\"\n    function: rms_norm");
  const Result<Profile> back = from_yaml(yaml, "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(canonical_hash(*back), canonical_hash(profile));
}

TEST(ProfileYaml, EveryChangeOfAFieldChangesTheHash) {
  const Profile profile = example_profile();
  std::vector<Profile> changed(8, profile);
  changed[0].tier = 3;
  changed[1].decisions[0].because += " indeed";
  changed[2].math.forward += "# \n";
  changed[3].shapes.test.pop_back();
  changed[4].limits.spills = true;
  changed[5].interface.inputs[0].gradient = false;
  changed[6].decisions[0].set_by = SetBy::User;
  changed[7].source.options.eval = true;
  for (const Profile& other : changed) EXPECT_NE(canonical_hash(other), canonical_hash(profile));
}

TEST(ProfileYaml, TextThatLooksLikeYamlSurvives) {
  for (const std::string& text : {std::string("a: b"),
                                  std::string("- item"),
                                  std::string("yes"),
                                  std::string("null"),
                                  std::string("~"),
                                  std::string("1e-6"),
                                  std::string("# not a comment"),
                                  std::string("with # inside"),
                                  std::string("\"quoted\" \\ and 'single'"),
                                  std::string("two\nlines"),
                                  std::string(" leading"),
                                  std::string("trailing "),
                                  std::string("tab\there"),
                                  std::string("{a, b}"),
                                  std::string("[x]"),
                                  std::string("&anchor"),
                                  std::string("*alias"),
                                  std::string("!tag"),
                                  std::string("|"),
                                  std::string(">-"),
                                  std::string("%x"),
                                  std::string("@x"),
                                  std::string("`x`"),
                                  std::string("ends:"),
                                  std::string("größer → 2·x"),
                                  std::string("bell\x07"),
                                  std::string(""),
                                  std::string("a,b"),
                                  std::string("? x"),
                                  std::string("inf"),
                                  std::string("double  space ") + std::string(200, 'w'),
                                  std::string("carriage\rreturn")}) {
    Profile profile = example_profile();
    profile.licence = text;
    profile.source.given = text;
    profile.source.options.init = {{"a", text}};
    profile.decisions[0].because = text;
    profile.decisions[0].instead_of = {text, text};
    for (Decision& decision : profile.decisions)
      if (decision.id == "licence") decision.value = text;
    for (const std::string& yaml : {to_yaml(profile), canonical_text(profile)}) {
      const Result<Profile> back = from_yaml(yaml, "profile.yaml");
      ASSERT_TRUE(back.has_value()) << text << "\n" << render(back.error());
      EXPECT_EQ(*back, profile) << text;
    }
  }
}

TEST(ProfileYaml, LongProseIsFoldedAndReadsBackEqual) {
  Profile profile = example_profile();
  for (int i = 0; i < 60; ++i) profile.decisions[0].because += " word" + std::to_string(i);
  const std::string yaml = to_yaml(profile);
  for (const std::string& line : split_lines(yaml)) EXPECT_LE(code_points(line).size(), 120u) << line;
  const Result<Profile> back = from_yaml(yaml, "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(*back, profile);
}

TEST(ProfileYaml, AnUnknownKeyIsRefusedAtItsPlaceWithTheNearestName) {
  const std::string yaml = replaced(to_yaml(example_profile()), "\ntier: 2", "\ntier: 2\nlicense: MIT");
  expect_error_at(yaml, "license: MIT", "unknown key 'license'");
  EXPECT_NE(error_of(yaml).find("did you mean licence"), std::string::npos) << error_of(yaml);
}

TEST(ProfileYaml, AnUnknownKeyDeepInsideIsRefusedAtItsPlace) {
  const std::string yaml = replaced(to_yaml(example_profile()), "kind: parameter", "knd: parameter");
  expect_error_at(yaml, "knd: parameter", "unknown key 'knd'");
}

TEST(ProfileYaml, AMissingFieldIsNamed) {
  EXPECT_NE(error_of(replaced(to_yaml(example_profile()), "\ntier: 2\n", "\n")).find("'tier' is missing"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(to_yaml(example_profile()), "kind: parameter, ", "")).find("'kind' is missing"),
            std::string::npos);
}

TEST(ProfileYaml, AKeyThatStandsTwiceIsRefused) {
  const std::string yaml =
      replaced(to_yaml(example_profile()), "\nlicence: Apache-2.0", "\nlicence: Apache-2.0\ntier: 3");
  expect_error_at(yaml, "tier: 3", "'tier' stands twice");
}

TEST(ProfileYaml, AWrongKindOfValueIsRefusedAtItsPlace) {
  expect_error_at(replaced(to_yaml(example_profile()), "\ntier: 2", "\ntier: 4"), "4\n", "must be 1, 2 or 3");
  expect_error_at(replaced(to_yaml(example_profile()), "variants: 8", "variants: many"), "many", "whole number");
  expect_error_at(replaced(to_yaml(example_profile()), "variants: 8", "variants: -1"), "-1", "at least 0");
  expect_error_at(replaced(to_yaml(example_profile()), "spills: false", "spills: maybe"), "maybe", "true or false");
  expect_error_at(replaced(to_yaml(example_profile()), "casting: llama", "casting: lama"), "lama",
                  "must be llama, gemma or none");
  expect_error_at(replaced(to_yaml(example_profile()), "fp32: [ms, rstd]", "fp32: ms"), "ms\n", "must be a list");
}

TEST(ProfileYaml, ANewerSchemaIsRefusedWithAClearWordWhateverElseItHolds) {
  const std::string error = error_of("schema: 2\nsomething_new: {}\n");
  EXPECT_NE(error.find("has schema 2, and this kw reads schema 1 at most"), std::string::npos) << error;
  EXPECT_NE(error.find("newer kw"), std::string::npos) << error;
}

TEST(ProfileYaml, ADocumentThatIsNoProfileIsRefused) {
  for (const char* text :
       {"", "just words", "- a\n- b\n", "schema: one\n", "schema: 0\n", "a: [1, 2\n", "\t\tx: 1",
        "schema: 1\n---\nschema: 1\n", "{", "key: 'open", "schema: 1\n", "*a", "&asch,ma", "schema: 1\n} more",
        "{schema: 1} more", "&a [*a]", "? {a: b}\n: c\nschema: 1", "schema: [1]", "!!binary x"})
    EXPECT_NE(error_of(text), "no error") << text;
  EXPECT_NE(error_of(std::string("schema: 1\0x", 11)), "no error");
  EXPECT_NE(error_of("schema: \xff"), "no error");
  EXPECT_NE(error_of(std::string(100000, '[')), "no error");
  EXPECT_NE(error_of(std::string(100000, '{')), "no error");
  std::string dashes;
  for (int i = 0; i < 100000; ++i) dashes += "- ";
  EXPECT_NE(error_of(dashes), "no error");
}

TEST(ProfileYaml, ADecisionThatContradictsItsFieldIsRefusedAtItsValue) {
  const Profile profile = example_profile();
  const std::string yaml =
      replaced(to_yaml(profile), "- id: casting\n    value: llama", "- id: casting\n    value: gemma");
  expect_error_at(yaml, "gemma", "decision 'casting' says 'gemma', but its field says 'llama'");
}

TEST(ProfileYaml, AMissingAndASuperfluousDecisionAreRefused) {
  Profile missing = example_profile();
  missing.decisions.erase(missing.decisions.begin());
  EXPECT_NE(error_of(to_yaml(missing)).find("decision 'casting' is missing"), std::string::npos)
      << error_of(to_yaml(missing));
  Profile twice = example_profile();
  twice.decisions.push_back(twice.decisions[0]);
  EXPECT_NE(error_of(to_yaml(twice)).find("'casting' is decided twice"), std::string::npos);
  Profile other = example_profile();
  other.decisions.push_back({"type.U", "f32", "b", "", {}, "w", SetBy::Engine});
  EXPECT_NE(error_of(to_yaml(other)).find("nothing to decide under 'type.U'"), std::string::npos);
}

TEST(ProfileYaml, APlanOrModuleThatContradictsTheInterfaceIsRefused) {
  Profile gradient = example_profile();
  gradient.plan.weight_gradients = {{"v", {"rows"}, "fused"}};
  EXPECT_NE(error_of(to_yaml(gradient)).find("there is no input 'v'"), std::string::npos)
      << error_of(to_yaml(gradient));
  Profile backward = example_profile();
  backward.plan.backward = backward.plan.forward;
  EXPECT_NE(error_of(to_yaml(backward)).find("a backward that the math does not have"), std::string::npos);
  Profile shape = example_profile();
  shape.module.parameters[0].shape = {"rows"};
  EXPECT_NE(error_of(to_yaml(shape)).find("gives 'w' the shape [cols]"), std::string::npos);
  Profile symbol = example_profile();
  symbol.shapes.test = {{{"rows", 1}, {"col", 1}}};
  EXPECT_NE(error_of(to_yaml(symbol)).find("the interface has no size 'col'"), std::string::npos);
  Profile absent = example_profile();
  absent.shapes.test = {{{"rows", 1}}};
  EXPECT_NE(error_of(to_yaml(absent)).find("size 'cols' is missing"), std::string::npos);
}

}  // namespace
}  // namespace kw::profile
