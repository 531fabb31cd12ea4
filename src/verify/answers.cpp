#include "verify/answers.h"

#include <algorithm>
#include <cmath>

namespace kw::verify {
namespace {

// Outputs with an element of which something is known.
std::ptrdiff_t judged_outputs(const Expected& expected) {
  return std::count_if(expected.begin(), expected.end(), [](const auto& output) {
    const ir::Array& array = output.second;
    return array.values.empty() || array.bounds.empty() ||
           std::any_of(array.bounds.begin(), array.bounds.end(), [](double bound) { return std::isfinite(bound); });
  });
}

}  // namespace

Result<std::shared_ptr<const Answer>> answer(const Subject& subject, const Case& c, int turn) {
  // Large values are drawn again where their squares leave every type, so that anything would do for an answer.
  const int draws = c.values == Values::Large || c.cotangents == Values::Large ? 6 : 1;
  std::shared_ptr<Answer> best;
  for (int draw = 0; draw < draws; ++draw) {
    auto made = std::make_shared<Answer>();
    KW_TRY(made->values, values_of(subject, c, turn + 2 * draw));
    KW_TRY(made->expected, expect(subject, c.types, made->values));
    if (!best || judged_outputs(made->expected) > judged_outputs(best->expected)) best = std::move(made);
    if (judged_outputs(best->expected) == std::ssize(best->expected)) break;
  }
  return std::shared_ptr<const Answer>(std::move(best));
}

Result<std::shared_ptr<const Answer>> Answers::of(const Subject& subject, const Case& c, int turn) {
  const std::string key = c.text() + "/" + std::to_string(c.seed) + "/" + std::to_string(turn);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  KW_TRY(std::shared_ptr<const Answer> made, answer(subject, c, turn));
  const std::lock_guard lock(mutex_);
  return known_.emplace(key, std::move(made)).first->second;
}

}  // namespace kw::verify
