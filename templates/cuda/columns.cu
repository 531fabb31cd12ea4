// The innermost axis is not reduced: neighbouring lanes have neighbouring points, and the warps of a block, or parts of
// warps, share the reduced axes of theirs.
#include "holes.h"

// skeleton columns
template <class Index>
KW_DEVICE void KW_NAME(kernel)(KW_LIST(parameters)) {
  KW_STATEMENTS(shared)
  const Index points = KW_EXPRESSION(points), length = KW_EXPRESSION(length);
  const int columns = KW_EXPRESSION(columns);
  Index point = static_cast<Index>(kw::block()) * columns + kw::lane() % columns;
  // Lanes without a point go along, over no elements.
  const bool inside = point < points;
  const Index end = inside ? length : 0;
  KW_STATEMENTS(outside)
  KW_STATEMENTS(point)
}
// end

// One point: it has a block for itself.
// skeleton total
template <class Index>
KW_DEVICE void KW_NAME(total_kernel)(KW_LIST(parameters)) {
  KW_STATEMENTS(shared)
  const Index length = KW_EXPRESSION(length);
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
// skeleton total_stage
{
  const auto take = [&](KW_NAME(counter) element, bool counts) {
    KW_STATEMENTS(position)
    KW_STATEMENTS(body)
  };
  const KW_NAME(counter) end_of_column = KW_EXPRESSION(end), step = kw::threads();
  // Four are read before the first is used. What would lie behind the last is the last once more, and does not count.
  for (KW_NAME(counter) first = kw::thread(); first < end_of_column; first += 4 * step) {
    KW_UNROLL
    for (int i = 0; i < 4; ++i) {
      const KW_NAME(counter) element = first + i * step;
      take(element < end_of_column ? element : end_of_column - 1, element < end_of_column);
    }
  }
}
// end
// skeleton column_stage
{
  const auto take = [&](KW_NAME(counter) element) {
    KW_STATEMENTS(position)
    KW_STATEMENTS(body)
  };
  const KW_NAME(counter) end_of_column = KW_EXPRESSION(end), step = KW_EXPRESSION(step);
  KW_NAME(counter) element = KW_EXPRESSION(first);
  // Without a question in between, so that all eight are read before the first is used.
  for (; element < end_of_column - 7 * step; element += 8 * step) {
    KW_UNROLL
    for (int i = 0; i < 8; ++i) take(element + i * step);
  }
  for (; element < end_of_column; element += step) take(element);
}
// end
}
// clang-format on
