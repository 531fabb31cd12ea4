// Tensors across LibTorch's stable ABI: owned handles, their views, and new tensors with PyTorch's own strides.
#pragma once

#include <torch/csrc/stable/c/shim.h>

#include <initializer_list>

#include "kw_host/check.h"
#include "kw_host/tensor.h"
#include "kw_torch/layout.h"

namespace kw_torch {

using namespace kw_host;

inline void check(AOTITorchError error, const char* what) {
  if (error != AOTI_TORCH_SUCCESS) throw std::runtime_error(std::string("kernelwright: ") + what + " failed");
}

// PyTorch's numbers of the element types, in the order of Dtype.
inline const std::int32_t* torch_dtypes() {
  static const std::int32_t kDtypes[] = {-1,
                                         aoti_torch_dtype_bool(),
                                         aoti_torch_dtype_uint8(),
                                         aoti_torch_dtype_int8(),
                                         aoti_torch_dtype_int16(),
                                         aoti_torch_dtype_int32(),
                                         aoti_torch_dtype_int64(),
                                         aoti_torch_dtype_bfloat16(),
                                         aoti_torch_dtype_float16(),
                                         aoti_torch_dtype_float32(),
                                         aoti_torch_dtype_float64()};
  return kDtypes;
}

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(AtenTensorHandle handle) : handle_(handle) {}
  Tensor(Tensor&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() {
    if (handle_ != nullptr) aoti_torch_delete_tensor_object(handle_);
  }

  // An argument of an op. It is ours from here on.
  static Tensor take(StableIValue value) {
    AtenTensorHandle handle;
    std::memcpy(&handle, &value, sizeof handle);
    return Tensor(handle);
  }
  StableIValue release() {
    StableIValue value = 0;
    std::memcpy(&value, &handle_, sizeof handle_);
    handle_ = nullptr;
    return value;
  }

  View view() const {
    View view;
    std::int64_t *sizes = nullptr, *strides = nullptr;
    std::int32_t dtype = 0;
    check(aoti_torch_get_dim(handle_, &view.rank), "reading a tensor's rank");
    if (view.rank > kMaxRank) unsupported("a tensor of " + std::to_string(view.rank) + " dimensions");
    check(aoti_torch_get_sizes(handle_, &sizes), "reading a tensor's sizes");
    check(aoti_torch_get_strides(handle_, &strides), "reading a tensor's strides");
    check(aoti_torch_get_dtype(handle_, &dtype), "reading a tensor's type");
    check(aoti_torch_get_data_ptr(handle_, &view.data), "reading a tensor's address");
    view.sizes = sizes;
    view.strides = strides;
    const std::int32_t* known = torch_dtypes();
    for (int i = 1; i <= static_cast<int>(Dtype::kF64); ++i)
      if (known[i] == dtype) view.dtype = static_cast<Dtype>(i);
    return view;
  }

  AtenTensorHandle get() const { return handle_; }

 private:
  AtenTensorHandle handle_ = nullptr;
};

inline double real(StableIValue value) {
  double number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}
inline std::int64_t whole(StableIValue value) { return static_cast<std::int64_t>(value); }
inline bool truth(StableIValue value) { return (value & 0xff) != 0; }

struct Device {
  std::int32_t type = 0, index = 0;
};

// Where the first tensor is; the others must be there too.
inline Device device_of(std::initializer_list<const Tensor*> tensors) {
  Device device;
  const Tensor* first = *tensors.begin();
  check(aoti_torch_get_device_type(first->get(), &device.type), "reading a tensor's device");
  check(aoti_torch_get_device_index(first->get(), &device.index), "reading a tensor's device");
  for (const Tensor* tensor : tensors) {
    if (tensor == first) continue;
    Device other;
    check(aoti_torch_get_device_type(tensor->get(), &other.type), "reading a tensor's device");
    check(aoti_torch_get_device_index(tensor->get(), &other.index), "reading a tensor's device");
    if (other.type != device.type || other.index != device.index) unsupported("tensors on two devices");
  }
  return device;
}

// A new tensor that lies like this, and its view.
inline Tensor empty_laid(View& view, Dtype dtype, Device device, const Laid& laid) {
  AtenTensorHandle handle = nullptr;
  check(aoti_torch_empty_strided(laid.rank, laid.sizes, laid.strides, torch_dtypes()[static_cast<int>(dtype)],
                                 device.type, device.index, &handle),
        "allocating a tensor");
  Tensor tensor(handle);
  view = tensor.view();
  return tensor;
}

// The same, of these sizes. `like`: the operands of its shape whose pointwise op gives it its strides; none: dense.
inline Tensor empty(View& view, Dtype dtype, Device device, const Sizes& sizes,
                    std::initializer_list<const View*> like = {}) {
  Laid laid = contiguous(sizes);
  if (like.size() != 0) pointwise_strides(sizes.at, sizes.rank, like, laid.strides);
  return empty_laid(view, dtype, device, laid);
}

// Memory for the time of one call.
inline Tensor workspace(std::initializer_list<kw_host::Tensor*> tensors, Device device) {
  Tensor memory;
  lay_out(tensors, [&](std::int64_t bytes) {
    View view;
    memory = empty(view, Dtype::kU8, device, {bytes});
    return view.data;
  });
  return memory;
}

inline std::int32_t cuda() {
  static const std::int32_t kType = aoti_torch_device_type_cuda();
  return kType;
}

inline std::int64_t threads() {
  std::uint32_t count = 1;
  check(torch_get_num_threads(&count), "counting threads");
  return count;
}

}  // namespace kw_torch
