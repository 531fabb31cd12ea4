#include "device/cpu/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "device/cpu/shim.h"

namespace kw::device::cpu {
namespace {

constexpr std::size_t kLongestReport = 4000;
const char* const kShimFile = "kw_shim.cpp";
const char* const kLibrary = "kernel.so";

// What the compiler reads: path → text. Runtime headers are found as "kw/NAME.h". A file that no other one names is not
// there for the others: a change of one kernel's file compiles that one alone.
Sources inputs(const std::string& file, const Sources& sources, const std::string& shim,
               const std::vector<std::string>& runtime) {
  Sources all;
  for (const auto& [path, text] : sources) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool named = std::any_of(sources.begin(), sources.end(), [&](const auto& other) {
      return other.first != path && other.second.find(name) != std::string::npos;
    });
    if (path == file || named) all[path] = text;
  }
  for (const std::string& folder : runtime)
    for (const embedded::File& file : embedded::all())
      if (file.path.starts_with(folder)) all["kw/" + std::string(file.path.substr(folder.size()))] = file.content;
  all[kShimFile] = shim;
  return all;
}

std::string key_of(const Sources& inputs, const Compiler& compiler, const std::vector<std::string>& flags) {
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(std::to_string(text.size()) + ":");
    hash.add(text);
  };
  add("cpu kernel 1");
  add(compiler.path);
  add(compiler.version);
  add(compiler.machine);
  for (const std::string& flag : flags) add(flag);
  for (const auto& [path, text] : inputs) {
    add(path);
    add(text);
  }
  return hash.hex();
}

bool stays_inside(const std::string& path) {
  if (path.empty() || path[0] == '/') return false;
  const std::vector<std::string> parts = split(path, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](const std::string& p) { return p.empty() || p == "." || p == ".."; });
}

Result<std::string> run_compiler(const std::string& file, const Sources& inputs, const Compiler& compiler,
                                 const CompileOptions& options, double& seconds) {
  KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
  for (const auto& [path, text] : inputs) KW_CHECK(write_file_atomically(folder.path() + "/" + path, text));
  Command command;
  command.argv = {compiler.path};
  const bool clang = compiler.version.find("clang") != std::string::npos;
  for (const std::string& flag : options.flags)
    if (!clang || flag != kOfGccAlone) command.argv.push_back(flag);
  for (const char* word : {"-I", ".", kShimFile, "-o", kLibrary}) command.argv.emplace_back(word);
  command.directory = folder.path();  // so that messages name files as the manifest does
  command.environment = {{"LC_ALL", "C"}};
  command.timeout = options.patience;
  KW_TRY(const Finished finished, run(command));
  seconds = finished.seconds;
  if (finished.timed_out)
    return fail(ErrorKind::GateFailed, fmt::format("{} does not compile within {} s", file, options.patience.count()));
  if (!finished.ok()) {
    std::string report(trim(finished.errors));
    if (report.size() > kLongestReport) report = report.substr(0, kLongestReport) + "\n...";
    return fail(ErrorKind::GateFailed, fmt::format("{} does not compile:\n{}", file, report));
  }
  return read_file(folder.path() + "/" + kLibrary);
}

}  // namespace

Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources, const kernel::TypeBinding& types,
                            const Compiler& compiler, const Cache& cache, const CompileOptions& options) {
  for (const auto& [path, text] : sources)
    if (!stays_inside(path) || path == kShimFile || path.starts_with("kw/"))
      return bad_input(fmt::format("'{}' is no name for a kernel's file", path));
  CompiledSet set{types, {}, CallStyle::Shim, "native"};
  for (const std::string& file : manifest.files()) {
    if (!sources.contains(file)) return bad_input(fmt::format("the manifest names {}, which is not there", file));
    KW_TRY(const std::string shim, shim_source(manifest, file, types));
    const std::string after = options.after ? options.after(sources.at(file)) : std::string();
    const Sources all = inputs(file, sources, shim + after, options.runtime);
    CompiledFile compiled{file, {}, key_of(all, compiler, options.flags), options.flags, compiler.version, false, 0};
    KW_TRY(const Cache::Made made, cache.file(compiled.key, ".so", [&] {
      return run_compiler(file, all, compiler, options, compiled.seconds);
    }));
    compiled.library = made.path;
    compiled.cached = made.hit;
    set.files.push_back(std::move(compiled));
  }
  return set;
}

}  // namespace kw::device::cpu
