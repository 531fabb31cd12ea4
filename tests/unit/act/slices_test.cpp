// Blocks leave a slice each: however many an entry gets, memory has room for all, in every type and on every GPU.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "ir/random/dice.h"
#include "kernel/call.h"

namespace kw::kernel {
namespace {

struct Draw {
  Facts facts;
  TypeBinding types;
};

Draw draw(const Manifest& manifest, const Pass& pass, ir::random::Dice& dice) {
  Draw out;
  for (const std::string& size : manifest.sizes) out.facts.sizes[size] = 1 + dice.below(dice.chance(0.5) ? 40 : 40'000);
  if (out.facts.sizes.contains("channels")) out.facts.sizes["channels"] = 32 * (1 + dice.below(64));
  for (const auto& [name, dtypes] : manifest.types) out.types[name] = *ir::dtype_from_name(dice.pick(dtypes));
  out.facts.machine.multiprocessors = dice.pick(std::vector<std::int64_t>{1, 3, 20, 132, 144});
  for (const Buffer& buffer : pass.buffers)
    if (auto tensor = describe(buffer, out.types, out.facts)) out.facts.tensors[buffer.name] = std::move(*tensor);
  return out;
}

TEST(Slices, MemoryHasRoomForThoseOfEveryEntry) {
  ir::random::Dice dice(7);
  int asked = 0;
  for (const auto& folder : std::filesystem::directory_iterator(KW_SOURCE_DIR "/tests/golden/cuda")) {
    const std::string file = (folder.path() / "manifest.json").string();
    const auto manifest = manifest_from_json(*read_text(file), file);
    ASSERT_TRUE(manifest) << render(manifest.error());
    for (const Pass& pass : manifest->passes) {
      // The second kernel reads as many slices as the first has blocks.
      if (pass.steps.size() < 2 || pass.steps[1].entries[0].launch.block[0].find("blocks(0)") == std::string::npos)
        continue;
      for (int i = 0; i < 200; ++i) {
        const auto [facts, types] = draw(*manifest, pass, dice);
        for (const Entry& entry : pass.steps[0].entries)
          for (const Argument& argument : entry.arguments) {
            if (argument.kind != Argument::Kind::Write || pass.find(argument.of)->role != Role::Workspace) continue;
            const std::int64_t blocks = *evaluate_size(entry.launch.grid[0], facts);
            EXPECT_GE(facts.tensors.at(argument.of).shape[0], blocks) << file << ": " << entry.symbol;
            EXPECT_GE(blocks, 1) << file << ": " << entry.symbol;
            ++asked;
          }
      }
    }
  }
  EXPECT_GT(asked, 10'000);
}

}  // namespace
}  // namespace kw::kernel
