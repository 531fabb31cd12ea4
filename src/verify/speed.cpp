#include "verify/speed.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "kernel/lifetime.h"
#include "verify/elements.h"

namespace kw::verify {
namespace {

// Ordinary values: positive, so that no root or logarithm of them is undefined, and not all alike.
void fill(device::Arena& arena, const std::string& name, const kernel::Tensor& tensor) {
  const std::span<std::byte> bytes = arena.bytes(name);
  const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
  constexpr std::size_t kPattern = 4096;  // elements; the rest repeats them
  const std::size_t count = bytes.size() / size, first = std::min(count, kPattern);
  for (std::size_t i = 0; i < first; ++i) {
    const double unit = static_cast<double>(Hash64().add(static_cast<std::uint64_t>(i)).value() % 1024) / 1024;
    write_element(bytes.data() + i * size, tensor.dtype, ir::is_floating(tensor.dtype) ? 0.5 + unit : 1);
  }
  for (std::size_t i = first; i < count; i += first) {
    const std::size_t n = std::min(first, count - i) * size;
    std::copy_n(bytes.data(), n, bytes.data() + i * size);
  }
}

const ir::Graph* graph_of(const Subject& subject, const std::string& pass) {
  if (pass == "forward") return subject.approved_forward ? &*subject.approved_forward : &subject.forward;
  return subject.approved_backward ? &*subject.approved_backward : nullptr;
}

Result<PassSpeed> speed_of(const Subject& subject, device::Device& device, const measure::Plain& plain,
                           const measure::Plain::Rates& rates, const kernel::Pass& pass,
                           const device::CompiledSet& kernels, const measure::Sizes& sizes, const measure::Work& work,
                           const measure::StopRule& stop) {
  kernel::Facts facts;
  facts.sizes = sizes;
  facts.machine = device.machine();
  for (const kernel::Scalar& scalar : subject.manifest.scalars) {
    const ir::Input* input = scalar_of(subject, scalar);
    const double value = input && input->default_value ? input->default_value->number() : 1;
    if (scalar.type == "real")
      facts.scalars[scalar.name] = value;
    else
      facts.scalars[scalar.name] = static_cast<std::int64_t>(value);
  }
  device::Arena arena;
  for (const kernel::Buffer& buffer : pass.buffers) {
    KW_TRY(const kernel::Tensor tensor, kernel::describe(buffer, kernels.types, facts));
    facts.tensors[buffer.name] = tensor;
    const bool read_only = buffer.role == kernel::Role::Input;
    if (!buffer.alias.empty()) {
      if (pass.find(buffer.alias)->role == kernel::Role::Input)
        return bad_input("a pass that overwrites its input is not timed");
      KW_CHECK(arena.add_alias(buffer.name, buffer.alias));
      continue;
    }
    KW_CHECK(arena.add(buffer.name, tensor, read_only ? device::Arena::Access::Read : device::Arena::Access::Write));
  }
  KW_CHECK(plain.add_buffers(arena, work));
  KW_CHECK(arena.allocate());
  for (const kernel::Buffer& buffer : pass.buffers)
    if (buffer.role == kernel::Role::Input) fill(arena, buffer.name, facts.tensors[buffer.name]);
  const auto placed = arena.tensors();
  for (auto& [name, tensor] : facts.tensors) tensor = placed.at(name);
  KW_TRY(const device::Program program, device.prepare(pass, kernels, facts));
  PassSpeed out{pass.name, sizes, {}};
  KW_TRY(const kernel::MemoryUse memory, kernel::memory_use(pass, kernels.types, facts));
  out.bytes = memory.peak();
  KW_TRY(out.share, measure::share_of(device, plain, rates, program, arena, work, stop));
  return out;
}

}  // namespace

Result<std::vector<PassSpeed>> speeds_of(const Subject& subject, device::Device& device,
                                         const device::CompiledSet& kernels, measure::Sizes sizes,
                                         const SpeedOptions& options) {
  KW_TRY(const measure::Plain plain, measure::Plain::make(device));
  KW_TRY(const measure::Plain::Rates rates, plain.rates());
  std::vector<PassSpeed> speeds;
  for (const kernel::Pass& pass : subject.manifest.passes) {
    const ir::Graph* graph = graph_of(subject, pass.name);
    if (!graph) continue;
    KW_TRY(measure::Work work, measure::work_of(*graph, sizes, kernels.types));
    while (work.bytes() > options.most_bytes && !subject.manifest.sizes.empty()) {
      // The first size that the passes share: rows or a batch, which no row's length depends on.
      std::int64_t& first = sizes[subject.manifest.sizes.front()];
      if (first < 2) break;
      first /= 2;
      KW_TRY(work, measure::work_of(*graph, sizes, kernels.types));
    }
    KW_TRY(PassSpeed speed, speed_of(subject, device, plain, rates, pass, kernels, sizes, work, options.stop));
    speeds.push_back(std::move(speed));
  }
  return speeds;
}

SpeedRow row_of(const PassSpeed& speed) {
  const measure::Share& s = speed.share;
  SpeedRow row{speed.pass, "", s.memory_bound() ? "memory" : "arithmetic"};
  for (const auto& [name, size] : speed.sizes)
    row.sizes += fmt::format("{}{}={}", row.sizes.empty() ? "" : " ", name, size);
  row.milliseconds = 1e3 * s.kernel.time.median;
  row.width = s.kernel.time.width();
  row.limit_milliseconds = 1e3 * s.limit();
  row.share = s.share();
  row.bytes = speed.bytes;
  return row;
}

}  // namespace kw::verify
