#include "device/emulate/run.h"

namespace kw::device::emulate {

Run::Run(const Emulation& emulation, std::byte* arena) : emulation_(emulation), arena_(arena) {}

void Run::begin() {
  std::vector<GlobalBuffer> buffers;
  for (const Emulation::Buffer& buffer : emulation_.buffers)
    buffers.push_back({buffer.name, arena_ + buffer.offset, buffer.bytes, buffer.input, buffer.output, buffer.writable,
                       static_cast<std::size_t>(buffer.element_bytes), buffer.shape, buffer.strides});
  memory_.give(std::move(buffers));
  launches_ = 0;
}

std::optional<Finding> Run::launch(const KernelCall& call, Attach attach, void (*kernel)(const void*),
                                   const void* arguments) {
  Launch launch;
  launch.grid = call.launch->grid;
  launch.block = call.launch->block;
  launch.dynamic_bytes = call.launch->shared_bytes;
  launch.seed = emulation_.seed * 0x9E3779B97F4A7C15u + ++launches_;
  for (const Slot& slot : call.slots)
    if (const auto* buffer = std::get_if<BufferSlot>(&slot)) launch.buffers.push_back(arena_ + buffer->offset);
  launch.kernel = kernel;
  launch.arguments = arguments;
  attach(&grid_);
  return grid_.run(launch);
}

void Run::filled(const FillCall& fill) {
  memory_.fill(arena_ + fill.offset, fill.count * static_cast<std::uint64_t>(fill.element_bytes));
}

std::optional<Finding> Run::end() const { return memory_.unwritten(); }

}  // namespace kw::device::emulate
