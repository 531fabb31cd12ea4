// The innermost axis is not reduced: `lanes` neighbours have neighbouring points, and the others of a block share the
// reduced axes of theirs.
#include "holes.h"

// skeleton columns
template <class Index>
KW_DEVICE void KW_NAME(kernel)(KW_LIST(parameters)) {
  KW_STATEMENTS(shared)
  const Index points = KW_EXPRESSION(points), length = KW_EXPRESSION(length);
  const Index part = kw::thread() / lanes, parts = kw::threads() / lanes;
  Index point = static_cast<Index>(kw::block()) * lanes + kw::thread() % lanes;
  // Threads without a point go along, over no elements.
  const bool inside = point < points;
  const Index end = inside ? length : 0;
  KW_STATEMENTS(outside)
  KW_STATEMENTS(point)
}
// end

// Every thread has a point of its own, and goes over its elements one after the other. Where sums over the points ride
// along, it has a slice of them and its share of the points.
// skeleton points
template <class Index>
KW_DEVICE void KW_NAME(point_kernel)(KW_LIST(parameters)) {
  const Index points = KW_EXPRESSION(points), length = KW_EXPRESSION(length);
  const Index worker = static_cast<Index>(kw::block()) * kw::threads() + kw::thread();
  if (worker >= KW_EXPRESSION(workers)) return;
  KW_STATEMENTS(sums)
  for (Index point = worker; point < points; point = KW_EXPRESSION(next)) {
    KW_STATEMENTS(point)
  }
}
// end

// clang-format off
template <class Index>
KW_DEVICE void stages(Index end) {
// skeleton column_stage
{
  const auto take = [&](Index element) {
    KW_STATEMENTS(position)
    KW_STATEMENTS(body)
  };
  const Index end_of_column = KW_EXPRESSION(end), step = KW_EXPRESSION(step);
  Index element = KW_EXPRESSION(first);
  // All six are read before the first is used (a question each takes a predicate, of which there are seven), and little
  // code is read before it runs.
  KW_ROLLED
  for (; element < end_of_column; element += 6 * step) {
    KW_UNROLL
    for (int i = 0; i < 6; ++i)
      if (element + i * step < end_of_column) take(element + i * step);
  }
}
// end
}
// clang-format on
