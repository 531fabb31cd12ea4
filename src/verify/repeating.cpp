#include "verify/repeating.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "base/text.h"
#include "kernel/layout.h"
#include "verify/cases.h"
#include "verify/elements.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

using kernel::Buffer;
using kernel::Role;
using kernel::Tensor;

constexpr std::uint8_t kPoison = 0xFF;

// A tensor as runs along the repeating dimension: outer × along × inner.
struct Runs {
  std::int64_t outer = 1, along = 1, inner = 1;
};

Runs runs_of(const std::vector<std::int64_t>& shape, int dimension) {
  Runs runs;
  for (std::size_t d = 0; d < shape.size(); ++d)
    (static_cast<int>(d) < dimension    ? runs.outer
     : static_cast<int>(d) == dimension ? runs.along
                                        : runs.inner) *= shape[d];
  return runs;
}

// The tensor whose values an input of a pass has from the start: its own, or that of an earlier pass which has left it
// as it was. Empty for what an earlier pass wrote.
std::string drawn_as(const Subject& subject, const kernel::Pass& pass, const Buffer& buffer) {
  if (std::string own = tensor_of(subject, pass, buffer); !own.empty()) return own;
  for (const kernel::Pass& earlier : subject.manifest.passes) {
    if (&earlier == &pass) break;
    const bool overwritten = std::any_of(earlier.buffers.begin(), earlier.buffers.end(),
                                         [&](const Buffer& other) { return other.alias == buffer.name; });
    const Buffer* same = earlier.find(buffer.name);
    if (same != nullptr && same->role == Role::Input && !overwritten) return tensor_of(subject, earlier, *same);
  }
  return {};
}

// As many slices of a tensor, which begins anew behind its end.
ir::Array repeated(const ir::Array& array, int dimension, std::int64_t count) {
  const Runs runs = runs_of(array.shape, dimension);
  ir::Array out;
  out.shape = array.shape;
  out.shape[static_cast<std::size_t>(dimension)] = count;
  for (std::int64_t o = 0; o < runs.outer; ++o)
    for (std::int64_t a = 0; a < count; ++a) {
      const auto begin = array.values.begin() + (o * runs.along + a % runs.along) * runs.inner;
      out.values.insert(out.values.end(), begin, begin + runs.inner);
    }
  return out;
}

std::string wrong(const kernel::Pass& pass, const std::string& name, const Tensor& tensor, const std::string& where,
                  double got, double wanted, double bound) {
  return fmt::format("{}: {} of {} elements: {}: got {}, expected {} ± {}", pass.name, name, count_of(tensor.shape),
                     where, number_text(got), number_text(wanted), number_text(bound));
}

bool agree(double got, double wanted, double bound) {
  return got == wanted || (std::isnan(got) && std::isnan(wanted)) || std::fabs(got - wanted) <= bound ||
         std::isinf(bound);
}

}  // namespace

bool wanted_later(const Subject& subject, const kernel::Pass& pass, const Buffer& buffer) {
  if (buffer.role == Role::Workspace) return false;
  bool later = false;
  for (const kernel::Pass& other : subject.manifest.passes) {
    if (later)
      for (const Buffer& taken : other.buffers)
        if (taken.role == Role::Input && taken.name == buffer.name && drawn_as(subject, other, taken).empty())
          return true;
    later |= &other == &pass;
  }
  return false;
}

RepeatingTrial::RepeatingTrial(const Subject& subject, RepeatingCall call, kernel::TypeBinding types)
    : subject_(&subject),
      call_(std::move(call)),
      types_(std::move(types)),
      symbol_(symbol_called(subject.math(), call_.symbol).value()) {}

Result<RepeatingTrial> RepeatingTrial::make(const Subject& subject, RepeatingCall call,
                                            const kernel::TypeBinding& types, std::uint64_t seed) {
  RepeatingTrial trial(subject, std::move(call), types);
  trial.seed_ = seed;
  Case one;
  one.types = types;
  one.sizes = trial.call_.sizes;
  one.sizes[trial.call_.symbol] = trial.call_.period;
  one.seed = seed;
  KW_TRY(trial.values_, values_of(subject, one));
  Subject oracle = subject;
  const auto enlarge = [&](ir::Graph& graph) {
    const auto symbol = symbol_called(graph, trial.call_.symbol);
    if (symbol) graph = with_large_sizes(graph, *symbol, trial.call_.sizes);
  };
  enlarge(oracle.forward);
  for (auto* graph : {&oracle.joint, &oracle.approved_forward, &oracle.approved_backward})
    if (*graph) enlarge(**graph);
  KW_TRY(trial.expected_, expect(oracle, types, trial.values_));
  if (trial.call_.sums.empty()) return trial;
  const std::int64_t last = trial.call_.period + trial.call_.sizes.at(trial.call_.symbol) % trial.call_.period;
  ir::Environment values = trial.values_;
  for (auto& [name, array] : values.inputs)
    if (const int dimension = trial.dimension_of(name); dimension >= 0) array = repeated(array, dimension, last);
  if (values.sizes.contains(trial.call_.symbol)) values.sizes[trial.call_.symbol] = last;
  if (auto of_last = expect(oracle, types, values))
    trial.of_the_last_ = *std::move(of_last);
  else
    trial.call_.sums.clear();
  return trial;
}

int RepeatingTrial::dimension_of(const std::string& tensor) const {
  const ir::Graph& graph = subject_->math();
  if (const ir::Input* input = graph.find_input(tensor)) return dimension_along(graph, input->dims, symbol_);
  for (const ir::Output& output : graph.outputs)
    if (output.name == tensor) return dimension_along(graph, output.dims, symbol_);
  return -1;
}

// The first period, and what is left behind the last, begin with the first slice: the former is what others are
// compared with, the latter is the part whose sums the oracle was asked for.
template <typename Visit>
void RepeatingTrial::each_slice(Visit visit) const {
  const std::int64_t period = call_.period, count = call_.sizes.at(call_.symbol);
  for (std::int64_t begin = 0; begin < count; begin += period) {
    const bool drawn = begin > 0 && begin + period <= count;
    const std::uint64_t start =
        drawn ? Hash64().add(seed_).add(static_cast<std::uint64_t>(begin)).value() % static_cast<std::uint64_t>(period)
              : 0;
    auto slice = static_cast<std::int64_t>(start);
    for (std::int64_t a = begin; a < std::min(begin + period, count); ++a) {
      visit(a, slice);
      if (++slice == period) slice = 0;
    }
  }
}

Result<kernel::Facts> RepeatingTrial::place(const kernel::Pass& pass, const kernel::Machine& machine,
                                            device::Arena& arena) const {
  kernel::Facts facts;
  facts.machine = machine;
  for (const Buffer& buffer : pass.buffers) {
    if (buffer.role != Role::Input) continue;
    Tensor tensor;
    const std::string name = drawn_as(*subject_, pass, buffer);
    if (const auto given = values_.inputs.find(name); given != values_.inputs.end()) {
      KW_TRY(tensor.dtype, kernel::dtype_of(buffer.type, types_));
      tensor.shape = given->second.shape;
      if (const int d = dimension_of(name); d >= 0)
        tensor.shape[static_cast<std::size_t>(d)] = call_.sizes.at(call_.symbol);
      tensor.strides = kernel::dense_strides(tensor.shape);
    } else if (const auto carried = carried_.find(buffer.name); carried != carried_.end()) {
      tensor = carried->second.first;
    } else {
      return bad_input("nothing gives " + buffer.name + " of the " + pass.name + " pass a value");
    }
    facts.tensors[buffer.name] = std::move(tensor);
  }
  KW_TRY(facts.sizes, kernel::bind_sizes(subject_->manifest, pass, facts.tensors, call_.sizes));
  for (const kernel::Scalar& scalar : subject_->manifest.scalars) {
    KW_TRY(facts.scalars[scalar.name], default_of(*subject_, scalar));
  }
  for (const Buffer& buffer : pass.buffers) {
    if (!buffer.alias.empty()) {
      KW_CHECK(arena.add_alias(buffer.name, buffer.alias));
      continue;
    }
    bool writable = buffer.role != Role::Input;
    for (const Buffer& other : pass.buffers) writable |= other.alias == buffer.name;
    Tensor tensor;
    if (buffer.role == Role::Input) {
      tensor = facts.tensors.at(buffer.name);
    } else {
      KW_TRY(tensor, kernel::describe(buffer, types_, facts));
    }
    KW_CHECK(arena.add(buffer.name, std::move(tensor),
                       writable ? device::Arena::Access::Write : device::Arena::Access::Read));
  }
  return facts;
}

void RepeatingTrial::fill(const kernel::Pass& pass, const kernel::Facts& facts, device::Arena& arena) const {
  for (const Buffer& buffer : pass.buffers) {
    if (buffer.role != Role::Input) {
      if (buffer.alias.empty()) arena.poison(buffer.name, kPoison);
      continue;
    }
    const std::span<std::byte> bytes = arena.bytes(buffer.name);
    const std::string name = drawn_as(*subject_, pass, buffer);
    const auto given = values_.inputs.find(name);
    if (given == values_.inputs.end()) {
      const auto& carried = carried_.at(buffer.name).second;
      std::copy(carried.begin(), carried.end(), bytes.begin());
      continue;
    }
    const Tensor& tensor = facts.tensors.at(buffer.name);
    const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
    std::vector<std::byte> period(given->second.values.size() * size);
    for (std::size_t i = 0; i < given->second.values.size(); ++i)
      write_element(period.data() + i * size, tensor.dtype, given->second.values[i]);
    const int dimension = dimension_of(name);
    if (dimension < 0) {
      std::copy(period.begin(), period.end(), bytes.begin());
      continue;
    }
    const Runs runs = runs_of(tensor.shape, dimension);
    const std::size_t run = static_cast<std::size_t>(runs.inner) * size;
    for (std::int64_t o = 0; o < runs.outer; ++o)
      each_slice([&](std::int64_t a, std::int64_t slice) {
        std::memcpy(bytes.data() + static_cast<std::size_t>(o * runs.along + a) * run,
                    period.data() + static_cast<std::size_t>(o * call_.period + slice) * run, run);
      });
  }
}

std::optional<Finding> RepeatingTrial::compare(const kernel::Pass& pass, const kernel::Facts& facts,
                                               const device::Arena& arena) {
  for (const Buffer& buffer : pass.buffers) {
    const Tensor& tensor = facts.tensors.at(buffer.name);
    if (buffer.role != Role::Output || !kernel::is_dense(tensor)) continue;
    const std::string name = tensor_of(*subject_, pass, buffer);
    const auto sum = call_.sums.find(name);
    const bool repeats = std::find(call_.outputs.begin(), call_.outputs.end(), name) != call_.outputs.end();
    if (!repeats && sum == call_.sums.end()) continue;
    std::vector<std::int64_t> shape = expected_.at(name).shape;
    if (repeats) shape[static_cast<std::size_t>(dimension_of(name))] = call_.sizes.at(call_.symbol);
    if (tensor.shape != shape)
      return Finding{Gate::Interface, fmt::format("{}: {} is ({}), where PyTorch's is ({})", pass.name, name,
                                                  fmt::join(tensor.shape, ", "), fmt::join(shape, ", "))};
    const std::span<const std::byte> bytes = arena.bytes(buffer.name);
    const std::int64_t before = elements_;
    std::optional<Finding> finding =
        repeats ? compare_repeated(name, pass, tensor, bytes) : compare_sum(name, sum->second, pass, tensor, bytes);
    if (finding) return finding;
    if (elements_ > before || bytes.empty()) compared_.insert(name);
  }
  return std::nullopt;
}

std::optional<Finding> RepeatingTrial::compare_repeated(const std::string& name, const kernel::Pass& pass,
                                                        const Tensor& tensor, std::span<const std::byte> bytes) {
  const ir::Array& oracle = expected_.at(name);
  const auto known =
      std::count_if(oracle.bounds.begin(), oracle.bounds.end(), [](double b) { return std::isfinite(b); });
  const double share =
      oracle.bounds.empty() ? 1 : static_cast<double>(known) / static_cast<double>(oracle.bounds.size());
  elements_ += static_cast<std::int64_t>(share * static_cast<double>(count_of(tensor.shape)));
  const Runs runs = runs_of(tensor.shape, dimension_of(name));
  const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
  const std::size_t run = static_cast<std::size_t>(runs.inner) * size;
  std::optional<Finding> finding;
  for (std::int64_t o = 0; o < runs.outer && !finding; ++o)
    each_slice([&](std::int64_t a, std::int64_t slice) {
      if (finding) return;
      const std::byte* row = bytes.data() + static_cast<std::size_t>(o * runs.along + a) * run;
      const std::byte* first = bytes.data() + static_cast<std::size_t>(o * runs.along + slice) * run;
      if (a >= call_.period && std::memcmp(row, first, run) == 0) return;  // as in the first period
      for (std::int64_t i = 0; i < runs.inner; ++i) {
        const auto at = static_cast<std::size_t>((o * call_.period + slice) * runs.inner + i);
        const double got = read_element(row + static_cast<std::size_t>(i) * size, tensor.dtype);
        const double wanted = oracle.values[at], bound = oracle.bounds.empty() ? 0 : oracle.bounds[at];
        if (agree(got, wanted, bound)) continue;
        const std::string where = fmt::format("at {} {}, {} of each run", call_.symbol, a, i);
        finding = Finding{Gate::Error, wrong(pass, name, tensor, where, got, wanted, bound)};
        return;
      }
    });
  return finding;
}

std::optional<Finding> RepeatingTrial::compare_sum(const std::string& name, const SummedOutput& sum,
                                                   const kernel::Pass& pass, const Tensor& tensor,
                                                   std::span<const std::byte> bytes) {
  // All periods but the last, and that with the part of one behind it.
  const std::int64_t count = call_.sizes.at(call_.symbol), last = call_.period + count % call_.period;
  const double whole = sum.is_mean ? static_cast<double>(count) : 1;
  const double often = static_cast<double>(sum.is_mean ? count - last : (count - last) / call_.period);
  const double once = sum.is_mean ? static_cast<double>(last) : 1;
  const ir::Array &of_period = expected_.at(name), &of_last = of_the_last_.at(name);
  const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
  const auto bound_at = [](const ir::Array& array, std::size_t i) {
    return array.bounds.empty() ? 0 : array.bounds[i];
  };
  for (std::size_t i = 0; i < of_period.values.size(); ++i) {
    const double periods = often * of_period.values[i], end = once * of_last.values[i];
    const double wanted = (periods + end) / whole, magnitude = (std::fabs(periods) + std::fabs(end)) / whole;
    const double terms =
        (sum.bound * often * bound_at(of_period, i) + sum.of_last * once * bound_at(of_last, i)) / whole;
    // The oracle has rounded its sums on their way, as the kernel has the whole one.
    const double bound = terms + 2 * sum.roundings * magnitude + (1 + (often + once) / whole) * sum.smallest;
    if (magnitude + bound > sum.largest) continue;  // it may overflow
    ++elements_;
    const double got = read_element(bytes.data() + i * size, tensor.dtype);
    if (!agree(got, wanted, bound))
      return Finding{Gate::Error, wrong(pass, name, tensor, fmt::format("at {}", i), got, wanted, bound)};
  }
  return std::nullopt;
}

void RepeatingTrial::carry(const kernel::Pass& pass, const kernel::Facts& facts, const device::Arena& arena) {
  for (const Buffer& buffer : pass.buffers) {
    if (!wanted_later(*subject_, pass, buffer)) continue;
    const std::span<const std::byte> bytes = arena.bytes(buffer.name);
    carried_[buffer.name] = {facts.tensors.at(buffer.name), {bytes.begin(), bytes.end()}};
    carried_[buffer.name].first.address = 0;
  }
}

}  // namespace kw::verify
