#include "measure/plain.h"

#include <algorithm>
#include <cstdlib>

#include "base/embedded.h"
#include "base/file.h"
#include "measure/clock.h"

namespace kw::measure {
namespace {

using kernel::Argument;
using kernel::Role;

constexpr int64_t kUnitBytes[] = {4, 16, 16};  // that a mover counts by: floats on a CPU, vectors on a GPU

int64_t unit_bytes(kernel::Target target) { return kUnitBytes[static_cast<size_t>(target)]; }

kernel::Pass pass(const std::string& name, bool reads, std::vector<std::string> sizes, const kernel::Launch& launch,
                  const std::string& file) {
  kernel::Entry entry{name, file, {}, {}, launch};
  kernel::Pass out{name, {}, {}};
  if (reads) {
    out.buffers.push_back({"plain_in", Role::Input, "f32", {"in_floats"}});
    entry.arguments.push_back({Argument::Kind::Read, "plain_in"});
  }
  out.buffers.push_back({"plain_out", Role::Output, "f32", {"out_floats"}});
  entry.arguments.push_back({Argument::Kind::Write, "plain_out"});
  for (std::string& size : sizes) entry.arguments.push_back({Argument::Kind::Size, std::move(size), 0, "i64"});
  out.steps.push_back({kernel::Step::Kind::Kernel, {std::move(entry)}});
  return out;
}

kernel::Manifest manifest_for(kernel::Target target) {
  kernel::Manifest m;
  m.name = "plain";
  m.target = target;
  m.sizes = {"in_floats", "out_floats", "reads", "writes", "rounds", "workers"};
  if (target == kernel::Target::Cpu) {
    const std::string file = "plain.cpp";
    m.passes = {pass("plain_move", true, {"reads", "writes"}, {}, file),
                pass("plain_move_cached", true, {"reads", "writes"}, {}, file),
                pass("plain_evict", true, {"reads"}, {}, file),
                pass("plain_simple", false, {"rounds", "workers"}, {}, file),
                pass("plain_special", false, {"rounds", "workers"}, {}, file)};
  } else {
    kernel::Launch each{{"max(1, ceil_div(max(reads, writes), 4096))", "1", "1"}, {"512", "1", "1"}};
    kernel::Launch evict{{"1024", "1", "1"}, {"512", "1", "1"}};
    m.passes = {pass("plain_move", true, {"reads", "writes"}, each, "plain.cu"),
                pass("plain_move_cached", true, {"reads", "writes"}, each, "plain.cu"),
                pass("plain_evict", true, {"reads"}, evict, "plain.cu")};
  }
  return m;
}

int64_t units(double bytes, int64_t unit) { return static_cast<int64_t>(bytes) / unit; }

kernel::Tensor floats(int64_t n) { return {ir::DType::F32, {n}, {1}, 0}; }

}  // namespace

Result<Plain> Plain::make(device::Device& device) {
  Plain plain(device);
  plain.manifest_ = manifest_for(device.target());
  const std::string file = plain.manifest_.files().at(0);
  const device::Sources sources{{file, std::string(embedded::file("templates/measure/" + file))}};
  KW_TRY(plain.kernels_, device.compile_when_called(plain.manifest_, sources, {}));
  return plain;
}

Status Plain::add_buffers(device::Arena& arena, const Work& work) const {
  const int64_t evicts = 2 * static_cast<int64_t>(device_->cache_bytes());
  const int64_t in = std::max(static_cast<int64_t>(work.read_bytes), evicts) / 4 + 16;
  KW_CHECK(arena.add("plain_in", floats(in), device::Arena::Access::Read));
  return arena.add("plain_out", floats(static_cast<int64_t>(work.written_bytes) / 4 + 64),
                   device::Arena::Access::Write);
}

Result<device::Program> Plain::program(const std::string& pass, const device::Arena& arena, kernel::Sizes sizes) const {
  kernel::Facts facts;
  facts.machine = device_->machine();
  for (auto& [name, tensor] : arena.tensors())
    if (name == "plain_in" || name == "plain_out") facts.tensors[name] = tensor;
  for (const std::string& symbol : manifest_.sizes) facts.sizes[symbol] = sizes.contains(symbol) ? sizes[symbol] : 0;
  for (const char* side : {"in", "out"})
    if (auto at = facts.tensors.find(std::string("plain_") + side); at != facts.tensors.end())
      facts.sizes[std::string(side) + "_floats"] = at->second.shape[0];
  return device_->prepare(*manifest_.find(pass), kernels_, facts);
}

Result<std::vector<device::Program>> Plain::movers(const device::Arena& arena, const Work& work) const {
  const int64_t unit = unit_bytes(device_->target());
  const kernel::Sizes sizes{{"reads", units(work.read_bytes, unit)}, {"writes", units(work.written_bytes, unit)}};
  std::vector<device::Program> programs;
  for (const kernel::Pass& pass : manifest_.passes) {
    if (!pass.name.starts_with("plain_move")) continue;
    KW_TRY(device::Program mover, program(pass.name, arena, sizes));
    programs.push_back(std::move(mover));
  }
  return programs;
}

Result<device::Program> Plain::evict(const device::Arena& arena) const {
  const int64_t bytes = 2 * static_cast<int64_t>(device_->cache_bytes());
  return program("plain_evict", arena, {{"reads", units(static_cast<double>(bytes), unit_bytes(device_->target()))}});
}

Result<Plain::Rates> Plain::rates() const {
  Rates rates;
  if (device_->target() != kernel::Target::Cpu) return rates;
  constexpr int64_t kRounds = 20000;
  const int64_t workers = device_->machine().threads;
  device::Arena arena;
  KW_CHECK(arena.add("plain_out", floats(workers), device::Arena::Access::Write));
  KW_CHECK(arena.allocate());
  const kernel::Sizes sizes{{"rounds", kRounds}, {"workers", workers}};
  KW_TRY(device::Program simple, program("plain_simple", arena, sizes));
  KW_TRY(device::Program special, program("plain_special", arena, sizes));
  StopRule rule;
  rule.budget = std::chrono::milliseconds(500);
  KW_TRY(const std::vector<Timed> timed, time(*device_, {simple, special}, arena, {}, rule));
  const double calls = static_cast<double>(kRounds * workers);
  // The fastest sample: a rate is what the machine can do, and whoever else runs on it takes from that.
  const auto fastest = [](const Timed& one) { return *std::min_element(one.seconds.begin(), one.seconds.end()); };
  rates.simple = 128 * calls / fastest(timed[0]);
  rates.special = 256 * calls / fastest(timed[1]);
  return rates;
}

}  // namespace kw::measure
