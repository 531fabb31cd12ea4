#include "understand/reference/layout.h"

#include <algorithm>

namespace kw::understand::reference {

using ir::AxisId;
using ir::kUnit;

bool holds(const Layout& layout, AxisId axis) { return std::find(layout.begin(), layout.end(), axis) != layout.end(); }

int position(const Layout& layout, AxisId axis) {
  auto at = std::find(layout.begin(), layout.end(), axis);
  KW_ASSERT(at != layout.end(), "the value has the axis");
  return static_cast<int>(at - layout.begin());
}

Layout without_units(Layout layout) {
  std::erase(layout, kUnit);
  return layout;
}

bool broadcasts_to(const Layout& inner, const Layout& outer) {
  if (inner.size() > outer.size()) return false;
  size_t shift = outer.size() - inner.size();
  for (size_t i = 0; i < inner.size(); ++i)
    if (inner[i] != kUnit && inner[i] != outer[i + shift]) return false;
  return true;
}

std::optional<Layout> broadcast(const Layout& a, const Layout& b) {
  const Layout& longer = a.size() >= b.size() ? a : b;
  const Layout& shorter = a.size() >= b.size() ? b : a;
  Layout result = longer;
  size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    AxisId& slot = result[i + shift];
    if (slot == shorter[i] || shorter[i] == kUnit) continue;
    if (slot != kUnit) return std::nullopt;
    slot = shorter[i];
  }
  Layout sorted = without_units(result);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  return result;
}

Layout merged(const Layout& a, const Layout& b) {
  Layout base = without_units(a), other = without_units(b);
  if (other.size() > base.size()) std::swap(base, other);
  for (size_t i = 0; i < other.size(); ++i) {
    if (holds(base, other[i])) continue;
    auto place = base.begin();
    if (i > 0) {
      place = std::find(base.begin(), base.end(), other[i - 1]) + 1;
    } else {
      for (size_t j = i + 1; j < other.size(); ++j)
        if (holds(base, other[j])) {
          place = std::find(base.begin(), base.end(), other[j]);
          break;
        }
    }
    base.insert(place, other[i]);
  }
  return base;
}

std::string dim_text(int position, size_t rank) {
  return position + 1 == static_cast<int>(rank) ? "-1" : std::to_string(position);
}

std::string dims_text(const std::vector<int>& positions, size_t rank) {
  if (positions.size() == 1) return dim_text(positions[0], rank);
  std::string out;
  for (int p : positions) out += (out.empty() ? "" : ", ") + std::to_string(p);
  return "(" + out + ")";
}

namespace {

// ".T", ".mT", ".transpose(0, 2)" or ".permute(1, 2, 0)"; `order[i]` is the position that comes to stand at i.
std::string permuted(const std::vector<int>& order) {
  size_t n = order.size();
  std::vector<size_t> moved;
  for (size_t i = 0; i < n; ++i)
    if (order[i] != static_cast<int>(i)) moved.push_back(i);
  if (moved.empty()) return "";
  if (moved.size() == 2) {
    if (n == 2) return ".T";
    if (moved[0] + 2 == n) return ".mT";
    return ".transpose(" + std::to_string(moved[0]) + ", " + std::to_string(moved[1]) + ")";
  }
  std::string out;
  for (int p : order) out += (out.empty() ? "" : ", ") + std::to_string(p);
  return ".permute(" + out + ")";
}

// "[:, None]": an index that keeps the dimensions of a value and adds units.
std::string with_units(const Layout& layout) {
  size_t first = 0, last = layout.size();
  while (first < layout.size() && layout[first] != kUnit) ++first;
  if (first == layout.size()) return "";
  while (layout[last - 1] != kUnit) --last;
  // Colons after the last None may be left out. Those before the first are shorter as an ellipsis when there are many.
  std::string out;
  bool only_trailing = last == layout.size();
  for (size_t i = first; i < layout.size(); ++i) only_trailing = only_trailing && layout[i] == kUnit;
  if (only_trailing && first >= 2) {
    out = "...";
    for (size_t i = first; i < last; ++i) out += ", None";
    return "[" + out + "]";
  }
  for (size_t i = 0; i < last; ++i) out += std::string(i ? ", " : "") + (layout[i] == kUnit ? "None" : ":");
  return "[" + out + "]";
}

}  // namespace

std::string rearranged(const Layout& from, const Layout& to) {
  if (from == to) return "";
  Layout axes = without_units(from);
  Layout wanted;  // the axes of `from` in the order of `to`
  for (AxisId a : to)
    if (a != kUnit && holds(axes, a)) wanted.push_back(a);
  KW_ASSERT(wanted.size() == axes.size(), "a value is not rearranged to a layout that lacks one of its axes");
  Layout spaced;  // `to` with units for what is missing
  for (AxisId a : to) spaced.push_back(a != kUnit && holds(axes, a) ? a : kUnit);
  if (spaced == from) return "";

  std::string out;
  if (axes.size() != from.size()) {
    std::vector<int> units;
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] == kUnit) units.push_back(static_cast<int>(i));
    out += ".squeeze(" + dims_text(units, from.size()) + ")";
  }
  std::vector<int> order;
  for (AxisId a : wanted) order.push_back(position(axes, a));
  return out + permuted(order) + with_units(spaced);
}

}  // namespace kw::understand::reference
