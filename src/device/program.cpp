#include "device/program.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "device/cpu/shim.h"
#include "kernel/layout.h"

namespace kw::device {
namespace {

using kernel::DType;

std::uint64_t half_bits(DType dtype, double value) {  // bf16 or f16, after rounding: every step here is exact
  const double rounded = ir::round_to(dtype, value);
  const std::uint64_t sign = std::signbit(rounded) ? 0x8000 : 0;
  const int mantissa = ir::info(dtype).mantissa_bits - 1, least = ir::info(dtype).min_exponent;
  const std::uint64_t infinite = 0x8000 - (std::uint64_t{1} << mantissa);
  if (std::isnan(rounded)) return infinite | std::uint64_t{1} << (mantissa - 1);
  if (std::isinf(rounded)) return sign | infinite;
  if (rounded == 0) return sign;
  const int exponent = std::max(std::ilogb(rounded), least);
  const auto scaled = static_cast<std::uint64_t>(std::ldexp(std::fabs(rounded), mantissa - exponent));
  // A normal number's leading bit adds one to the exponent's field.
  return sign | ((static_cast<std::uint64_t>(exponent - least) << mantissa) + scaled);
}

Result<Call> fill(const kernel::Step& step, const kernel::Facts& facts) {
  const auto found = facts.tensors.find(step.buffer);
  if (found == facts.tensors.end()) return bad_input(fmt::format("the buffer {} is not there", step.buffer));
  const kernel::Tensor& tensor = found->second;
  if (!kernel::is_packed(tensor)) return bad_input(fmt::format("{} has gaps, and cannot be filled", step.buffer));
  const auto count = kernel::numel(tensor.shape);
  KW_TRY(const std::uint64_t pattern, element_bits(tensor.dtype, step.value));
  return FillCall{step.buffer, tensor.address, static_cast<std::uint64_t>(count.value_or(0)),
                  ir::info(tensor.dtype).bytes, pattern};
}

}  // namespace

Status check_launch(const kernel::Entry& entry, const kernel::LaunchShape& launch) {
  constexpr std::array<std::int64_t, 3> kMostBlocks = {2147483647, 65535, 65535}, kMostThreads = {1024, 1024, 64};
  const auto [x, y, z] = launch.block;
  for (std::size_t i = 0; i < 3; ++i) {
    if (launch.grid[i] < 0 || launch.grid[i] > kMostBlocks[i])
      return bad_input(fmt::format("{} would run {} blocks along {}", entry.symbol, launch.grid[i], "xyz"[i]), {},
                       fmt::format("a grid has at most {}", kMostBlocks[i]));
    if (launch.block[i] < 1 || launch.block[i] > kMostThreads[i])
      return bad_input(fmt::format("{} would run {} threads along {}", entry.symbol, launch.block[i], "xyz"[i]), {},
                       fmt::format("a block has at least 1 and at most {}", kMostThreads[i]));
  }
  if (x * y * z > 1024)
    return bad_input(fmt::format("{} would run {} threads in a block", entry.symbol, x * y * z), {}, "at most 1024");
  constexpr std::int64_t kMostShared = 232448;
  if (launch.shared_bytes < 0 || launch.shared_bytes > kMostShared)
    return bad_input(fmt::format("{} would have {} bytes of shared memory", entry.symbol, launch.shared_bytes), {},
                     fmt::format("no GPU gives a block more than {}", kMostShared));
  return {};
}

namespace {

Result<KernelCall> kernel_call(const kernel::Entry& entry, const CompiledSet& kernels, const kernel::Facts& facts) {
  KW_TRY(const std::vector<kernel::ArgumentValue> values, kernel::arguments_of(entry, kernels.types, facts));
  const bool on_gpu = kernels.style == CallStyle::Launch, by_name = on_gpu || kernels.style == CallStyle::Python;
  KernelCall call{{}, by_name ? entry.symbol : cpu::shim_symbol(entry.symbol), entry.symbol, {}, {}};
  for (const kernel::ArgumentValue& value : values) {
    if (const auto* buffer = std::get_if<kernel::BufferArgument>(&value)) {
      const auto tensor = facts.tensors.find(buffer->buffer);
      if (tensor == facts.tensors.end()) return bad_input(fmt::format("the buffer {} is not there", buffer->buffer));
      call.slots.emplace_back(BufferSlot{tensor->second.address, tensor->second.dtype});
      continue;
    }
    const auto& number = std::get<kernel::NumberArgument>(value);
    if (!on_gpu) {
      std::visit([&](auto given) { call.slots.emplace_back(given); }, number.value);
    } else if (const auto* whole = std::get_if<std::int64_t>(&number.value)) {
      call.slots.emplace_back(BitsSlot{static_cast<std::uint64_t>(*whole)});  // little-endian: the lowest bytes
    } else {
      KW_TRY(const std::uint64_t bits, element_bits(number.dtype, std::get<double>(number.value)));
      call.slots.emplace_back(BitsSlot{bits});
    }
  }
  if (kernels.style == CallStyle::Shim) return call;
  KW_TRY(const kernel::LaunchShape launch, kernel::launch_of(entry, facts));
  if (kernels.style == CallStyle::Python) {
    KernelCall::Python& python = call.python.emplace();
    KW_TRY(python.constants, kernel::constants_of(entry, facts));
    KW_TRY(python.warps, kernel::warps_of(entry, facts));
  }
  KW_CHECK(check_launch(entry, launch));
  call.launch = launch;
  return call;
}

}  // namespace

Result<std::uint64_t> element_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::F64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::F32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::BF16:
    case DType::F16:
      return half_bits(dtype, value);
    case DType::Bool:
      return value != 0;
    case DType::U8:
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64: {
      if (value != std::trunc(value) || std::fabs(value) > 9e18)
        return bad_input(fmt::format("{} is no {}", value, ir::info(dtype).name));
      const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      const int width = 8 * ir::info(dtype).bytes;
      return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
    }
    default:
      return bad_input(fmt::format("there are no elements of type {} here", ir::info(dtype).name));
  }
}

Result<Program> prepare(const kernel::Pass& pass, const CompiledSet& kernels, const kernel::Facts& call_facts) {
  std::vector<const kernel::Entry*> entries;
  kernel::Facts facts = call_facts;
  for (const kernel::Step& step : pass.steps) {
    KW_TRY(const kernel::Entry* entry, kernel::choose_next(step, facts));
    if (entry != nullptr) entries.push_back(entry);
  }
  KW_TRY(const std::vector<CompiledFile> compiled, kernels.find(entries));
  Program program;
  std::size_t next = 0;
  for (const kernel::Step& step : pass.steps) {
    if (step.kind == kernel::Step::Kind::Fill) {
      KW_TRY(Call call, fill(step, facts));
      program.calls.push_back(std::move(call));
      continue;
    }
    KW_TRY(KernelCall call, kernel_call(*entries[next], kernels, facts));
    call.library = compiled[next++].library;
    program.calls.emplace_back(std::move(call));
  }
  return program;
}

}  // namespace kw::device
