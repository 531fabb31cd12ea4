// A shared library that is opened at run time and stays open: NVIDIA's start threads of their own, which must not lose
// their code.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <string>

namespace kw::device {

class Library {
 public:
  Library() = default;
  explicit Library(const std::string& name, int mode = RTLD_LAZY | RTLD_LOCAL)
      : handle_(::dlopen(name.c_str(), mode)) {}
  explicit operator bool() const { return handle_ != nullptr; }

  // Nullptr, where there is no such symbol.
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, symbol));
  }

  std::string path() const {
    link_map* map = nullptr;
    return ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace kw::device
