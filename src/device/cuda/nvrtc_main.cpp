#include "device/cuda/nvrtc_main.h"

#include <glob.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device/channel.h"
#include "device/library.h"

namespace kw::device::cuda {
namespace {

using nlohmann::json;

// The part of nvrtc.h that is used here.
using NvrtcProgram = struct NvrtcProgramData*;
using Version = int(int* major, int* minor);
using CreateProgram = int(NvrtcProgram* program, const char* text, const char* name, int count,
                          const char* const* headers, const char* const* names);
using CompileProgram = int(NvrtcProgram program, int count, const char* const* options);
using GetSize = int(NvrtcProgram program, std::size_t* size);
using GetText = int(NvrtcProgram program, char* text);
using DestroyProgram = int(NvrtcProgram* program);
using GetErrorString = const char*(int result);
using GetNumSupportedArchs = int(int* count);
using GetSupportedArchs = int(int* architectures);

// NVRTC looks for its builtins by name alone, and finds them if they are loaded.
void load_builtins(const std::string& library) {
  const std::size_t slash = library.rfind('/');
  if (slash == std::string::npos) return;
  glob_t found{};
  if (::glob((library.substr(0, slash) + "/libnvrtc-builtins.so*").c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) Library(found.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL);
  ::globfree(&found);
}

class Compiler {
 public:
  // Whether this file is an NVRTC that works.
  bool open(const std::string& name) {
    library_ = Library(name);
    if (!library_) return false;
    version_ = library_.find<Version>("nvrtcVersion");
    create_ = library_.find<CreateProgram>("nvrtcCreateProgram");
    compile_ = library_.find<CompileProgram>("nvrtcCompileProgram");
    log_size_ = library_.find<GetSize>("nvrtcGetProgramLogSize");
    log_ = library_.find<GetText>("nvrtcGetProgramLog");
    cubin_size_ = library_.find<GetSize>("nvrtcGetCUBINSize");
    cubin_ = library_.find<GetText>("nvrtcGetCUBIN");
    ptx_size_ = library_.find<GetSize>("nvrtcGetPTXSize");
    ptx_ = library_.find<GetText>("nvrtcGetPTX");
    destroy_ = library_.find<DestroyProgram>("nvrtcDestroyProgram");
    error_ = library_.find<GetErrorString>("nvrtcGetErrorString");
    if (!version_ || !create_ || !compile_ || !log_size_ || !log_ || !cubin_size_ || !cubin_ || !ptx_size_ || !ptx_ ||
        !destroy_ || !error_ || version_(&major_, &minor_) != 0)
      return false;
    load_builtins(library_.path());
    return true;
  }

  json identity() const {
    struct stat status {};
    json architectures = json::array();
    auto* count_of = library_.find<GetNumSupportedArchs>("nvrtcGetNumSupportedArchs");
    auto* list = library_.find<GetSupportedArchs>("nvrtcGetSupportedArchs");
    int count = 0;
    if (count_of && list && count_of(&count) == 0 && count > 0) {
      std::vector<int> found(static_cast<std::size_t>(count));
      if (list(found.data()) == 0) architectures = found;
    }
    return {{"path", library_.path()},
            {"major", major_},
            {"minor", minor_},
            {"bytes", ::stat(library_.path().c_str(), &status) == 0 ? status.st_size : 0},
            {"architectures", architectures}};
  }

  // The code goes to `descriptor`.
  json compile(const json& request, int descriptor) const {
    const auto text = request.at("text").get<std::string>(), name = request.at("name").get<std::string>();
    const auto headers = request.at("headers").get<std::map<std::string, std::string>>();
    const auto options = request.at("options").get<std::vector<std::string>>();
    std::vector<const char*> contents, names, words;
    for (const auto& [path, content] : headers) {
      names.push_back(path.c_str());
      contents.push_back(content.c_str());
    }
    for (const std::string& option : options) words.push_back(option.c_str());
    NvrtcProgram program = nullptr;
    int result =
        create_(&program, text.c_str(), name.c_str(), static_cast<int>(names.size()), contents.data(), names.data());
    if (result != 0) return {{"result", error_(result)}, {"log", ""}};
    result = compile_(program, static_cast<int>(words.size()), words.data());
    json answer = {{"result", result == 0 ? "" : error_(result)}, {"log", text_of(program, log_size_, log_)}};
    if (result == 0) {
      const bool ptx = request.at("ptx").get<bool>();
      const std::string code = ptx ? text_of(program, ptx_size_, ptx_) : bytes_of(program, cubin_size_, cubin_);
      if (code.empty() || !write_all(descriptor, code)) answer["result"] = "the code could not be handed over";
    }
    destroy_(&program);
    return answer;
  }

 private:
  static std::string bytes_of(NvrtcProgram program, GetSize* size_of, GetText* get) {
    std::size_t size = 0;
    if (size_of(program, &size) != 0 || size == 0) return {};
    std::string bytes(size, '\0');
    return get(program, bytes.data()) == 0 ? bytes : std::string();
  }
  static std::string text_of(NvrtcProgram program, GetSize* size_of, GetText* get) {
    std::string text = bytes_of(program, size_of, get);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  static bool write_all(int descriptor, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = ::write(descriptor, bytes.data() + sent, bytes.size() - sent);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }

  Library library_;
  Version* version_ = nullptr;
  CreateProgram* create_ = nullptr;
  CompileProgram* compile_ = nullptr;
  GetSize *log_size_ = nullptr, *cubin_size_ = nullptr, *ptx_size_ = nullptr;
  GetText *log_ = nullptr, *cubin_ = nullptr, *ptx_ = nullptr;
  DestroyProgram* destroy_ = nullptr;
  GetErrorString* error_ = nullptr;
  int major_ = 0, minor_ = 0;
};

// A compilation that never ends must end even if the engine is gone.
void limit_processor_time(rlim_t seconds) {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  rlimit limit{};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(static_cast<rlim_t>(used.tv_sec) + seconds, limit.rlim_max);
  ::setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace

int serve_nvrtc() {
  Channel channel;
  if (!channel.ok()) return 1;
  Compiler compiler;
  std::string line;
  int descriptor = -1;
  while (channel.next(line, descriptor)) {
    const json request = json::parse(line);
    json answer = {{"error", "no NVRTC"}};
    if (request.contains("candidates")) {
      for (const auto& name : request["candidates"]) {
        if (!compiler.open(name.get<std::string>())) continue;
        answer = compiler.identity();
        break;
      }
    } else {
      limit_processor_time(request.at("seconds").get<rlim_t>());
      answer = compiler.compile(request, descriptor);
    }
    if (descriptor >= 0) ::close(descriptor);
    if (!channel.send(answer.dump(-1, ' ', true, json::error_handler_t::replace))) return 1;
  }
  return 0;
}

}  // namespace kw::device::cuda
