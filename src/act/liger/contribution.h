// An op as a contribution to Liger: the files that `kw act NAME --into liger:DIR` writes into a checkout.
//
//   new        src/liger_kernel/ops/X.py                     kernels and the autograd Function
//              src/liger_kernel/transformers/X.py            the module
//              test/transformers/test_X.py
//              benchmark/scripts/benchmark_X.py
//   edited     src/liger_kernel/ops/__init__.py
//              src/liger_kernel/transformers/__init__.py     the import, and __all__
//              src/liger_kernel/transformers/functional.py
//   appended   benchmark/data/all_benchmark_data.csv         by the benchmark's own run, on a GPU
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/liger/liger_form.h"

namespace kw::act::liger {

using Files = std::map<std::string, std::string>;  // path in the checkout → text

struct Paths {
  std::string op, module, test, benchmark;
};
Paths paths_of(const std::string& op);

inline constexpr const char* kOps = "src/liger_kernel/ops/__init__.py";
inline constexpr const char* kTransformers = "src/liger_kernel/transformers/__init__.py";
inline constexpr const char* kFunctional = "src/liger_kernel/transformers/functional.py";
inline constexpr const char* kBenchmarkData = "benchmark/data/all_benchmark_data.csv";

// The eight files in the order of the list above.
std::vector<std::string> eight_files(const std::string& op);

// All that is written, from the texts of the three files that are edited.
Result<Files> contribution(const Ingredients& kernel, const LigerForm& form, const Files& edited);

}  // namespace kw::act::liger
