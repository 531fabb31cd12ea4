// The sizes that a call may have: what the math asks of them, hostile ones, and how large they make its tensors.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernel/call.h"
#include "verify/subject.h"

namespace kw::verify {

// Shapes that the math admits: the profile's, and hostile ones (1, primes, one over a power of two, empty, longer than
// a block), none above the limit.
std::vector<kernel::Sizes> shapes_to_try(const Subject& subject, std::int64_t most_elements);

// Of the largest input.
std::int64_t most_elements(const Subject& subject, const kernel::Sizes& sizes);

// Of the last dimension of any input, the longest.
std::int64_t last_size(const Subject& subject, const kernel::Sizes& sizes);

// Of the largest input: its elements, but for the last dimension.
std::int64_t rows_of(const Subject& subject, const kernel::Sizes& sizes);

// The same sizes, but those of parameters as the user has them: for a source that fixes them.
kernel::Sizes sizes_of_parameters(const Subject& subject, kernel::Sizes sizes);

// Do sizes fulfil what the math asks of them, and is no tensor larger than this?
bool admits(const Subject& subject, const kernel::Sizes& sizes,
            std::int64_t most_elements = std::numeric_limits<std::int64_t>::max());

// Sizes that a caller's tensors have; others, a number of groups, are the op's own.
std::vector<std::string> symbols_of_shapes(const Subject& subject);

// One size, and all others of a shape; each is made the next multiple where the math asks for multiples.
kernel::Sizes fitted(const Subject& subject, const std::string& symbol, std::int64_t size, std::int64_t others);

// Is there a sum, an extreme or the like along an axis of this size?
bool is_reduced(const ir::Graph& graph, const std::string& symbol);

// Of a tensor with these dimensions; nothing where a size is not known.
std::optional<std::vector<std::int64_t>> shape_of(const ir::Graph& graph, const std::vector<ir::AxisId>& dims,
                                                  const kernel::Sizes& sizes);
std::int64_t count_of(const std::vector<std::int64_t>& shape);

// A size of the math as a number.
std::optional<std::int64_t> value_of(const ir::Graph& graph, const ir::Size& size, const kernel::Sizes& sizes);

}  // namespace kw::verify
