#include "emulated_case.h"

#include "device/emulate/device.h"

namespace kw::device {
namespace {

using kernel::Argument;
using kernel::DType;

// Every kernel of a file that is compiled whole.
struct FileKernels {
  std::vector<std::string> symbols;
  bool typed = false;  // in T, over rows and cols; otherwise floats, over n
};

const FileKernels& kernels_of(const std::string& file) {
  static const std::map<std::string, FileKernels> kFiles = [] {
    std::map<std::string, FileKernels> files;
    for (const char* name : {"right.cu", "wrong.cu"}) {
      FileKernels& found = files[name];
      found.typed = std::string(name) == "right.cu";
      const std::string text = *read_file(std::string(KW_SOURCE_DIR) + "/tests/unit/device/emulated/" + name);
      const std::string start = found.typed ? "KW_KERNEL(256, 1) void " : "\nKERNEL(";
      for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        const std::size_t first = at + start.size();
        found.symbols.push_back(text.substr(first, text.find(found.typed ? '(' : ')', first) - first));
      }
    }
    return files;
  }();
  return kFiles.at(file);
}

kernel::Entry entry(const EmulatedKernel& kernel, const std::string& file, const std::string& from,
                    const std::string& to) {
  kernel::Entry one{kernel.symbol, file, {}, {}, {}};
  one.arguments = {{Argument::Kind::Read, from}, {Argument::Kind::Write, to}};
  if (kernels_of(file).typed) {
    // The second stage of two walks the blocks of the first.
    one.arguments.push_back({Argument::Kind::Size, from == "partial" ? "parts" : "rows", 0, "i64"});
    one.arguments.push_back({Argument::Kind::Size, "cols", 0, "i64"});
  } else {
    one.arguments.push_back({Argument::Kind::Size, "n", 0, "i64"});
  }
  one.launch.grid[0] = kernel.grid;
  one.launch.block[0] = kernel.block;
  one.launch.shared_bytes = kernel.shared_bytes;
  return one;
}

std::vector<kernel::Buffer> buffers(const std::string& type, const std::string& partial) {
  return {{"x", kernel::Role::Input, type, {"n"}},
          {"partial", kernel::Role::Workspace, partial, {"parts", "cols"}},
          {"y", kernel::Role::Output, type, {"m"}}};
}

// All kernels of a file stand in one manifest, so that it is compiled once.
kernel::Manifest manifest_of(const std::string& file) {
  const FileKernels& kernels = kernels_of(file);
  const std::string type = kernels.typed ? "T" : "f32", wide = kernels.typed ? "T|f32" : "f32";
  kernel::Manifest manifest;
  manifest.name = "emulated";
  manifest.target = kernel::Target::Cuda;
  manifest.sizes = {"n", "m", "rows", "cols", "parts"};
  if (kernels.typed) manifest.types = {{"T", {"bf16", "f16", "f32", "f64"}}};
  kernel::Pass pass{"all", buffers(type, wide), {}};
  for (const std::string& symbol : kernels.symbols) {
    const bool first = symbol == "column_first", second = symbol == "column_second";
    pass.steps.push_back(
        {kernel::Step::Kind::Kernel, {entry({symbol}, file, second ? "partial" : "x", first ? "partial" : "y")}});
  }
  manifest.passes = {pass};
  return manifest;
}

Device& device(bool sanitize) {
  const auto open = [](bool with) {
    emulate::Options options;
    options.sanitize = with;
    options.device.cache_folder = shared_cache().folder();
    options.device.limits = {std::chrono::milliseconds(20'000), std::uint64_t{1} << 30, 1};
    auto opened = emulate::open(options);
    KW_ASSERT(opened, "the tests need a compiler");
    return std::move(*opened);
  };
  static const std::unique_ptr<Device> kPlain = open(false), kSanitized = open(true);
  return sanitize ? *kSanitized : *kPlain;
}

}  // namespace

EmulatedOutcome run_emulated(const std::string& file, const std::vector<EmulatedKernel>& kernels,
                             const std::vector<float>& x, std::int64_t y_elements, const EmulatedOptions& options) {
  EmulatedOutcome result;
  Device* on = &device(options.sanitize);
  std::unique_ptr<Device> own;
  if (options.time != EmulatedOptions{}.time) {
    emulate::Options other;
    other.device.cache_folder = shared_cache().folder();
    other.device.limits = {options.time, std::uint64_t{1} << 30, 1};
    own = std::move(*emulate::open(other));
    on = own.get();
  }
  const kernel::TypeBinding types =
      kernels_of(file).typed ? kernel::TypeBinding{{"T", options.dtype}} : kernel::TypeBinding{};
  const auto text = read_file(std::string(KW_SOURCE_DIR) + "/tests/unit/device/emulated/" + file);
  const auto set = on->compile(manifest_of(file), {{file, *text}}, types);
  EXPECT_TRUE(set) << set.error().message;
  if (!set) return result;

  const auto n = static_cast<std::int64_t>(x.size()), cols = n / options.rows, parts = std::int64_t{3};
  const DType wide = options.dtype == DType::F64 ? DType::F64 : DType::F32;
  Arena arena;
  Arena::Placement placement;
  placement.misalignment = options.x_misalignment;
  EXPECT_TRUE(arena.add("x", {options.dtype, {n}, {1}, 0}, Arena::Access::Read, placement));
  EXPECT_TRUE(arena.add("partial", {wide, {parts, cols}, {cols, 1}, 0}, Arena::Access::Write));
  EXPECT_TRUE(arena.add("y", {options.dtype, {y_elements}, {1}, 0}, Arena::Access::Write));
  EXPECT_TRUE(arena.allocate());
  put_floats(arena.bytes("x"), options.dtype, x);
  arena.poison("y", 0xAB);
  kernel::Facts facts;
  facts.sizes = {{"n", n}, {"m", y_elements}, {"rows", options.rows}, {"cols", cols}, {"parts", parts}};
  facts.tensors = arena.tensors();
  facts.machine = on->machine();

  kernel::Pass pass{"forward", manifest_of(file).passes[0].buffers, {}};
  if (options.fill_y) pass.steps.push_back({kernel::Step::Kind::Fill, {}, "y", 0});
  for (std::size_t i = 0; i < kernels.size(); ++i)
    pass.steps.push_back(
        {kernel::Step::Kind::Kernel,
         {entry(kernels[i], file, i > 0 ? "partial" : "x", i + 1 < kernels.size() ? "partial" : "y")}});
  auto program = on->prepare(pass, *set, facts);
  EXPECT_TRUE(program) << program.error().message;
  if (!program) return result;
  program->emulation->seed = options.seed;
  auto outcome = on->run({*program}, arena);
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return result;
  result.fault = outcome->fault;
  result.seconds = outcome->wall_seconds;
  result.output = outcome->output;
  result.y = floats(arena.bytes("y"), options.dtype);
  return result;
}

}  // namespace kw::device
