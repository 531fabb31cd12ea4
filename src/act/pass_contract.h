// The part of a manifest that does not depend on the target: sizes, types, scalars and constraints of the op, and what
// each buffer of a pass is to its caller.
#pragma once

#include "act/act.h"
#include "act/loop/loop.h"

namespace kw::act {

class ManifestBuilder {
 public:
  ManifestBuilder(const OpMath& math, kernel::Target target);

  // The forward comes first. `pass` has its steps; its buffers are filled in here, except for those of workspace,
  // which the target chose. `shared`: gradients that another output holds too, which the program has not.
  Status add(const LoopProgram& program, kernel::Pass pass, const std::map<std::string, std::string>& shared = {});
  kernel::Manifest take() && { return std::move(manifest_); }

 private:
  kernel::Buffer buffer(const LoopProgram& program, const Buffer& buffer, bool backward) const;
  std::vector<std::string> strides_like(const LoopProgram& program, const Buffer& buffer, bool backward) const;
  const OpMath& math_;
  kernel::Manifest manifest_;
  std::map<std::string, std::string> forward_names_;  // tensor of the interface → buffer of the forward pass
};

// "T", "T|W|f32".
std::string type_text(ir::Type type, const std::vector<ir::TypeParameter>& parameters);
// Over the program's symbols, as an expression of a manifest.
std::string size_text(const ir::Size& size, const LoopProgram& program);

}  // namespace kw::act
