// Mutants of generated C++ and CUDA: the text of a kernel with one small mistake in it, as a person makes them.
//
// Changed are: operators, comparisons, numbers, which index, size or stride stands where, a rounding that is left out,
// a statement that is left out, a barrier or a wait for a copy that is left out.
//
// Not changed is what decides speed alone: parameters of the schedule, pragmas, prefetches, whether stores go past the
// cache, whether a value is found in shared memory or read again, how much room an array has. Nor what is known to
// change no result, each for a reason that its rule gives:
//   how often a loop over tiles goes on past the end, or one over the vectors of a row that is held as a whole, or a
//   tail of no elements is asked for: all are empty
//   a rounding whose value is rounded again to the same type, and nothing else
//   the rounding of a half or a double, which is exact but at the ends of the type's range
//   the rounding of a difference of two numbers of the type, of which nothing but the sign is used
//   at which tile a streamed row's edge is fetched again: it is there since an earlier stage fetched it
//   the inner of two roundings, where it is to a type that holds the outer one
//   strides of axes that were merged into others, or that are known to be 1
//   which of its two turns a reduction begins with
//   which thread stores what every thread of the block has, bit for bit, after a reduction: the first of at least 32,
//   or the second
//   one parameter of a kernel for another, where the manifest hands both the same size, or strides of two tensors of
//   one shape that one pass saves for another: it lays them alike, and no caller lays them
//   how early a loop that takes eight at once leaves the rest to one that takes one
//   where a tile begins, in kernels that add what workers left: it is the first, and the only one
//   blocks that compute nothing, and templates that no kernel of the file instantiates
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kw::test {

struct Mutant {
  std::string text;  // of the whole file
  int line = 0;
  std::string function;
  std::string kind;           // "comparison"
  std::string before, after;  // the line, trimmed
  bool ahead = false;         // in a block that fetches a row before its turn
  std::string next;           // the line behind it, trimmed
};

// What a kernel's parameters are given, in order, by the kernel's name: those of one text have one value; "": unknown.
using Given = std::map<std::string, std::vector<std::string>>;

// Every mutant of a file, in the order of its lines. Functions named in `skipped` are left as they are.
std::vector<Mutant> mutants_of(const std::string& source, const std::set<std::string>& skipped,
                               const Given& given = {});

// The same file, in which whoever comes to a line crashes: what passes all the same never gets there.
std::string with_trap(const std::string& source, int line);

}  // namespace kw::test
