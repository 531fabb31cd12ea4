// What a cubin holds beside its kernels: an ELF file, whose symbols say it.
#pragma once

#include <string_view>

namespace kw::device::cuda {

// Variables in global or constant memory, other than those of the runtime's own headers (which are constants). Kernels
// of one module share them, so a kernel that has some cannot be taken out of its file. True of what cannot be read.
bool has_variables(std::string_view cubin);

}  // namespace kw::device::cuda
