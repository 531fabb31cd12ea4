// Three strikes: every attempt to verify a kernel is kept (attempts.jsonl, lines are only ever added), and after the
// third hard failure in a row nothing more is tried until the profile or the kernel has changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "verify/report.h"

namespace kw::verify {

inline constexpr int kMostAttempts = 3;

struct Attempt {
  std::string when;     // UTC
  std::string target;   // cpu
  std::string subject;  // hashes of what decides the outcome: the profile, and the kernels that it began with
  std::string kernel_hash;
  std::string variant;              // "as planned", "fallback: column"
  std::vector<std::string> failed;  // names of hard gates; empty: verified
  std::uint64_t seed = 0;
  bool operator==(const Attempt&) const = default;
};

std::string to_line(const Attempt& attempt);  // JSON, without the newline
Result<std::vector<Attempt>> read_attempts(std::string_view text, const std::string& file);

std::vector<std::string> failed_gates(const Report& report);
// In the op's own types, where it is a failure.
bool spills_in_own_types(const Report& report, const KernelRow& row);
// Whether kernels do, and no gate but that of what was built failed.
bool only_spills(const Report& report);
Attempt attempt_of(const Report& report, const std::string& subject, const std::string& variant, std::string when);

// Failures in a row, the last attempts first, of this subject on this target.
int strikes(const std::vector<Attempt>& attempts, const std::string& target, const std::string& subject);

// The attempts of a kernel, in its folder.
class AttemptLog {
 public:
  explicit AttemptLog(std::string file) : file_(std::move(file)) {}
  Result<std::vector<Attempt>> read() const;
  Status add(const Attempt& attempt) const;
  // An error of kind GateFailed after the third strike.
  Status may_go_on(const std::string& name, const std::string& target, const std::string& subject) const;

 private:
  std::string file_;
};

}  // namespace kw::verify
