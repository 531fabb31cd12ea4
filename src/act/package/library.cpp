#include "act/package/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "act/package/file_set.h"
#include "act/package/kernel_tables.h"
#include "act/package/library_cpp.h"
#include "base/format.h"
#include "base/text.h"
#include "profile/yaml.h"

namespace kw::act {
namespace {

using Files = std::map<std::string, std::string>;
using Json = nlohmann::ordered_json;

// The files of CMake's lists.
struct Sources {
  std::vector<std::string> calls, cpu, gpu;
};

Status add_op(const OpForm& form, const Ingredients& kernel, const std::string& library, Files& files,
              Sources& sources) {
  files["include/" + library + "/" + form.name + ".h"] = library_header(form, kernel, library);
  sources.calls.push_back("src/" + form.name + ".cpp");
  KW_TRY(files[sources.calls.back()], library_source(form, kernel, library));
  for (const auto& [target, _] : form.forward().code) {
    const bool cpu = target == kernel::Target::Cpu;
    std::vector<std::string>& list = cpu ? sources.cpu : sources.gpu;
    list.push_back("src/" + form.name + (cpu ? ".cpu.cpp" : ".cuda.cu"));
    KW_TRY(files[list.back()], kernels_by_type(form, target));
  }
  for (const OpPass& pass : form.passes) {
    for (const auto& [target, code] : pass.code) {
      const std::string name(kernel::name_of(target)), base = "src/" + name + "/";
      files[base + code.file] = code.text;
      add_runtime(name, code.text, base, files);
      add_runtime(name, "#include \"kw/element.h\"\n", base, files);
    }
  }
  return {};
}

}  // namespace

Result<Files> library(const std::vector<Ingredients>& kernels, const LibraryOptions& options) {
  const std::string& name = options.name;
  if (!is_identifier(name) || name.find('.') != std::string::npos || name.starts_with("kw"))
    return bad_input(fmt::format("'{}' is no name for a C++ library", name), {},
                     "letters, digits and _, not from kw on, as in my_kernels");
  Files files;
  Sources sources;
  Json record = {{"generator", kGenerator}, {"library", name}, {"kernels", Json::object()}};
  std::vector<std::string> ops;
  for (const Ingredients& kernel : kernels) {
    KW_TRY(OpForm form, op_form(kernel, options.targets));
    form.passes.resize(std::min<std::size_t>(form.passes.size(), 2));  // all gradients, or none
    if (std::find(ops.begin(), ops.end(), form.name) != ops.end())
      return bad_input(fmt::format("two kernels are called {}", form.name), {},
                       fmt::format("kw set {} name.function=...", kernel.profile.name));
    KW_CHECK(add_op(form, kernel, name, files, sources));
    if (ops.empty()) {
      KW_TRY(files["example.cpp"], library_example(form, kernel, name));
    }
    ops.push_back(form.name);
    Json mixtures = Json::array();
    for (const kernel::TypeBinding& mixture : form.mixtures) mixtures.push_back(kernel::text(mixture));
    record["kernels"][form.name] = {{"profile", profile::canonical_hash(kernel.profile)}, {"types", mixtures}};
  }
  std::string option = name;
  for (char& c : option) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::vector<std::string> compiled = sources.calls;
  compiled.insert(compiled.end(), sources.cpu.begin(), sources.cpu.end());
  const std::map<std::string, std::string> values = {
      {"LIBRARY", name},
      {"KERNELS", all_of(ops)},
      {"GENERATOR", kGenerator},
      {"FIRST", ops.front()},
      {"SOURCES", join(compiled, " ")},
      {"CPU_SOURCES", join(sources.cpu, " ")},
      {"GPU_SOURCES", join(sources.gpu, " ")},
      {"HAS_GPU", sources.gpu.empty() ? "OFF" : "ON"},
      {"HAS_CPU", sources.cpu.empty() ? "OFF" : "ON"},
      {"OPTION_GPU", option + "_GPU"},
      {"OPTION_MARCH", option + "_MARCH"},
      {"EXAMPLE_TARGET", name + "_example"},
  };
  files["CMakeLists.txt"] = filled("templates/library/CMakeLists.txt", values);
  files["README.md"] = filled("templates/library/README.md", values);
  files["record.json"] = record.dump(2) + "\n";
  add_all("runtime/host/", "include/kw_host/", files);
  add_all("runtime/library/", "src/kw_library/", files);
  return files;
}

}  // namespace kw::act
