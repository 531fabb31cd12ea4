// One call put to the kernels: run twice from different poison, on different numbers of threads, fenced on all sides,
// and compared with the oracle. Expected values never leave this process; the kernels run in another.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/device.h"
#include "ir/interpreter/compare.h"
#include "ir/interpreter/interpreter.h"
#include "verify/gates.h"
#include "verify/layout.h"
#include "verify/subject.h"

namespace kw::verify {

// What a call gives and how it lies: inputs, and the cotangents d_* where a backward is asked for.
struct TrialCall {
  kernel::TypeBinding types;
  ir::Environment values;
  Layout layout = Layout::Dense;
  bool at_start = false;         // buffers begin at a fence, instead of ending at one
  bool another_follows = false;  // in the same processes, whoever wrote the kernels
};

// The oracle's answer, by tensor: "y", "grad_x".
using Expected = std::map<std::string, ir::Array>;
Result<Expected> expect(const Subject& subject, const kernel::TypeBinding& types, const ir::Environment& values);

// A scalar at its default: of the math, or else of the manifest.
Result<kernel::ScalarValue> default_of(const Subject& subject, const kernel::Scalar& scalar);

struct OutputError {
  std::string pass, tensor;
  ir::DType dtype = ir::DType::None;
  ir::ErrorReport report;
  std::int64_t unjudged = 0;  // elements for which anything goes: at a kink, or beyond the type's range
  ir::ErrorReport measured;   // of the others alone
};

struct TrialOutcome {
  std::string refused;  // why no kernel serves the call; nothing was run then
  std::vector<Finding> findings;
  std::vector<OutputError> errors;
  std::set<std::string> called;                    // symbols of entries
  std::map<std::string, std::vector<double>> got;  // by tensor, as the first run wrote it
};

// Where kernels run: the first and the second run of a call, each in a process of its own.
struct Runners {
  std::unique_ptr<device::Device> first, second;
};

// What a fault of a run says against the kernels, and which gate it is for.
Finding finding_of(const device::Fault& fault, const std::string& pass);

class Trial {
 public:
  Trial(const Subject& subject, Runners& runners) : subject_(subject), runners_(runners) {}

  // `fresh` is a second call of the same sizes with other values, put to the same process at the same addresses.
  Result<TrialOutcome> run(const TrialCall& call, const Expected& expected, const device::CompiledSet& kernels,
                           const ir::Environment* fresh = nullptr, const Expected* fresh_expected = nullptr);

 private:
  const Subject& subject_;
  Runners& runners_;
};

}  // namespace kw::verify
