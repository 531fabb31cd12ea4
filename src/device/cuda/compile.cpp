#include "device/cuda/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <regex>
#include <set>

#include "base/embedded.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "device/cuda/contract.h"
#include "device/cuda/cubin.h"
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

// What a compiler made can be used; where not, that is remembered as code without a byte.
using Usable = std::function<bool(const Nvrtc::Compiled&)>;

// A translation unit, from the cache or compiled. Without `usable`, one that does not compile is an error.
Result<CompiledFile> make(const std::string& name, const std::string& text, const Sources& sources,
                          const std::string& architecture, Nvrtc& nvrtc, const Cache& cache,
                          const CompileOptions& options, const Usable& usable) {
  KW_CHECK(check_architecture(architecture, nvrtc));
  Nvrtc::Source source{kUnit, text, with_runtime(sources), options.options, architecture.starts_with("compute_")};
  source.options.push_back("--gpu-architecture=" + architecture);
  CompiledFile file{name, {}, key_of(source, nvrtc.identity()), source.options, "NVRTC " + nvrtc.version(), false, 0};
  const auto compile = [&]() -> Result<std::vector<std::string>> {
    KW_TRY(Nvrtc::Compiled compiled, nvrtc.compile(source, options.patience));
    if (compiled.died) {  // of this source, or because the system wanted its memory: that will show
      KW_TRY(compiled, nvrtc.compile(source, options.patience));
    }
    file.seconds = compiled.seconds;
    if (!compiled.ok && (!usable || compiled.out_of_time || compiled.died))
      return does_not_compile(name, compiled, source, options.patience);
    if (usable && !usable(compiled)) compiled.code.clear();
    return std::vector{compiled.code, to_json(ptxas_reports(compiled.log))};
  };
  KW_TRY(const Cache::MadeSet made, cache.files(file.key, {source.ptx ? ".ptx" : ".cubin", ".json"}, compile));
  KW_TRY(const std::string report, read_file(made.paths[1]));
  KW_TRY(file.reports, reports_from_json(report));
  file.library = made.paths[0];
  file.cached = made.hit;
  return file;
}

bool reports_on(const CompiledFile& file, const std::string& symbol) {
  return std::any_of(file.reports.begin(), file.reports.end(), [&](const auto& r) { return r.symbol == symbol; });
}

// Compiles the kernels of a manifest one by one, as they are asked for, each once.
class KernelCompiler final : public LateCompiler {
 public:
  KernelCompiler(kernel::Manifest manifest, Sources sources, kernel::TypeBinding types, std::string architecture,
                 Nvrtc& nvrtc, Cache cache, CompileOptions options)
      : manifest_(std::move(manifest)),
        sources_(std::move(sources)),
        types_(std::move(types)),
        architecture_(std::move(architecture)),
        nvrtc_(nvrtc),
        cache_(std::move(cache)),
        options_(std::move(options)) {}

  Result<CompiledFile> compile(const kernel::Entry& entry) override {
    if (architecture_.starts_with("compute_") || entries_of(manifest_, entry.file).size() < 2) return whole(entry);
    return once(entry.file + ":" + entry.symbol, [&]() -> Result<CompiledFile> {
      KW_TRY(std::optional<CompiledFile> file, alone(entry));
      if (!file) return whole(entry);
      return *std::move(file);
    });
  }

  double seconds() const override {
    const std::lock_guard lock(mutex_);
    return seconds_;
  }

 private:
  using Made = std::shared_future<Result<CompiledFile>>;

  // Who comes first makes; others wait.
  Result<CompiledFile> once(const std::string& what, const std::function<Result<CompiledFile>()>& build) {
    std::promise<Result<CompiledFile>> promise;
    std::optional<Made> others;
    {
      const std::lock_guard lock(mutex_);
      const auto [at, first] = made_.try_emplace(what);
      if (first)
        at->second = promise.get_future().share();
      else
        others = at->second;
    }
    if (others) return others->get();
    promise.set_value(build());
    const std::lock_guard lock(mutex_);
    return made_.at(what).get();
  }

  Result<CompiledFile> make(const kernel::Entry& entry, const std::string& only, const Usable& usable) {
    KW_TRY(const std::string unit, translation_unit(manifest_, entry.file, types_, only));
    KW_TRY(CompiledFile file, cuda::make(entry.file, unit, sources_, architecture_, nvrtc_, cache_, options_, usable));
    const std::lock_guard lock(mutex_);
    seconds_ += file.seconds;
    return file;
  }

  // Nothing, where it must stay with the others of its file.
  Result<std::optional<CompiledFile>> alone(const kernel::Entry& entry) {
    KW_TRY(CompiledFile file, make(entry, entry.symbol, [](const Nvrtc::Compiled& compiled) {
             return compiled.ok && !has_variables(compiled.code);
           }));
    KW_TRY(const std::string code, read_file(file.library));
    if (code.empty() || !reports_on(file, entry.symbol)) return std::nullopt;
    file.symbol = entry.symbol;
    return std::optional(std::move(file));
  }

  Result<CompiledFile> whole(const kernel::Entry& entry) {
    KW_TRY(CompiledFile file, once(entry.file, [&] { return make(entry, {}, {}); }));
    if (!architecture_.starts_with("compute_") && !reports_on(file, entry.symbol))
      return fail(ErrorKind::GateFailed, fmt::format("{} holds no kernel {}", entry.file, entry.symbol),
                  fmt::format("declare it extern \"C\" __global__ void {}(...)", entry.symbol));
    return file;
  }

  const kernel::Manifest manifest_;
  const Sources sources_;
  const kernel::TypeBinding types_;
  const std::string architecture_;
  Nvrtc& nvrtc_;
  const Cache cache_;
  const CompileOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, Made> made_;
  double seconds_ = 0;
};

}  // namespace

const std::vector<std::string>& kernel_options() {
  static const std::vector<std::string> kOptions = {
      "--std=c++20",
      "--fmad=true",  // a*b + c may be rounded once, as in PyTorch's own kernels: the bound knows it
      "--generate-line-info", "--ptxas-options=-v",
      "--no-source-include",  // nothing but what is given here
  };
  return kOptions;
}

Result<CompiledFile> compile_text(const std::string& name, const std::string& text, const Sources& sources,
                                  const std::string& architecture, Nvrtc& nvrtc, const Cache& cache,
                                  const CompileOptions& options) {
  return make(name, text, sources, architecture, nvrtc, cache, options, {});
}

Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources, const kernel::TypeBinding& types,
                            const std::string& architecture, Nvrtc& nvrtc, const Cache& cache,
                            const CompileOptions& options) {
  KW_TRY(const CompiledSet later, compile_when_called(manifest, sources, types, architecture, nvrtc, cache, options));
  std::vector<const kernel::Entry*> entries;
  for (const std::string& name : manifest.files())
    for (const kernel::Entry* entry : entries_of(manifest, name)) entries.push_back(entry);
  KW_TRY(std::vector<CompiledFile> files, later.find(entries));
  CompiledSet set{types, {}, CallStyle::Launch, architecture};
  std::set<std::string> keys;  // kernels that stay together are named together
  for (CompiledFile& file : files)
    if (keys.insert(file.key).second) set.files.push_back(std::move(file));
  return set;
}

Result<CompiledSet> compile_when_called(const kernel::Manifest& manifest, const Sources& sources,
                                        const kernel::TypeBinding& types, const std::string& architecture, Nvrtc& nvrtc,
                                        const Cache& cache, const CompileOptions& options) {
  KW_ASSERT(manifest.target == kernel::Target::Cuda, "another target has another compiler");
  KW_CHECK(check_sources(sources));
  KW_CHECK(check_architecture(architecture, nvrtc));
  for (const std::string& name : manifest.files()) {
    if (!sources.contains(name)) return bad_input(fmt::format("the manifest names {}, which is not there", name));
    KW_CHECK(translation_unit(manifest, name, types));
  }
  return CompiledSet{types,
                     {},
                     CallStyle::Launch,
                     architecture,
                     std::make_shared<KernelCompiler>(manifest, sources, types, architecture, nvrtc, cache, options)};
}

}  // namespace kw::device::cuda
