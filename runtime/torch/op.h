// Registers ops with PyTorch through its stable ABI, when the library is loaded.
#pragma once

#include "kw_torch/tensor.h"

namespace kw_torch {

using Boxed = void (*)(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs);

class Library {
 public:
  // Definitions of the namespace kw, and, with a dispatch key, implementations. A library stays as long as the process.
  explicit Library(const char* key = nullptr) {
    if (key == nullptr) {
      check(aoti_torch_library_init_fragment("kw", __FILE__, __LINE__, &handle_), "opening the namespace kw");
    } else {
      check(aoti_torch_library_init_impl("kw", key, __FILE__, __LINE__, &handle_), "opening the namespace kw");
    }
  }
  void define(const char* schema) { check(aoti_torch_library_def(handle_, schema), schema); }
  void implement(const char* op, Boxed function) {
    check(torch_library_impl(handle_, op, function, TORCH_ABI_VERSION), op);
  }

 private:
  TorchLibraryHandle handle_ = nullptr;
};

}  // namespace kw_torch
