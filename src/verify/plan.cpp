#include "verify/plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/hash.h"
#include "verify/brink.h"
#include "verify/reach.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

using ir::DType;
using kernel::Sizes;

constexpr std::int64_t kQuickValues = 20'000'000;  // that the interpreter computes in a moment

int narrowest_bytes(const kernel::TypeBinding& types) {
  int bytes = ir::info(DType::F32).bytes;
  for (const auto& [name, dtype] : types) bytes = std::min(bytes, ir::info(dtype).bytes);
  return bytes;
}

// The mixture whose narrowest type is the widest, f64 aside; the first of them.
const kernel::TypeBinding& most_exact(const std::vector<kernel::TypeBinding>& mixtures) {
  return *std::max_element(mixtures.begin(), mixtures.end(),
                           [](const auto& a, const auto& b) { return narrowest_bytes(a) < narrowest_bytes(b); });
}

bool has_scalar(const Subject& subject, bool (*of_kind)(const ir::Input&)) {
  return std::any_of(subject.forward.inputs.begin(), subject.forward.inputs.end(), of_kind);
}

bool has_tensor_of_one(const Subject& subject, const Sizes& sizes) {
  const std::vector<ir::Input>& inputs = subject.forward.inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](const ir::Input& input) {
    const auto shape = shape_of(subject.forward, input.dims, sizes);
    return input.kind != ir::InputKind::Scalar && input.type.floating() && shape && count_of(*shape) == 1;
  });
}

class Plan {
 public:
  Plan(const Subject& subject, const CaseOptions& options)
      : subject_(subject),
        options_(options),
        mixtures_(type_mixtures(subject, options.only_own_types)),
        names_(symbols_of_shapes(subject)),
        shapes_(shapes_to_try(subject, options.most_elements)) {}

  std::vector<Case> cases() && {
    if (mixtures_.empty()) return {};
    choose_shapes();
    add_shapes();
    add_layouts();
    for (const Sizes& shape : few_) add_values(shape);
    add_many_parts();
    for (std::size_t m = 1; m < mixtures_.size(); ++m) add_mixture(mixtures_[m]);
    for (std::size_t m = 0; m < mixtures_.size(); ++m) add_draws(mixtures_[m], m == 0);
    add_edges();
    for (const std::string& name : names_) add_long_axis(name);
    add_unreached();
    return std::move(cases_);
  }

 private:
  void add(Case c) {
    if (c.types.empty()) c.types = mixtures_[0];
    c.seed = Hash64().add(options_.seed).add(static_cast<std::uint64_t>(cases_.size())).value();
    c.at_start = cases_.size() % 2 == 1;
    cases_.push_back(std::move(c));
  }

  std::int64_t size(const Sizes& sizes) const { return most_elements(subject_, sizes); }
  std::int64_t row(const Sizes& sizes) const { return last_size(subject_, sizes); }
  bool is_admitted(const Sizes& sizes) const { return admits(subject_, sizes, options_.most_elements); }

  // No size stands in for another, nor the product of two for their sum.
  bool tells_apart(const Sizes& sizes) const {
    std::set<std::int64_t> values;
    for (const std::string& name : names_) values.insert(sizes.at(name));
    return values.size() == names_.size() && !values.contains(1);
  }

  void choose_shapes() {
    for (const std::int64_t target : {100, 4000}) {
      const Sizes* best = nullptr;
      for (const Sizes& shape : shapes_) {
        const auto distance = [&](const Sizes& s) {
          return std::abs(std::log2(1.0 + static_cast<double>(size(s))) -
                          std::log2(1.0 + static_cast<double>(target))) +
                 (tells_apart(s) ? 0 : 8);
        };
        if (size(shape) > 0 && (best == nullptr || distance(shape) < distance(*best))) best = &shape;
      }
      if (best != nullptr && std::find(few_.begin(), few_.end(), *best) == few_.end()) few_.push_back(*best);
    }
    for (const Sizes& shape : shapes_)
      if (size(shape) > 1 && size(shape) > row(shape) && (longest_ == nullptr || row(shape) > row(*longest_)))
        longest_ = &shape;
  }

  void add_shapes() {
    for (std::size_t i = 0; i < shapes_.size(); ++i) add({.sizes = shapes_[i], .fresh = i == 1 || i == 3});
    // A single row lies densely however far the next one would be: no size can be read off its stride.
    for (const Sizes& shape :
         shapes_that_reach(subject_, shapes_, mixtures_[0], options_.machine, options_.most_to_reach))
      add({.sizes = shape, .layout = size(shape) == row(shape) ? Layout::Gaps : Layout::Dense});
  }

  void add_layouts() {
    for (const Sizes& shape : few_) {
      for (const Layout layout : kLayouts) {
        const bool overlaps = layout == Layout::Expanded || layout == Layout::Repeated;
        if (layout != Layout::Dense && (options_.may_overlap || !overlaps)) add({.sizes = shape, .layout = layout});
      }
    }
    if (options_.vast && !few_.empty()) add({.sizes = few_[0], .layout = Layout::Vast});
    // A kernel may be reached by plain tensors in one shape, and by others in another.
    for (const Layout layout : {Layout::Gaps, Layout::Misaligned})
      for (const Sizes& shape :
           shapes_that_reach(subject_, few_, mixtures_[0], options_.machine, options_.most_to_reach, layout))
        add({.sizes = shape, .layout = layout});
    for (const Sizes& shape : shapes_apart())
      for (const Layout layout : {Layout::Gaps, Layout::Transposed, Layout::Mixed})
        add({.sizes = shape, .layout = layout});
  }

  // Rows longer than a block, and enough elements for every thread, where they do not lie densely.
  std::vector<Sizes> shapes_apart() const {
    const Sizes* largest = nullptr;
    const Sizes* tallest = nullptr;  // the most rows
    const Sizes* by_vectors =
        nullptr;  // rows that vectors serve, for which a kernel may be chosen that trusts a stride
    constexpr std::int64_t kMostApart = 80'000;  // of more, one dense call has to do: the interpreter takes its time
    for (const Sizes& shape : shapes_) {
      if (size(shape) > kMostApart) continue;
      if (largest == nullptr || size(shape) > size(*largest)) largest = &shape;
      if (by_vectors == nullptr && row(shape) > kVector && row(shape) % kVector == 0 && size(shape) > row(shape))
        by_vectors = &shape;
      if (tallest == nullptr || size(shape) / row(shape) > size(*tallest) / row(*tallest)) tallest = &shape;
    }
    std::vector<Sizes> apart;
    for (const Sizes* shape : {longest_, largest, tallest, by_vectors})
      if (shape != nullptr && size(*shape) > 0) apart.push_back(*shape);
    // An axis of one or of two, for which an index may be left out or halved.
    for (const std::string& name : names_)
      for (const std::int64_t few_of_it : {1, 2})
        if (Sizes sizes = fitted(subject_, name, few_of_it, 5); is_admitted(sizes)) apart.push_back(std::move(sizes));
    return apart;
  }

  void add_values(const Sizes& shape) {
    for (const Values values : kValues)
      if (values != Values::Ordinary) add({.sizes = shape, .values = values});
    add({.sizes = shape, .scalars = Scalars::Other});
    // Of the other sign, what was the greatest is the least; that shows where numbers are far apart.
    if (has_scalar(subject_, is_real_scalar))
      for (const Scalars scalars : {Scalars::Opposite, Scalars::Beyond})
        for (const Values values : {Values::Ordinary, Values::Large, Values::Infinite})
          add({.sizes = shape, .values = values, .scalars = scalars});
    if (subject_.joint)
      for (const Values cotangents :
           {Values::Large, Values::Subnormal, Values::Zero, Values::Infinite, Values::Undefined})
        add({.sizes = shape, .cotangents = cotangents});
  }

  // A narrow type allows for so much error in a long sum that a part of it may be left out unseen.
  void add_many_parts() {
    const kernel::TypeBinding& exact = most_exact(mixtures_);
    for (const Layout layout : {Layout::Dense, Layout::Misaligned})
      for (const Sizes& shape : shapes_of_many_parts(subject_, exact, options_.most_in_parts, layout))
        add({.types = exact, .sizes = shape, .layout = layout, .many_blocks = true});
  }

  void add_mixture(const kernel::TypeBinding& types) {
    for (const Sizes& shape : few_) {
      add({.types = types, .sizes = shape});
      add({.types = types, .sizes = shape, .layout = Layout::Transposed});
      add({.types = types, .sizes = shape, .layout = Layout::Misaligned, .values = Values::Positive});
    }
    if (!few_.empty()) {
      for (const Values values : {Values::Large, Values::Subnormal, Values::Far, Values::Zero, Values::Infinite,
                                  Values::Undefined, Values::Masked, Values::Landmarks})
        add({.types = types, .sizes = few_[0], .values = values});
      if (subject_.joint)
        for (const Values cotangents : {Values::Large, Values::Infinite})
          add({.types = types, .sizes = few_[0], .cotangents = cotangents});
      add({.types = types, .sizes = few_[0], .scalars = Scalars::Other});
      add({.types = types, .sizes = few_.back(), .layout = Layout::Gaps});
    }
    if (longest_ != nullptr) add({.types = types, .sizes = *longest_});
    for (const Sizes& shape : shapes_)
      if (size(shape) == 0) add({.types = types, .sizes = shape});
  }

  // One element, two along every axis, three, each drawn several times: what a sum over many hides, a sum over few
  // shows. A logarithm is seen where numbers are positive, and a rounding before a scalar where that is not one or a
  // half. Where all becomes one number, the roundings on the way to it move it beyond its bound in few draws.
  void add_draws(const kernel::TypeBinding& types, bool own) {
    // Numbers whose sums or products leave a type's range in one order of computing and not in another are few.
    constexpr int kLargeDraws = 12;
    if (const Sizes sizes = fitted(subject_, "", 0, 2); is_admitted(sizes))
      for (int draw = 0; draw < kLargeDraws; ++draw) add({.types = types, .sizes = sizes, .values = Values::Large});
    // Of one sign, a sum leaves its range before its terms do.
    if (const Sizes sizes = fitted(subject_, "", 0, 5); is_admitted(sizes))
      for (const ir::NodeId value : brinks(subject_, types))
        for (const Values values : {Values::Ordinary, Values::Positive, Values::Positive})
          add({.types = types, .sizes = sizes, .values = values, .brink = value});
    const bool is_total = std::all_of(subject_.forward.outputs.begin(), subject_.forward.outputs.end(),
                                      [](const ir::Output& output) { return output.dims.empty(); });
    for (int draw = 0; draw < (is_total ? 72 : 36); ++draw) {
      const Sizes sizes = fitted(subject_, "", 0, draw < 18 ? 1 + draw % 3 : 2);
      if (!is_admitted(sizes)) continue;
      const bool at_thresholds = draw == 8 || (draw >= 27 && draw < 36);  // which a tensor of one element seldom meets
      // Which type has the number that a function takes to a threshold is a matter of luck: exp(x) is 100 in f16.
      if (!own && draw > 8 && at_thresholds && !has_tensor_of_one(subject_, sizes)) continue;
      const Values values = draw == 4                    ? Values::Subnormal
                            : at_thresholds              ? Values::Landmarks
                            : draw < 18 && draw % 2 == 1 ? Values::Positive
                                                         : Values::Ordinary;
      const Scalars others = draw % 4 < 2 ? Scalars::Other : Scalars::OtherAndFelt;
      add({.types = types,
           .sizes = sizes,
           .values = values,
           .scalars = draw < 9 || at_thresholds ? Scalars::AtDefault : others,
           .landmark = at_thresholds && draw >= 27 ? draw - 27 : -1});
    }
    add_felt_scalars(types);
  }

  // Of many sums over two each, some lie where a rounding to 16 bits before a scalar moves what follows.
  void add_felt_scalars(const kernel::TypeBinding& types) {
    if (!has_scalar(subject_, is_small_scalar) || narrowest_bytes(types) == narrowest_bytes({})) return;
    for (const std::string& name : names_)
      for (const std::int64_t many : {259, 31}) {
        Sizes sizes = fitted(subject_, name, many, 2);
        if (!admits(subject_, sizes, std::min<std::int64_t>(options_.most_elements, 5000))) continue;
        add({.types = types, .sizes = std::move(sizes), .scalars = Scalars::OtherAndFelt});
        break;
      }
  }

  void add_edges() {
    for (const Sizes& shape : shapes_at_edges(subject_, mixtures_[0], options_.machine, options_.most_elements))
      add({.sizes = shape});
    // An axis of one in dense tensors, with others that vectors serve or not: its index may be left out.
    for (const std::string& name : names_)
      for (const std::int64_t others : {5, 8})
        if (Sizes sizes = fitted(subject_, name, 1, others); is_admitted(sizes)) add({.sizes = std::move(sizes)});
  }

  // What belongs to an axis, such as a parameter's gradient, is computed by tiles.
  void add_long_axis(const std::string& name) {
    constexpr std::int64_t kTile = 1024;
    const bool is_long = std::any_of(cases_.begin(), cases_.end(), [&](const Case& c) {
      return c.layout == Layout::Dense && c.sizes.at(name) > kTile && size(c.sizes) > 0;
    });
    if (Sizes sizes = fitted(subject_, name, 2 * kTile + 5, 2); !is_long && is_admitted(sizes))
      add({.sizes = std::move(sizes)});
    // So long that what a kernel takes for more than anyone has is less.
    for (const auto& [length, others] : {std::pair(50'021, 2), std::pair(50'021, 1), std::pair(9'001, 1)}) {
      const std::int64_t most = others == 1 ? options_.most_along_axis : options_.most_elements;
      Sizes longer = fitted(subject_, name, length, others);
      if (!admits(subject_, longer, most) || launches_too_many(longer)) continue;
      add({.sizes = std::move(longer)});
      break;
    }
    // What is not summed over is longer still in the large call. More than a million terms, or, where the math has many
    // values, fewer; leaning to one side, since others that are left out may sum up to nothing.
    const std::int64_t quick = kQuickValues / static_cast<std::int64_t>(subject_.math().nodes.size());
    Sizes longest_sum = fitted(subject_, name, quick > 1'300'021 ? 1'300'021 : 300'007, 1);
    if (is_reduced(subject_.math(), name) && admits(subject_, longest_sum, options_.most_along_axis))
      add({.types = most_exact(mixtures_),
           .sizes = std::move(longest_sum),
           .values = Values::Leaning,
           .cotangents = Values::Leaning});
  }

  // Kernels for elements of a width that the user's own types have not, where such rows are long.
  void add_unreached() {
    std::set<std::string> unreached;
    for (const kernel::Pass& pass : subject_.manifest.passes)
      for (const kernel::Step& step : pass.steps)
        for (const kernel::Entry& entry : step.entries) unreached.insert(entry.symbol);
    const auto take = [&](const kernel::TypeBinding& types, const Sizes& sizes, Layout layout) {
      const std::size_t before = unreached.size();
      for (const std::string& symbol : reached(subject_, sizes, types, options_.machine, layout))
        unreached.erase(symbol);
      return unreached.size() < before;
    };
    for (const Case& c : cases_) take(c.types, c.sizes, c.layout);
    for (std::size_t m = 1; m < mixtures_.size() && !unreached.empty(); ++m)
      for (const Sizes& shape :
           shapes_that_reach(subject_, few_, mixtures_[m], options_.machine, options_.most_to_reach))
        if (take(mixtures_[m], shape, Layout::Dense)) add({.types = mixtures_[m], .sizes = shape});
  }

  bool launches_too_many(const Sizes& sizes) const {
    return options_.most_threads > 0 &&
           threads_launched(subject_, sizes, mixtures_[0], options_.machine) > options_.most_threads;
  }

  const Subject& subject_;
  const CaseOptions& options_;
  const std::vector<kernel::TypeBinding> mixtures_;  // the user's own first
  const std::vector<std::string> names_;
  const std::vector<Sizes> shapes_;
  std::vector<Sizes> few_;          // for layouts and value ranges: a small shape, and one near four thousand elements
  const Sizes* longest_ = nullptr;  // of the shapes with several rows: that with the longest
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> plan_cases(const Subject& subject, const CaseOptions& options) {
  return Plan(subject, options).cases();
}

}  // namespace kw::verify
