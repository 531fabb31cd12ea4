#include "device/cuda/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "base/embedded.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "device/cuda/contract.h"
#include "device/cuda/ptxas_report.h"

namespace kw::device::cuda {
namespace {

constexpr std::string_view kRuntime = "runtime/cuda/";
constexpr std::size_t kLongestReport = 4000;
const char* const kUnit = "kw_contract.cu";

// What can be included: runtime headers as "kw/NAME.h", and as "NAME.h" by each other, since NVRTC knows no folders.
std::map<std::string, std::string> with_runtime(const Sources& sources) {
  std::map<std::string, std::string> headers = sources;
  for (const embedded::File& file : embedded::all()) {
    if (!file.path.starts_with(kRuntime)) continue;
    const std::string name(file.path.substr(kRuntime.size()));
    headers["kw/" + name] = file.content;
    headers.emplace(name, fmt::format("#include \"kw/{}\"\n", name));
  }
  return headers;
}

std::string key_of(const Nvrtc::Source& source, const std::string& compiler) {
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(std::to_string(text.size()) + ":");
    hash.add(text);
  };
  add("cuda kernel 1");
  add(compiler);
  for (const std::string& option : source.options) add(option);  // the architecture among them
  add(source.name);
  add(source.text);
  for (const auto& [path, text] : source.headers) {
    add(path);
    add(text);
  }
  return hash.hex();
}

// The first complaint of the log: "norm.cu(12): error: identifier "eps" is undefined".
std::optional<Place> first_place(const std::string& log) {
  static const std::regex kComplaint(R"(^([^\s(][^(]*)\((\d+)\): (?:catastrophic )?error)");
  for (const std::string& line : split_lines(log)) {
    std::smatch match;
    if (std::regex_search(line, match, kComplaint)) return Place{match[1], std::stoi(match[2]), 0, 0};
  }
  return std::nullopt;
}

Failure does_not_compile(const std::string& name, const Nvrtc::Compiled& compiled, const Nvrtc::Source& source,
                         std::chrono::seconds patience) {
  if (compiled.out_of_time)
    return fail(ErrorKind::GateFailed, fmt::format("{} does not compile within {} s", name, patience.count()));
  std::string report(trim(compiled.log));
  if (report.size() > kLongestReport) report = report.substr(0, kLongestReport) + "\n...";
  Error error{ErrorKind::GateFailed, fmt::format("{} does not compile:\n{}", name, report), {}, {}, {}};
  error.place = first_place(compiled.log);
  if (!error.place) return Failure(std::move(error));
  const auto header = source.headers.find(error.place->file);
  return Failure(with_source(std::move(error), header == source.headers.end() ? source.text : header->second));
}

Status check_sources(const Sources& sources) {
  // NVRTC would open it; the result would then depend on more than its key says.
  static const std::regex kAbsolute(R"((^|\n)[ \t]*#[ \t]*include[ \t]*[<"](/[^>"\n]*))");
  for (const auto& [path, text] : sources) {
    std::smatch include;
    if (std::regex_search(text, include, kAbsolute))
      return bad_input(fmt::format("{} includes {}, which is not among the kernel's files", path, include[2].str()));
    const std::vector<std::string> parts = split(path, '/');
    const bool inside = !path.empty() && path[0] != '/' && std::none_of(parts.begin(), parts.end(), [](const auto& p) {
      return p.empty() || p == "." || p == "..";
    });
    if (!inside || path == kUnit || path.starts_with("kw/"))
      return bad_input(fmt::format("'{}' is no name for a kernel's file", path));
  }
  return {};
}

// NVRTC can compile for it, as far as it says.
Status check_architecture(const std::string& architecture, const Nvrtc& nvrtc) {
  static const std::regex kForm(R"((sm|compute)_(\d{2,3})[af]?)");
  std::smatch match;
  if (!std::regex_match(architecture, match, kForm))
    return bad_input(fmt::format("'{}' is no architecture", architecture), {},
                     "sm_80, sm_90, sm_100, ... or compute_80");
  const std::vector<int>& known = nvrtc.architectures();
  if (known.empty() || std::find(known.begin(), known.end(), std::stoi(match[2])) != known.end()) return {};
  std::vector<std::string> names;
  for (const int one : known) names.push_back("sm_" + std::to_string(one));
  return missing_tool(fmt::format("NVRTC {} does not know {}", nvrtc.version(), architecture),
                      "it knows " + join(names, ", "));
}

}  // namespace

const std::vector<std::string>& kernel_options() {
  static const std::vector<std::string> kOptions = {
      "--std=c++20",
      "--fmad=false",  // a*b + c is rounded twice, as it is written; fma() is there for who wants it
      "--generate-line-info", "--ptxas-options=-v",
      "--no-source-include",  // nothing but what is given here
  };
  return kOptions;
}

Result<CompiledFile> compile_text(const std::string& name, const std::string& text, const Sources& sources,
                                  const std::string& architecture, Nvrtc& nvrtc, const Cache& cache,
                                  const CompileOptions& options) {
  KW_CHECK(check_architecture(architecture, nvrtc));
  Nvrtc::Source source{kUnit, text, with_runtime(sources), options.options, architecture.starts_with("compute_")};
  source.options.push_back("--gpu-architecture=" + architecture);
  CompiledFile file{name, {}, key_of(source, nvrtc.identity()), source.options, "NVRTC " + nvrtc.version(), false, 0};
  std::optional<Nvrtc::Compiled> compiled;  // once for the code and its report
  const auto compile_once = [&]() -> Status {
    if (compiled) return {};
    KW_TRY(compiled, nvrtc.compile(source, options.patience));
    file.seconds = compiled->seconds;
    if (!compiled->ok) return does_not_compile(name, *compiled, source, options.patience);
    return {};
  };
  KW_TRY(const Cache::Made code, cache.file(file.key, source.ptx ? ".ptx" : ".cubin", [&]() -> Result<std::string> {
    KW_CHECK(compile_once());
    return compiled->code;
  }));
  KW_TRY(const Cache::Made report, cache.file(file.key, ".json", [&]() -> Result<std::string> {
    KW_CHECK(compile_once());
    return to_json(ptxas_reports(compiled->log));
  }));
  KW_TRY(const std::string stored, read_file(report.path));
  KW_TRY(file.reports, reports_from_json(stored));
  file.library = code.path;
  file.cached = !compiled;
  return file;
}

Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources, const kernel::TypeBinding& types,
                            const std::string& architecture, Nvrtc& nvrtc, const Cache& cache,
                            const CompileOptions& options) {
  KW_ASSERT(manifest.target == kernel::Target::Cuda, "another target has another compiler");
  KW_CHECK(check_sources(sources));
  CompiledSet set{types, {}, CallStyle::Launch, architecture};
  for (const std::string& name : manifest.files()) {
    if (!sources.contains(name)) return bad_input(fmt::format("the manifest names {}, which is not there", name));
    KW_TRY(const std::string unit, translation_unit(manifest, name, types));
    KW_TRY(CompiledFile file, compile_text(name, unit, sources, architecture, nvrtc, cache, options));
    for (const kernel::Pass& pass : manifest.passes) {
      for (const kernel::Step& step : pass.steps) {
        for (const kernel::Entry& entry : step.entries) {
          if (entry.file != name || architecture.starts_with("compute_")) continue;
          const auto same = [&](const KernelReport& report) { return report.symbol == entry.symbol; };
          if (std::none_of(file.reports.begin(), file.reports.end(), same))
            return fail(ErrorKind::GateFailed, fmt::format("{} holds no kernel {}", name, entry.symbol),
                        fmt::format("declare it extern \"C\" __global__ void {}(...)", entry.symbol));
        }
      }
    }
    set.files.push_back(std::move(file));
  }
  return set;
}

}  // namespace kw::device::cuda
