// PyTorch's own word: the user's source, run by PyTorch in a process of its own, on the inputs of a case. It does not
// judge the kernel but the oracle: a source that was misread gives kernels that are faithful to the wrong math.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "verify/trial.h"

namespace kw::verify {

struct TorchSource {
  std::string file;
  std::string entry;  // the function or class; empty: the only one
  bool eval = false;
  std::map<std::string, std::string> init;  // arguments of the constructor, as the user gave them
};

// A Python that has torch: of the active environment, of .venv here or beside the binary, or the system's. Nothing
// where there is none.
std::optional<std::string> find_python_with_torch();

struct TorchAnswer {
  std::string unable;  // why the source could not be run; empty if it was
  struct Tensor {
    std::string dtype;  // "bfloat16"
    std::vector<std::int64_t> shape, strides;
    std::vector<double> values;
  };
  std::map<std::string, Tensor> tensors;  // "y", "grad_x"
};

// What one pass takes of PyTorch: samples in seconds, and the most bytes it holds beyond what was there before.
struct TorchCost {
  std::vector<double> seconds;
  std::int64_t bytes = 0;
};

struct TorchTimes {
  std::string unable;                                // why the source could not be timed
  std::map<std::string, TorchCost> eager, compiled;  // by pass; compiled is empty where it was not asked for
  std::string uncompiled;                            // why torch.compile gave nothing
};

class TorchProcess {
 public:
  static Result<TorchProcess> start(const std::string& python);
  // An error means that the process is gone.
  Result<TorchAnswer> run(const Subject& subject, const TorchSource& source, const kernel::TypeBinding& types,
                          const ir::Environment& values, Layout layout = Layout::Dense);
  // On the device of the target, with so many threads of the processor; through torch.compile too where `compile`.
  Result<TorchTimes> time(const Subject& subject, const TorchSource& source, const kernel::TypeBinding& types,
                          const kernel::Sizes& sizes, kernel::Target target, int threads, bool compile);

 private:
  Result<std::string> ask(const std::string& request, std::chrono::milliseconds patience);
  explicit TorchProcess(Child child) : child_(std::move(child)) {}
  Child child_;
};

struct Disagreement {
  std::string text;
  bool of_values = false;  // otherwise of shape or type
};

// What PyTorch says otherwise than the oracle; nothing if they agree. Outputs must be within the oracle's bound.
// Gradients are compared where every type is f64, and to a part in ten thousand: PyTorch's own backward formulas round
// elsewhere than autograd of the same ops would, and a misread source is off by far more.
std::optional<Disagreement> disagreement(const Subject& subject, const kernel::TypeBinding& types,
                                         const Expected& expected, const TorchAnswer& answer);

// The strides that the manifest says an output has, where its inputs lie like this, beside PyTorch's own: the first
// that differ, in words. Nothing where they agree, or no kernel serves such inputs.
Result<std::optional<std::string>> other_strides(const Subject& subject, const kernel::TypeBinding& types,
                                                 const ir::Environment& values, Layout layout,
                                                 const TorchAnswer& answer);

}  // namespace kw::verify
