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
  Activation,
  Rectified,
  Clamped,
  Sigmoid,
  Tanh,
  ErrorFunction,
  SoftPlus,
  Squared,
  SelfGated,
  Gated,
  MeanSquare,
  Centred,
  Normalised,
  Powers,
  Exponential,
  Logarithm,
  Weighted,
  Biased,
  Grouped,
  SeveralAxes,
  InnerMean,
  ResidualSum,
  Loss,
  TwoTensors,
  Difference,
  Absolute,
  Divergence,
  Mixture,
  Selected,
  Indexed,
  Scattered,
  Positions,
  Rotated,
  Contraction,
  TwoContractions,
  Window,
  WindowMaximum,
  Scan,
  Segment,
  Sorted,
  Chosen,
  Random,
};
inline constexpr int kFeatureCount = 42;

struct FeatureRow {
  Feature feature;
  std::string_view name;
  int weight;                // 2 for what makes a kernel what it is, 1 for what comes with it
  std::string_view meaning;  // the math has …
};
std::span<const FeatureRow> feature_rows();
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
