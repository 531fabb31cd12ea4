// Passes of an op, generated, compiled, and run in a worker beside the graph's interpreter: on the CPU, or as CUDA in
// the emulation.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "act/act.h"
#include "device/arena.h"
#include "device/device.h"
#include "device/program.h"
#include "ir/interpreter/interpreter.h"
#include "verify/layout.h"

namespace kw::test {

using Types = std::map<std::string, ir::DType>;  // type parameter → dtype

// How the tensors of a call lie in memory: where every element has a place of its own.
using verify::Layout;
inline constexpr Layout kLayouts[] = {Layout::Dense, Layout::Gaps, Layout::Transposed, Layout::Misaligned,
                                      Layout::EverySecond};

enum class Where {
  Cpu,
  CpuOfFourThreads,  // with as many, every store that may go past the cache does
  CpuWithoutAvx512,  // as most laptops are
  CpuOfTheFirst,     // of its kind: without AVX and without fused products
  Emulation,         // of a GPU
  SanitizedEmulation,
};
device::DeviceOptions device_options(Where where = Where::Cpu);
device::Device& device_of(Where where);

// The call with every tensor rounded to its type.
ir::Environment rounded(const ir::Graph& graph, const Types& types, ir::Environment call);
Types with_defaults(const ir::Graph& graph, const Types& types);

class KernelPass {
 public:
  // `graph` as a whole op of one pass, or the rule that refuses it.
  static Result<KernelPass> make(const std::string& name, const ir::Graph& graph, Where where);
  static Result<KernelPass> make(const act::OpMath& math, Where where,
                                 const std::vector<profile::ScheduleRow>& schedules = {});

  const act::Generated& generated() const { return generated_; }
  Where where() const { return where_; }
  std::vector<std::string> uncalled() const;  // kernels that no call chose
  // Runs the kernels on the call's inputs and expects every output within the oracle's bound; nothing outside is
  // written, no input changes, and a second run (in the emulation in another order) agrees to the bit. Fails the test
  // where it does not.
  void expect_oracle(const std::string& what, const Types& types, const ir::Environment& call, Layout layout,
                     size_t pass = 0);
  // Compiles for every one of these, two at a time, and nothing later: a call that needs more fails.
  void compile_for(const std::vector<Types>& all);

 private:
  // A pass, made ready for one call: memory that holds its inputs, and the program over it.
  struct Ready {
    const kernel::Pass& pass;
    kernel::Facts facts;
    device::Arena arena;
    device::Program program;
  };
  Result<Ready> prepare(size_t pass, const Types& types, const ir::Environment& call, Layout layout);
  Result<const device::CompiledSet*> compiled(const Types& types);
  Where where_ = Where::Cpu;
  std::vector<ir::Graph> graphs_;  // one per pass
  act::Generated generated_;
  std::map<Types, device::CompiledSet> compiled_;
  bool all_compiled_ = false;
  std::set<std::string> called_;
};

}  // namespace kw::test
