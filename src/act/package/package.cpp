#include "act/package/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "act/package/call_text.h"
#include "act/package/file_set.h"
#include "act/package/kernel_tables.h"
#include "act/package/op_cpp.h"
#include "act/package/op_python.h"
#include "base/embedded.h"
#include "base/format.h"
#include "base/text.h"
#include "profile/yaml.h"

namespace kw::act {
namespace {

using Json = nlohmann::ordered_json;
using Files = std::map<std::string, std::string>;

constexpr const char* kTested = ">=2.11,<2.14";  // PyTorch versions that the tests of this generator ran on

std::string dump(const Json& json) { return json.dump(2) + "\n"; }

Status add_op(const OpForm& form, const Ingredients& kernel, const std::string& folder, Files& files, Json& build) {
  KW_TRY(files["csrc/" + form.name + ".cpp"], op_cpp(form));
  KW_TRY(files[folder + form.name + ".py"], op_python(form, kernel));
  files[folder + "reference/" + form.name + ".py"] = kernel.reference;
  if (has_source_module(kernel)) files[folder + "source/" + form.name + ".py"] = kernel.source;
  Json op = {{"name", form.name}, {"file", form.name + ".cpp"}, {"kernels", nullptr}, {"images", Json::array()}};
  if (form.forward().code.contains(kernel::Target::Cpu)) {
    op["kernels"] = form.name + ".cpu.cpp";
    KW_TRY(files["csrc/" + form.name + ".cpu.cpp"], kernels_by_type(form, kernel::Target::Cpu));
  }
  for (const OpPass& pass : form.passes) {
    for (const auto& [target, code] : pass.code) {
      const std::string base = "csrc/" + std::string(kernel::name_of(target)) + "/";
      files[base + code.file] = code.text;
      add_runtime(std::string(kernel::name_of(target)), code.text, base, files);
      if (target != kernel::Target::Cuda) continue;
      Json mixtures = Json::array();
      for (const kernel::TypeBinding& mixture : form.mixtures) {
        KW_TRY(const auto macros, type_macros(mixture));
        mixtures.push_back(macros);
      }
      op["images"].push_back({{"name", images_name(form, pass)}, {"file", code.file}, {"mixtures", mixtures}});
    }
  }
  build["ops"].push_back(op);
  return {};
}

}  // namespace

Result<std::string> set_directory(const std::string& into, const std::string& set) {
  std::string directory = into.starts_with(set + ":") ? into.substr(set.size() + 1) : "";
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  if (directory.empty())
    return bad_input(fmt::format("'{}' is no place for a file set", into), {},
                     "package:DIR or cpp:DIR, as in package:my_kernels");
  return directory;
}

std::string package_name(const std::string& directory) {
  return replace_all(directory.substr(directory.find_last_of('/') + 1), "-", "_");
}

Result<Files> package(const std::vector<Ingredients>& kernels, const PackageOptions& options) {
  if (!is_identifier(options.name) || options.name.find('.') != std::string::npos)
    return bad_input(fmt::format("'{}' is no name for a Python package", options.name), {},
                     "letters, digits and _, as in my_kernels");
  const std::string folder = options.name + "/";
  Files files;
  Json build = {{"package", options.name},
                {"library", "_ops.so"},
                {"gradients", false},
                {"architectures", options.architectures},
                {"ops", Json::array()}};
  Json record = {{"generator", kGenerator}, {"torch", kTested}, {"kernels", Json::object()}};
  std::vector<std::string> imports, exports, ops;
  std::set<std::string> names, modules;
  for (const Ingredients& kernel : kernels) {
    KW_TRY(const OpForm form, op_form(kernel, options.targets));
    if (!names.insert(form.name).second)
      return bad_input(fmt::format("two kernels are called {}", form.name), {},
                       fmt::format("kw set {} name.function=...", kernel.profile.name));
    if (!modules.insert(form.module).second)
      return bad_input(fmt::format("two kernels have a module {}, the second is {}", form.module, form.name), {},
                       fmt::format("kw set {} name.module=...", kernel.profile.name));
    KW_CHECK(add_op(form, kernel, folder, files, build));
    if (form.backward() != nullptr) build["gradients"] = true;
    KW_TRY(const TestShapes shapes, test_shapes(form, kernel.profile));
    files["tests/test_" + form.name + ".py"] =
        filled("templates/package/test_op.py",
               {{"PACKAGE", options.name}, {"OP", form.name}, {"SHAPES", shapes.some}, {"EMPTY", shapes.none}});
    imports.push_back(fmt::format("from .{0} import {1}, {0}", form.name, form.module));
    exports.push_back(form.module);
    exports.push_back(form.name);
    ops.push_back(form.name);
    Json targets = Json::array(), mixtures = Json::array();
    for (const auto& [target, _] : form.forward().code) targets.push_back(kernel::name_of(target));
    for (const kernel::TypeBinding& mixture : form.mixtures) mixtures.push_back(kernel::text(mixture));
    record["kernels"][form.name] = {
        {"profile", profile::canonical_hash(kernel.profile)}, {"targets", targets}, {"types", mixtures}};
  }
  std::sort(exports.begin(), exports.end());
  std::vector<std::string> quoted;
  for (const std::string& name : exports) quoted.push_back("    \"" + name + "\",");
  const std::map<std::string, std::string> values = {
      {"PACKAGE", options.name},
      {"PROJECT", replace_all(options.name, "_", "-")},
      {"GENERATOR", kGenerator},
      {"TORCH", kTested},
      {"KERNELS", all_of(ops)},
      {"FIRST", ops.front()},
      {"OPS", "\"" + join(ops, "\", \"") + "\"" + (ops.size() == 1 ? "," : "")},
      {"IMPORTS", join(imports, "\n")},
      {"EXPORTS", join(quoted, "\n")},
  };
  files["pyproject.toml"] = filled("templates/package/pyproject.toml", values);
  files["README.md"] = filled("templates/package/README.md", values);
  files["benchmark.py"] = filled("templates/package/benchmark.py", values);
  files["tests/gates.py"] = std::string(embedded::file("python/kernelwright/gates.py"));
  files[folder + "__init__.py"] = filled("templates/package/package.py", values);
  files[folder + "_library.py"] = filled("templates/package/library.py", values);
  files[folder + "_op.py"] = std::string(embedded::file("python/kernelwright/op.py"));
  files["build_backend.py"] = std::string(embedded::file("python/kernelwright/build_backend.py"));
  files["csrc/build.json"] = dump(build);
  files[folder + "record.json"] = dump(record);
  add_all("runtime/host/", "csrc/torch/kw_host/", files);
  add_all("runtime/torch/", "csrc/torch/kw_torch/", files);
  return files;
}

}  // namespace kw::act
