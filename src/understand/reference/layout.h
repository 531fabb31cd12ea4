// Axes have identity, torch's dimensions have positions. A layout is the order in which a Python value holds its axes;
// kUnit is a dimension of size one. Two layouts broadcast when, aligned at the right as torch does, every pair of
// positions holds the same axis or a unit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kw::understand::reference {

using Layout = std::vector<ir::AxisId>;

bool holds(const Layout& layout, ir::AxisId axis);
int position(const Layout& layout, ir::AxisId axis);  // asserts that it is there
Layout without_units(Layout layout);

// Where `inner` broadcasts against `outer` and is not longer, so that the result has the layout `outer`.
bool broadcasts_to(const Layout& inner, const Layout& outer);
// The layout of the two, if they broadcast as they stand and no axis comes twice.
std::optional<Layout> broadcast(const Layout& a, const Layout& b);
// A layout that holds the axes of both: the larger one's order, with the other's axes put beside their neighbours.
Layout merged(const Layout& a, const Layout& b);

// Python that turns a value of layout `from` into layout `to`, written behind the value: "" or ".T" or "[:, None]" or
// ".permute(2, 0, 1)[..., None]". Axes of `to` that `from` lacks become units; `from` has no axis that `to` lacks.
std::string rearranged(const Layout& from, const Layout& to);

// How a person names a dimension: the last is -1, the others count from the front.
std::string dim_text(int position, size_t rank);
std::string dims_text(const std::vector<int>& positions, size_t rank);  // "-1", "(1, 2)"

}  // namespace kw::understand::reference
