#include "understand/python/facts.h"

#include <algorithm>

namespace kw::understand::python {
namespace {

// T and W are the types of an op's tensors and weights: a size that bears such a name is written small.
std::string apart_from_types(std::string name) {
  const bool is_type = (name[0] == 'T' || name[0] == 'W') &&
                       std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (is_type) name[0] = name[0] == 'T' ? 't' : 'w';
  return name;
}

}  // namespace

namespace {

bool shares_symbol(const std::vector<ir::SymbolId>& a, const std::vector<ir::SymbolId>& b) {
  return std::any_of(a.begin(), a.end(), [&](ir::SymbolId id) { return std::find(b.begin(), b.end(), id) != b.end(); });
}

}  // namespace

void Facts::begin_reading(ir::GraphBuilder& builder) {
  changed_ = false;
  for (const SizeFact& fact : sizes_) builder.symbol(fact.name, fact.hint);
}

ir::Size Facts::resolved(const ir::Size& size) const {
  return size.substitute([&](ir::SymbolId id) -> std::optional<ir::Size> {
    const SizeFact& fact = sizes_[static_cast<size_t>(id)];
    if (fact.fixed) return ir::Size(*fact.hint);
    if (fact.same_as) return resolved(*fact.same_as);
    return std::nullopt;
  });
}

ir::Size Facts::size(ir::GraphBuilder& builder, const std::string& given, std::optional<int64_t> hint,
                     SizeOrigin origin) {
  if (hint && (*hint == 0 || *hint == 1)) return ir::Size(*hint);
  // A name that is bound again to another number is another size.
  const std::string name = given.empty() ? given : apart_from_types(given);
  std::string unique = name;
  auto known = by_name_.find(unique);
  for (int i = 2; known != by_name_.end() && hint && sizes_[static_cast<size_t>(known->second)].hint != hint; ++i) {
    unique = name + "_" + std::to_string(i);
    known = by_name_.find(unique);
  }
  if (known == by_name_.end()) {
    const ir::SymbolId id = builder.symbol(unique, hint);
    KW_ASSERT(static_cast<size_t>(id) == sizes_.size(), "every size symbol of a reading is made here");
    sizes_.push_back({unique, hint, origin, false, std::nullopt});
    known = by_name_.emplace(unique, id).first;
  }
  return resolved(ir::Size::symbol(known->second));
}

// What `symbol` must be for a == b, where a is linear in it.
std::optional<ir::Size> Facts::solve(ir::SymbolId symbol, const ir::Size& a, const ir::Size& b) const {
  const auto at = [&](int64_t value) {
    return a.substitute(
        [&](ir::SymbolId id) { return id == symbol ? std::optional<ir::Size>(ir::Size(value)) : std::nullopt; });
  };
  const auto in_b = b.symbols();
  if (std::find(in_b.begin(), in_b.end(), symbol) != in_b.end()) return std::nullopt;
  const ir::Size rest = at(0), slope = at(1) - rest;
  const auto coefficient = slope.constant();
  if (!coefficient || *coefficient <= 0 || at(2) - rest != slope + slope || at(3) - rest != slope * ir::Size(3)) {
    return std::nullopt;
  }
  const ir::Size quotient = floor_div(b - rest, slope);
  if (quotient * slope != b - rest) return std::nullopt;  // only where it divides for certain
  return quotient;
}

// The symbol of b that, put in the place of `symbol`, makes a the same size as b, at least where it is even.
std::optional<ir::Size> Facts::stand_in(ir::SymbolId symbol, const ir::Size& a, const ir::Size& b) const {
  for (const ir::SymbolId other : b.symbols()) {
    if (other == symbol) return std::nullopt;
    const ir::Size replaced = a.substitute(
        [&](ir::SymbolId id) { return id == symbol ? std::optional(ir::Size::symbol(other)) : std::nullopt; });
    if (replaced == b) return ir::Size::symbol(other);
    const auto same_at = [&](int64_t number) {
      const auto value = [&](ir::SymbolId) { return std::optional(number); };
      return replaced.evaluate(value) == b.evaluate(value);
    };
    if (b.symbols().size() == 1 && replaced.symbols().size() == 1 && same_at(4096) && same_at(5004)) {
      return ir::Size::symbol(other);
    }
  }
  return std::nullopt;
}

std::vector<ir::SymbolId> Facts::supplied_in(const ir::Size& size) const {
  std::vector<ir::SymbolId> supplied;
  for (const ir::SymbolId id : size.symbols()) {
    const SizeOrigin origin = sizes_[static_cast<size_t>(id)].origin;
    if (origin == SizeOrigin::Assumed || origin == SizeOrigin::Flexible) supplied.push_back(id);
  }
  return supplied;
}

// Two sizes that the rules supplied for different things are not one because their numbers are.
bool Facts::are_both_assumed(const ir::Size& a, const ir::Size& b) const {
  const auto left = supplied_in(a), right = supplied_in(b);
  const auto is_flexible = [&](ir::SymbolId id) {
    return sizes_[static_cast<size_t>(id)].origin == SizeOrigin::Flexible;
  };
  const bool gives_way =
      std::any_of(left.begin(), left.end(), is_flexible) || std::any_of(right.begin(), right.end(), is_flexible);
  return !left.empty() && !right.empty() && !gives_way && !shares_symbol(left, right);
}

bool Facts::try_unify_symbol(const ir::Size& a, const ir::Size& b, SizeOrigin origin, bool hints_agree) {
  if (origin == SizeOrigin::Literal && !hints_agree) return false;
  if (origin == SizeOrigin::Assumed && !supplied_in(b).empty()) return false;
  for (const ir::SymbolId id : a.symbols()) {
    SizeFact& fact = sizes_[static_cast<size_t>(id)];
    if (fact.origin != origin || fact.fixed || fact.same_as) continue;
    auto value = solve(id, a, b);
    // 2*(r//2) against d, or r//2 against d//2, where r may be whatever it must: r is d.
    if (!value && origin == SizeOrigin::Flexible) value = stand_in(id, a, b);
    if (value) {
      if (const auto number = value->constant(); number && *number < 1) continue;
      fact.same_as = *value;
      changed_ = true;
      return true;
    }
  }
  return false;
}

Result<bool> Facts::unify(ir::GraphBuilder& builder, const ir::Size& a, const ir::Size& b) {
  if (a == b) return true;
  const auto left = builder.graph().hinted(a), right = builder.graph().hinted(b);
  const bool agree = left && right && *left == *right;
  for (const SizeOrigin origin : {SizeOrigin::Flexible, SizeOrigin::Assumed, SizeOrigin::Literal}) {
    if (try_unify_symbol(a, b, origin, agree) || try_unify_symbol(b, a, origin, agree)) return false;
  }
  if (agree && !are_both_assumed(a, b)) {
    builder.constrain({ir::SizeConstraint::Kind::Equal, a, b});
    return true;
  }
  const ir::Graph& graph = builder.graph();
  std::string message = "sizes " + graph.size_text(a) + " and " + graph.size_text(b) + " do not fit together";
  if (left && right && (!a.constant() || !b.constant())) {
    message += " (" + std::to_string(*left) + " and " + std::to_string(*right) + ")";
  }
  return bad_input(std::move(message));
}

bool Facts::unify_assumed(const ir::Size& a, const ir::Size& b) {
  for (const SizeOrigin origin : {SizeOrigin::Flexible, SizeOrigin::Assumed}) {
    if (try_unify_symbol(a, b, origin, true) || try_unify_symbol(b, a, origin, true)) return true;
  }
  return false;
}

Status Facts::fix_named(const std::string& name) {
  SizeFact& fact = sizes_[static_cast<size_t>(by_name_.at(name))];
  if (!fact.hint) {
    return bad_input("the size " + fact.name + " must be known while reading, and nothing gives its value", {},
                     "give its number: --shape NAME=…," + fact.name + ":64 or --init " + fact.name + "=64");
  }
  fact.fixed = true;
  changed_ = true;
  return {};
}

Result<int64_t> Facts::fix(const ir::Graph& graph, const ir::Size& size) {
  if (const auto constant = size.constant()) return *constant;
  for (const ir::SymbolId id : size.symbols()) KW_CHECK(fix_named(sizes_[static_cast<size_t>(id)].name));
  return *graph.hinted(size);
}

void Facts::set_parameter_type(size_t ordinal, ir::DType type) {
  changed_ = parameter_types_.emplace(ordinal, type).second || changed_;
}

std::optional<ir::DType> Facts::parameter_type(size_t ordinal) const {
  const auto found = parameter_types_.find(ordinal);
  return found == parameter_types_.end() ? std::nullopt : std::optional(found->second);
}

void Facts::fix_scalar(const std::string& name) { changed_ = fixed_scalars_.insert(name).second || changed_; }

void Facts::fix_types() {
  changed_ = changed_ || !types_fixed_;
  types_fixed_ = true;
}

std::vector<Facts::Fixed> Facts::fixed_sizes() const {
  std::vector<Fixed> result;
  for (const SizeFact& fact : sizes_) {
    if (fact.fixed) result.push_back({fact.name, *fact.hint});
  }
  return result;
}

}  // namespace kw::understand::python
