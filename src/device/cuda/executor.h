// Runs kernels on a GPU: the buffers of an arena copied into its memory, launches, and the results copied back.
//
//   unmapped │ guard bytes │ the buffer │ unmapped
//
// Each buffer has its own range of the GPU's addresses, with nothing mapped beside it: who strays far is stopped by the
// GPU, who strays near changes guard bytes. A buffer that is only read is compared afterwards.
#pragma once

#include <memory>

#include "device/executor.h"

namespace kw::device::cuda {

std::unique_ptr<Executor> make_executor();

}  // namespace kw::device::cuda
