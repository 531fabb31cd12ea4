#include "understand/decisions/closest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "profile/format.h"
#include "understand/decisions/deciders.h"

namespace kw::understand {
namespace {

int weight_of(const std::vector<Feature>& features) {
  int sum = 0;
  for (const Feature feature : features) sum += feature_rows()[static_cast<std::size_t>(feature)].weight;
  return sum;
}

// What a kernel is built around: an op without it has little to learn there, whatever else the two share.
bool is_frame(Feature feature) {
  static constexpr std::array kFrames = {Feature::Loss,    Feature::Contraction, Feature::Window, Feature::Scan,
                                         Feature::Segment, Feature::Sorted,      Feature::Chosen, Feature::Random,
                                         Feature::Rotated, Feature::Indexed};
  return std::find(kFrames.begin(), kFrames.end(), feature) != kFrames.end();
}

}  // namespace

std::span<const KnownKernel> known_kernels() {
  using F = Feature;
  static const std::vector<KnownKernel> kKernels = {
      {"relu_squared", {F::Activation, F::Rectified, F::Squared}},
      {"silu", {F::Activation, F::Sigmoid, F::SelfGated}},
      {"gelu", {F::Activation, F::ErrorFunction, F::SelfGated}},
      {"gelu_tanh", {F::Activation, F::Tanh, F::SelfGated}},
      {"swiglu", {F::Activation, F::Sigmoid, F::SelfGated, F::Gated, F::TwoTensors}},
      {"geglu", {F::Activation, F::Tanh, F::SelfGated, F::Gated, F::TwoTensors}},
      {"softplus", {F::Activation, F::SoftPlus}},
      {"mish", {F::Activation, F::SoftPlus, F::Tanh, F::SelfGated}},
      {"hardswish", {F::Activation, F::Rectified, F::Clamped, F::SelfGated}},
      {"dyt", {F::Activation, F::Tanh, F::Weighted, F::Biased}},
      {"dropout", {F::Random, F::Selected}},
      {"rms_norm", {F::MeanSquare, F::Normalised, F::Weighted}},
      {"fused_add_rms_norm", {F::MeanSquare, F::Normalised, F::Weighted, F::ResidualSum, F::TwoTensors}},
      {"layer_norm", {F::MeanSquare, F::Centred, F::Normalised, F::Weighted, F::Biased}},
      {"group_norm", {F::MeanSquare, F::Centred, F::Normalised, F::Weighted, F::Biased, F::Grouped, F::SeveralAxes}},
      {"instance_norm", {F::MeanSquare, F::Centred, F::Normalised, F::Weighted, F::Biased, F::SeveralAxes}},
      {"l2_normalize", {F::MeanSquare, F::Normalised, F::Rectified}},
      {"poly_norm", {F::MeanSquare, F::Normalised, F::Powers}},
      {"softmax", {F::Exponential, F::Normalised}},
      {"log_softmax", {F::Exponential, F::Logarithm}},
      {"sparsemax", {F::Sorted, F::Scan, F::Rectified}},
      {"mean", {F::InnerMean}},
      {"mse", {F::Loss, F::TwoTensors, F::Difference, F::MeanSquare}},
      {"huber", {F::Loss, F::TwoTensors, F::Difference, F::Absolute, F::Selected}},
      {"hinge", {F::Loss, F::TwoTensors, F::Rectified}},
      {"kl_div", {F::Loss, F::TwoTensors, F::Logarithm, F::Divergence, F::Difference}},
      {"jsd", {F::Loss, F::TwoTensors, F::Logarithm, F::Divergence, F::Mixture}},
      {"tvd", {F::Loss, F::TwoTensors, F::Difference, F::Absolute}},
      {"cross_entropy", {F::Loss, F::Exponential, F::Logarithm, F::Indexed, F::Selected}},
      {"fused_linear_cross_entropy", {F::Loss, F::Exponential, F::Logarithm, F::Indexed, F::Selected, F::Contraction}},
      {"rope", {F::Rotated, F::Weighted}},
      {"embedding", {F::Indexed}},
      {"segment_mean", {F::Segment}},
      {"cumsum", {F::Scan}},
      {"max_pool2d", {F::Window, F::WindowMaximum}},
      {"conv2d", {F::Window, F::Contraction, F::Biased}},
      {"matmul", {F::Contraction}},
      {"attention", {F::Contraction, F::TwoContractions, F::Exponential, F::Normalised}},
      {"moe_routing", {F::Chosen, F::Exponential, F::Normalised}},
  };
  return kKernels;
}

Closest closest_to(const std::set<Feature>& features) {
  Closest best{"none", {}, {features.begin(), features.end()}, {}};
  double best_share = 0;
  for (const KnownKernel& kernel : known_kernels()) {
    const std::set<Feature> there(kernel.features.begin(), kernel.features.end());
    Closest candidate{kernel.name, {}, {}, {}};
    std::set_intersection(features.begin(), features.end(), there.begin(), there.end(),
                          std::back_inserter(candidate.shared));
    std::set_difference(features.begin(), features.end(), there.begin(), there.end(),
                        std::back_inserter(candidate.only_here));
    std::set_difference(there.begin(), there.end(), features.begin(), features.end(),
                        std::back_inserter(candidate.only_there));
    if (std::any_of(candidate.only_there.begin(), candidate.only_there.end(), is_frame)) continue;
    const int shared = weight_of(candidate.shared);
    const int all = shared + weight_of(candidate.only_here) + weight_of(candidate.only_there);
    const double share = all == 0 ? 0 : static_cast<double>(shared) / all;
    if (share > best_share) {  // of equals, the earlier row
      best_share = share;
      best = std::move(candidate);
    }
  }
  return best;
}

namespace {

std::vector<std::string> texts(const std::vector<Feature>& features) {
  std::vector<std::string> names;
  for (const Feature feature : features) names.emplace_back(to_text(feature));
  return names;
}

}  // namespace

Status decide_closest(Subject& subject) {
  const Closest closest = closest_to(features_of(subject.view));
  std::string value(closest.name);
  std::string because = "no known kernel shares a feature with it";
  if (!closest.shared.empty()) {
    because = "by structure: " + profile::all_of(texts(closest.shared));
    if (!closest.only_here.empty()) because += "; here also " + profile::all_of(texts(closest.only_here));
    if (!closest.only_there.empty()) because += "; there also " + profile::all_of(texts(closest.only_there));
  }
  if (const std::string* pin = subject.pinned("closest")) {
    std::vector<std::string> names = {"none"};
    for (const KnownKernel& kernel : known_kernels()) names.emplace_back(kernel.name);
    if (std::find(names.begin(), names.end(), *pin) == names.end())
      return bad_value("closest", *pin, "a known kernel", did_you_mean(*pin, names));
    value = *pin;
  }
  subject.profile.closest = value;
  subject.record({"closest",
                  value,
                  because,
                  "",
                  {},
                  "the search would start from another kernel's lessons: slower to find, not wrong"});
  return {};
}

}  // namespace kw::understand
