#include "act/loop/size_equality.h"

#include <algorithm>
#include <random>

namespace kw::act {
namespace {

constexpr size_t kSamples = 4;
constexpr int kDraws = 2000;

std::optional<int64_t> evaluate(const ir::Size& size, const std::vector<int64_t>& sample) {
  return size.evaluate([&](ir::SymbolId id) { return std::optional<int64_t>(sample[static_cast<size_t>(id)]); });
}

bool keeps(const std::vector<ir::SizeConstraint>& constraints, const std::vector<int64_t>& sample) {
  return std::all_of(constraints.begin(), constraints.end(), [&](const ir::SizeConstraint& c) {
    std::optional<int64_t> left = evaluate(c.left, sample), right = evaluate(c.right, sample);
    if (!left || !right) return false;
    return c.kind == ir::SizeConstraint::Kind::Equal ? *left == *right : *right != 0 && *left % *right == 0;
  });
}

}  // namespace

SizeEquality::SizeEquality(const LoopProgram& program) {
  std::mt19937 engine(1);
  constexpr int64_t kNumbers[] = {1, 2, 3, 4, 6, 8, 12, 24, 36, 48, 60, 120, 240};
  for (int draw = 0; draw < kDraws && samples_.size() < kSamples; ++draw) {
    std::vector<int64_t> sample;
    for (size_t i = 0; i < program.symbols.size(); ++i) sample.push_back(kNumbers[engine() % std::size(kNumbers)]);
    if (keeps(program.constraints, sample)) samples_.push_back(std::move(sample));
  }
}

bool SizeEquality::operator()(const ir::Size& a, const ir::Size& b) const {
  return a == b || std::all_of(samples_.begin(), samples_.end(), [&](const std::vector<int64_t>& sample) {
           return evaluate(a, sample) == evaluate(b, sample);
         });
}

}  // namespace kw::act
