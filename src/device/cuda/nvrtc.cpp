#include "device/cuda/nvrtc.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <thread>

#include "base/embedded.h"
#include "base/subprocess.h"
#include "device/cuda/nvrtc_main.h"

namespace kw::device::cuda {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kPatience{60};

void add_matches(const std::string& pattern, std::vector<std::string>& to) {
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) to.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
}

// Of a Python environment: PyTorch's packages, and NVRTC's own.
void add_environment(const std::string& folder, std::vector<std::string>& to) {
  for (const char* package : {"cu13", "cuda_nvrtc", "cu12"})
    add_matches(folder + "/lib/python3*/site-packages/nvidia/" + package + "/lib/libnvrtc.so.*", to);
}

// From whichever Python comes first in PATH; asked last, because starting it takes longest.
std::vector<std::string> python_candidates() {
  const auto python = find_program("python3");
  if (!python) return {};
  Command command;
  command.argv = {*python, "-c", std::string(embedded::file("python/kernelwright/probe.py"))};
  command.timeout = kPatience;
  const auto finished = run(command);
  if (!finished || !finished->ok()) return {};
  const json report = json::parse(finished->output, nullptr, false);
  return report.is_object() ? report.value("nvrtc", std::vector<std::string>{}) : std::vector<std::string>{};
}

// An anonymous file that travels to the compiler's process and holds the code afterwards.
class CodeFile {
 public:
  CodeFile() : descriptor_(::memfd_create("kw-code", MFD_CLOEXEC)) {}
  CodeFile(const CodeFile&) = delete;
  CodeFile& operator=(const CodeFile&) = delete;
  ~CodeFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }
  std::string content() const {
    std::string bytes(static_cast<std::size_t>(std::max<off_t>(::lseek(descriptor_, 0, SEEK_END), 0)), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (count <= 0) return {};
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

 private:
  int descriptor_;
};

}  // namespace

std::vector<std::string> nvrtc_candidates() {
  std::vector<std::string> found = {"libnvrtc.so.13", "libnvrtc.so.12"};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})  // as the toolkit's own documentation has them
    if (const char* home = std::getenv(name)) add_matches(std::string(home) + "/lib64/libnvrtc.so", found);
  add_matches("/usr/local/cuda/lib64/libnvrtc.so", found);
  add_matches("/usr/local/cuda-*/lib64/libnvrtc.so", found);
  if (const char* active = std::getenv("VIRTUAL_ENV")) add_environment(active, found);
  std::error_code ignored;
  add_environment(std::filesystem::absolute(".venv", ignored).string(), found);
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) add_environment((binary.parent_path().parent_path() / ".venv").string(), found);
  return found;
}

// The processes, and what each needs to know before it can compile.
struct Nvrtc::Pool {
  std::string program;
  std::vector<std::string> candidates;
  std::mutex mutex;
  std::vector<Child> idle;
  std::counting_semaphore<> cores{std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};

  Result<Child> take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        Child child = std::move(idle.back());
        idle.pop_back();
        return child;
      }
    }
    json ignored;
    return start(ignored);
  }
  void give(Child child) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(child));
  }
  Result<Child> start(json& identity) const {
    Command command;
    command.argv = {program, kNvrtcCommand};
    // NVRTC has a cache of its own, beside the driver's; what comes out of it comes without the assembler's report.
    command.environment = {{"CUDA_CACHE_DISABLE", "1"}};
    KW_TRY(Child child, Child::start(command));
    KW_CHECK(child.write_line(json{{"candidates", candidates}}.dump()));
    KW_TRY(const std::string line, child.read_line(kPatience));
    identity = json::parse(line, nullptr, false);
    if (!identity.is_object()) return fail(ErrorKind::Internal, "the CUDA compiler's process answers nonsense");
    return child;
  }
};

Nvrtc::Nvrtc() : pool_(std::make_unique<Pool>()) {}
Nvrtc::~Nvrtc() = default;

Result<std::unique_ptr<Nvrtc>> Nvrtc::open(const std::string& wanted, const std::string& program) {
  std::unique_ptr<Nvrtc> nvrtc(new Nvrtc());
  Pool& pool = *nvrtc->pool_;
  pool.program = program;
  pool.candidates = wanted.empty() ? nvrtc_candidates() : std::vector<std::string>{wanted};
  json identity;
  KW_TRY(Child child, pool.start(identity));
  if (identity.contains("error") && wanted.empty()) {
    pool.candidates = python_candidates();
    KW_TRY(child, pool.start(identity));
  }
  if (identity.contains("error"))
    return missing_tool(wanted.empty() ? "NVRTC, which compiles CUDA, is not there" : wanted + " is no NVRTC",
                        "pip install nvidia-cuda-nvrtc");
  pool.give(std::move(child));
  nvrtc->path_ = identity.at("path");
  nvrtc->version_ = fmt::format("{}.{}", identity.at("major").get<int>(), identity.at("minor").get<int>());
  nvrtc->identity_ = fmt::format("NVRTC {}, {} bytes", nvrtc->version_, identity.at("bytes").get<std::int64_t>());
  nvrtc->architectures_ = identity.at("architectures").get<std::vector<int>>();
  pool.candidates = {nvrtc->path_};
  return nvrtc;
}

Result<Nvrtc::Compiled> Nvrtc::compile(const Source& source, std::chrono::milliseconds patience) {
  const CodeFile code;
  if (code.descriptor() < 0) return fail(ErrorKind::MissingTool, "the system gives no anonymous file");
  const json request = {{"name", source.name},       {"text", source.text}, {"headers", source.headers},
                        {"options", source.options}, {"ptx", source.ptx},   {"seconds", patience.count() / 1000 + 10}};
  pool_->cores.acquire();
  const std::shared_ptr<void> turn(nullptr, [this](void*) { pool_->cores.release(); });
  KW_TRY(Child child, pool_->take());
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  const int descriptors[] = {code.descriptor()};
  KW_CHECK(child.write_line(request.dump(-1, ' ', false, json::error_handler_t::replace), descriptors));
  const auto line = child.read_line(patience);
  compiled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!line) {  // its process has ended
    compiled.out_of_time = child.end().timed_out;
    compiled.died = !compiled.out_of_time;
    compiled.log = line.error().message;
    return compiled;
  }
  const json answer = json::parse(*line, nullptr, false);
  if (!answer.is_object()) return fail(ErrorKind::Internal, "the CUDA compiler's process answers nonsense");
  const std::string result = answer.value("result", "");
  compiled.ok = result.empty();
  compiled.log = answer.value("log", "");
  if (!compiled.ok && compiled.log.empty()) compiled.log = result;
  if (compiled.ok) compiled.code = code.content();
  pool_->give(std::move(child));
  return compiled;
}

}  // namespace kw::device::cuda
