// The process that compiles CUDA: NVRTC is a large library that this program did not write, and may fail or never end
// on text that it was not written for. The engine's side is cuda/nvrtc.h.
#pragma once

namespace kw::device::cuda {

inline constexpr const char* kNvrtcCommand = "nvrtc-worker";  // the hidden first argument

int serve_nvrtc();

}  // namespace kw::device::cuda
