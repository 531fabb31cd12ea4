#include "kernel_pass.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <future>

#include "../../runtime/cpu/element.h"
#include "device/arena.h"
#include "device/emulate/device.h"
#include "device/program.h"
#include "ir/interpreter/compare.h"
#include "kernel/call.h"
#include "kernel/layout.h"

namespace kw::test {
namespace {

using ir::DType;
using kernel::Tensor;

double read_element(const std::byte* at, DType dtype) {
  auto bits = [&]<class T>(T value) {
    std::memcpy(static_cast<void*>(&value), at, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::F64:
      return bits(double{});
    case DType::F32:
      return bits(float{});
    case DType::BF16:
      return static_cast<float>(bits(bf16{}));
    case DType::F16:
      return static_cast<float>(bits(f16{}));
    case DType::F8E4M3:
      return static_cast<float>(bits(f8e4m3{}));
    case DType::F8E5M2:
      return static_cast<float>(bits(f8e5m2{}));
    case DType::I64:
      return static_cast<double>(bits(int64_t{}));
    case DType::I32:
      return bits(int32_t{});
    case DType::I16:
      return bits(int16_t{});
    case DType::I8:
      return bits(int8_t{});
    default:
      return bits(uint8_t{});
  }
}

void write_element(std::byte* at, DType dtype, double value) {
  auto put = [&]<class T>(T bits) { std::memcpy(at, &bits, sizeof bits); };
  switch (dtype) {
    case DType::F64:
      return put(value);
    case DType::F32:
      return put(static_cast<float>(value));
    case DType::BF16:
      return put(bf16(static_cast<float>(value)));
    case DType::F16:
      return put(f16(static_cast<float>(value)));
    case DType::F8E4M3:
      return put(f8e4m3(static_cast<float>(value)));
    case DType::F8E5M2:
      return put(f8e5m2(static_cast<float>(value)));
    case DType::I64:
      return put(static_cast<int64_t>(value));
    case DType::I32:
      return put(static_cast<int32_t>(value));
    case DType::I16:
      return put(static_cast<int16_t>(value));
    case DType::I8:
      return put(static_cast<int8_t>(value));
    default:
      return put(static_cast<uint8_t>(value));
  }
}

// Every element's offset in row-major order of its index.
std::vector<int64_t> offsets(const Tensor& tensor) {
  std::vector<int64_t> all{0};
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    std::vector<int64_t> next;
    next.reserve(all.size() * static_cast<size_t>(tensor.shape[d]));
    for (int64_t base : all)
      for (int64_t i = 0; i < tensor.shape[d]; ++i) next.push_back(base + i * tensor.strides[d]);
    all = std::move(next);
  }
  return all;
}

void lay_out(Tensor& tensor, Layout layout) {
  const size_t rank = tensor.shape.size();
  tensor.strides = kernel::dense_strides(tensor.shape);
  if (rank == 0) return;
  switch (layout) {
    case Layout::Dense:
    case Layout::Misaligned:
      return;
    case Layout::Gaps:
      for (size_t d = 0; d + 1 < rank; ++d)
        tensor.strides[d] += 3 * (tensor.strides[d] / std::max<int64_t>(1, tensor.shape[rank - 1]));
      return;
    case Layout::Transposed:
      if (rank < 2) return;
      std::swap(tensor.shape[rank - 1], tensor.shape[rank - 2]);
      tensor.strides = kernel::dense_strides(tensor.shape);
      std::swap(tensor.shape[rank - 1], tensor.shape[rank - 2]);
      std::swap(tensor.strides[rank - 1], tensor.strides[rank - 2]);
      return;
    case Layout::Every2nd:
      for (int64_t& stride : tensor.strides) stride *= 2;
      return;
  }
}

}  // namespace

const char* name_of(Layout layout) {
  constexpr const char* kNames[] = {"dense", "with gaps", "transposed", "misaligned", "every second element"};
  return kNames[static_cast<size_t>(layout)];
}

device::Device& device_of(Where where) {
  const auto open = [](Where wanted) {
    device::DeviceOptions options;
    options.limits = {std::chrono::milliseconds(60'000), std::uint64_t{1} << 30, 2};
    // Kept between runs: a kernel whose text did not change is not compiled again.
    options.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
    auto device = wanted == Where::Cpu
                      ? device::open_device(kernel::Target::Cpu, options)
                      : device::emulate::open({.device = options, .sanitize = wanted == Where::SanitizedEmulation});
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

Result<KernelPass> KernelPass::make(const act::OpMath& math, Where where) {
  KernelPass pass;
  pass.where_ = where;
  pass.graphs_ = {math.forward};
  if (math.backward) pass.graphs_.push_back(*math.backward);
  KW_TRY(pass.generated_, act::generate(math, device_of(where).target()));
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
  auto every_other = [&](size_t first) {
    for (size_t i = first; i < all.size(); i += 2)
      (void)device.compile(generated_.manifest, generated_.files, with_defaults(graphs_[0], all[i]));
  };
  auto beside = std::async(std::launch::async, every_other, 1);
  every_other(0);
}

const device::CompiledSet* KernelPass::compiled(const Types& types) {
  auto known = compiled_.find(types);
  if (known != compiled_.end()) return &known->second;
  ++compilations_;
  auto set = device_of(where_).compile(generated_.manifest, generated_.files, types);
  if (!set) {
    ADD_FAILURE() << set.error().message;
    return nullptr;
  }
  return &compiled_.emplace(types, *set).first->second;
}

void KernelPass::expect_oracle(const std::string& what, const Types& types, const ir::Environment& given, Layout layout,
                               size_t pass_index) {
  SCOPED_TRACE(what + ", " + name_of(layout));
  const ir::Graph& graph = graphs_[pass_index];
  const Types bound_types = with_defaults(graphs_[0], types);
  const ir::Graph bound = ir::bind_types(graph, with_defaults(graph, types));
  const ir::Environment call = rounded(graph, types, given);
  auto expected = ir::interpret(bound, call, {.semantics = ir::Semantics::Rounded, .track_bounds = true});
  ASSERT_TRUE(expected) << render(expected.error());
  const device::CompiledSet* kernels = compiled(bound_types);
  ASSERT_NE(kernels, nullptr);

  const kernel::Manifest& manifest = generated_.manifest;
  const kernel::Pass& pass = manifest.passes[pass_index];
  device::Device& device = device_of(where_);
  kernel::Facts facts;
  facts.machine = device.machine();
  std::map<std::string, const ir::Array*> inputs;  // by buffer
  size_t next_input = 0;
  for (const kernel::Buffer& buffer : pass.buffers) {
    if (buffer.role != kernel::Role::Input) continue;
    while (graph.inputs[next_input].kind == ir::InputKind::Scalar) ++next_input;
    const ir::Array& array = call.inputs.at(graph.inputs[next_input++].name);
    Tensor tensor;
    tensor.dtype = *kernel::dtype_of(buffer.type, bound_types);
    tensor.shape = array.shape;
    lay_out(tensor, layout);
    facts.tensors[buffer.name] = tensor;
    inputs[buffer.name] = &array;
  }
  auto sizes = kernel::bind_sizes(manifest, pass, facts.tensors, call.sizes);
  ASSERT_TRUE(sizes) << sizes.error().message;
  facts.sizes = *sizes;
  for (const kernel::Scalar& scalar : manifest.scalars) {
    auto value = call.inputs.find(scalar.name);
    const double by_default = scalar.default_value == "true" ? 1 : std::strtod(scalar.default_value.c_str(), nullptr);
    facts.scalars[scalar.name] = value == call.inputs.end() ? by_default : value->second.values[0];
  }
  device::Arena arena;
  for (const kernel::Buffer& buffer : pass.buffers) {
    const bool input = buffer.role == kernel::Role::Input;
    Tensor tensor;
    if (input) {
      tensor = facts.tensors.at(buffer.name);
    } else {
      auto described = kernel::describe(buffer, bound_types, facts);
      ASSERT_TRUE(described) << described.error().message;
      tensor = *described;
    }
    device::Arena::Placement placement;
    // What the kernels ask for themselves is aligned.
    if (layout == Layout::Misaligned && buffer.role != kernel::Role::Workspace)
      placement.misalignment = ir::info(tensor.dtype).bytes;
    ASSERT_TRUE(
        arena.add(buffer.name, tensor, input ? device::Arena::Access::Read : device::Arena::Access::Write, placement));
  }
  ASSERT_TRUE(arena.allocate());
  facts.tensors = arena.tensors();
  for (const auto& [name, array] : inputs) {
    const Tensor& tensor = facts.tensors.at(name);
    const std::vector<int64_t> at = offsets(tensor);
    std::span<std::byte> bytes = arena.bytes(name);
    for (size_t i = 0; i < at.size(); ++i)
      write_element(bytes.data() + at[i] * ir::info(tensor.dtype).bytes, tensor.dtype, array->values[i]);
  }
  auto program = device.prepare(pass, *kernels, facts);
  ASSERT_TRUE(program) << program.error().message;

  std::map<std::string, std::vector<std::byte>> first;
  for (int run = 0; run < 2; ++run) {
    for (const kernel::Buffer& buffer : pass.buffers)
      if (buffer.role != kernel::Role::Input) arena.poison(buffer.name, run == 0 ? 0xFF : 0x55);
    if (program->emulation) program->emulation->seed = 1 + static_cast<std::uint64_t>(run);
    auto outcome = device.run({*program}, arena);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_FALSE(outcome->fault) << outcome->fault->message;
    auto stray = arena.stray();
    ASSERT_FALSE(stray) << stray->text();
    size_t output = 0;
    for (const kernel::Buffer& buffer : pass.buffers) {
      if (buffer.role != kernel::Role::Output && buffer.role != kernel::Role::Saved) continue;
      const Tensor& tensor = facts.tensors.at(buffer.name);
      std::span<const std::byte> bytes = std::as_const(arena).bytes(buffer.name);
      std::vector<double> got;
      for (int64_t at : offsets(tensor))
        got.push_back(read_element(bytes.data() + at * ir::info(tensor.dtype).bytes, tensor.dtype));
      const ir::Array& oracle = (*expected)[output++];
      ASSERT_EQ(tensor.shape, oracle.shape) << buffer.name;
      const ir::ErrorReport report = ir::compare(oracle, got, tensor.dtype);
      ASSERT_TRUE(report.within()) << buffer.name << ": " << describe(report);
      if (run == 0)
        first[buffer.name].assign(bytes.begin(), bytes.end());
      else
        for (int64_t at : offsets(tensor)) {
          const auto size = static_cast<size_t>(ir::info(tensor.dtype).bytes);
          ASSERT_EQ(std::memcmp(first[buffer.name].data() + static_cast<size_t>(at) * size,
                                bytes.data() + static_cast<size_t>(at) * size, size),
                    0)
              << buffer.name << " differs between two runs";
        }
    }
  }
}

}  // namespace kw::test
