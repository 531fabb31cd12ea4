// Mutants of generated C++: the text of a kernel with one small mistake in it, as a person makes them.
//
// Changed are: operators, comparisons, numbers, which index or value stands where, a rounding that is left out, a
// statement that is left out. Not changed is what decides speed alone: parameters of the schedule, pragmas, whether
// stores go past the cache, how often a loop over tiles goes on past the end (an empty tile); and declarations.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kw::test {

struct Mutant {
  std::string text;  // of the whole file
  int line = 0;
  std::string kind;           // "comparison"
  std::string before, after;  // the line, trimmed
};

// Every mutant of a file, in the order of its lines. Functions named in `skipped` are left as they are.
std::vector<Mutant> mutants_of(const std::string& source, const std::set<std::string>& skipped);

}  // namespace kw::test
