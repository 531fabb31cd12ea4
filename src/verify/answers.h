// The oracle's answers to the cases of one op, computed once: the inputs of a case and what must come out. Judges of
// several kernels for the same op share them, from any number of threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "verify/cases.h"
#include "verify/trial.h"

namespace kw::verify {

struct Answer {
  ir::Environment values;
  Expected expected;
};

class Answers {
 public:
  // `turn` as in values_of. Two subjects that share answers have the same math.
  Result<std::shared_ptr<const Answer>> of(const Subject& subject, const Case& c, int turn);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Answer>> known_;
};

// The same, kept nowhere.
Result<std::shared_ptr<const Answer>> answer(const Subject& subject, const Case& c, int turn);

}  // namespace kw::verify
