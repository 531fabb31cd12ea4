// The host side of a pass as Python: sizes, launches and allocations. Where every tensor has the same leading
// dimensions and the kernels only see their product, the op takes tensors of any rank:
//
//   batch*seq          →   rows = x.numel() // hidden
//   [batch, seq]       →   x.shape[:-1]
//   next_pow2(hidden)  →   triton.next_power_of_2(hidden)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "act/emit/lines.h"
#include "act/liger/liger_form.h"

namespace kw::act::liger {

// An expression of a manifest as a formatter of Python leaves it: "4*(ROWS)" → "4 * ROWS".
std::string python_size(const std::string& text);

class HostText {
 public:
  explicit HostText(const LigerForm& form);

  // The statements of a host function: what it checks (the forward does), makes, launches and returns.
  Result<Lines> body(const kernel::Pass& pass) const;

  // Sizes and types that no tensor of the pass shows: further arguments of its host function.
  struct Given {
    std::string name, in_forward;  // weight_dtype; weight.dtype
  };
  std::vector<Given> given(const kernel::Pass& pass) const;

  bool any_rank() const { return !lead_.empty(); }
  // How many dimensions of the first tensor follow the leading ones, where it may have any rank.
  std::size_t trailing() const { return main_.shape.size() - lead_.size(); }

 private:
  void find_lead();
  std::string merged(const std::string& text) const;  // with the leading product by its name
  const kernel::Buffer& reference_tensor(const kernel::Pass& pass) const;
  std::string shape_text(const kernel::Pass& pass, const kernel::Buffer& buffer) const;
  std::vector<std::string> given_sizes(const kernel::Pass& pass) const;
  std::string size_of(const kernel::Pass& pass, const std::string& size) const;
  Result<std::string> dtype_text(const kernel::Pass& pass, const std::string& type) const;
  Result<std::string> allocation(const kernel::Pass& pass, const kernel::Buffer& buffer) const;
  void sizes(const kernel::Pass& pass, const std::string& used, Lines& out) const;
  void checks(const kernel::Pass& pass, Lines& out) const;

  const LigerForm& form_;
  kernel::Buffer main_;            // of the forward: the first of its inputs with the most dimensions
  std::vector<std::string> lead_;  // its leading sizes that go by their product; none: ranks are fixed
  std::string rows_;               // the product's name
};

}  // namespace kw::act::liger
