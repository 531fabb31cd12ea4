#include "verify/answers.h"

namespace kw::verify {

Result<std::shared_ptr<const Answer>> answer(const Subject& subject, const Case& c, int turn) {
  auto made = std::make_shared<Answer>();
  KW_TRY(made->values, values_of(subject, c, turn));
  KW_TRY(made->expected, expect(subject, c.types, made->values));
  return std::shared_ptr<const Answer>(std::move(made));
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
