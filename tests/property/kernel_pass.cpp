#include "kernel_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <future>

#include "device/cpu/compiler.h"
#include "device/emulate/device.h"
#include "ir/interpreter/compare.h"
#include "kernel/call.h"
#include "verify/elements.h"

namespace kw::test {

namespace {

std::vector<std::string> flags_for(const std::string& processor) {
  std::vector<std::string> flags = device::cpu::kernel_flags();
#if defined(__x86_64__)
  std::replace(flags.begin(), flags.end(), std::string("-march=native"), "-march=" + processor);
#endif
  return flags;
}

}  // namespace

device::DeviceOptions device_options(Where where) {
  device::DeviceOptions options;
  options.limits = {std::chrono::milliseconds(60'000), std::uint64_t{1} << 30, 2};
  // Kept between runs: a kernel whose text did not change is not compiled again.
  options.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  if (where == Where::CpuOfFourThreads) options.limits.threads = 4;
  if (where == Where::CpuWithoutAvx512) options.compiler_flags = flags_for("x86-64-v3");
  if (where == Where::CpuOfTheFirst) options.compiler_flags = flags_for("x86-64");
  return options;
}

device::Device& device_of(Where where) {
  const auto open = [](Where wanted) {
    const device::DeviceOptions options = device_options(wanted);
    const bool emulated = wanted == Where::Emulation || wanted == Where::SanitizedEmulation;
    auto device = emulated ? device::emulate::open({.device = options, .sanitize = wanted == Where::SanitizedEmulation})
                           : device::open_device(kernel::Target::Cpu, options);
    KW_ASSERT(device, "the tests need a compiler");
    return std::move(*device);
  };
  static std::map<Where, std::unique_ptr<device::Device>> devices;
  auto& device = devices[where];
  if (!device) device = open(where);
  return *device;
}

Result<KernelPass> KernelPass::make(const std::string& name, const ir::Graph& graph, Where where) {
  act::OpMath math;
  math.name = name;
  math.forward = graph;
  return make(math, where);
}

Result<KernelPass> KernelPass::make(const act::OpMath& math, Where where,
                                    const std::vector<profile::ScheduleRow>& schedules) {
  KernelPass pass;
  pass.where_ = where;
  pass.graphs_ = {math.forward};
  if (math.backward) pass.graphs_.push_back(*math.backward);
  KW_TRY(pass.generated_, act::generate(math, device_of(where).target(), schedules));
  return pass;
}

ir::Environment rounded(const ir::Graph& graph, const Types& types, ir::Environment call) {
  const ir::Graph bound = ir::bind_types(graph, with_defaults(graph, types));
  for (const ir::Input& input : bound.inputs) {
    auto given = call.inputs.find(input.name);
    if (given == call.inputs.end() || input.kind == ir::InputKind::Scalar) continue;
    for (double& value : given->second.values) value = ir::round_to(input.type.floor(), value);
  }
  return call;
}

Types with_defaults(const ir::Graph& graph, const Types& types) {
  Types all;
  for (const ir::TypeParameter& parameter : graph.type_parameters) {
    auto given = types.find(parameter.name);
    all[parameter.name] = given == types.end() ? parameter.default_dtype : given->second;
  }
  return all;
}

void KernelPass::compile_for(const std::vector<Types>& all) {
  device::Device& device = device_of(where_);
  std::vector<std::optional<Result<device::CompiledSet>>> sets(all.size());
  auto every_other = [&](size_t first) {
    for (size_t i = first; i < all.size(); i += 2)
      sets[i] = device.compile(generated_.manifest, generated_.files, with_defaults(graphs_[0], all[i]));
  };
  {
    auto beside = std::async(std::launch::async, every_other, 1);
    every_other(0);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(*sets[i]) << render((*sets[i]).error());
    compiled_.emplace(with_defaults(graphs_[0], all[i]), *std::move(*sets[i]));
  }
  all_compiled_ = true;
}

Result<const device::CompiledSet*> KernelPass::compiled(const Types& types) {
  const auto known = compiled_.find(types);
  if (known != compiled_.end()) return &known->second;
  if (all_compiled_) return fail(ErrorKind::Internal, "a call needs kernels that were not compiled before");
  KW_TRY(device::CompiledSet set, device_of(where_).compile(generated_.manifest, generated_.files, types));
  return &compiled_.emplace(types, std::move(set)).first->second;
}

Result<KernelPass::Ready> KernelPass::prepare(size_t pass_index, const Types& types, const ir::Environment& call,
                                              Layout layout) {
  const ir::Graph& graph = graphs_[pass_index];
  const kernel::Manifest& manifest = generated_.manifest;
  device::Device& device = device_of(where_);
  Ready ready{manifest.passes[pass_index], {}, {}, {}};
  auto& [pass, facts, arena, program] = ready;
  facts.machine = device.machine();
  std::map<std::string, const ir::Array*> inputs;  // by buffer
  size_t next_input = 0;
  for (const kernel::Buffer& buffer : pass.buffers) {
    if (buffer.role != kernel::Role::Input) continue;
    while (graph.inputs[next_input].kind == ir::InputKind::Scalar) ++next_input;
    const ir::Array& array = call.inputs.at(graph.inputs[next_input++].name);
    kernel::Tensor& tensor = facts.tensors[buffer.name];
    KW_TRY(tensor.dtype, kernel::dtype_of(buffer.type, types));
    tensor.shape = array.shape;
    tensor.strides = verify::strides_in(layout, array.shape);
    inputs[buffer.name] = &array;
  }
  kernel::Sizes sizes = call.sizes;
  for (const std::string& name : manifest.sizes) sizes.try_emplace(name, 1);  // of the other pass alone
  KW_TRY(facts.sizes, kernel::bind_sizes(manifest, pass, facts.tensors, sizes));
  for (const kernel::Scalar& scalar : manifest.scalars) {
    const auto value = call.inputs.find(scalar.name);
    const double by_default = scalar.default_value == "true" ? 1 : std::strtod(scalar.default_value.c_str(), nullptr);
    facts.scalars[scalar.name] = value == call.inputs.end() ? by_default : value->second.values[0];
  }
  for (const kernel::Buffer& buffer : pass.buffers) {
    const bool input = buffer.role == kernel::Role::Input;
    kernel::Tensor tensor;
    if (input) {
      tensor = facts.tensors.at(buffer.name);
    } else {
      KW_TRY(tensor, kernel::describe(buffer, types, facts));
    }
    device::Arena::Placement placement;
    // What the kernels ask for themselves is aligned.
    if (layout == Layout::Misaligned && buffer.role != kernel::Role::Workspace)
      placement.misalignment = ir::info(tensor.dtype).bytes;
    KW_CHECK(
        arena.add(buffer.name, tensor, input ? device::Arena::Access::Read : device::Arena::Access::Write, placement));
  }
  KW_CHECK(arena.allocate());
  facts.tensors = arena.tensors();
  for (const auto& [name, array] : inputs)
    verify::write_tensor(arena.bytes(name), facts.tensors.at(name), array->values);
  KW_TRY(const device::CompiledSet* kernels, compiled(types));
  KW_TRY(program, device.prepare(pass, *kernels, facts));
  for (const device::Call& one : program.calls)
    if (const auto* kernel = std::get_if<device::KernelCall>(&one)) called_.insert(kernel->kernel);
  return ready;
}

std::vector<std::string> KernelPass::uncalled() const {
  std::vector<std::string> symbols;
  for (const kernel::Pass& pass : generated_.manifest.passes)
    for (const kernel::Step& step : pass.steps)
      for (const kernel::Entry& entry : step.entries)
        if (!called_.contains(entry.symbol)) symbols.push_back(entry.symbol);
  return symbols;
}

void KernelPass::expect_oracle(const std::string& what, const Types& types, const ir::Environment& given, Layout layout,
                               size_t pass_index) {
  SCOPED_TRACE(what + ", " + std::string(verify::name_of(layout)));
  const ir::Graph& graph = graphs_[pass_index];
  const ir::Graph bound = ir::bind_types(graph, with_defaults(graph, types));
  const ir::Environment call = rounded(graph, types, given);
  const auto expected = ir::interpret(bound, call, {.semantics = ir::Semantics::Rounded, .track_bounds = true});
  ASSERT_TRUE(expected) << render(expected.error());
  auto ready = prepare(pass_index, with_defaults(graphs_[0], types), call, layout);
  ASSERT_TRUE(ready) << ready.error().message;
  auto& [pass, facts, arena, program] = *ready;

  std::map<std::string, std::vector<double>> first;
  for (int run = 0; run < 2; ++run) {
    for (const kernel::Buffer& buffer : pass.buffers)
      if (buffer.role != kernel::Role::Input) arena.poison(buffer.name, run == 0 ? 0xFF : 0x55);
    if (program.emulation) program.emulation->seed = 1 + static_cast<std::uint64_t>(run);
    const auto outcome = device_of(where_).run({program}, arena);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_FALSE(outcome->fault) << outcome->fault->message;
    const auto stray = arena.stray();
    ASSERT_FALSE(stray) << stray->text();
    size_t output = 0;
    for (const kernel::Buffer& buffer : pass.buffers) {
      if (buffer.role != kernel::Role::Output && buffer.role != kernel::Role::Saved) continue;
      const kernel::Tensor& tensor = facts.tensors.at(buffer.name);
      const std::vector<double> got = verify::read_tensor(std::as_const(arena).bytes(buffer.name), tensor);
      const ir::Array& oracle = (*expected)[output++];
      ASSERT_EQ(tensor.shape, oracle.shape) << buffer.name;
      const ir::ErrorReport report = ir::compare(oracle, got, tensor.dtype);
      ASSERT_TRUE(report.within()) << buffer.name << ": " << describe(report);
      if (run == 0)
        first[buffer.name] = got;
      else
        ASSERT_EQ(std::memcmp(first[buffer.name].data(), got.data(), got.size() * sizeof(double)), 0)
            << buffer.name << " differs between two runs";
    }
  }
}

}  // namespace kw::test
