// A pass, generated for cpu, compiled, and run in a worker beside the graph's interpreter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "act/act.h"
#include "device/cpu/compile.h"
#include "device/worker.h"
#include "ir/interpreter/interpreter.h"

namespace kw::test {

using Types = std::map<std::string, ir::DType>;  // type parameter → dtype

// How the tensors of a call lie in memory.
enum class Layout {
  Dense,
  Gaps,        // rows farther apart than they are long: a slice of a wider tensor
  Transposed,  // the last two dimensions swapped in memory
  Misaligned,  // dense, at an address that only its element type divides
  Every2nd,    // the last dimension has stride 2
};
inline constexpr Layout kLayouts[] = {Layout::Dense, Layout::Gaps, Layout::Transposed, Layout::Misaligned,
                                      Layout::Every2nd};
const char* name_of(Layout layout);

class CpuPass {
 public:
  // `graph` as a whole op of one pass. Asserts that it is generated, or gives the refusal.
  static Result<CpuPass> make(const std::string& name, const ir::Graph& graph);

  const act::Generated& generated() const { return generated_; }
  // Runs the kernels on the call's inputs and expects every output within the oracle's bound; nothing outside is
  // written, no input changes, and a second run agrees to the bit. Fails the test where it does not.
  void expect_oracle(const std::string& what, const Types& types, const ir::Environment& call, Layout layout);
  int compilations() const { return compilations_; }

 private:
  const device::CompiledSet* compiled(const Types& types);
  ir::Graph graph_;
  act::Generated generated_;
  std::map<Types, device::CompiledSet> compiled_;
  int compilations_ = 0;
};

}  // namespace kw::test
