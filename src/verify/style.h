// How a kernel's files read: what a maintainer would ask for before anything else, checked on the text alone. It says
// nothing about what the kernel computes, so the gate is soft. docs/contract.md lists the rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/compiled.h"
#include "kernel/manifest.h"
#include "verify/gates.h"

namespace kw::verify {

// Every departure, in the order of files and lines: "norm.cu:12: line-length: 131 columns".
std::vector<std::string> style_flaws(const kernel::Manifest& manifest, const device::Sources& files);

Verdict judge_style(const kernel::Manifest& manifest, const device::Sources& files);

// C++ with every comment and string blanked out; lines and columns stay where they are.
std::string code_alone(std::string_view source);

// The names of the parameters that a function is defined with; empty where the code does not define it.
std::vector<std::string> parameter_names(std::string_view code, std::string_view function);

}  // namespace kw::verify
