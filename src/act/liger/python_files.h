// The Python files that an op brings to a Liger checkout, each whole.
#pragma once

#include <string>

#include "act/liger/host_text.h"
#include "act/liger/liger_form.h"

namespace kw::act::liger {

Result<std::string> op_file(const LigerForm& form, const profile::Profile& profile);      // ops/X.py
Result<std::string> module_file(const LigerForm& form, const profile::Profile& profile);  // transformers/X.py
Result<std::string> test_file(const LigerForm& form, const Ingredients& kernel);          // test_X.py
Result<std::string> benchmark_file(const LigerForm& form, const Ingredients& kernel);     // benchmark_X.py

std::string functional_text(const LigerForm& form);  // a function of transformers/functional.py

}  // namespace kw::act::liger
