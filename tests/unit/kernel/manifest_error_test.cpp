// Bad manifests, and the words that they are answered with.
#include <gtest/gtest.h>

#include <algorithm>

#include "example_manifest.h"
#include "kernel/manifest.h"

namespace kw::kernel {
namespace {

struct Bad {
  const char* name;
  const char* from;  // a piece of the good manifest
  const char* to;
  const char* message;
  const char* blamed =
      nullptr;  // the piece of the changed text whose line is named; the new piece where it is not given
};

class BadManifest : public testing::TestWithParam<Bad> {};

TEST_P(BadManifest, IsRefusedAtItsLine) {
  const Bad& bad = GetParam();
  const std::string text = norm_json_with(bad.from, bad.to);
  const std::size_t blamed = bad.blamed != nullptr ? text.find(bad.blamed) : std::string(kNormJson).find(bad.from);
  ASSERT_NE(blamed, std::string::npos);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(blamed), '\n');
  const auto read = manifest_from_json(text, "m.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(read.error().message, bad.message);
  ASSERT_TRUE(read.error().place);
  EXPECT_EQ(read.error().place->file, "m.json");
  EXPECT_EQ(read.error().place->line, line) << render(read.error());
  EXPECT_GT(read.error().place->column, 0);
}

const Bad kBad[] = {
    // the stored form
    {"Syntax", "\"target\": \"cpu\",", "\"target\": \"cpu\"",
     "not JSON: syntax error while parsing object - unexpected string literal; expected '}'", "\"generator\""},
    {"YamlIsNotJson", "\"name\": \"rms_norm\"", "name: rms_norm",
     "not JSON: syntax error while parsing object key - invalid literal; last read: '1,<U+000A>  na'; expected string "
     "literal"},
    {"NewerSchema", "\"schema\": 1", "\"schema\": 2", "this file has schema 2, and this kw reads schema 1 at most"},
    {"NoSchema", "\"schema\": 1,", "", "'schema' is missing", "{"},
    {"UnknownKey", "\"generator\"", "\"generater\"", "unknown key 'generater' in the file"},
    {"TwiceKey", "\"generator\": \"by hand\"", "\"name\": \"again\"", "'name' stands twice in the file"},
    {"UnknownTarget", "\"cpu\"", "\"metal\"", "'target' must be cpu, cuda or triton, not 'metal'"},
    {"NumberAsText", "\"dimension\": 0", "\"dimension\": \"0\"", "'dimension' must not be text, but stands in quotes"},
    {"TextAsNumber", "[\"rows\", \"cols\"]", "[\"rows\", 5]", "an entry of 'sizes' must be text, not 5"},
    {"MissingField", "\"role\": \"input\", \"type\": \"W\"", "\"type\": \"W\"",
     "'role' is missing in an entry of 'buffers'"},
    {"DimensionTooLarge", "\"dimension\": 1", "\"dimension\": 65", "'dimension' must be at most 64"},
    {"PathOutside", "\"finish.cpp\"", "\"../finish.cpp\"",
     "'file' is not a path inside the kernel's folder: '../finish.cpp'"},
    // names
    {"SizeTwice", "[\"rows\", \"cols\"]", "[\"rows\", \"rows\"]", "'rows' is declared twice"},
    {"ReservedName", "[\"rows\", \"cols\"]", "[\"rows\", \"threads\"]",
     "'threads' has a meaning of its own in expressions"},
    {"TypeNamedLikeADtype", "\"W\": [\"f32\"]", "\"f16\": [\"f32\"]", "'f16' is a type already"},
    {"UnknownDtype", "\"W\": [\"f32\"]", "\"W\": [\"float\"]", "there is no dtype 'float'"},
    {"BufferTwice", "\"name\": \"rstd\", \"role\": \"saved\"", "\"name\": \"x\", \"role\": \"saved\"",
     "'x' is declared twice"},
    {"UnknownType", "\"type\": \"W\", \"shape\": [\"cols\"]}", "\"type\": \"V\", \"shape\": [\"cols\"]}",
     "there is no type 'V'"},
    {"HalfAJoin", "\"T|f32\"", "\"T|\"", "'T|' is not a type"},
    {"BadDefault", "\"default\": \"1e-6\"", "\"default\": \"tiny\"", "'tiny' is not a value of type real"},
    // expressions
    {"UnknownSize", "\"cols % 2 == 0\"", "\"colls % 2 == 0\"", "there is no size 'colls' in 'colls % 2 == 0'"},
    {"SizeForCondition", "\"cols % 2 == 0\"", "\"cols % 2\"", "a condition is expected, not a number in 'cols % 2'"},
    {"ConditionForSize", "[\"cols\"]}", "[\"cols == 1\"]}", "a size is expected, not a condition in 'cols == 1'"},
    {"ScalarInArithmetic", "\"cols % 8 == 0\"", "\"eps*2 == 0\"",
     "'eps' is a scalar: it can only be compared in 'eps*2 == 0'"},
    {"UnknownBufferInGuard", "\"dense(x)\"", "\"dense(z)\"", "there is no buffer 'z' in 'dense(z)'"},
    {"DimensionOutOfRange", "\"dense(x)\"", "\"stride(x, 2) == 1\"",
     "'x' has 2 dimensions, so 2 is none of them in 'stride(x, 2) == 1'"},
    {"MachineInAnOutput", "\"dx\", \"role\": \"output\", \"type\": \"T\", \"shape\": [\"rows\"",
     "\"dx\", \"role\": \"output\", \"type\": \"T\", \"shape\": [\"threads\"",
     "the shape of dx depends on the machine ('threads')"},
    {"BlocksOnCpu", "\"cols % 8 == 0\"", "\"blocks(0) == 1\"",
     "there is no step 0 before this one in 'blocks(0) == 1'"},
    // arguments
    {"UnknownBuffer", "{\"kind\": \"read\", \"of\": \"w\"}", "{\"kind\": \"read\", \"of\": \"weight\"}",
     "there is no buffer 'weight' in forward"},
    {"WritesAnInput", "{\"kind\": \"write\", \"of\": \"y\"}", "{\"kind\": \"write\", \"of\": \"x\"}",
     "x is an input: it is not written"},
    {"PointerWithType", "{\"kind\": \"read\", \"of\": \"x\"}", "{\"kind\": \"read\", \"of\": \"x\", \"type\": \"T\"}",
     "a pointer has the type of its buffer"},
    {"SizeOfOddType", "\"of\": \"rows\", \"type\": \"i32\"", "\"of\": \"rows\", \"type\": \"f32\"",
     "a size is i32 or i64, not 'f32'"},
    {"StrideBeyondRank", "\"dimension\": 1", "\"dimension\": 2", "x has 2 dimensions"},
    {"UnknownScalar", "\"of\": \"eps\"", "\"of\": \"epsilon\"", "there is no scalar 'epsilon'"},
    {"RealAsInteger", "\"of\": \"eps\", \"type\": \"f32\"", "\"of\": \"eps\", \"type\": \"i64\"",
     "the real scalar eps cannot be given as i64"},
    {"ConstantOnCpu", "{\"kind\": \"size\", \"of\": \"cols\"}",
     "{\"kind\": \"constant\", \"of\": \"cols\", \"name\": \"COLS\"}", "a cpu kernel takes no constants"},
    {"LaunchOnCpu", "\"file\": \"finish.cpp\",", "\"file\": \"finish.cpp\", \"launch\": {\"grid\": [\"rows\"]},",
     "a cpu kernel has no launch"},
    {"GridOfFour", "\"file\": \"finish.cpp\",",
     "\"file\": \"finish.cpp\", \"launch\": {\"grid\": [\"1\", \"1\", \"1\", \"1\"]},",
     "a grid has at most three dimensions"},
    // the program
    {"ReadBeforeWritten", "{\"kind\": \"fill\", \"buffer\": \"partial\", \"value\": 0}",
     "{\"kind\": \"fill\", \"buffer\": \"dw\", \"value\": 0}", "partial is read before any step has written it",
     "{\"kind\": \"update\", \"of\": \"partial\"}"},
    {"NeverWritten", "{\"kind\": \"write\", \"of\": \"dw\"}", "{\"kind\": \"read\", \"of\": \"w\"}",
     "no step writes dw", "\"name\": \"dw\""},
    {"UnusedWorkspace", "\"name\": \"partial\", \"role\"",
     "\"name\": \"other\", \"role\": \"workspace\", \"type\": \"T\", \"shape\": []}, {\"name\": \"partial\", \"role\"",
     "no step uses other"},
    {"EntriesDiffer", "{\"kind\": \"write\", \"of\": \"rstd\"}", "{\"kind\": \"size\", \"of\": \"rows\"}",
     "the entries of a step do not write the same buffers", "{\n              \"symbol\": \"norm_general\""},
    {"FillsAnInput", "\"buffer\": \"partial\", \"value\"", "\"buffer\": \"x\", \"value\"",
     "x is an input: it is not written"},
    {"FillWithoutValue", ", \"value\": 0}", "}", "a fill needs a buffer and a value"},
    {"EmptyEntries", "{\"kind\": \"fill\", \"buffer\": \"partial\", \"value\": 0}", "{\"kind\": \"kernel\"}",
     "a kernel step needs entries"},
    // passes together
    {"BackwardTwice", "\"name\": \"backward\"", "\"name\": \"forward\"", "'forward' is declared twice"},
    {"NothingSaved", "\"name\": \"rstd\", \"role\": \"input\"", "\"name\": \"mean\", \"role\": \"input\"",
     "the forward pass leaves no 'mean' for the backward pass"},
    {"SavedAsAnother", "\"rstd\", \"role\": \"input\", \"type\": \"T|f32\"",
     "\"rstd\", \"role\": \"input\", \"type\": \"f32\"", "'rstd' has another type or shape in the forward pass"},
    {"GradientOfNothing", "\"gradient_of\": \"w\"", "\"gradient_of\": \"y\"", "the forward pass has no input 'y'"},
    {"AliasOfNothing", "\"alias\": \"dy\"", "\"alias\": \"dz\"", "there is no input 'dz', and no earlier output"},
    {"AliasOfALaterOutput", "\"alias\": \"dy\"", "\"alias\": \"dw\"", "there is no input 'dw', and no earlier output"},
    {"AliasOfWorkspace", "\"alias\": \"dy\"", "\"alias\": \"partial\"",
     "there is no input 'partial', and no earlier output"},
    {"AliasOfAnAlias", "\"gradient_of\": \"w\"", "\"alias\": \"dx\"", "there is no input 'dx', and no earlier output"},
    {"AliasOfAnotherType", "\"alias\": \"dy\"", "\"alias\": \"w\"", "dx and w differ in type or shape"},
    {"StridesLikeNothing", "\"alias\": \"dy\"", "\"strides_like\": [\"y\"]", "there is no input 'y'"},
};

INSTANTIATE_TEST_SUITE_P(All, BadManifest, testing::ValuesIn(kBad),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(BadManifestText, NoTextIsAManifestByAccident) {
  for (const char* text :
       {"", "{}", "[]", "null", "1", "\"x\"", "{\"schema\": 1}", "{\"schema\": 1, \"passes\": []}", "\xff"}) {
    const auto read = manifest_from_json(text, "m.json");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::BadInput) << text;
  }
}

TEST(BadManifestText, DeepNestingIsRefused) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_FALSE(manifest_from_json(deep, "m.json"));
  EXPECT_FALSE(manifest_from_json(norm_json_with("\"dense(x)\"", "\"" + std::string(3000, '(') + "\""), "m.json"));
  EXPECT_FALSE(
      manifest_from_json(norm_json_with("\"dense(x)\"", "\"" + std::string(3000, '-') + "1 == 1\""), "m.json"));
}

TEST(BadManifestValue, CheckNamesThePlaceInTheManifest) {
  Manifest manifest = norm_manifest();
  manifest.passes[0].steps[0].entries[1].guards = {"unit(z)"};
  const Status status = check(manifest);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "the manifest's passes/0/steps/0/entries/1/guards/0: there is no buffer 'z' in 'unit(z)'");
}

}  // namespace
}  // namespace kw::kernel
