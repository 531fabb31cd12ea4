#include "device/cuda/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace kw::device::cuda {
namespace {

using kernel::Argument;
using kernel::DType;
using kernel::Entry;
using kernel::Pass;

// Whole numbers of equal width and sign are one type to a caller, however the kernel spells them.
constexpr std::string_view kFits = R"(
namespace kw_contract {
template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;
template <class A> constexpr bool whole = same<A, signed char> || same<A, unsigned char> || same<A, short> ||
    same<A, unsigned short> || same<A, int> || same<A, unsigned> || same<A, long> || same<A, unsigned long> ||
    same<A, long long> || same<A, unsigned long long>;
template <class A, class B, bool = whole<A> && whole<B>> constexpr bool value_fits = same<A, B>;
template <class A, class B> constexpr bool value_fits<A, B, true> =
    sizeof(A) == sizeof(B) && (A(-1) < A(0)) == (B(-1) < B(0));
template <class A, class B> constexpr bool value_fits<A*, B*, false> = value_fits<A, B>;
template <class A, class B> constexpr bool value_fits<const A, const B, false> = value_fits<A, B>;
template <class... A> struct List;
template <class A, class B> constexpr bool lists_fit = same<A, B>;
template <class A, class... As, class B, class... Bs> constexpr bool lists_fit<List<A, As...>, List<B, Bs...>> =
    value_fits<A, B> && lists_fit<List<As...>, List<Bs...>>;
template <class A, class B> constexpr bool fits = false;
template <class... A, class... B> constexpr bool fits<void (*)(A...), void (*)(B...)> = lists_fit<List<A...>, List<B...>>;
}  // namespace kw_contract
)";

Result<std::string> parameter_type(const Pass& pass, const Argument& argument, const kernel::TypeBinding& types) {
  if (kernel::is_pointer(argument.kind)) {
    KW_TRY(const DType dtype, kernel::dtype_of(pass.find(argument.of)->type, types));
    KW_TRY(const std::string element, cuda_type(dtype));
    return (argument.kind == Argument::Kind::Read ? "const " : "") + element + "*";
  }
  if (argument.kind == Argument::Kind::Scalar) {
    KW_TRY(const DType dtype, kernel::dtype_of(argument.type, types));
    return cuda_type(dtype);
  }
  return cuda_type(argument.type == "i32" ? DType::I32 : DType::I64);
}

}  // namespace

Result<std::string> cuda_type(DType dtype) {
  static constexpr std::array<std::pair<DType, std::string_view>, 12> kNames = {{{DType::Bool, "bool"},
                                                                                 {DType::U8, "unsigned char"},
                                                                                 {DType::I8, "signed char"},
                                                                                 {DType::I16, "short"},
                                                                                 {DType::I32, "int"},
                                                                                 {DType::I64, "long long"},
                                                                                 {DType::F8E4M3, "kw::f8e4m3"},
                                                                                 {DType::F8E5M2, "kw::f8e5m2"},
                                                                                 {DType::BF16, "kw::bf16"},
                                                                                 {DType::F16, "kw::f16"},
                                                                                 {DType::F32, "float"},
                                                                                 {DType::F64, "double"}}};
  for (const auto& [row, name] : kNames)
    if (row == dtype) return std::string(name);
  return bad_input(fmt::format("cuda kernels have no element type {}", ir::info(dtype).name));
}

std::vector<const Entry*> entries_of(const kernel::Manifest& manifest, const std::string& file) {
  std::vector<const Entry*> entries;
  std::set<std::string> seen;
  for (const Pass& pass : manifest.passes)
    for (const kernel::Step& step : pass.steps)
      for (const Entry& entry : step.entries)
        if (entry.file == file && seen.insert(entry.symbol).second) entries.push_back(&entry);
  return entries;
}

Result<std::string> translation_unit(const kernel::Manifest& manifest, const std::string& file,
                                     const kernel::TypeBinding& types, const std::string& only) {
  std::string text =
      fmt::format("// How the manifest of {} calls {}.\n#include \"kw/element.h\"\n", manifest.name, file);
  for (const auto& [name, dtypes] : manifest.types) {
    const auto bound = types.find(name);
    if (bound == types.end()) return bad_input(fmt::format("the type parameter {} has no dtype", name));
    const std::string dtype(ir::info(bound->second).name);
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end())
      return bad_input(fmt::format("{} may not be {}", name, dtype), {}, "its dtypes: " + join(dtypes, ", "));
    KW_TRY(const std::string type, cuda_type(bound->second));
    text += fmt::format("#define KW_{} {}\n", name, type);
  }
  for (const Entry* entry : entries_of(manifest, file))
    if (!only.empty() && entry->symbol != only)
      text +=
          fmt::format("#define {0}(...) {0}(__VA_ARGS__); template <int> __device__ void kw_unused_{0}(__VA_ARGS__)\n",
                      entry->symbol);
  text += fmt::format("#include \"{}\"\n", file);
  text += kFits;
  std::set<std::string> said;
  for (const Pass& pass : manifest.passes) {
    for (const kernel::Step& step : pass.steps) {
      for (const Entry& entry : step.entries) {
        if (entry.file != file || (!only.empty() && entry.symbol != only)) continue;
        std::vector<std::string> parameters;
        for (const Argument& argument : entry.arguments) {
          if (argument.kind == Argument::Kind::Constant)
            return bad_input(fmt::format("{} has a constant argument, which only triton kernels have", entry.symbol));
          KW_TRY(std::string type, parameter_type(pass, argument, types));
          parameters.push_back(std::move(type));
        }
        const std::string signature = "(" + join(parameters, ", ") + ")";
        const std::string line = fmt::format(
            "static_assert(kw_contract::fits<decltype(&::{0}), void (*){1}>,\n"
            "              \"the manifest calls {0}{1}, and the kernel has other parameters\");\n",
            entry.symbol, signature);
        if (said.insert(line).second) text += line;
      }
    }
  }
  return text;
}

}  // namespace kw::device::cuda
