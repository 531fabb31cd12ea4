#include "verify/torch_gate.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "verify/casting.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

TorchVerdict skipped(std::string why) { return {{Gate::Torch, Outcome::Skipped, std::move(why), {}}}; }

// The shape of the plan nearest to 256 elements.
kernel::Sizes small_sizes(const Subject& subject, const std::vector<Case>& plan) {
  const kernel::Sizes* best = &plan.front().sizes;
  double nearest = HUGE_VAL;
  for (const Case& c : plan) {
    const auto count = static_cast<double>(most_elements(subject, c.sizes));
    const double distance = count > 0 ? std::fabs(std::log2(count) - 8) : HUGE_VAL;
    if (distance < nearest) best = &c.sizes, nearest = distance;
  }
  return *best;
}

class TorchGate {
 public:
  TorchGate(const Subject& subject, const TorchSource& source, TorchProcess process)
      : subject_(subject), source_(source), process_(std::move(process)) {}

  // Nothing, if the source ran and agreed.
  Result<std::optional<Verdict>> ask(const Case& c) {
    KW_TRY(const ir::Environment call, values_of(subject_, c));
    KW_TRY(const Expected expected, expect(subject_, c.types, call));
    KW_TRY(const TorchAnswer answer, process_.run(subject_, source_, c.types, call));
    unable_ = answer.unable;
    if (!unable_.empty()) return std::nullopt;
    const std::optional<Disagreement> found = disagreement(subject_, c.types, expected, answer);
    if (found && !(found->of_values && narrow(c.types)))
      return Verdict{Gate::Torch, Outcome::Failed, found->text, {c.text() + ": " + found->text}};
    if (found) {
      std::map<std::string, std::vector<double>> got;
      for (const auto& [name, tensor] : answer.tensors) got[name] = tensor.values;
      KW_TRY(const CastingEvidence casts, casting_evidence(subject_, c.types, call, expected, got, true));
      const std::string text = "PyTorch follows another order of casts: " + casts.followed;
      if (!casts.followed.empty()) return Verdict{Gate::Torch, Outcome::Failed, text, {c.text() + ": " + found->text}};
      rounds_elsewhere_ = true;
    }
    ++agreed_;
    return std::nullopt;
  }

  // Where the inputs lie otherwise than densely, what PyTorch's outputs do.
  Result<Verdict> compare_strides(Case c) {
    Verdict verdict{Gate::Strides, Outcome::Passed, "", {}};
    int layouts = 0;
    for (const Layout layout : {Layout::Dense, Layout::Gaps, Layout::Transposed, Layout::ChannelsLast,
                                Layout::EverySecond, Layout::Expanded, Layout::Mixed}) {
      c.layout = layout;
      KW_TRY(const ir::Environment call, values_of(subject_, c));
      KW_TRY(const TorchAnswer answer, process_.run(subject_, source_, c.types, call, layout));
      if (!answer.unable.empty()) continue;  // a view that such inputs do not allow
      KW_TRY(const std::optional<std::string> other, other_strides(subject_, c.types, call, layout, answer));
      ++layouts;
      if (!other) continue;
      verdict.outcome = Outcome::Failed;
      verdict.evidence.push_back(*other);
    }
    std::string unasked = subject_.own_layouts.empty() ? "" : "; the profile has its own for " + join_names();
    verdict.line = verdict.evidence.empty()
                       ? fmt::format("as PyTorch's own, in {} layouts of the inputs{}", layouts, unasked)
                       : verdict.evidence.front();
    return verdict;
  }

  const std::string& unable() const { return unable_; }
  std::string line() const {
    return fmt::format("PyTorch, running the source, agrees with the oracle on {} calls, gradients too{}", agreed_,
                       rounds_elsewhere_ ? "; in 16 bits its CPU kernels round elsewhere" : "");
  }

 private:
  std::string join_names() const {
    return join(std::vector<std::string>(subject_.own_layouts.begin(), subject_.own_layouts.end()), ", ");
  }
  static bool narrow(const kernel::TypeBinding& types) {
    for (const auto& [name, dtype] : types)
      if (dtype == ir::DType::BF16 || dtype == ir::DType::F16) return true;
    return false;
  }

  const Subject& subject_;
  const TorchSource& source_;
  TorchProcess process_;
  std::string unable_;
  int agreed_ = 0;
  bool rounds_elsewhere_ = false;
};

}  // namespace

TorchVerdict ask_torch(const Subject& subject, const std::optional<TorchSource>& source, const std::vector<Case>& plan,
                       std::uint64_t seed) {
  if (!source) return skipped("there is no PyTorch source to run");
  const std::optional<std::string> python = find_python_with_torch();
  if (!python) return skipped("no Python here has torch: pip install torch");
  auto process = TorchProcess::start(*python);
  if (!process) return skipped(process.error().message);
  TorchGate gate(subject, *source, std::move(*process));
  Case own;
  own.seed = seed;
  for (const ir::TypeParameter& parameter : subject.forward.type_parameters)
    own.types[parameter.name] = parameter.default_dtype;
  const kernel::Sizes small = small_sizes(subject, plan);
  // A source that fixes the sizes of its parameters is run with those.
  for (const kernel::Sizes& sizes : {small, sizes_of_parameters(subject, small)}) {
    own.sizes = sizes;
    Case in_f64 = own, positive = own;
    for (auto& [name, dtype] : in_f64.types) dtype = ir::DType::F64;
    positive.values = Values::Positive;
    for (const Case& c : {in_f64, own, positive}) {
      const auto verdict = gate.ask(c);
      if (!verdict) return skipped("PyTorch was not asked: " + verdict.error().message);
      if (*verdict) return {**verdict};
      if (!gate.unable().empty()) break;
    }
    if (!gate.unable().empty()) continue;
    auto strides = gate.compare_strides(own);
    if (!strides) return skipped("PyTorch was not asked: " + strides.error().message);
    return {{Gate::Torch, Outcome::Passed, gate.line(), {}}, std::move(*strides)};
  }
  return skipped("PyTorch could not run the source: " + gate.unable().substr(0, gate.unable().find('\n')));
}

}  // namespace kw::verify
