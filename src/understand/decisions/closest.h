// The closest known kernel, by the structure of the math. A graph has features (it normalises by a statistic, it gates
// one input by another, it gathers by an index, …), none of which looks at a name; every known kernel is a row of
// features (docs/closest-kernels.md is the published table), and the nearest row is the one that shares most of them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "understand/decisions/graph_view.h"

namespace kw::understand {

enum class Feature {
  Activation,  // a nonlinear function of one element
  Rectified,   // max with a number
  Clamped,     // between two numbers
  Sigmoid,
  Tanh,
  ErrorFunction,
  SoftPlus,     // log(1 + exp)
  Squared,      // a value times itself, outside a statistic
  SelfGated,    // a value times a nonlinear function of itself
  Gated,        // a nonlinear function of one value times another value
  MeanSquare,   // a sum or mean of squares
  Centred,      // a value minus its own mean
  Normalised,   // a value times or over a statistic of itself
  Powers,       // several powers of one value, each normalised
  Exponential,  // a sum of exponentials
  Logarithm,    // a logarithm of that sum, or of a tensor
  Weighted,     // times a tensor with fewer axes
  Biased,       // plus a tensor with fewer axes
  Grouped,      // a reduction over a part of an axis
  SeveralAxes,  // reduced together
  InnerMean,    // a mean over an axis that stays as it is
  ResidualSum,  // the sum of two inputs, returned too
  Loss,         // everything joined to a single number
  TwoTensors,   // two inputs of the same shape, compared
  Difference,   // their difference
  Absolute,
  Divergence,  // a tensor times the logarithm of it
  Mixture,     // a logarithm of a sum of two tensors
  Selected,    // one of two values by a condition
  Indexed,     // read by an index tensor
  Scattered,
  Positions,  // depends on where an element is
  Rotated,    // pairs of elements turned by an angle
  Contraction,
  TwoContractions,
  Window,
  WindowMaximum,
  Scan,
  Segment,
  Sorted,
  Chosen,  // top k
  Random,
};
inline constexpr int kFeatureCount = 42;

std::string_view to_text(Feature feature);
std::set<Feature> features_of(const GraphView& view);

struct KnownKernel {
  std::string_view name;
  std::vector<Feature> features;
};
std::span<const KnownKernel> known_kernels();

struct Closest {
  std::string_view name;  // "none" where no row shares a feature
  std::vector<Feature> shared;
  std::vector<Feature> only_here;
  std::vector<Feature> only_there;
};
Closest closest_to(const std::set<Feature>& features);

}  // namespace kw::understand
