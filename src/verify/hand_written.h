// A kernel that a person or an agent wrote: its file, the files beside it that it needs, and its contract. The contract
// is looked for in this order: a manifest that is given; one in a comment of the file; one beside it; and without any,
// the signature that docs/contract.md prescribes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/compiled.h"
#include "ir/graph.h"
#include "kernel/manifest.h"

namespace kw::verify {

struct HandWritten {
  kernel::Manifest manifest;
  device::Sources files;
  std::string manifest_from;  // "norm.manifest.json", "a comment of norm.cpp", "the signature"
};

// `forward` and `joint` are the math that a kernel without a manifest is called by.
Result<HandWritten> read_hand_written(const std::string& kernel_file, const std::optional<std::string>& manifest_file,
                                      const ir::Graph& forward, const std::optional<ir::Graph>& joint);

// The text between "kw manifest" and the end of the comment that it opens; nothing where there is none.
std::optional<std::string_view> manifest_in_comment(std::string_view source);

// The contract of a file without a manifest: NAME_forward(inputs, outputs, sizes, scalars) and, where the text has it,
// NAME_backward(inputs, cotangents, gradients, sizes, scalars); every tensor dense.
kernel::Manifest conventional_manifest(const std::string& file, std::string_view source, const ir::Graph& forward,
                                       const std::optional<ir::Graph>& joint);

}  // namespace kw::verify
